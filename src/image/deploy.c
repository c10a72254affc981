/* SPDX-License-Identifier: Apache-2.0 */
#include "image/deploy.h"

#include "base/buf.h"
#include "base/clock.h"
#include "image/fetch.h"
#include "image/layer_cache.h"
#include "image/layer_child.h"
#include "image/provide.h"
#include "io/thread_job.h"
#include "oci/reference.h"

#include <errno.h>
#include <pthread.h>

struct layer {
    struct oci_digest blob, diff;
    uint64_t size, raw_size;
    struct image_transfer_piece pieces[IMAGE_TRANSFER_PIECES_MAX];
    size_t n_pieces;
    struct image_fetch_source sources[IMAGE_TRANSFER_SOURCES_MAX];
    const char *names[IMAGE_TRANSFER_SOURCES_MAX]; /* of nodes; NULL: a registry */
    size_t n_sources;
};

struct image_deploy {
    struct image_deploy_opts opts;
    struct arena arena;
    struct image_bdm bdm;
    struct oci_reference ref;
    struct layer *layers;      /* in the order in which they are wanted */
    struct image_inbox *inbox; /* NULL: nothing is pushed */
    size_t n;
    bool has_registry;
    const char *id, *node; /* of the deployment */
    uint64_t deadline_ms;
    atomic_bool stop;
    struct thread_job job;
    pthread_mutex_t mutex; /* of what follows */
    size_t next, n_done, n_present;
    uint64_t peer_bytes, pushed_bytes, registry_bytes, import_bytes, import_us, fetch_ms;
    const char *liars[IMAGE_DEPLOY_BAD_PEERS_MAX];
    size_t n_liars;
    bool has_ended;
    struct err err; /* the first */
};

/* ---- the plan ---- */

static bool may_ask(const struct image_deploy *d, const struct image_bdm_source *s)
{
    return s->is_registry || s->url.n > 0;
}

static bool is_out(const struct image_deploy *d, const struct image_bdm_source *s)
{
    return !s->is_registry && d->opts.is_out && d->opts.is_out(d->opts.arg, s->name);
}

/* The source's place in the layer's table. */
static uint32_t add_source(struct image_deploy *d, struct layer *l,
                           const struct image_bdm_source *s)
{
    const char *name = str_dup_arena(&d->arena, s->name);
    for (uint32_t i = 0; i < l->n_sources; i++)
        if (l->sources[i].is_registry == s->is_registry &&
            strcmp(s->is_registry ? l->sources[i].repository : l->names[i], name) == 0)
            return i;
    l->names[l->n_sources] = s->is_registry ? NULL : name;
    l->sources[l->n_sources] =
        (struct image_fetch_source){ .is_registry = s->is_registry,
                                     .url = str_dup_arena(&d->arena, s->url),
                                     .token = str_dup_arena(&d->arena, s->token),
                                     .repository = name };
    d->has_registry |= s->is_registry;
    return (uint32_t)l->n_sources++;
}

static void add_choices(struct image_deploy *d, struct layer *l, const struct image_bdm_task *t,
                        bool with_out, struct image_transfer_piece *p)
{
    for (uint32_t i = 0; i <= t->n_alternatives; i++) {
        const struct image_bdm_source *s = i ? &t->alternatives[i - 1] : &t->source;
        if (!may_ask(d, s) || (is_out(d, s) && !with_out))
            continue;
        if (i == 0)
            p->is_after = t->is_after;
        p->choices[p->n_choices++] = add_source(d, l, s);
        if (i == 0 && t->is_push) { /* and it is asked if no push arrives */
            p->is_pushed = true;
            p->choices[p->n_choices++] = p->choices[0];
        }
    }
}

static struct layer *layer_of(struct image_deploy *d, const struct image_bdm_task *t)
{
    for (size_t i = 0; i < d->n; i++)
        if (oci_digest_equal(&d->layers[i].blob, &t->blob))
            return &d->layers[i];
    struct layer *l = &d->layers[d->n++];
    l->blob = t->blob;
    l->diff = t->diff;
    l->size = t->size;
    l->raw_size = t->raw_size;
    return l;
}

