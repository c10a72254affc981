/* SPDX-License-Identifier: Apache-2.0 */
/* One thread takes one layer after the other, the largest first. */
#include "oci/pull.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/map.h"
#include "codec/json.h"
#include "oci/pull_chunks.h"
#include "oci/pull_deltas.h"
#include "oci/pull_files.h"
#include "oci/pull_members.h"
#include "oci/refactored.h"
#include "oci/table.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

enum {
    REPORT_BYTES = 256 << 10,
    MANIFEST_MAX = OCI_DOCUMENT_MAX,
    FILES_MIN_BYTES = 16 << 10, /* fetching a smaller blob is faster than fetching its parts */
    CHUNKS_MIN_BYTES = 256 << 10,
    DELTAS_MIN_BYTES = 1 << 20, /* for smaller blobs alone the registry is not asked for them */
    WAIT_MS = 5000,             /* for another pull of a layer, and as long as its blob takes: */
    WAIT_BYTES_PER_MS = 64,
    BESIDE_BYTES = 32 << 20, /* larger blobs are fetched twice at once only after a longer wait */
    BESIDE_BYTES_PER_MS = 1024,
};

struct pull {
    struct oci_store *s;
    const struct oci_pull_opts *opts;
    struct oci_image image;
    struct arena documents;        /* of a refactored image */
    struct oci_pull_layer *layers; /* distinct, the largest first */
    size_t n, next;
    pthread_mutex_t mutex; /* of `next`, the layers, the result, the error and on_progress() */
    struct oci_pull_result result;
    struct err err;
    pthread_mutex_t contents_mutex; /* of the next four */
    struct oci_contents *contents;
    struct oci_deltas *deltas;
    bool has_contents, has_deltas; /* they were looked for */
    bool files_lied;   /* of `mutex`: what the origin gave by digest was something else */
    bool origin_lacks; /* of `mutex`: a blob could not be had from it, or was something else */
    struct oci_image original;   /* of which `image` is the refactored form */
    atomic_bool knows_one_range; /* of a blob in a request */
    struct oci_table_reader *tables;
};

/* ---- progress ---- */

static void report(struct pull *p, struct oci_pull_layer *l, enum oci_pull_state state,
                   uint64_t done_bytes)
{
    (void)pthread_mutex_lock(&p->mutex);
    if (l) {
        l->state = state;
        l->done_bytes = done_bytes;
    }
    if (p->opts->on_progress)
        p->opts->on_progress(p->opts->arg, p->layers, p->n, l);
    (void)pthread_mutex_unlock(&p->mutex);
}

static bool must_stop(const struct pull *p)
{
    return p->opts->stop && atomic_load(p->opts->stop);
}

static int canceled(struct err *err)
{
    return err_set(err, -ECANCELED, "the pull was canceled");
}

/* ---- one layer ---- */

struct arriving {
    struct pull *p;
    struct oci_pull_layer *l;
    struct oci_import *import;
    uint64_t n, reported, n_tar;
    bool has_failed; /* to keep the received part */
};

static int on_arrived(void *arg, struct str bytes, struct err *err)
{
    struct arriving *a = arg;
    int r = must_stop(a->p) ? canceled(err) : oci_import_add(a->import, bytes, err);
    a->has_failed = r < 0;
    a->n += bytes.n;
    if (r >= 0 && (a->n - a->reported >= REPORT_BYTES || a->n == a->l->blob.size)) {
        a->reported = a->n;
        report(a->p, a->l, OCI_PULL_RUNNING, a->n);
    }
    return r;
}

static int count_tar(void *arg, struct str bytes, struct err *err)
{
    struct arriving *a = arg;
    (void)err;
    a->n_tar += bytes.n;
    return 0;
}

/* What the store had when the first layer needed it; NULL: nothing, or it cannot be read. */
static struct oci_contents *contents_of(struct pull *p)
{
    (void)pthread_mutex_lock(&p->contents_mutex);
    if (!p->has_contents)
        (void)oci_contents_new(p->s, p->opts->may_show, &p->contents, NULL);
    p->has_contents = true;
    struct oci_contents *c = p->contents && oci_contents_n(p->contents) ? p->contents : NULL;
    (void)pthread_mutex_unlock(&p->contents_mutex);
    return c;
}

