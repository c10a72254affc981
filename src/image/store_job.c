/* SPDX-License-Identifier: Apache-2.0 */
#include "image/store_job.h"

#include "base/buf.h"
#include "base/clock.h"
#include "codec/json.h"
#include "image/erofs_file.h"
#include "image/handed.h"
#include "image/layer_cache.h"
#include "image/layer_child.h"
#include "image/layer_rights.h"
#include "image/linked_dir.h"
#include "image/provide_job.h"
#include "image/stored.h"
#include "oci/pull.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

/* ---- the text ---- */

static const char *const kinds[STORE_JOB_KINDS] = {
    [STORE_JOB_TAG] = "tag",         [STORE_JOB_RM] = "rm",       [STORE_JOB_PIN] = "pin",
    [STORE_JOB_UNPIN] = "unpin",     [STORE_JOB_GC] = "gc",       [STORE_JOB_PULL] = "pull",
    [STORE_JOB_START] = "start",     [STORE_JOB_MOUNT] = "mount", [STORE_JOB_UNMOUNT] = "unmount",
    [STORE_JOB_CHECK] = "check",     [STORE_JOB_KEEP] = "keep",   [STORE_JOB_PROVIDE] = "provide",
    [STORE_JOB_RELEASE] = "release",
};

static const char *const parents[] = { [OCI_SYMLINK_PARENT_REFUSE] = "refuse",
                                       [OCI_SYMLINK_PARENT_SHADOW] = "shadow",
                                       [OCI_SYMLINK_PARENT_FOLLOW] = "follow" };

/* A text of it is used as a path or in a request to a registry. */
static int get_text(const struct json *v, const char *key, struct str *ret, struct err *err)
{
    struct str s = json_get_str(v, key);
    if (s.n > STORE_JOB_TEXT_MAX)
        return err_set(err, E_LIMIT, "'%s' has more than %d bytes", key, STORE_JOB_TEXT_MAX);
    if (str_find_char(s, '\0') >= 0)
        return err_set(err, E_INVALID, "'%s' is no text", key);
    *ret = s;
    return 0;
}

static int get_count(const struct json *v, const char *key, uint64_t max, uint64_t *ret,
                     struct err *err)
{
    const struct json *member = json_getc(v, key);
    int64_t n = 0;
    if (member && (json_int(member, &n) < 0 || n < 0 || (uint64_t)n > max))
        return err_set(err, E_INVALID, "'%s' is no number from 0 to %llu", key,
                       (unsigned long long)max);
    *ret = (uint64_t)n;
    return 0;
}

static int read_images(const struct json *v, struct arena *a, struct store_job *job,
                       struct err *err)
{
    const struct json *images = json_getc(v, "images");
    job->images = arena_new_n(a, struct str, STORE_JOB_IMAGES_MAX);
    json_each (image, images) {
        struct str s = json_str(image);
        if (job->n_images == STORE_JOB_IMAGES_MAX)
            return err_set(err, E_LIMIT, "more than %d images", STORE_JOB_IMAGES_MAX);
        if (s.n == 0 || s.n > STORE_JOB_TEXT_MAX || str_find_char(s, '\0') >= 0)
            return err_set(err, E_INVALID, "the name of an image is none");
        job->images[job->n_images++] = s;
    }
    bool takes_one = job->kind == STORE_JOB_TAG || job->kind == STORE_JOB_MOUNT;
    if (job->n_images == 0 || (takes_one && job->n_images != 1))
        return err_set(err, E_INVALID, "which image?");
    return 0;
}

static int read_login(const struct json *v, struct store_job_pull *p, struct err *err)
{
    p->has_login = v != NULL;
    int r = get_text(v, "user", &p->user, err);
    r = r < 0 ? r : get_text(v, "password", &p->password, err);
    return r < 0 ? r : get_text(v, "identityToken", &p->identity_token, err);
}

static int read_pull(const struct json *v, struct store_job_pull *p, struct err *err)
{
    p->is_plain_http = json_bool(json_getc(v, "plainHTTP"));
    p->allows_private = json_bool(json_getc(v, "allowPrivate"));
    p->is_pinned = json_bool(json_getc(v, "pin"));
    p->is_by_blobs = json_bool(json_getc(v, "whole"));
    p->wants_original = json_bool(json_getc(v, "original"));
    int r = get_text(v, "source", &p->source, err);
    r = r < 0 ? r : get_text(v, "platform", &p->platform, err);
    r = r < 0 ? r : get_text(v, "form", &p->form, err);
    r = r < 0 ? r : get_text(v, "ca", &p->ca, err);
    r = r < 0 ? r : get_count(v, "threads", OCI_PULL_THREADS_MAX, &p->threads, err);
    r = r < 0 ? r : get_count(v, "stallMilliseconds", INT64_MAX, &p->stall_ms, err);
    r = r < 0 ? r : get_count(v, "maxTarBytes", INT64_MAX, &p->max_tar_bytes, err);
    r = r < 0 ? r : read_login(json_getc(v, "login"), p, err);
    if (r >= 0 && p->source.n == 0)
        return err_set(err, E_INVALID, "a pull has a source");
    return r;
}

