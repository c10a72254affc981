/* SPDX-License-Identifier: Apache-2.0 */
#include "image/store_job.h"

#include "base/buf.h"
#include "base/clock.h"
#include "codec/bind.h"
#include "image/collect.h"
#include "image/erofs_file.h"
#include "image/handed.h"
#include "image/layer_cache.h"
#include "image/layer_child.h"
#include "image/layer_rights.h"
#include "image/provide_job.h"
#include "image/prune_job.h"
#include "image/stored.h"
#include "oci/pull.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

/* ---- the text ---- */

static const char *const kinds[STORE_JOB_KINDS] = {
    [STORE_JOB_TAG] = "tag",         [STORE_JOB_RM] = "rm",         [STORE_JOB_PIN] = "pin",
    [STORE_JOB_UNPIN] = "unpin",     [STORE_JOB_GC] = "gc",         [STORE_JOB_PULL] = "pull",
    [STORE_JOB_START] = "start",     [STORE_JOB_MOUNT] = "mount",   [STORE_JOB_UNMOUNT] = "unmount",
    [STORE_JOB_CHECK] = "check",     [STORE_JOB_KEEP] = "keep",     [STORE_JOB_PROVIDE] = "provide",
    [STORE_JOB_RELEASE] = "release", [STORE_JOB_IMAGES] = "images", [STORE_JOB_PRUNE] = "prune",
};

static const char *const parents[] = { [OCI_SYMLINK_PARENT_REFUSE] = "refuse",
                                       [OCI_SYMLINK_PARENT_SHADOW] = "shadow",
                                       [OCI_SYMLINK_PARENT_FOLLOW] = "follow" };

/* A text is used as a path or in a request to a registry. */
#define TEXT .max = STORE_JOB_TEXT_MAX

static int read_image(struct bind *b, const struct bind_field *f, const struct json *v, void *to)
{
    struct str s = json_str(v);
    if (s.n == 0 || s.n > STORE_JOB_TEXT_MAX || str_find_char(s, '\0') >= 0)
        return BIND_FAIL(b, "the name of an image is none");
    *(struct str *)to = s;
    return 0;
}

static struct json *write_image(struct arena *a, const struct bind_field *f, const void *from)
{
    return json_new_str(a, *(const struct str *)from);
}

static const struct bind_field image_name = { .kind = BIND_KIND_CUSTOM,
                                              .read = read_image,
                                              .write = write_image };
static const struct bind_field job_fields[] = {
    BIND_ENUM("do", struct store_job, kind, kinds, .flags = BIND_LAX | BIND_ALWAYS),
    BIND_STR("name", struct store_job, name, TEXT),
    BIND_STR("from", struct store_job, from, TEXT),
    BIND_BOOL("again", struct store_job, is_again),
    BIND_BOOL("dryRun", struct store_job, is_dry),
    BIND_STR("lease", struct store_job, lease, TEXT),
    BIND_UINT("bytesPerSecond", struct store_job, bytes_per_s),
    BIND_UINT("bytes", struct store_job, bytes),
    BIND_UINT("minAgeSeconds", struct store_job, min_age_s),
    BIND_ARRAY("images", struct store_job, images, n_images, &image_name, STORE_JOB_IMAGES_MAX),
};
static const struct bind_table job_table = BIND_TABLE(job_fields);

#define PULL struct store_job_pull
static int check_pull(struct bind *b, const struct json *v, void *at)
{
    return ((PULL *)at)->source.n ? 0 : BIND_FAIL(b, "a pull has a source");
}