/* Those that are attached to the image; NULL: none, or not of files that the store has. */
static const struct oci_deltas *deltas_of(struct pull *p)
{
    (void)pthread_mutex_lock(&p->contents_mutex);
    if (!p->has_deltas)
        (void)oci_deltas_find(p->s, &p->opts->origin, &p->image.digest, &p->deltas, NULL);
    p->has_deltas = true;
    (void)pthread_mutex_unlock(&p->contents_mutex);
    return p->deltas;
}

/* Whether the layer may be made from what the store has and parts of it from the origin. */
static bool may_use_parts(const struct pull *p, const struct oci_pull_layer *l)
{
    const struct oci_origin *o = &p->opts->origin;
    enum oci_store_form form = oci_store_form(p->s);
    return o->parts && !p->opts->is_by_blobs && !p->opts->is_whole && !o->has_no_blobs &&
           l->blob.size >= FILES_MIN_BYTES && (form == OCI_STORE_RAW || form == OCI_STORE_CAS) &&
           !oci_store_layer_has(p->s, &l->diff_id) && !oci_table_reader_has_stalled(p->tables) &&
           (o->parts->has_files(o->arg) || oci_pull_chunks_may(&l->blob) ||
            (o->parts->referrers && l->blob.size >= DELTAS_MIN_BYTES));
}

/* The other pull may have an origin that never ends: this one must not depend on it. */
static uint64_t wait_until_ms(const struct pull *p, const struct oci_pull_layer *l)
{
    uint64_t rate = l->blob.size <= BESIDE_BYTES ? BESIDE_BYTES_PER_MS : WAIT_BYTES_PER_MS;
    uint64_t ms = p->opts->wait_ms ? p->opts->wait_ms : WAIT_MS + l->blob.size / rate;
    return clock_mono_ms() + ms;
}

static struct oci_import_opts import_of(const struct pull *p, const struct oci_pull_layer *l)
{
    return (struct oci_import_opts){ .diff_id = l->diff_id,
                                     .until_ms = wait_until_ms(p, l),
                                     .may_be_beside = true,
                                     .stop = p->opts->stop,
                                     .max_tar_bytes = p->opts->max_tar_bytes,
                                     .reading = p->opts->reading,
                                     .reading_arg = p->opts->reading_arg };
}

static bool is_wrong_bytes(int r)
{
    return r == E_DIGEST || r == E_PARSE || r == E_CORRUPT || r == E_LIMIT;
}

/* That the origin or the store has too little of the layer is not reported to the user. */
static bool is_fault(int r)
{
    return r != E_UNSUPPORTED && r != -ENOENT && r != -EEXIST && r != -ECANCELED;
}

/* r, why: of making the layer, for which n_bytes were received. Whether it was made. */
static bool made_from_parts(struct pull *p, struct oci_pull_layer *l, int r, const struct err *why,
                            uint64_t n_bytes, uint64_t n_tar_bytes)
{
    (void)pthread_mutex_lock(&p->mutex);
    p->result.n_bytes += n_bytes;
    if (r < 0 && is_fault(r) && p->opts->on_fallback)
        p->opts->on_fallback(p->opts->arg, l, err_text(why));
    if (r >= 0) {
        p->result.n_by_files++;
        p->result.n_blob_bytes += l->blob.size;
        p->result.n_tar_bytes += n_tar_bytes;
    }
    (void)pthread_mutex_unlock(&p->mutex);
    if (r >= 0)
        report(p, l, OCI_PULL_DONE, l->blob.size);
    return r >= 0;
}

static bool pull_by_files(struct pull *p, struct oci_pull_layer *l, struct oci_contents *contents)
{
    const struct oci_origin *o = &p->opts->origin;
    struct oci_pull_files_result done;
    const struct oci_pull_files how = { .s = p->s,
                                        .contents = contents,
                                        .origin = o,
                                        .import = import_of(p, l),
                                        .tables = p->tables,
                                        .blob_size = l->blob.size };
    struct err err = { 0 };
    (void)pthread_mutex_lock(&p->mutex);
    bool files_lied = p->files_lied;
    (void)pthread_mutex_unlock(&p->mutex);
    if (files_lied || !o->parts->has_files(o->arg))
        return false;
    int r = oci_pull_files(&how, &done, &err);
    (void)pthread_mutex_lock(&p->mutex);
    p->files_lied = p->files_lied || is_wrong_bytes(r);
    (void)pthread_mutex_unlock(&p->mutex);
    return made_from_parts(p, l, r, &err, done.n_bytes, done.n_tar_bytes);
}