static int read_start(const struct json *v, struct store_job *job, struct err *err)
{
    int r = oci_digest_parse(json_get_str(v, "config"), &job->config, err);
    r = r < 0 ? err_set(err, E_INVALID, "'config' is no digest") : 0;
    r = r < 0 ? r : get_text(v, "list", &job->list, err);
    return r < 0 || job->list.n ? r : err_set(err, E_INVALID, "a start has a list");
}

static int read_mount(const struct json *v, struct arena *a, struct store_job *job, struct err *err)
{
    struct str how = json_get_str(v, "symlinkParent");
    size_t i = 0;
    while (i < ARRAY_LEN(parents) && how.n && !str_is(how, parents[i]))
        i++;
    if (i == ARRAY_LEN(parents))
        return err_set(err, E_INVALID, "'symlinkParent' is refuse, shadow or follow");
    job->symlink_parent = (enum oci_symlink_parent)i;
    job->is_sharing = json_bool(json_getc(v, "share"));
    return json_getc(v, "images") ? read_images(v, a, job, err) : read_pull(v, &job->pull, err);
}

static const char *const policies[] = { [PROVIDE_IF_NOT_PRESENT] = "IfNotPresent",
                                        [PROVIDE_ALWAYS] = "Always",
                                        [PROVIDE_NEVER] = "Never" };

static enum provide_policy policy_of(struct str word)
{
    size_t i = ARRAY_LEN(policies);
    while (i-- > 1)
        if (str_is(word, policies[i]))
            return (enum provide_policy)i;
    return PROVIDE_IF_NOT_PRESENT;
}

/* A list of texts without zero bytes. */
static int get_list(const struct json *v, const char *key, size_t max, struct arena *a,
                    struct str **ret, size_t *ret_n, struct err *err)
{
    struct str *all = arena_new_n(a, struct str, max);
    size_t n = 0;
    json_each (text, json_getc(v, key)) {
        if (n == max)
            return err_set(err, E_LIMIT, "'%s' has more than %zu texts", key, max);
        if (str_find_char(json_str(text), '\0') >= 0)
            return err_set(err, E_INVALID, "'%s' has what is no text", key);
        all[n++] = json_str(text);
    }
    *ret = all;
    *ret_n = n;
    return 0;
}

static int read_provide(const struct json *v, struct arena *a, struct store_job_provide *p,
                        struct err *err)
{
    p->policy = policy_of(json_get_str(v, "policy"));
    int r = get_text(v, "reference", &p->reference, err);
    r = r < 0 ? r : get_text(v, "tenant", &p->tenant, err);
    r = r < 0 ? r : get_text(v, "ca", &p->ca, err);
    r = r < 0 ? r : get_list(v, "auths", PROVIDE_AUTHS_MAX, a, &p->auths, &p->n_auths, err);
    r = r < 0 ? r : get_list(v, "hosts", PROVIDE_HOSTS_MAX, a, &p->hosts, &p->n_hosts, err);
    r = r < 0 ? r
              : get_list(v, "plainHosts", PROVIDE_HOSTS_MAX, a, &p->plain_hosts, &p->n_plain_hosts,
                         err);
    if (r >= 0 && p->reference.n == 0)
        return err_set(err, E_INVALID, "which image?");
    return r;
}

static bool has_lease(const struct store_job *job)
{
    return job->kind == STORE_JOB_MOUNT || job->kind == STORE_JOB_UNMOUNT ||
           job->kind == STORE_JOB_PROVIDE || job->kind == STORE_JOB_RELEASE;
}

int store_job_read(const struct json *v, struct arena *a, struct store_job *ret, struct err *err)
{
    struct store_job job = { 0 };
    struct str word = json_get_str(v, "do");
    while (job.kind < STORE_JOB_KINDS && !str_is(word, kinds[job.kind]))
        job.kind++;
    if (job.kind == STORE_JOB_KINDS)
        return err_set(err, E_INVALID, "no such job");
    job.is_again = json_bool(json_getc(v, "again"));
    job.is_dry = json_bool(json_getc(v, "dryRun"));
    int r = get_text(v, "name", &job.name, err);
    r = r < 0 ? r : get_count(v, "bytesPerSecond", INT64_MAX, &job.bytes_per_s, err);
    if (r >= 0 && job.kind < STORE_JOB_GC)
        r = read_images(v, a, &job, err);
    if (r >= 0 && job.kind == STORE_JOB_PULL)
        r = read_pull(v, &job.pull, err);
    if (r >= 0 && job.kind == STORE_JOB_START)
        r = read_start(v, &job, err);
    if (r >= 0 && job.kind == STORE_JOB_MOUNT)
        r = read_mount(v, a, &job, err);
    r = r < 0 ? r : get_text(v, "lease", &job.lease, err);
    if (r >= 0 && has_lease(&job) && job.lease.n == 0)
        return err_set(err, E_INVALID, "'%s' has a lease", kinds[job.kind]);
    r = r < 0 ? r : get_text(v, "from", &job.from, err);
    if (r >= 0 && job.kind == STORE_JOB_KEEP && job.from.n == 0)
        return err_set(err, E_INVALID, "where is what is to be kept?");
    if (r >= 0 && job.kind == STORE_JOB_PROVIDE)
        r = read_provide(v, a, &job.provide, err);
    if (r >= 0)
        *ret = job;
    return r;
}

