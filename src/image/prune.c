/* SPDX-License-Identifier: Apache-2.0 */
#include "image/prune.h"

#include "base/map.h"
#include "base/sys.h"
#include "image/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct prune_reading {
    struct oci_store *s;
    struct arena *a;
    struct prune_image *images; /* room for one of each name */
    size_t n;
    struct map by_manifest, layers; /* -> struct prune_image, struct oci_store_layer */
};

static struct str key_of(const struct oci_digest *d)
{
    return str_n(d->bytes, SHA256_BYTES);
}

/* ---- what is known of an image ---- */

static void add_layers(struct prune_reading *r, struct prune_image *image)
{
    struct oci_manifest m;
    struct oci_config c;
    struct arena a = { 0 };
    struct map seen = { 0 };
    if (oci_store_image_load(r->s, &image->manifest, &a, &m, &c, NULL) < 0)
        c.n_diff_ids = 0;
    for (size_t i = 0; i < c.n_diff_ids; i++) {
        const struct oci_store_layer *layer = map_get(&r->layers, key_of(&c.diff_ids[i]));
        if (layer && !map_put(&seen, key_of(&c.diff_ids[i]), image))
            image->n_bytes += layer->n_bytes;
    }
    map_fini(&seen);
    arena_fini(&a);
}

/* The directory of a tenant is written when its use begins and when it ends (image/provide.h). */
static void add_uses(struct prune_reading *r, struct prune_image *image)
{
    scoped(free_scoped) char *path = oci_store_image_path(r->s, &image->manifest);
    DIR *d = opendir(path);
    struct stat st;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] != '.' && fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(st.st_mode))
            image->used_wall_s = MAX(image->used_wall_s, (int64_t)st.st_mtime);
    }
    if (d)
        (void)closedir(d);
}

static void push_name(struct arena *a, struct prune_image *image, struct str name)
{
    size_t n = image->n_names;
    if ((n & (n - 1)) == 0) { /* 0, or full: a power of two */
        struct str *names = arena_new_n(a, struct str, MAX(2 * n, (size_t)1));
        for (size_t i = 0; i < n; i++)
            names[i] = image->names[i];
        image->names = names;
    }
    image->names[image->n_names++] = name;
}

static void add_name(struct prune_reading *r, const struct oci_store_image *name)
{
    struct prune_image *image = map_get(&r->by_manifest, key_of(&name->manifest));
    if (!image) {
        image = &r->images[r->n++];
        *image = (struct prune_image){ .manifest = name->manifest };
        (void)map_put(&r->by_manifest, key_of(&image->manifest), image);
        add_layers(r, image);
        add_uses(r, image);
    }
    push_name(r->a, image, name->name);
    image->is_pinned |= name->is_pinned;
    image->pulled_wall_s = MAX(image->pulled_wall_s, name->pulled_wall_s);
    image->used_wall_s = MAX(image->used_wall_s, name->pulled_wall_s);
}

static int add_lease(void *arg, struct str id, const struct oci_digest *manifest, struct err *err)
{
    struct prune_reading *r = arg;
    struct prune_image *image = map_get(&r->by_manifest, key_of(manifest));
    (void)id, (void)err;
    if (image)
        image->is_used = true;
    return 0;
}

static int by_use(const void *a, const void *b)
{
    const struct prune_image *x = a, *y = b;
    if (x->used_wall_s != y->used_wall_s)
        return x->used_wall_s < y->used_wall_s ? -1 : 1;
    return (x->pulled_wall_s > y->pulled_wall_s) - (x->pulled_wall_s < y->pulled_wall_s);
}

int prune_list(struct oci_store *s, struct arena *a, struct prune_image **ret, size_t *ret_n,
               struct err *err)
{
    struct prune_reading r = { .s = s, .a = a };
    struct oci_store_image *names;
    scoped(free_scoped) struct oci_store_layer *layers = NULL;
    size_t n, n_layers, n_damaged;
    int e = oci_store_images(s, a, &names, &n, &n_damaged, err);
    e = e < 0 ? e : oci_store_layers_alone(s, &layers, &n_layers, err);
    if (e < 0)
        return e;
    for (size_t i = 0; i < n_layers; i++)
        (void)map_put(&r.layers, key_of(&layers[i].diff_id), &layers[i]);
    r.images = arena_new_n(a, struct prune_image, n + 1);
    for (size_t i = 0; i < n; i++)
        add_name(&r, &names[i]);
    e = oci_store_lease_each(s, add_lease, &r, err);
    map_fini(&r.by_manifest);
    map_fini(&r.layers);
    if (e < 0)
        return e;
    qsort(r.images, r.n, sizeof *r.images, by_use);
    *ret = r.images;
    *ret_n = r.n;
    return 0;
}

/* ---- removing ---- */

/* A time in the future is of a clock that was wrong, and says nothing. */
static bool may_go(const struct prune_image *image, const struct prune_opts *opts)
{
    int64_t age = opts->now_wall_s - image->pulled_wall_s;
    return !image->is_used && !image->is_pinned && (age < 0 || (uint64_t)age >= opts->min_age_s);
}

struct prune_lease {
    const struct oci_digest *manifest;
    bool is_found;
};

static int compare_lease(void *arg, struct str id, const struct oci_digest *manifest,
                         struct err *err)
{
    struct prune_lease *l = arg;
    (void)id, (void)err;
    l->is_found |= oci_digest_equal(manifest, l->manifest);
    return 0;
}

/* Also since the list was made. */
static bool is_leased(struct oci_store *s, const struct prune_image *image)
{
    struct prune_lease l = { .manifest = &image->manifest };
    return oci_store_lease_each(s, compare_lease, &l, NULL) < 0 || l.is_found;
}

/* One that has got another image meanwhile stays. */
static int remove_names(struct oci_store *s, const struct prune_image *image, struct err *err)
{
    for (size_t i = 0; i < image->n_names; i++) {
        struct err why = { 0 };
        int r = oci_store_image_remove_if(s, image->names[i], &image->manifest, &why);
        if (r < 0 && r != -ENOENT && r != E_CONFLICT)
            return err_set(err, r, "%s", err_text(&why));
    }
    return 0;
}

static int collect(struct oci_store *s, struct pruned *to, struct err *err)
{
    struct image_collected c;
    int r = image_collect(s, false, &c, err);
    if (r >= 0)
        to->n_bytes += c.store.n_bytes;
    return r;
}

int prune_images(struct oci_store *s, const struct prune_opts *opts, struct pruned *ret,
                 struct err *err)
{
    struct arena a = { 0 };
    struct prune_image *images;
    struct pruned p = { 0 };
    size_t n = 0;
    int r = prune_list(s, &a, &images, &n, err); /* first, since gc forgets when roots were used */
    r = r < 0 ? r : collect(s, &p, err);
    for (size_t i = 0; i < n && r >= 0 && p.n_bytes < opts->bytes; i++) {
        if (!may_go(&images[i], opts) || is_leased(s, &images[i]))
            continue;
        r = remove_names(s, &images[i], err);
        r = r < 0 ? r : collect(s, &p, err);
        p.n_images += r >= 0;
    }
    arena_fini(&a);
    if (r >= 0)
        *ret = p;
    return r < 0 ? r : 0;
}