static bool pull_by_delta(struct pull *p, struct oci_pull_layer *l, struct oci_contents *contents)
{
    struct err err = { 0 };
    struct oci_pull_files_result done = { 0 };
    const struct oci_origin *o = &p->opts->origin;
    if (!o->parts->referrers || o->parts->has_files(o->arg) || l->blob.size < DELTAS_MIN_BYTES)
        return false;
    const struct oci_descriptor *d = oci_deltas_get(deltas_of(p), &l->diff_id);
    if (!d || d->size >= l->blob.size || d->size > OCI_LAYER_DELTA_MAX)
        return false;
    scoped(buf_fini_scoped) struct buf delta = BUF_INIT((size_t)d->size);
    int r = oci_delta_fetch(o, d, &delta, &err);
    const struct oci_pull_files how = { .s = p->s,
                                        .contents = contents,
                                        .origin = o,
                                        .import = import_of(p, l),
                                        .tables = p->tables,
                                        .blob_size = l->blob.size,
                                        .delta = buf_str(&delta) };
    uint64_t n_bytes = delta.n;
    r = r < 0 ? r : oci_pull_files(&how, &done, &err);
    return made_from_parts(p, l, r, &err, n_bytes, done.n_tar_bytes);
}

static bool pull_by_tree(struct pull *p, struct oci_pull_layer *l, struct oci_contents *contents)
{
    struct err err = { 0 };
    struct oci_pull_members_result done = { 0 };
    const struct oci_origin *o = &p->opts->origin;
    if (!o->parts->referrers || o->parts->has_files(o->arg) || l->blob.size < DELTAS_MIN_BYTES)
        return false;
    const struct oci_descriptor *d = oci_deltas_tree(deltas_of(p), &l->diff_id);
    if (!d || d->size >= l->blob.size || d->size > OCI_LAYER_TREE_MAX)
        return false;
    scoped(buf_fini_scoped) struct buf tree = BUF_INIT((size_t)d->size);
    int r = oci_delta_fetch(o, d, &tree, &err);
    const struct oci_pull_members how = { .s = p->s,
                                          .contents = contents,
                                          .origin = o,
                                          .blob = &l->blob,
                                          .import = import_of(p, l),
                                          .tables = p->tables,
                                          .tree = buf_str(&tree) };
    r = r < 0 ? r : oci_pull_members(&how, &done, &err);
    return made_from_parts(p, l, r, &err, tree.n + done.n_bytes, done.n_tar_bytes);
}

static bool pull_by_chunks(struct pull *p, struct oci_pull_layer *l, struct oci_contents *contents)
{
    struct oci_pull_chunks_result done;
    const struct oci_pull_chunks how = { .s = p->s,
                                         .knows_one_range = &p->knows_one_range,
                                         .contents = contents,
                                         .origin = &p->opts->origin,
                                         .blob = &l->blob,
                                         .import = import_of(p, l),
                                         .tables = p->tables };
    if (l->blob.size < CHUNKS_MIN_BYTES || !oci_pull_chunks_may(&l->blob))
        return false;
    struct err err = { 0 };
    int r = oci_pull_chunks(&how, &done, &err);
    return made_from_parts(p, l, r, &err, done.n_bytes, done.n_tar_bytes);
}

/* Whether the layer was made from what the store has and parts of it; else its blob is needed. */
static bool pull_by_parts(struct pull *p, struct oci_pull_layer *l)
{
    struct oci_contents *contents = may_use_parts(p, l) ? contents_of(p) : NULL;
    if (!contents)
        return false;
    report(p, l, OCI_PULL_RUNNING, 0);
    return pull_by_files(p, l, contents) || pull_by_delta(p, l, contents) ||
           pull_by_chunks(p, l, contents) || pull_by_tree(p, l, contents);
}

static void set_present(struct pull *p, struct oci_pull_layer *l)
{
    oci_store_layer_touch(p->s, &l->diff_id);
    report(p, l, OCI_PULL_PRESENT, l->blob.size);
}

/* If no registry answers, or the pull is cancelled, the error is not about the image. */
static bool is_about_image(int r)
{
    return r != -ECANCELED && r != -ECONNREFUSED && r != -EHOSTUNREACH && r != -ENETUNREACH &&
           r != -EACCES && r != E_TLS;
}