static void set_text(struct arena *a, struct json *v, const char *key, struct str s)
{
    if (s.n)
        json_set_str(a, v, key, s);
}

static void set_true(struct arena *a, struct json *v, const char *key, bool is_so)
{
    if (is_so)
        json_set_bool(a, v, key, true);
}

static void write_pull(struct arena *a, struct json *v, const struct store_job_pull *p)
{
    set_text(a, v, "source", p->source);
    set_text(a, v, "platform", p->platform);
    set_text(a, v, "form", p->form);
    set_text(a, v, "ca", p->ca);
    if (p->threads)
        json_set_int(a, v, "threads", (int64_t)p->threads);
    if (p->stall_ms)
        json_set_int(a, v, "stallMilliseconds", (int64_t)p->stall_ms);
    if (p->max_tar_bytes)
        json_set_int(a, v, "maxTarBytes", (int64_t)p->max_tar_bytes);
    set_true(a, v, "plainHTTP", p->is_plain_http);
    set_true(a, v, "allowPrivate", p->allows_private);
    set_true(a, v, "pin", p->is_pinned);
    set_true(a, v, "whole", p->is_by_blobs);
    set_true(a, v, "original", p->wants_original);
    if (!p->has_login)
        return;
    struct json *login = json_obj(a, v, "login");
    set_text(a, login, "user", p->user);
    set_text(a, login, "password", p->password);
    set_text(a, login, "identityToken", p->identity_token);
}

static void set_list(struct arena *a, struct json *v, const char *key, const struct str *all,
                     size_t n)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < n; i++)
        json_add(list, json_new_str(a, all[i]));
    if (n)
        json_setc(a, v, key, list);
}

static void write_provide(struct arena *a, struct json *v, const struct store_job_provide *p)
{
    set_text(a, v, "reference", p->reference);
    set_text(a, v, "tenant", p->tenant);
    set_text(a, v, "ca", p->ca);
    json_set_str(a, v, "policy", str_of(policies[p->policy]));
    set_list(a, v, "auths", p->auths, p->n_auths);
    set_list(a, v, "hosts", p->hosts, p->n_hosts);
    set_list(a, v, "plainHosts", p->plain_hosts, p->n_plain_hosts);
}

struct json *store_job_write(const struct store_job *job, struct arena *a)
{
    struct json *v = json_new_object(a);
    json_set_str(a, v, "do", str_of(kinds[job->kind]));
    set_text(a, v, "name", job->name);
    set_text(a, v, "from", job->from);
    set_true(a, v, "again", job->is_again);
    set_true(a, v, "dryRun", job->is_dry);
    set_text(a, v, "lease", job->lease);
    if (job->bytes_per_s)
        json_set_int(a, v, "bytesPerSecond", (int64_t)job->bytes_per_s);
    set_list(a, v, "images", job->images, job->n_images);
    if (job->kind == STORE_JOB_PROVIDE)
        write_provide(a, v, &job->provide);
    if (job->kind == STORE_JOB_MOUNT) {
        json_set_str(a, v, "symlinkParent", str_of(parents[job->symlink_parent]));
        set_true(a, v, "share", job->is_sharing);
    }
    if (job->kind == STORE_JOB_PULL || (job->kind == STORE_JOB_MOUNT && !job->n_images))
        write_pull(a, v, &job->pull);
    if (job->kind == STORE_JOB_START) {
        char config[OCI_DIGEST_TEXT_SIZE];
        oci_digest_format(&job->config, config);
        json_set_str(a, v, "config", str_of(config));
        json_set_str(a, v, "list", job->list);
    }
    return v;
}

/* ---- names ---- */

/* "0123456789ab", and not the name of the image. */
static bool is_by_digest(struct str word, const struct oci_store_image *image)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(&image->manifest, text);
    struct str all = str_of(text);
    struct str hex = str_slice(all, strlen("sha256:"), all.n);
    return !str_has_prefix(image->name, word) &&
           (str_has_prefix(hex, word) || str_has_prefix(all, word));
}

/* An image that was found by its digest is changed as long as its name stands for it. */
struct named {
    struct oci_store_image image;
    bool is_by_digest;
};