static const struct bind_field login_fields[] = {
    BIND_STR("user", PULL, user, TEXT),
    BIND_STR("password", PULL, password, TEXT),
    BIND_STR("identityToken", PULL, identity_token, TEXT),
};
static const struct bind_table login_table = BIND_TABLE(login_fields);
static const struct bind_field pull_fields[] = {
    BIND_STR("source", PULL, source, TEXT),
    BIND_STR("platform", PULL, platform, TEXT),
    BIND_STR("form", PULL, form, TEXT),
    BIND_STR("ca", PULL, ca, TEXT),
    BIND_UINT("threads", PULL, threads, .max = OCI_PULL_THREADS_MAX),
    BIND_UINT("stallMilliseconds", PULL, stall_ms),
    BIND_UINT("maxTarBytes", PULL, max_tar_bytes),
    BIND_BOOL("plainHTTP", PULL, is_plain_http),
    BIND_BOOL("allowPrivate", PULL, allows_private),
    BIND_BOOL("pin", PULL, is_pinned),
    BIND_BOOL("whole", PULL, is_by_blobs),
    BIND_BOOL("original", PULL, wants_original),
    BIND_INLINE("login", &login_table, .has_at = BIND_HAS(PULL, has_login)),
};
static const struct bind_table pull_table = BIND_TABLE(pull_fields, .check = check_pull);

static const struct bind_field start_fields[] = {
    BIND_CUSTOM("config", struct store_job, config, oci_digest_bind, .write = oci_digest_bind_write,
                .flags = BIND_REQUIRED),
    BIND_STR("list", struct store_job, list, .min = 1, TEXT, .flags = BIND_REQUIRED),
};
static const struct bind_table start_table = BIND_TABLE(start_fields);

static const struct bind_field mount_fields[] = {
    BIND_ENUM("symlinkParent", struct store_job, symlink_parent, parents, .flags = BIND_ALWAYS),
    BIND_BOOL("share", struct store_job, is_sharing),
};
static const struct bind_table mount_table = BIND_TABLE(mount_fields);

#define PROVIDE struct store_job_provide
static int check_provide(struct bind *b, const struct json *v, void *at)
{
    return ((PROVIDE *)at)->reference.n ? 0 : BIND_FAIL(b, "which image?");
}

static const char *const policies[] = { [PROVIDE_IF_NOT_PRESENT] = "IfNotPresent",
                                        [PROVIDE_ALWAYS] = "Always",
                                        [PROVIDE_NEVER] = "Never" };
static const struct bind_field provide_fields[] = {
    BIND_STR("reference", PROVIDE, reference, TEXT),
    BIND_STR("tenant", PROVIDE, tenant, TEXT),
    BIND_STR("ca", PROVIDE, ca, TEXT),
    BIND_BOOL("mounted", PROVIDE, is_mounted),
    BIND_ENUM("policy", PROVIDE, policy, policies, .flags = BIND_LAX | BIND_ALWAYS),
    BIND_STRS("auths", PROVIDE, auths, n_auths, PROVIDE_AUTHS_MAX),
    BIND_STRS("hosts", PROVIDE, hosts, n_hosts, PROVIDE_HOSTS_MAX),
    BIND_STRS("plainHosts", PROVIDE, plain_hosts, n_plain_hosts, PROVIDE_HOSTS_MAX),
};
static const struct bind_table provide_table = BIND_TABLE(provide_fields, .check = check_provide);

static bool has_lease(const struct store_job *job)
{
    return job->kind == STORE_JOB_MOUNT || job->kind == STORE_JOB_UNMOUNT ||
           job->kind == STORE_JOB_PROVIDE || job->kind == STORE_JOB_RELEASE;
}

static int check_images(const struct store_job *job, struct err *err)
{
    bool takes_one = job->kind == STORE_JOB_TAG || job->kind == STORE_JOB_MOUNT;
    return job->n_images == 0 || (takes_one && job->n_images != 1)
               ? err_set(err, E_INVALID, "which image?")
               : 0;
}