static int add_task(struct image_deploy *d, const struct image_bdm_task *t, struct err *err)
{
    if (t->encoding != IMAGE_BDM_GZIP)
        return err_set(err, E_UNSUPPORTED,
                       "task %u: only blobs as the registry has them are "
                       "transferred (enc \"gzip\")",
                       t->id);
    struct layer *l = layer_of(d, t);
    uint64_t at = l->n_pieces ? l->pieces[l->n_pieces - 1].to : 0;
    if (l->n_pieces == IMAGE_TRANSFER_PIECES_MAX || t->from != at || t->size != l->size ||
        !oci_digest_equal(&t->diff, &l->diff))
        return err_set(err, E_INVALID, "task %u does not go on where its layer's last one ends",
                       t->id);
    struct image_transfer_piece *p = &l->pieces[l->n_pieces++];
    *p = (struct image_transfer_piece){ .from = t->from, .to = t->to, .expect_ms = t->expect_ms };
    add_choices(d, l, t, false, p);
    if (p->n_choices == 0)
        add_choices(d, l, t, true, p);
    return p->n_choices ? 0
                        : err_set(err, E_INVALID, "task %u: no source of it can be asked", t->id);
}

static int by_place(const void *a, const void *b)
{
    const struct image_bdm_task *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    int r = memcmp(x->blob.bytes, y->blob.bytes, sizeof x->blob.bytes);
    return r ? r : (x->from > y->from) - (x->from < y->from);
}

static void make_inbox(struct image_deploy *d)
{
    size_t n = 0;
    struct image_inbox_slot *slots =
        arena_new_n(&d->arena, struct image_inbox_slot, d->bdm.n_tasks + 1);
    for (size_t i = 0; i < d->bdm.n_tasks; i++) {
        const struct image_bdm_task *t = &d->bdm.tasks[i];
        if (t->is_push)
            slots[n++] = (struct image_inbox_slot){
                .blob = t->blob, .source = t->source.name, .from = t->from, .to = t->to
            };
    }
    d->inbox = n ? image_inbox_new(slots, n) : NULL;
}

static int make_plan(struct image_deploy *d, struct err *err)
{
    struct image_bdm *b = &d->bdm;
    if (b->n_tasks)
        qsort(b->tasks, b->n_tasks, sizeof *b->tasks, by_place);
    d->layers = xnew_n(struct layer, b->n_tasks + 1);
    for (size_t i = 0; i < b->n_tasks; i++) {
        int r = add_task(d, &b->tasks[i], err);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < d->n; i++)
        if (d->layers[i].pieces[d->layers[i].n_pieces - 1].to != d->layers[i].size)
            return err_set(err, E_INVALID, "the ranges of a layer do not cover it");
    make_inbox(d);
    return 0;
}

/* ---- layers, on several threads ---- */

struct fetch_arg {
    struct image_deploy *d;
    const struct layer *l;
};

static void on_bad_source(void *arg, uint32_t source)
{
    const struct fetch_arg *a = arg;
    struct image_deploy *d = a->d;
    if (a->l->sources[source].is_registry)
        return;
    (void)pthread_mutex_lock(&d->mutex);
    if (d->n_liars < IMAGE_DEPLOY_BAD_PEERS_MAX)
        d->liars[d->n_liars++] = a->l->names[source];
    (void)pthread_mutex_unlock(&d->mutex);
}

static void note_error(struct image_deploy *d, const struct err *err)
{
    (void)pthread_mutex_lock(&d->mutex);
    if (d->err.code == 0)
        d->err = *err;
    (void)pthread_mutex_unlock(&d->mutex);
    atomic_store(&d->stop, true);
}