static int change_name(struct oci_store *s, const struct store_job *job, const struct named *of,
                       struct err *err)
{
    const struct oci_store_image *image = &of->image;
    struct oci_store_image as = *image;
    bool is_pinned = job->kind == STORE_JOB_PIN;
    int r;
    switch (job->kind) {
    case STORE_JOB_TAG:
        as.name = job->name;
        as.is_pinned = false;
        return oci_store_image_put(s, &as, err);
    case STORE_JOB_RM:
        r = of->is_by_digest ? oci_store_image_remove_if(s, image->name, &image->manifest, err)
                             : oci_store_image_remove(s, image->name, err);
        return r == -ENOENT ? 0 : r; /* named twice */
    case STORE_JOB_PIN:
    case STORE_JOB_UNPIN:
        return of->is_by_digest
                   ? oci_store_image_pin_if(s, image->name, &image->manifest, is_pinned, err)
                   : oci_store_image_pin(s, image->name, is_pinned, err);
    case STORE_JOB_GC:
    case STORE_JOB_CHECK:
    case STORE_JOB_PULL:
    case STORE_JOB_START:
    case STORE_JOB_MOUNT:
    case STORE_JOB_UNMOUNT:
    case STORE_JOB_KEEP:
    case STORE_JOB_PROVIDE:
    case STORE_JOB_RELEASE:
    case STORE_JOB_KINDS:
        break;
    }
    return E_INVALID;
}

static int change_names(struct oci_store *s, const struct store_job *job, struct err *err)
{
    struct arena a = { 0 };
    struct named *images = arena_new_n(&a, struct named, job->n_images);
    const struct str *unclear = NULL;
    bool is_again = job->kind == STORE_JOB_RM && job->is_again;
    size_t n = 0;
    int r = 0;
    for (size_t i = 0; i < job->n_images && r >= 0; i++) {
        r = oci_store_image_find(s, job->images[i], &a, &images[n].image, err);
        if (r >= 0)
            images[n].is_by_digest = is_by_digest(job->images[i], &images[n].image);
        if (r >= 0 && is_again && images[n].is_by_digest)
            unclear = &job->images[i]; /* perhaps another name than the one that is gone */
        else if (r >= 0)
            n++;
        else if (r == -ENOENT && is_again)
            r = 0;
    }
    for (size_t i = 0; i < n && r >= 0; i++)
        r = change_name(s, job, &images[i], err);
    arena_fini(&a);
    if (r >= 0 && unclear)
        return err_set(err, E_CONFLICT,
                       "a process that ended may have removed '" STR_FMT
                       "'; an image of that digest still has a name",
                       STR_ARG(*unclear));
    return r < 0 ? r : 0;
}

/* ---- gc ---- */

/* What the layer cache knows of the layers that are left. */
static void cache_json(struct arena *a, struct json *to, const struct layer_cache_summary *c)
{
    static const struct {
        const char *name;
        enum image_cache_list list;
    } rows[] = { { "once", IMAGE_CACHE_T1 },
                 { "often", IMAGE_CACHE_T2 },
                 { "unused", IMAGE_CACHE_DEAD },
                 { "evictedOnce", IMAGE_CACHE_B1 },
                 { "evictedOften", IMAGE_CACHE_B2 } };
    struct json *v = json_obj(a, to, "cache");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct json *l = json_obj(a, v, rows[i].name);
        json_set_int(a, l, "layers", (int64_t)c->lists[rows[i].list].n);
        json_set_int(a, l, "bytes", (int64_t)c->lists[rows[i].list].bytes);
    }
}

struct collected {
    struct oci_store_gc store;
    size_t n_roots;
    struct layer_cache_summary cache;
};

static struct json *collected_json(const struct collected *c, bool is_dry, struct arena *a)
{
    struct json *v = json_new_object(a);
    json_set_int(a, v, "layers", (int64_t)c->store.n_layers);
    json_set_int(a, v, "blobs", (int64_t)c->store.n_blobs);
    json_set_int(a, v, "indexes", (int64_t)c->store.n_indexes);
    json_set_int(a, v, "documents", (int64_t)c->store.n_documents);
    json_set_int(a, v, "files", (int64_t)c->store.n_objects);
    json_set_int(a, v, "bytes", (int64_t)c->store.n_bytes);
    json_set_int(a, v, "rootFileSystems", (int64_t)c->n_roots);
    json_set_bool(a, v, "dryRun", is_dry);
    cache_json(a, v, &c->cache);
    return v;
}

static int collect_all(struct oci_store *s, bool is_dry, struct collected *c, struct err *err)
{
    size_t n_links = 0;
    uint64_t link_bytes = 0;
    int r = provide_sweep(s, 0, is_dry, &c->n_roots, err);
    r = r < 0 ? r : oci_store_gc(s, is_dry, &c->store, err);
    r = r < 0 ? r : oci_store_sweep(s, SIZE_MAX, err);
    r = r < 0 ? r : linked_dir_sweep(s, is_dry, &n_links, &link_bytes, err);
    r = r < 0 ? r : layer_cache_settle(s, err);
    if (r < 0)
        return r;
    (void)layer_cache_summary(s, &c->cache);
    c->store.n_objects += n_links;
    c->store.n_bytes += link_bytes;
    return 0;
}

static int collect(struct oci_store *s, bool is_dry, struct arena *a, struct json **ret,
                   struct err *err)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* a tree is removed by one thread */
    struct collected c = { 0 };
    (void)pthread_mutex_lock(&mutex);
    int r = collect_all(s, is_dry, &c, err);
    (void)pthread_mutex_unlock(&mutex);
    if (r >= 0)
        *ret = collected_json(&c, is_dry, a);
    return r;
}