int store_job_read(const struct json *v, struct arena *a, struct store_job *ret, struct err *err)
{
    struct store_job job = { .kind = STORE_JOB_KINDS };
    struct bind b = { .arena = a, .err = err };
    int r = bind_read(&b, &job_table, v, &job);
    if (r < 0)
        return r;
    if (job.kind == STORE_JOB_KINDS)
        return err_set(err, E_INVALID, "no such job");
    bool is_mount = job.kind == STORE_JOB_MOUNT, has_images = json_getc(v, "images");
    if (job.kind < STORE_JOB_GC || (is_mount && has_images))
        r = check_images(&job, err);
    if (r >= 0 && (job.kind == STORE_JOB_PULL || (is_mount && !has_images)))
        r = bind_read(&b, &pull_table, v, &job.pull);
    if (r >= 0 && job.kind == STORE_JOB_START)
        r = bind_read(&b, &start_table, v, &job);
    if (r >= 0 && is_mount)
        r = bind_read(&b, &mount_table, v, &job);
    if (r >= 0 && has_lease(&job) && job.lease.n == 0)
        return err_set(err, E_INVALID, "'%s' has a lease", kinds[job.kind]);
    if (r >= 0 && job.kind == STORE_JOB_KEEP && job.from.n == 0)
        return err_set(err, E_INVALID, "where is what is to be kept?");
    if (r >= 0 && job.kind == STORE_JOB_PROVIDE)
        r = bind_read(&b, &provide_table, v, &job.provide);
    if (r >= 0)
        *ret = job;
    return r;
}

struct json *store_job_write(const struct store_job *job, struct arena *a)
{
    struct json *v = bind_write(a, &job_table, job);
    bool is_mount = job->kind == STORE_JOB_MOUNT;
    if (job->kind == STORE_JOB_PROVIDE)
        bind_write_into(a, &provide_table, &job->provide, v);
    if (is_mount)
        bind_write_into(a, &mount_table, job, v);
    if (job->kind == STORE_JOB_PULL || (is_mount && !job->n_images))
        bind_write_into(a, &pull_table, &job->pull, v);
    if (job->kind == STORE_JOB_START)
        bind_write_into(a, &start_table, job, v);
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

/* An image that was found by its digest is changed only while its name refers to it. */
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
    case STORE_JOB_IMAGES:
    case STORE_JOB_PRUNE:
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
            unclear = &job->images[i]; /* may be another name than the removed one */
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

/* The layer cache's records of the remaining layers. */
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

static struct json *collected_json(const struct image_collected *c, bool is_dry, struct arena *a)
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

static int collect(struct oci_store *s, bool is_dry, struct arena *a, struct json **ret,
                   struct err *err)
{
    struct image_collected c = { 0 };
    int r = image_collect(s, is_dry, &c, err);
    if (r >= 0)
        *ret = collected_json(&c, is_dry, a);
    return r;
}

/* ---- check ---- */

static void send_finding(void *arg, const char *kind, const char *what, const char *why)
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
    send_finding(arg, oci_store_damage_name(kind), what, why);
}

static void on_unread(void *arg, enum oci_store_damage_kind kind, const char *what, const char *why)
{
    scoped(free_scoped) char *which = xasprintf("%s %s", oci_store_damage_name(kind), what);
    send_finding(arg, "unread", which, why);
}

static void on_mount_damage(void *arg, const char *path, const char *why)
{
    send_finding(arg, "mount", path, why);
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
struct store_job_span {
    struct oci_digest diff_id;
    uint64_t blob_bytes, began_us, received_us, done_us;
};

struct store_job_pulling {
    uint64_t began_ns;
    struct store_job_span *spans;
    size_t n_spans;
    struct oci_store *s;
    const struct store_job_watch *watch;
    pthread_mutex_t mutex; /* of events */
    uint64_t reported_ms;
};

static void send_json(struct store_job_pulling *p, const struct json *v)
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

static void send_progress(struct store_job_pulling *p, const struct oci_pull_layer *layers,
                          size_t n, const struct oci_pull_layer *ended)
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
    send_json(p, v);
    arena_fini(&a);
}