static void fetch_layer(struct image_deploy *d, const struct layer *l)
{
    struct err err = { 0 };
    char digest[OCI_DIGEST_TEXT_SIZE];
    struct fetch_arg arg = { d, l };
    struct image_fetch_result result;
    const struct image_fetch f = { .store = d->opts.store,
                                   .blob = l->blob,
                                   .diff_id = l->diff,
                                   .size = l->size,
                                   .max_tar_bytes = l->raw_size,
                                   .pieces = l->pieces,
                                   .n_pieces = l->n_pieces,
                                   .sources = l->sources,
                                   .n_sources = l->n_sources,
                                   .reading = &layer_child_reading,
                                   .deploy = d->id,
                                   .node = d->node,
                                   .inbox = d->inbox,
                                   .registry = d->ref.host,
                                   .remote = d->opts.remote,
                                   .tls = d->opts.tls,
                                   .deadline_ms = d->deadline_ms,
                                   .bytes_per_second =
                                       d->bdm.is_prefetch ? d->opts.prefetch_bps : 0,
                                   .stop = &d->stop,
                                   .on_bad_source = on_bad_source,
                                   .arg = &arg };
    int r = image_fetch_layer(&f, &result, &err);
    if (r < 0) {
        oci_digest_format(&l->blob, digest);
        (void)err_ctx(&err, r, "layer %.19s", digest);
        note_error(d, &err);
    }
    (void)pthread_mutex_lock(&d->mutex);
    d->n_done += r >= 0;
    d->n_present += r >= 0 && result.was_present;
    d->peer_bytes += result.peer_bytes;
    d->pushed_bytes += result.pushed_bytes;
    d->registry_bytes += result.registry_bytes;
    d->import_bytes += result.import_bytes;
    d->import_us += result.import_us;
    (void)pthread_mutex_unlock(&d->mutex);
}

static void *run_layers(void *arg)
{
    struct image_deploy *d = arg;
    for (;;) {
        (void)pthread_mutex_lock(&d->mutex);
        const struct layer *l = d->err.code == 0 && d->next < d->n ? &d->layers[d->next++] : NULL;
        (void)pthread_mutex_unlock(&d->mutex);
        if (!l)
            return NULL;
        fetch_layer(d, l);
    }
}

static void fetch_layers(struct image_deploy *d)
{
    pthread_t threads[IMAGE_DEPLOY_THREADS];
    size_t n = 0, want = d->bdm.is_prefetch ? 1 : MIN(d->n, (size_t)IMAGE_DEPLOY_THREADS);
    while (n + 1 < want && pthread_create(&threads[n], NULL, run_layers, d) == 0)
        n++;
    (void)run_layers(d);
    for (size_t i = 0; i < n; i++)
        (void)pthread_join(threads[i], NULL);
}

/* ---- documents and the name ---- */

static int add_to_buf(void *arg, struct str bytes, struct err *err)
{
    return buf_add_str(arg, bytes) < 0 ? err_set(err, E_LIMIT, "a document is too large") : 0;
}

static bool has_document(struct image_deploy *d, const struct oci_digest *digest)
{
    struct str text;
    struct arena a = { 0 };
    bool has = oci_store_document(d->opts.store, digest, &a, &text, NULL) >= 0;
    arena_fini(&a);
    return has;
}

/* Fetch from the registry the documents that the orchestrator did not send. */
static int get_documents(struct image_deploy *d, struct err *err)
{
    struct oci_digest found;
    struct oci_store *s = d->opts.store;
    scoped(oci_remote_free_scoped) struct oci_remote *remote = NULL;
    scoped(buf_fini_scoped) struct buf manifest = BUF_INIT(OCI_DOCUMENT_MAX);
    scoped(buf_fini_scoped) struct buf config = BUF_INIT(OCI_DOCUMENT_MAX);
    if (has_document(d, &d->bdm.manifest) && has_document(d, &d->bdm.config))
        return 0;
    if (!d->has_registry)
        return err_set(err, -ENOENT, "the image's manifest and configuration were not sent");
    int r = oci_remote_open(&d->ref, &d->opts.remote, &remote, err);
    if (r >= 0)
        oci_remote_until(remote, d->deadline_ms, &d->stop);
    r = r < 0 ? r : oci_remote_manifest(remote, &d->bdm.manifest, &manifest, &found, err);
    const struct oci_descriptor c = { .digest = d->bdm.config, .size = 0 };
    struct arena a = { 0 };
    struct oci_manifest doc;
    r = r < 0 ? r : oci_manifest_parse(&a, buf_str(&manifest), &doc, err);
    if (r >= 0 && !oci_digest_equal(&doc.config.digest, &c.digest))
        r = err_set(err, E_INVALID, "the manifest has another configuration");
    r = r < 0 ? r : oci_remote_blob(remote, &doc.config, add_to_buf, &config, err);
    r = r < 0 ? r : oci_store_document_put(s, &d->bdm.manifest, buf_str(&manifest), err);
    r = r < 0 ? r : oci_store_document_put(s, &d->bdm.config, buf_str(&config), err);
    arena_fini(&a);
    return r < 0 ? err_ctx(err, r, "metadata of the image") : 0;
}