/* ---- check ---- */

static void tell_finding(void *arg, const char *kind, const char *what, const char *why)
{
    const struct store_job_watch *watch = arg;
    struct arena a = { 0 };
    struct json *v = json_new_object(&a), *f = json_obj(&a, v, "finding");
    json_set_str(&a, f, "kind", str_of(kind));
    json_set_str(&a, f, "what", str_of(what));
    json_set_str(&a, f, "why", str_of(why));
    if (watch->on_event)
        watch->on_event(watch->arg, v);
    arena_fini(&a);
}

static void on_damage(void *arg, enum oci_store_damage_kind kind, const char *what, const char *why)
{
    tell_finding(arg, oci_store_damage_word(kind), what, why);
}

static void on_unread(void *arg, enum oci_store_damage_kind kind, const char *what, const char *why)
{
    scoped(free_scoped) char *which = xasprintf("%s %s", oci_store_damage_word(kind), what);
    tell_finding(arg, "unread", which, why);
}

static void on_mount_damage(void *arg, const char *path, const char *why)
{
    tell_finding(arg, "mount", path, why);
}

static struct json *checked_json(const struct oci_store_check_result *res, struct arena *a)
{
    struct json *v = json_new_object(a);
    json_set_int(a, v, "images", (int64_t)res->n_images);
    json_set_int(a, v, "layers", (int64_t)res->n_layers);
    json_set_int(a, v, "documents", (int64_t)res->n_documents);
    json_set_int(a, v, "files", (int64_t)res->n_objects);
    json_set_int(a, v, "bytes", (int64_t)res->n_bytes);
    json_set_int(a, v, "damaged", (int64_t)res->n_damaged);
    json_set_int(a, v, "removed", (int64_t)res->n_removed);
    json_set_int(a, v, "repaired", (int64_t)res->n_repaired);
    json_set_int(a, v, "incomplete", (int64_t)res->n_incomplete);
    json_set_int(a, v, "unread", (int64_t)res->n_unread);
    return v;
}

static int check(struct oci_store *s, const struct store_job *job,
                 const struct store_job_watch *watch, struct arena *a, struct json **ret,
                 struct err *err)
{
    const struct oci_store_check_opts opts = { .remove = !job->is_dry,
                                               .bytes_per_s = job->bytes_per_s,
                                               .stop = watch->stop,
                                               .on_damage = on_damage,
                                               .on_unread = on_unread,
                                               .arg = (void *)watch,
                                               .reading = &layer_child_reading };
    struct oci_store_check_result res = { 0 };
    struct erofs_file_found mounts = { 0 };
    struct err why = { 0 };
    int r = oci_store_check(s, &opts, &res, &why);
    bool is_unread = r < 0 && r != -ECANCELED && res.n_unread;
    if (r < 0 && !is_unread)
        return err_set(err, r, "%s", err_text(&why));
    if (!is_unread) {
        r = erofs_file_check_all(s, !job->is_dry, on_mount_damage, (void *)watch, &mounts, err);
        r = r < 0 || job->is_dry ? r : oci_store_sweep(s, SIZE_MAX, err);
        if (r < 0)
            return r;
    }
    res.n_damaged += mounts.n_damaged;
    *ret = checked_json(&res, a);
    if (is_unread) {
        struct json *e = json_obj(a, *ret, "unreadError");
        json_set_int(a, e, "code", r);
        json_set_str(a, e, "text", str_of(err_text(&why)));
    }
    return 0;
}

/* ---- pull ---- */

/* Of a layer, since the pull began; 0: that did not happen. */
struct span {
    struct oci_digest diff_id;
    uint64_t blob_bytes, began_us, received_us, done_us;
};

struct pulling {
    uint64_t began_ns;
    struct span *spans;
    size_t n_spans;
    struct oci_store *s;
    const struct store_job_watch *watch;
    pthread_mutex_t mutex; /* of events */
    uint64_t told_ms;
};

static void tell(struct pulling *p, const struct json *v)
{
    if (!p->watch->on_event)
        return;
    (void)pthread_mutex_lock(&p->mutex);
    p->watch->on_event(p->watch->arg, v);
    (void)pthread_mutex_unlock(&p->mutex);
}

static struct json *layer_json(struct arena *a, struct json *to, const struct oci_pull_layer *l)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    struct json *v = json_obj(a, to, "layer");
    oci_digest_format(&l->diff_id, text);
    json_set_str(a, v, "diffID", str_of(text));
    return v;
}