static void time_layer(struct store_job_pulling *p, const struct oci_pull_layer *l, size_t i)
{
    struct store_job_span *to = &p->spans[i];
    uint64_t now_us = MAX((clock_mono_ns() - p->began_ns) / 1000, (uint64_t)1);
    if (l->state == OCI_PULL_RUNNING && !to->began_us)
        *to = (struct store_job_span){ l->diff_id, l->blob.size, .began_us = now_us };
    if (l->state == OCI_PULL_RUNNING && l->done_bytes >= l->blob.size && !to->received_us)
        to->received_us = now_us;
    if (l->state == OCI_PULL_DONE)
        to->done_us = now_us;
}

/* Of the layers that were brought. */
static struct json *spans_json(struct arena *a, const struct store_job_pulling *p)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < p->n_spans; i++) {
        const struct store_job_span *s = &p->spans[i];
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
    struct store_job_pulling *p = arg;
    uint64_t now = clock_mono_ms();
    bool has_ended = changed && changed->state >= OCI_PULL_PRESENT;
    if (!changed) {
        free(p->spans);
        p->spans = xnew_n(struct store_job_span, n + 1);
        p->n_spans = n;
    } else {
        time_layer(p, changed, (size_t)(changed - layers));
    }
    if (changed && changed->state == OCI_PULL_DONE)
        layer_rights_give(p->s, &changed->diff_id, STR(""));
    if (!p->watch->on_event || (!has_ended && now - p->reported_ms < STORE_JOB_EVENT_GAP_MS))
        return;
    p->reported_ms = now;
    send_progress(p, layers, n, has_ended ? changed : NULL);
}

/* Images that a command pulls are for all users of the store. */
static int on_image(void *arg, const struct oci_image *image, struct err *err)
{
    const struct store_job_pulling *p = arg;
    (void)err;
    layer_rights_give_documents(p->s, image, STR(""));
    return 0;
}

static void send_layer_note(struct store_job_pulling *p, const struct oci_pull_layer *layer,
                            const char *what, const char *why)
{
    struct arena a = { 0 };
    struct json *v = json_new_object(&a);
    (void)layer_json(&a, v, layer);
    json_set_str(&a, v, "what", str_of(what));
    json_set_str(&a, v, "why", str_of(why));
    send_json(p, v);
    arena_fini(&a);
}

static void on_fallback(void *arg, const struct oci_pull_layer *layer, const char *why)
{
    send_layer_note(arg, layer, "cannot be made from parts, the blob is fetched", why);
}

static void on_again(void *arg, const struct oci_pull_layer *layer, const char *why)
{
    send_layer_note(arg, layer, "is asked for once more", why);
}

static void on_other_form(void *arg, const struct oci_pull_layer *layer, const char *why)
{
    send_layer_note(arg, layer, "is not kept in the form asked for", why);
}

static void send_text(struct store_job_pulling *p, const char *key, const char *text)
{
    struct arena a = { 0 };
    struct json *v = json_new_object(&a);
    json_set_str(&a, v, key, str_of(text));
    send_json(p, v);
    arena_fini(&a);
}

static void on_note(void *arg, const char *text)
{
    send_text(arg, "note", text);
}

static void on_original(void *arg, const char *why)
{
    send_text(arg, "original", why);
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

static int pull_with(struct store_job_pulling *p, const struct store_job *job,
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
    struct store_job_pulling p = { .s = s, .watch = watch, .began_ns = clock_mono_ns() };
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
    if (watch->stop && atomic_load(watch->stop)) /* the command has ended, and with it the mount */
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
    else if (job->kind == STORE_JOB_IMAGES)
        r = prune_job_list(s, a, &v, err);
    else if (job->kind == STORE_JOB_PRUNE)
        r = prune_job_run(s, job, a, &v, err);
    else
        r = change_names(s, job, err);
    if (r < 0)
        return r;
    *ret = v;
    return 0;
}
