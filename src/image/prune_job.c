/* SPDX-License-Identifier: Apache-2.0 */
#include "image/prune_job.h"

#include "base/clock.h"
#include "codec/json.h"
#include "image/prune.h"

static int by_size(const void *a, const void *b)
{
    const struct prune_image *x = a, *y = b;
    return (x->n_bytes < y->n_bytes) - (x->n_bytes > y->n_bytes);
}

/* Of a name "NAME#tenant=TENANT" (image/provide.h) the first part. */
static struct str name_without_tenant(struct str name)
{
    struct str first, rest;
    (void)str_cut(name, '#', &first, &rest);
    return first;
}

/* "docker.io/library/redis:7" -> "docker.io/library/redis@sha256:..." */
static const char *name_by_digest(struct arena *a, struct str name, const char *digest)
{
    struct str host_and_path = name, before, after;
    size_t n = name.n;
    if (str_cut(name, '@', &before, &after))
        return str_dup_arena(a, name);
    for (size_t i = name.n; i > 0 && name.p[i - 1] != '/'; i--) {
        if (name.p[i - 1] == ':')
            n = i - 1;
    }
    host_and_path.n = n;
    return arena_printf(a, STR_FMT "@%s", STR_ARG(host_and_path), digest);
}

/* Those with a digest first, as kubelet reports them. */
static struct json *names_of(struct arena *a, const struct prune_image *image)
{
    struct json *list = json_new_array(a);
    char digest[OCI_DIGEST_TEXT_SIZE];
    size_t n = MIN(image->n_names, (size_t)PRUNE_JOB_NAMES_MAX - 1);
    oci_digest_format(&image->manifest, digest);
    json_add(list,
             json_new_cstr(a, name_by_digest(a, name_without_tenant(image->names[0]), digest)));
    for (size_t i = 0; i < n; i++) {
        struct str name = name_without_tenant(image->names[i]), before, after;
        if (!str_cut(name, '@', &before, &after))
            json_add(list, json_new_str(a, name));
    }
    return list;
}

int prune_job_list(struct oci_store *s, struct arena *a, struct json **ret, struct err *err)
{
    struct prune_image *images;
    size_t n;
    struct json *v = json_new_object(a), *list = json_new_array(a);
    int r = prune_list(s, a, &images, &n, err);
    if (r < 0)
        return r;
    qsort(images, n, sizeof *images, by_size);
    for (size_t i = 0; i < MIN(n, (size_t)PRUNE_JOB_IMAGES_MAX); i++) {
        struct json *one = json_new_object(a);
        json_setc(a, one, "names", names_of(a, &images[i]));
        json_set_int(a, one, "bytes", (int64_t)images[i].n_bytes);
        json_add(list, one);
    }
    json_setc(a, v, "images", list);
    *ret = v;
    return 0;
}

int prune_job_run(struct oci_store *s, const struct store_job *job, struct arena *a,
                  struct json **ret, struct err *err)
{
    const struct prune_opts opts = { .bytes = job->bytes,
                                     .min_age_s = job->min_age_s,
                                     .now_wall_s = (int64_t)clock_wall_ms() / 1000 };
    struct pruned p;
    int r = prune_images(s, &opts, &p, err);
    if (r < 0)
        return r;
    *ret = json_new_object(a);
    json_set_int(a, *ret, "images", (int64_t)p.n_images);
    json_set_int(a, *ret, "bytes", (int64_t)p.n_bytes);
    return 0;
}