static void tell_progress(struct pulling *p, const struct oci_pull_layer *layers, size_t n,
                          const struct oci_pull_layer *ended)
{
    static const char *const words[] = {
        [OCI_PULL_PRESENT] = "present", [OCI_PULL_DONE] = "done", [OCI_PULL_FAILED] = "failed"
    };
    struct arena a = { 0 };
    struct json *v = json_new_object(&a);
    uint64_t done = 0, all = 0;
    size_t n_done = 0;
    for (size_t i = 0; i < n; i++) {
        all += layers[i].blob.size;
        done += MIN(layers[i].done_bytes, layers[i].blob.size);
        n_done += layers[i].state == OCI_PULL_DONE || layers[i].state == OCI_PULL_PRESENT;
    }
    json_set_int(&a, v, "layers", (int64_t)n);
    json_set_int(&a, v, "layersDone", (int64_t)n_done);
    json_set_int(&a, v, "bytes", (int64_t)all);
    json_set_int(&a, v, "doneBytes", (int64_t)done);
    if (ended) {
        struct json *l = layer_json(&a, v, ended);
        json_set_str(&a, l, "state", str_of(words[ended->state]));
        json_set_int(&a, l, "bytes", (int64_t)ended->blob.size);
    }
    tell(p, v);
    arena_fini(&a);
}

static void time_layer(struct pulling *p, const struct oci_pull_layer *l, size_t i)
{
    struct span *to = &p->spans[i];
    uint64_t now_us = MAX((clock_mono_ns() - p->began_ns) / 1000, (uint64_t)1);
    if (l->state == OCI_PULL_RUNNING && !to->began_us)
        *to = (struct span){ l->diff_id, l->blob.size, .began_us = now_us };
    if (l->state == OCI_PULL_RUNNING && l->done_bytes >= l->blob.size && !to->received_us)
        to->received_us = now_us;
    if (l->state == OCI_PULL_DONE)
        to->done_us = now_us;
}

/* Of the layers that were brought. */
static struct json *spans_json(struct arena *a, const struct pulling *p)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < p->n_spans; i++) {
        const struct span *s = &p->spans[i];
        char digest[OCI_DIGEST_TEXT_SIZE];
        if (!s->done_us)
            continue;
        struct json *v = json_new_object(a);
        oci_digest_format(&s->diff_id, digest);
        json_set_str(a, v, "layer", str_of(digest));
        json_set_int(a, v, "bytes", (int64_t)s->blob_bytes);
        json_set_int(a, v, "beganMicroseconds", (int64_t)s->began_us);
        if (s->received_us)
            json_set_int(a, v, "receivedMicroseconds", (int64_t)s->received_us);
        json_set_int(a, v, "doneMicroseconds", (int64_t)s->done_us);
        json_add(list, v);
    }
    return list;
}

static void on_progress(void *arg, const struct oci_pull_layer *layers, size_t n,
                        const struct oci_pull_layer *changed)
{
    struct pulling *p = arg;
    uint64_t now = clock_mono_ms();
    bool has_ended = changed && changed->state >= OCI_PULL_PRESENT;
    if (!changed) {
        free(p->spans);
        p->spans = xnew_n(struct span, n + 1);
        p->n_spans = n;
    } else {
        time_layer(p, changed, (size_t)(changed - layers));
    }
    if (changed && changed->state == OCI_PULL_DONE)
        layer_rights_give(p->s, &changed->diff_id, STR(""));
    if (!p->watch->on_event || (!has_ended && now - p->told_ms < STORE_JOB_EVENT_GAP_MS))
        return;
    p->told_ms = now;
    tell_progress(p, layers, n, has_ended ? changed : NULL);
}

/* What a command pulls is for all who may use the store. */
static int on_image(void *arg, const struct oci_image *image, struct err *err)
{
    const struct pulling *p = arg;
    (void)err;
    layer_rights_give_documents(p->s, image, STR(""));
    return 0;
}

static void tell_about(struct pulling *p, const struct oci_pull_layer *layer, const char *what,
                       const char *why)
{
    struct arena a = { 0 };
    struct json *v = json_new_object(&a);
    (void)layer_json(&a, v, layer);
    json_set_str(&a, v, "what", str_of(what));
    json_set_str(&a, v, "why", str_of(why));
    tell(p, v);
    arena_fini(&a);
}

static void on_fallback(void *arg, const struct oci_pull_layer *layer, const char *why)
{
    tell_about(arg, layer, "cannot be made from parts, the blob is fetched", why);
}

static void on_again(void *arg, const struct oci_pull_layer *layer, const char *why)
{
    tell_about(arg, layer, "is asked for once more", why);
}

static void on_other_form(void *arg, const struct oci_pull_layer *layer, const char *why)
{
    tell_about(arg, layer, "is not kept in the form asked for", why);
}

static void tell_text(struct pulling *p, const char *key, const char *text)
{
    struct arena a = { 0 };
    struct json *v = json_new_object(&a);
    json_set_str(&a, v, key, str_of(text));
    tell(p, v);
    arena_fini(&a);
}

static void on_note(void *arg, const char *text)
{
    tell_text(arg, "note", text);
}

static void on_original(void *arg, const char *why)
{
    tell_text(arg, "original", why);
}

/* ---- the whole of a pull ---- */