/* The result of a failed attempt. */
struct pull_attempt {
    bool again; /* it began with the bytes of an earlier attempt, or the received bytes are wrong */
    bool lacks; /* the origin does not have the layer, or something else */
};

/* is_for_blob: the layer is here without it. */
static int try_layer(struct pull *p, struct oci_pull_layer *l, bool is_for_blob,
                     struct pull_attempt *ret, struct err *err)
{
    const struct oci_origin *origin = &p->opts->origin;
    struct arriving a = { .p = p, .l = l };
    struct oci_import_opts opts = {
        .diff_id = l->diff_id,
        .blob = l->blob.digest,
        .blob_size = l->blob.size,
        .has_no_blob = origin->has_no_blobs,
        .is_for_blob = is_for_blob,
        .max_tar_bytes = p->opts->max_tar_bytes,
        .until_ms = wait_until_ms(p, l),
        .may_be_beside = true,
        .stop = p->opts->stop,
        .is_resumable = origin->is_remote && !p->opts->is_whole,
        .reading = p->opts->reading,
        .reading_arg = p->opts->reading_arg,
        .tee = count_tar,
        .tee_arg = &a,
    };
    scoped(oci_import_free_scoped) struct oci_import *import = NULL;
    int r = oci_import_new(p->s, &opts, &import, err);
    if (r == -EEXIST) {
        set_present(p, l);
        return 0;
    }
    ret->again =
        is_wrong_bytes(r); /* what is left of an earlier attempt may be wrong from the start */
    if (r < 0)
        return r;
    a.import = import;
    uint64_t offset = a.n = a.reported = oci_import_offset(import);
    report(p, l, OCI_PULL_RUNNING, a.n);
    if (a.n < l->blob.size || l->blob.size == 0)
        r = origin->blob(origin->arg, &l->blob, offset, on_arrived, &a, err);
    bool was_sent = r >= 0 || a.has_failed;
    r = r < 0 ? r : oci_import_commit(import, err);
    ret->lacks = was_sent ? is_wrong_bytes(r) : is_about_image(r);
    ret->again = (was_sent && (r == E_DIGEST || r == E_PARSE) && origin->is_remote) ||
                 (offset > 0 && is_wrong_bytes(r));
    if (r < 0)
        return r;
    (void)pthread_mutex_lock(&p->mutex);
    p->result.n_bytes += a.n - offset;
    p->result.n_tar_bytes += a.n_tar;
    (void)pthread_mutex_unlock(&p->mutex);
    report(p, l, OCI_PULL_DONE, l->blob.size);
    return 0;
}

static void report_again(struct pull *p, const struct oci_pull_layer *l, const char *why)
{
    (void)pthread_mutex_lock(&p->mutex);
    if (p->opts->on_again)
        p->opts->on_again(p->opts->arg, l, why);
    (void)pthread_mutex_unlock(&p->mutex);
}

/*
 * Wrong content is removed, and requested again from the start: it may have begun with the
 * bytes of an earlier attempt, or a registry may have sent damaged bytes, of which an intermediate
 * cache or another server of that name may have the right ones. A layer that is too large is not
 * retried.
 */
static int fetch_layer(struct pull *p, struct oci_pull_layer *l, bool is_for_blob, struct err *err)
{
    struct pull_attempt attempt = { 0 };
    struct err why = { 0 };
    int r = try_layer(p, l, is_for_blob, &attempt, &why);
    if (r < 0 && attempt.again) {
        report_again(p, l, err_text(&why));
        why = (struct err){ 0 };
        attempt = (struct pull_attempt){ 0 };
        r = try_layer(p, l, is_for_blob, &attempt, &why);
    }
    if (r >= 0)
        return 0;
    (void)pthread_mutex_lock(&p->mutex);
    p->origin_lacks |= attempt.lacks;
    (void)pthread_mutex_unlock(&p->mutex);
    return err_set(err, r, "%s", err_text(&why));
}

/* ---- one that is here in another form ---- */

static void report_other_form(struct pull *p, const struct oci_pull_layer *l, const char *why)
{
    (void)pthread_mutex_lock(&p->mutex);
    if (p->opts->on_other_form)
        p->opts->on_other_form(p->opts->arg, l, why);
    (void)pthread_mutex_unlock(&p->mutex);
}