static int put_name(struct image_deploy *d, struct err *err)
{
    struct arena a = { 0 };
    struct oci_manifest doc;
    struct oci_config config;
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(2 * OCI_STORE_NAME_MAX);
    int r = oci_store_image_load(d->opts.store, &d->bdm.manifest, &a, &doc, &config, err);
    if (r >= 0) {
        const struct oci_platform *of = &config.platform;
        oci_reference_format(&d->ref, &name);
        struct oci_store_image image = {
            .name = buf_str(&name),
            .manifest = d->bdm.manifest,
            .platform = str_of(arena_printf(&a, STR_FMT "/" STR_FMT "%s" STR_FMT, STR_ARG(of->os),
                                            STR_ARG(of->architecture), of->variant.n ? "/" : "",
                                            STR_ARG(of->variant))),
            .pulled_wall_s = clock_wall_ms() / 1000,
        };
        r = oci_store_image_move(d->opts.store, &image, err);
    }
    arena_fini(&a);
    return r;
}

/* ---- the whole ---- */

/*
 * Neither gc nor eviction takes a layer before the image has its name: those of the BDM, and those
 * of the image that were here before.
 */
static void each_held(struct image_deploy *d, const struct oci_config *image,
                      void (*f)(struct oci_store *s, const struct oci_digest *digest))
{
    for (size_t i = 0; i < d->n; i++)
        f(d->opts.store, &d->layers[i].diff);
    for (size_t i = 0; i < image->n_diff_ids; i++)
        f(d->opts.store, &image->diff_ids[i]);
    f(d->opts.store, &d->bdm.manifest);
    f(d->opts.store, &d->bdm.config);
}

/* The manifest and configuration, if they were received before the BDM; else it is empty. */
static struct oci_config look_at_image(struct image_deploy *d)
{
    struct oci_manifest doc;
    struct oci_config config;
    if (oci_store_image_load(d->opts.store, &d->bdm.manifest, &d->arena, &doc, &config, NULL) < 0)
        return (struct oci_config){ 0 };
    return config;
}

static void on_end(struct thread_job *job)
{
    struct image_deploy *d = container_of(job, struct image_deploy, job);
    d->has_ended = true;
    d->opts.on_end(d->opts.arg, d, d->err.code);
}

static void run(struct thread_job *job)
{
    struct image_deploy *d = container_of(job, struct image_deploy, job);
    struct err err = { 0 };
    const struct oci_config image = look_at_image(d);
    each_held(d, &image, oci_store_hold);
    layer_cache_prefetches(d->bdm.is_prefetch); /* this thread ends with it */
    if (!d->bdm.is_prefetch)                    /* those that come count when they are there */
        oci_store_image_touch(d->opts.store, &image);
    uint64_t began_ms = clock_mono_ms();
    fetch_layers(d);
    d->fetch_ms = clock_mono_ms() - began_ms;
    for (size_t i = 0; d->inbox && i < d->n; i++) /* layers that were not started */
        image_inbox_over(d->inbox, &d->layers[i].blob, 0, UINT64_MAX);
    int r = d->err.code < 0 || d->bdm.is_prefetch ? 0 : get_documents(d, &err);
    if (r >= 0 && d->err.code == 0 && !d->bdm.is_prefetch)
        r = put_name(d, &err);
    each_held(d, &image, oci_store_release);
    if (r < 0)
        note_error(d, &err);
}