static int read_form(struct oci_store *s, struct str word, bool *ret, struct err *err)
{
    static const char *const forms[] = {
        [OCI_STORE_RAW] = "raw",
        [OCI_STORE_GZ] = "gz",
        [OCI_STORE_BOTH] = "both",
        [OCI_STORE_CAS] = "cas",
    };
    const char *has = forms[oci_store_form(s)];
    *ret = word.n > 0;
    if (word.n && !str_is(word, has))
        return err_set(
            err, E_INVALID,
            "the process that has the store open keeps layers in the form %s, not '" STR_FMT "'",
            has, STR_ARG(word));
    return 0;
}

static struct json *result_json(const struct oci_pull_result *res, struct str name, struct arena *a)
{
    char digest[OCI_DIGEST_TEXT_SIZE], original[OCI_DIGEST_TEXT_SIZE];
    struct json *v = json_new_object(a);
    oci_digest_format(&res->manifest, digest);
    oci_digest_format(&res->original, original);
    json_set_str(a, v, "name", name);
    json_set_str(a, v, "digest", str_of(digest));
    if (res->is_refactored)
        json_set_str(a, v, "original", str_of(original));
    json_set_int(a, v, "layers", (int64_t)res->n_layers);
    json_set_int(a, v, "layersPresent", (int64_t)res->n_present);
    json_set_int(a, v, "bytes", (int64_t)res->n_bytes);
    json_set_int(a, v, "tarBytes", (int64_t)res->n_tar_bytes);
    json_set_int(a, v, "layersByFiles", (int64_t)res->n_by_files);
    json_set_int(a, v, "blobBytesSpared", (int64_t)res->n_blob_bytes);
    return v;
}

static int pull_with(struct pulling *p, const struct store_job *job,
                     const struct oci_remote_opts *registry, struct arena *a, struct json **ret,
                     struct err *err)
{
    const struct store_job_pull *q = &job->pull;
    struct oci_pull_result res;
    struct oci_pull_opts opts = { .name = job->kind == STORE_JOB_PULL ? job->name : STR(""),
                                  .platform = oci_platform_here(),
                                  .threads = (unsigned)q->threads,
                                  .max_tar_bytes = q->max_tar_bytes,
                                  .is_pinned = q->is_pinned,
                                  .is_by_blobs = q->is_by_blobs,
                                  .demands_platform = q->platform.n > 0,
                                  .prefers_refactored = !q->wants_original,
                                  .may_show = layer_rights_is_public,
                                  .reading = &layer_child_reading,
                                  .stop = p->watch->stop,
                                  .on_image = on_image,
                                  .on_progress = on_progress,
                                  .on_fallback = on_fallback,
                                  .on_again = on_again,
                                  .on_other_form = on_other_form,
                                  .on_original = on_original,
                                  .arg = p };
    int r = q->platform.n ? oci_platform_parse(q->platform, &opts.platform, err) : 0;
    r = r < 0 ? r : read_form(p->s, q->form, &opts.has_form, err);
    r = r < 0 ? r : oci_origin_open(q->source, registry, &opts.origin, err);
    if (r < 0)
        return r;
    r = oci_pull(p->s, &opts, &res, err);
    oci_origin_close(&opts.origin);
    if (r >= 0)
        *ret = result_json(&res, job->name, a);
    if (r >= 0)
        json_setc(a, *ret, "spans", spans_json(a, p));
    return r;
}

static int pull(struct oci_store *s, const struct store_job *job,
                const struct store_job_watch *watch, struct arena *a, struct json **ret,
                struct err *err)
{
    const struct store_job_pull *q = &job->pull;
    struct pulling p = { .s = s, .watch = watch, .began_ns = clock_mono_ns() };
    const struct oci_login login = {
        .user = q->user.n ? str_dup_arena(a, q->user) : NULL,
        .password = q->password.n ? str_dup_arena(a, q->password) : NULL,
        .identity_token = q->identity_token.n ? str_dup_arena(a, q->identity_token) : NULL
    };
    const struct oci_remote_opts registry = { .plain_http = q->is_plain_http,
                                              .allows_private = q->allows_private,
                                              .ca_file = q->ca.n ? str_dup_arena(a, q->ca) : NULL,
                                              .login = q->has_login ? &login : NULL,
                                              .stall_ms = q->stall_ms,
                                              .note = on_note,
                                              .stop = watch->stop,
                                              .arg = &p };
    (void)pthread_mutex_init(&p.mutex, NULL);
    int r = pull_with(&p, job, &registry, a, ret, err);
    (void)pthread_mutex_destroy(&p.mutex);
    free(p.spans);
    return r;
}

/* ---- what other processes hand over ---- */

static int put_start(struct oci_store *s, const struct store_job *job, struct arena *a,
                     struct err *err)
{
    struct start_list list = { 0 };
    struct err why = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(START_LIST_BYTES_MAX);
    int r = handed_read(AT_FDCWD, str_dup_arena(a, job->list), &text, &why);
    r = r < 0 ? r : start_list_read(buf_str(&text), &list, &why);
    r = r < 0 ? r : start_list_put(s, &job->config, &list, &why);
    start_list_fini(&list);
    return r < 0 ? err_set(err, r, "list of a start: %s", err_text(&why)) : 0;
}