static bool wants_blobs(const struct pull *p)
{
    enum oci_store_form form = oci_store_form(p->s);
    return p->opts->needs_blobs ||
           (p->opts->has_form && (form == OCI_STORE_GZ || form == OCI_STORE_BOTH));
}

/* The content of its files, or its tar, from what the store has. */
static int add_content(struct pull *p, const struct oci_pull_layer *l, struct err *err)
{
    enum oci_store_form form = oci_store_form(p->s);
    struct err why = { 0 };
    if (form == OCI_STORE_GZ)
        return 0;
    if (form != OCI_STORE_CAS)
        return oci_store_layer_keep_tar(p->s, &l->diff_id, err);
    int r = oci_store_layer_share(p->s, &l->diff_id, &why);
    return r < 0 && r != E_UNSUPPORTED ? err_set(err, r, "%s", err_text(&why)) : 0;
}

static int add_form(struct pull *p, struct oci_pull_layer *l, struct err *err)
{
    struct oci_digest blob;
    uint64_t size;
    int r = p->opts->has_form ? add_content(p, l, err) : 0;
    if (r < 0)
        return r;
    bool has_blob = oci_store_layer_blob(p->s, &l->diff_id, &blob, &size, NULL) >= 0;
    if (wants_blobs(p) && !p->opts->origin.has_no_blobs && !has_blob)
        return fetch_layer(p, l, true, err);
    if (wants_blobs(p) && !p->opts->origin.has_no_blobs &&
        !oci_digest_equal(&blob, &l->blob.digest))
        report_other_form(p, l, "the store has a blob of it that another image names");
    set_present(p, l);
    return 0;
}

static int pull_layer(struct pull *p, struct oci_pull_layer *l, struct err *err)
{
    if (must_stop(p))
        return canceled(err);
    if (wants_blobs(p) && p->opts->origin.has_no_blobs)
        report_other_form(p, l, "the source has no compressed layers");
    bool changes = p->opts->has_form || p->opts->needs_blobs;
    bool is_here = changes && oci_store_layer_has(p->s, &l->diff_id);
    int r = is_here               ? add_form(p, l, err)
            : pull_by_parts(p, l) ? 0
            : must_stop(p)        ? canceled(err)
                                  : fetch_layer(p, l, false, err);
    if (r >= 0 && p->opts->has_form && oci_store_form(p->s) == OCI_STORE_CAS &&
        !oci_store_layer_is_shared(p->s, &l->diff_id))
        report_other_form(p, l, "it has sparse files, which layers cannot share");
    return r;
}

/* ---- all of them ---- */

static struct oci_pull_layer *take_next(struct pull *p)
{
    (void)pthread_mutex_lock(&p->mutex);
    struct oci_pull_layer *l = p->err.code == 0 && p->next < p->n ? &p->layers[p->next++] : NULL;
    (void)pthread_mutex_unlock(&p->mutex);
    return l;
}

static void *run(void *arg)
{
    struct pull *p = arg;
    for (struct oci_pull_layer *l; (l = take_next(p));) {
        struct err err = { 0 };
        if (pull_layer(p, l, &err) >= 0)
            continue;
        report(p, l, OCI_PULL_FAILED, l->done_bytes);
        (void)pthread_mutex_lock(&p->mutex);
        if (p->err.code == 0)
            p->err = err;
        (void)pthread_mutex_unlock(&p->mutex);
    }
    return NULL;
}

static int pull_layers(struct pull *p, struct err *err)
{
    pthread_t threads[OCI_PULL_THREADS_MAX];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t want = p->opts->threads ? p->opts->threads : (size_t)MAX(cores, 1), n = 0;
    want = MIN(MIN(want, p->n), (size_t)OCI_PULL_THREADS_MAX);
    while (n + 1 < want && pthread_create(&threads[n], NULL, run, p) == 0)
        n++;
    (void)run(p);
    for (size_t i = 0; i < n; i++)
        (void)pthread_join(threads[i], NULL);
    return p->err.code < 0 ? err_set(err, p->err.code, "%s", p->err.text) : 0;
}

static int by_size(const void *a, const void *b)
{
    const struct oci_pull_layer *x = a, *y = b;
    return (x->blob.size < y->blob.size) - (x->blob.size > y->blob.size);
}

/* ---- the image ---- */