int image_deploy_start(const struct image_deploy_opts *opts, struct str text,
                       struct image_deploy **ret, struct err *err)
{
    struct image_deploy *d = xnew(struct image_deploy);
    d->opts = *opts;
    (void)pthread_mutex_init(&d->mutex, NULL);
    int r = image_bdm_parse(&d->arena, str_copy_arena(&d->arena, text), &d->bdm, err);
    r = r < 0 ? r : oci_reference_parse(d->bdm.reference, &d->ref, err);
    if (r >= 0 && d->opts.site)
        r = provide_site_registry(d->opts.site, d->ref.host, &d->opts.remote, err);
    r = r < 0 ? r : make_plan(d, err);
    if (r >= 0) {
        d->id = str_dup_arena(&d->arena, d->bdm.deploy);
        d->node = str_dup_arena(&d->arena, d->bdm.node);
        d->deadline_ms = clock_mono_ms() + d->bdm.deadline_ms;
        d->job = (struct thread_job){ .work = run, .done = on_end };
        r = thread_job_start(opts->loop, &d->job, err);
    }
    if (r < 0) {
        image_deploy_free(d);
        return r;
    }
    *ret = d;
    return 0;
}

void image_deploy_stop(struct image_deploy *d)
{
    atomic_store(&d->stop, true);
}

void image_deploy_free(struct image_deploy *d)
{
    (void)pthread_mutex_destroy(&d->mutex);
    image_inbox_unref(d->inbox);
    arena_fini(&d->arena);
    free(d->layers);
    free(d);
}

struct str image_deploy_id(const struct image_deploy *d)
{
    return d->bdm.deploy;
}

struct str image_deploy_reference(const struct image_deploy *d)
{
    return d->bdm.reference;
}

size_t image_deploy_from_registry(const struct image_deploy *d, struct oci_digest *ret, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n && n < max; i++) {
        const struct layer *l = &d->layers[i];
        if (l->sources[l->pieces[0].choices[0]].is_registry)
            ret[n++] = l->diff;
    }
    return n;
}

struct image_inbox *image_deploy_inbox(const struct image_deploy *d)
{
    return d->inbox;
}

bool image_deploy_is_prefetch(const struct image_deploy *d)
{
    return d->bdm.is_prefetch;
}

bool image_deploy_has_ended(const struct image_deploy *d)
{
    return d->has_ended;
}

void image_deploy_measured(const struct image_deploy *d, struct image_deploy_measured *ret)
{
    *ret = (struct image_deploy_measured){ .peer_bytes = d->peer_bytes,
                                           .registry_bytes = d->registry_bytes,
                                           .fetch_ms = d->fetch_ms,
                                           .import_bytes = d->import_bytes,
                                           .import_ms = d->import_us / 1000 };
}

size_t image_deploy_bad_peers(struct image_deploy *d, struct str ret[IMAGE_DEPLOY_BAD_PEERS_MAX])
{
    (void)pthread_mutex_lock(&d->mutex);
    size_t n = d->n_liars;
    for (size_t i = 0; i < n; i++)
        ret[i] = str_of(d->liars[i]);
    (void)pthread_mutex_unlock(&d->mutex);
    return n;
}

void image_deploy_error(struct image_deploy *d, struct err *ret)
{
    (void)pthread_mutex_lock(&d->mutex);
    *ret = d->err;
    (void)pthread_mutex_unlock(&d->mutex);
}

void image_deploy_status(struct image_deploy *d, struct buf *to)
{
    struct arena a = { 0 };
    struct json *v = json_new_object(&a), *liars = json_new_array(&a);
    (void)pthread_mutex_lock(&d->mutex);
    json_set_str(&a, v, "deploy", d->bdm.deploy);
    json_set_str(&a, v, "state",
                 !d->has_ended     ? STR("running")
                 : d->err.code < 0 ? STR("failed")
                                   : STR("done"));
    json_set_int(&a, v, "layers", (int64_t)d->n);
    json_set_int(&a, v, "layersDone", (int64_t)d->n_done);
    json_set_int(&a, v, "layersPresent", (int64_t)d->n_present);
    json_set_int(&a, v, "peerBytes", (int64_t)d->peer_bytes);
    json_set_int(&a, v, "pushedBytes", (int64_t)d->pushed_bytes);
    json_set_int(&a, v, "registryBytes", (int64_t)d->registry_bytes);
    for (size_t i = 0; i < d->n_liars; i++)
        json_add(liars, json_new_str(&a, str_of(d->liars[i])));
    json_setc(&a, v, "liars", liars);
    if (d->err.code < 0)
        json_set_str(&a, v, "error", str_of(err_text(&d->err)));
    (void)json_write(to, v);
    (void)pthread_mutex_unlock(&d->mutex);
    arena_fini(&a);
}