static int keep(struct oci_store *s, const struct store_job *job,
                const struct store_job_watch *watch, struct arena *a, struct err *err)
{
    const struct handed_opts o = {
        .name = job->name, .lease = job->lease, .reading = &layer_child_reading, .stop = watch->stop
    };
    return handed_keep(s, str_dup_arena(a, job->from), &o, err);
}

/* ---- mount ---- */

enum { LEASE_TURNS_MAX = 4 }; /* gc may remove an image without a name before it is leased */

static int pull_unnamed(struct oci_store *s, const struct store_job *job,
                        const struct store_job_watch *watch, struct arena *a,
                        struct oci_digest *ret, struct err *err)
{
    struct json *v;
    int r = pull(s, job, watch, a, &v, err);
    return r < 0 ? r : oci_digest_parse(json_get_str(v, "digest"), ret, err);
}

/* The image that is asked for, with the lease. */
static int lease(struct oci_store *s, const struct store_job *job,
                 const struct store_job_watch *watch, struct arena *a, struct oci_digest *ret,
                 struct err *err)
{
    struct oci_store_image image = { 0 };
    int r;
    for (unsigned turn = 0; turn < LEASE_TURNS_MAX; turn++) {
        struct err why = { 0 };
        r = job->n_images ? oci_store_image_find(s, job->images[0], a, &image, err)
                          : pull_unnamed(s, job, watch, a, &image.manifest, err);
        if (r < 0)
            return r;
        r = oci_store_lease(s, job->lease, &image.manifest, true, &why);
        if (r >= 0) {
            *ret = image.manifest;
            return 0;
        }
        (void)err_set(err, r, "%s", err_text(&why));
        if (r != -ENOENT || job->n_images)
            return r;
    }
    return r;
}

static int prepare(struct oci_store *s, const struct store_job *job, struct oci_image *image,
                   struct arena *a, struct err *err)
{
    const struct stored stored = { s, image, job->symlink_parent };
    int r = oci_store_image_load(s, &image->digest, a, &image->manifest, &image->config, err);
    if (r < 0)
        return r;
    if (job->n_images)
        oci_store_image_touch(s, &image->config);
    r = job->is_sharing ? stored_share(&stored, err) : 0;
    return r < 0 ? r : stored_prepare(&stored, err);
}

static int mount(struct oci_store *s, const struct store_job *job,
                 const struct store_job_watch *watch, struct arena *a, struct json **ret,
                 struct err *err)
{
    struct oci_image image = { 0 };
    struct err why = { 0 };
    char digest[OCI_DIGEST_TEXT_SIZE];
    int r = lease(s, job, watch, a, &image.digest, err);
    if (r < 0)
        return r;
    r = prepare(s, job, &image, a, &why);
    if (watch->stop && atomic_load(watch->stop)) /* the command has gone, and with it the mount */
        r = err_set(&why, -ECANCELED, "the mount was canceled");
    if (r < 0 && r != E_UNSUPPORTED) {
        (void)oci_store_lease_drop(s, job->lease, NULL);
        return err_set(err, r, "%s", err_text(&why));
    }
    *ret = json_new_object(a);
    oci_digest_format(&image.digest, digest);
    json_set_str(a, *ret, "digest", str_of(digest));
    if (r < 0)
        json_set_str(a, *ret, "unsupported", str_of(err_text(&why)));
    return 0;
}

static int unmount(struct oci_store *s, const struct store_job *job, struct err *err)
{
    struct err why = { 0 };
    int r = oci_store_lease_drop(s, job->lease, &why);
    return r < 0 && r != -ENOENT ? err_set(err, r, "%s", err_text(&why)) : 0;
}

int store_job_run(struct oci_store *s, const struct store_job *job,
                  const struct store_job_watch *watch, struct arena *a, struct json **ret,
                  struct err *err)
{
    struct json *v = json_new_object(a);
    int r;
    if (job->kind == STORE_JOB_PULL)
        r = pull(s, job, watch, a, &v, err);
    else if (job->kind == STORE_JOB_GC)
        r = collect(s, job->is_dry, a, &v, err);
    else if (job->kind == STORE_JOB_CHECK)
        r = check(s, job, watch, a, &v, err);
    else if (job->kind == STORE_JOB_START)
        r = put_start(s, job, a, err);
    else if (job->kind == STORE_JOB_MOUNT)
        r = mount(s, job, watch, a, &v, err);
    else if (job->kind == STORE_JOB_UNMOUNT)
        r = unmount(s, job, err);
    else if (job->kind == STORE_JOB_KEEP)
        r = keep(s, job, watch, a, err);
    else if (job->kind == STORE_JOB_PROVIDE)
        r = provide_job_run(s, job, watch, a, &v, err);
    else if (job->kind == STORE_JOB_RELEASE)
        r = provide_job_release(s, job->lease, err);
    else
        r = change_names(s, job, err);
    if (r < 0)
        return r;
    *ret = v;
    return 0;
}