/* Compressed bytes of layers that the store does not have. */
static uint64_t missing_bytes(const struct pull *p, const struct oci_image *image)
{
    uint64_t n = 0;
    for (size_t i = 0; i < image->manifest.n_layers; i++)
        if (!oci_store_layer_has(p->s, &image->config.diff_ids[i]))
            n += MIN(image->manifest.layers[i].size, UINT64_MAX - n);
    return n;
}

/* A refactored form that cannot be read, or whose checks fail, counts as absent. */
static void choose_image(struct pull *p)
{
    const struct oci_origin *o = &p->opts->origin;
    struct oci_image other;
    if (!p->opts->prefers_refactored || !o->may_be_other || !o->parts || !o->parts->referrers ||
        o->has_no_blobs || p->image.manifest_text.n == 0)
        return;
    uint64_t missing = missing_bytes(p, &p->image);
    if (missing == 0 || oci_refactored_find(&p->documents, o, &p->image, &other, NULL) < 0 ||
        missing_bytes(p, &other) / 2 > missing)
        return;
    p->result.is_refactored = true;
    p->result.original = p->image.digest;
    p->original = p->image;
    p->image = other;
}

/* Use the image of the name, without the attached form. */
static void choose_original(struct pull *p, const char *why)
{
    if (p->opts->on_original)
        p->opts->on_original(p->opts->arg, why);
    p->image = p->original;
    p->result = (struct oci_pull_result){ .n_bytes = p->result.n_bytes,
                                          .n_tar_bytes = p->result.n_tar_bytes };
    p->n = p->next = 0;
    p->err = (struct err){ 0 };
}

/* The distinct layers; one that the store has is marked now, so that it is never waited for. */
static void list_layers(struct pull *p)
{
    const struct oci_image *image = &p->image;
    struct map seen = { 0 };
    p->layers = xnew_n(struct oci_pull_layer, image->manifest.n_layers + 1);
    for (size_t i = 0; i < image->manifest.n_layers; i++) {
        const struct oci_digest *d = &image->config.diff_ids[i];
        if (map_put(&seen, str_n(d->bytes, sizeof d->bytes), &p->layers[p->n]))
            continue;
        p->layers[p->n++] =
            (struct oci_pull_layer){ .diff_id = *d, .blob = image->manifest.layers[i] };
    }
    map_fini(&seen);
    if (p->n)
        qsort(p->layers, p->n, sizeof *p->layers, by_size);
    p->result.n_layers = p->n;
}

/* ---- documents ---- */

static void descriptor_json(struct arena *a, struct json *v, const char *media_type,
                            const struct oci_digest *d, uint64_t size)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    oci_digest_format(d, text);
    json_set_str(a, v, "mediaType", str_of(media_type));
    json_set_str(a, v, "digest", str_of(text));
    json_set_int(a, v, "size", (int64_t)size);
}

/* Make a manifest for an image without one: its layers are uncompressed tars. */
static int make_manifest(struct pull *p, struct arena *a, struct buf *to, struct err *err)
{
    const struct oci_config *c = &p->image.config;
    struct json *v = json_new_object(a), *layers = json_new_array(a);
    json_set_int(a, v, "schemaVersion", 2);
    json_set_str(a, v, "mediaType", STR("application/vnd.oci.image.manifest.v1+json"));
    descriptor_json(a, json_obj(a, v, "config"), "application/vnd.oci.image.config.v1+json",
                    &p->image.manifest.config.digest, p->image.config_text.n);
    for (size_t i = 0; i < c->n_diff_ids; i++) {
        scoped(oci_layer_free_scoped) struct oci_layer *layer = NULL;
        int r = oci_store_layer_index(p->s, &c->diff_ids[i], &layer, err);
        if (r < 0)
            return r;
        struct json *l = json_new_object(a);
        descriptor_json(a, l, "application/vnd.oci.image.layer.v1.tar", &c->diff_ids[i],
                        layer->n_bytes);
        json_add(layers, l);
    }
    json_setc(a, v, "layers", layers);
    int r = json_write(to, v);
    if (r < 0)
        return err_sys(err, r, "manifest");
    sha256_of(buf_str(to), p->image.digest.bytes);
    return 0;
}

static int put_others(struct pull *p, struct err *err)
{
    int r =
        oci_store_document_put(p->s, &p->image.manifest.config.digest, p->image.config_text, err);
    if (r < 0 || p->image.index_text.n == 0)
        return r;
    return oci_store_document_put(p->s, &p->image.index, p->image.index_text, err);
}

/* ---- the whole ---- */

/* What gc must leave meanwhile. */
static void each_held(struct pull *p, void (*f)(struct oci_store *s, const struct oci_digest *d))
{
    f(p->s, &p->image.manifest.config.digest);
    if (p->image.index_text.n)
        f(p->s, &p->image.index);
    for (size_t i = 0; i < p->n; i++)
        f(p->s, &p->layers[i].diff_id);
}

static int put_name(struct pull *p, struct err *err)
{
    struct arena a = { 0 };
    const struct oci_platform *of = &p->image.config.platform;
    struct oci_store_image image = {
        .name = p->opts->name,
        .pulled_wall_s = clock_wall_ms() / 1000,
    };
    scoped(buf_fini_scoped) struct buf made = BUF_INIT(MANIFEST_MAX);
    if (p->image.index_text.n)
        image.index = p->image.index;
    int r = p->image.manifest_text.n ? 0 : make_manifest(p, &a, &made, err);
    struct oci_digest manifest = p->image.digest;
    oci_store_hold(p->s, &manifest);
    r = r < 0 ? r
              : oci_store_document_put(p->s, &manifest,
                                       made.n ? buf_str(&made) : p->image.manifest_text, err);
    image.manifest = p->result.manifest = manifest;
    if (r >= 0 && image.name.n) {
        image.platform = str_of(arena_printf(&a, STR_FMT "/" STR_FMT "%s" STR_FMT, STR_ARG(of->os),
                                             STR_ARG(of->architecture), of->variant.n ? "/" : "",
                                             STR_ARG(of->variant)));
        image.is_pinned = p->opts->is_pinned;
        r = oci_store_image_move(p->s, &image, err);
    }
    oci_store_release(p->s, &manifest);
    arena_fini(&a);
    return r;
}

static int pull_image(struct pull *p, struct err *err)
{
    int r = 0;
    list_layers(p);
    report(p, NULL, OCI_PULL_WAITING, 0);
    each_held(p, oci_store_hold);
    if (p->opts->on_image) /* it may make private what is not here yet */
        r = p->opts->on_image(p->opts->arg, &p->image, err);
    r = r < 0 ? r : put_others(p, err);
    r = r < 0 ? r : pull_layers(p, err);
    if (r >= 0 && p->opts->on_layers)
        r = p->opts->on_layers(p->opts->arg, p->layers, p->n, err);
    if (r >= 0 && must_stop(p))
        r = canceled(err);
    r = r < 0 ? r : put_name(p, err);
    each_held(p, oci_store_release);
    for (size_t i = 0; i < p->n; i++)
        p->result.n_present += p->layers[i].state == OCI_PULL_PRESENT;
    free(p->layers);
    oci_contents_free(p->contents);
    oci_deltas_free(p->deltas);
    p->contents = NULL;
    p->deltas = NULL;
    p->has_contents = p->has_deltas = false;
    return r;
}

static int pull(struct pull *p, struct err *err)
{
    struct err why = { 0 };
    int r = p->opts->origin.image(p->opts->origin.arg, &p->opts->platform, &p->image, err);
    if (r >= 0 && p->opts->demands_platform)
        r = oci_platform_check(&p->opts->platform, &p->image.config, err);
    if (r < 0)
        return r;
    if (must_stop(p))
        return canceled(err);
    choose_image(p);
    r = pull_image(p, &why);
    if (r < 0 && !must_stop(p) && p->result.is_refactored && p->origin_lacks) {
        choose_original(p, err_text(&why));
        why = (struct err){ 0 };
        r = pull_image(p, &why);
    }
    arena_fini(&p->documents);
    return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
}

int oci_pull(struct oci_store *s, const struct oci_pull_opts *opts, struct oci_pull_result *ret,
             struct err *err)
{
    struct pull p = { .s = s, .opts = opts };
    (void)pthread_mutex_init(&p.mutex, NULL);
    (void)pthread_mutex_init(&p.contents_mutex, NULL);
    p.tables = oci_table_reader_new(opts->reading, opts->reading_arg, opts->stop);
    int r = pull(&p, err);
    oci_table_reader_free(p.tables);
    (void)pthread_mutex_destroy(&p.mutex);
    (void)pthread_mutex_destroy(&p.contents_mutex);
    if (r >= 0)
        *ret = p.result;
    return r;
}
