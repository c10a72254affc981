/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_image.h"

#include "base/clock.h"
#include "image/layer_cache.h"
#include "image/layer_rights.h"
#include "image/lazy_layers.h"
#include "image/lazy_status.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

struct lazy_image {
    struct lazy_image_opts opts;
    struct lazy_trees trees;
    struct lazy_view view;
    struct start_list first;
    bool has_list;
    struct oci_store *reader; /* NULL: there is no store yet */
    struct oci_contents *contents,
        *later;      /* of other images; of this one, that another start left */
    bool has_looked; /* for what another start left */
    struct lazy_guard *guard;
    struct lazy_fetch *fetch;
    atomic_bool stop;
    struct lazy_prover *prover;
    pthread_mutex_t mutex;      /* of what follows */
    bool is_ended;              /* on_mismatch() or on_late() was called */
    struct lazy_status *status; /* NULL: none could be made */
    uint64_t done_bytes;
    int turn;            /* lazy_status_acquire(); -1: it has none */
    unsigned n_failures; /* since `grown_ms`, when done_bytes last changed */
    uint64_t grown_ms;
    char *reported, *reported_refused; /* by on_failure(), by on_refused() */
};

/* ---- the image in the registry ---- */

static int get_remote(struct lazy_image *l, struct oci_remote **ret, struct err *err)
{
    int r = oci_source_remote_of_thread(l->opts.source, ret, err);
    if (r >= 0)
        oci_remote_until(*ret, 0, &l->stop);
    return r;
}

/*
 * A request that was sent and broke is not repeated by the client of the registry. Whether to ask
 * again, after a pause; to->n: bytes of an answer that began are dropped.
 */
static bool asks_again(int r, unsigned n_tries, struct buf *to)
{
    const struct timespec pause = { .tv_nsec = 250000000L };
    if ((r != -ECONNRESET && r != -EPIPE && r != E_EOF && r != -EAGAIN) ||
        n_tries >= LAZY_FETCH_START_TRIES)
        return false;
    for (unsigned i = 0; i < n_tries; i++)
        (void)nanosleep(&pause, NULL);
    buf_reset(to);
    return true;
}

static int get_list(struct lazy_image *l, struct err *err)
{
    struct oci_remote *m;
    struct err why = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(START_LIST_BYTES_MAX);
    if (!oci_source_remote(l->opts.source) ||
        !oci_remote_has_files(oci_source_remote(l->opts.source)))
        return err_set(err, E_UNSUPPORTED,
                       "a lazy start takes a source that gives single files: 'dormouse image "
                       "serve' of a store that keeps layers as tars");
    int r = get_remote(l, &m, err);
    for (unsigned n = 1; r >= 0; n++) {
        r = oci_remote_start(m, &l->opts.image->manifest.config.digest, &text, &why);
        if (!asks_again(r, n, &text))
            break;
        r = 0;
    }
    if (r == -ENOENT && l->opts.needs_no_list)
        return 0;
    if (r == -ENOENT)
        return err_set(err, r,
                       "no start of the image was recorded there: 'dormouse image run --record' "
                       "beside that 'image serve' does it");
    if (r < 0)
        return err_set(err, r, "list of the start: %s", err_text(&why));
    l->has_list = true;
    return start_list_read(buf_str(&text), &l->first, err);
}

static int get_tree(struct lazy_image *l, size_t i, struct err *err)
{
    struct oci_remote *m;
    const struct oci_image *image = l->opts.image;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT((size_t)l->trees.text_left);
    int r = get_remote(l, &m, err);
    for (unsigned n = 1; r >= 0; n++) {
        r = oci_remote_tree(m, &image->config.diff_ids[i], &text, err);
        if (!asks_again(r, n, &text))
            break;
        r = 0;
    }
    if (r == -EMSGSIZE)
        return err_set(err, E_LIMIT, "the tree manifests have more than %d MiB",
                       LAZY_TREES_MAX >> 20);
    if (r < 0)
        return err_ctx(err, r, "layer %zu", i);
    return lazy_trees_add(
        &l->trees, i, &text,
        oci_import_max_tar_bytes(l->opts.max_tar_bytes, image->manifest.layers[i].size), err);
}

static int get_trees(struct lazy_image *l, struct err *err)
{
    int r = 0;
    lazy_trees_init(&l->trees, l->opts.image->config.diff_ids, l->opts.image->config.n_diff_ids,
                    l->opts.reading, l->opts.reading_arg, &l->stop);
    for (size_t i = 0; i < l->trees.n && r >= 0; i++)
        r = lazy_trees_is_first(&l->trees, i) ? get_tree(l, i, err) : 0;
    lazy_trees_end(&l->trees);
    return r;
}

static int make_view(struct lazy_image *l, struct err *err)
{
    scoped(free_scoped) struct oci_layer **layers = xnew_n(struct oci_layer *, l->trees.n + 1);
    for (size_t i = 0; i < l->trees.n; i++)
        layers[i] = lazy_trees_get(&l->trees, i)->layer;
    return lazy_view_make(layers, l->trees.n, l->opts.root->unpack.dir.symlink_parent,
                          l->opts.image->digest.bytes, &l->view, err);
}

/* ---- files ---- */

static void give_turn(struct lazy_image *l)
{
    (void)pthread_mutex_lock(&l->mutex);
    if (l->turn >= 0)
        lazy_status_release(l->reader, &l->opts.image->digest, l->turn);
    l->turn = -1;
    (void)pthread_mutex_unlock(&l->mutex);
}

static int get_parcel(void *arg, struct str request, struct buf *to, struct err *err)
{
    struct lazy_image *l = arg;
    struct oci_remote *m;
    int r = get_remote(l, &m, err);
    return r < 0 ? r : oci_remote_parcel(m, request, to, err);
}

static void report_progress(void *arg, uint64_t done_bytes, uint64_t all_bytes)
{
    struct lazy_image *l = arg;
    (void)pthread_mutex_lock(&l->mutex);
    if (done_bytes > l->done_bytes) {
        l->done_bytes = done_bytes;
        l->n_failures = 0;
        l->grown_ms = clock_mono_ms();
        if (l->status)
            lazy_status_set(l->status, done_bytes);
    }
    (void)pthread_mutex_unlock(&l->mutex);
    lazy_prover_wake(l->prover);
    if (l->opts.on_progress)
        l->opts.on_progress(l->opts.arg, done_bytes, all_bytes);
}

/* Whether it is another text than the last one. */
static bool note(char **reported, const char *why)
{
    if (*reported && strcmp(*reported, why) == 0)
        return false;
    free(*reported);
    *reported = xstrdup(why);
    return true;
}

/* A start whose registry or link is down must not prevent other starts, which may have another one,
 * from fetching. */
static void report_failure(void *arg, const char *why)
{
    struct lazy_image *l = arg;
    (void)pthread_mutex_lock(&l->mutex);
    bool is_stalled = ++l->n_failures >= LAZY_IMAGE_TURN_FAILURES ||
                      clock_mono_ms() - l->grown_ms >= LAZY_IMAGE_TURN_MS;
    bool is_new = note(&l->reported, why);
    (void)pthread_mutex_unlock(&l->mutex);
    if (is_stalled)
        give_turn(l);
    if (is_new && l->opts.on_failure)
        l->opts.on_failure(l->opts.arg, why);
}

static void report_refused(void *arg, const char *why)
{
    struct lazy_image *l = arg;
    (void)pthread_mutex_lock(&l->mutex);
    bool is_new = note(&l->reported_refused, why);
    (void)pthread_mutex_unlock(&l->mutex);
    if (is_new && l->opts.on_refused)
        l->opts.on_refused(l->opts.arg, why);
}

/* The threads of the proof and of the store may find the same. */
static void report_end(struct lazy_image *l, void (*on_end)(void *arg, const char *why),
                       const char *why)
{
    (void)pthread_mutex_lock(&l->mutex);
    if (!l->is_ended)
        on_end(l->opts.arg, why);
    l->is_ended = true;
    (void)pthread_mutex_unlock(&l->mutex);
}

static void report_mismatch(void *arg, const char *why)
{
    struct lazy_image *l = arg;
    report_end(l, l->opts.on_mismatch, why);
}

static void report_late(void *arg, const char *why)
{
    struct lazy_image *l = arg;
    report_end(l, l->opts.on_late, why);
}

static bool must_end(void *arg)
{
    const struct lazy_image *l = arg;
    return l->opts.must_end && l->opts.must_end(l->opts.arg);
}

static void report_no_answer(void *arg)
{
    const struct lazy_image *l = arg;
    if (l->opts.on_no_answer)
        l->opts.on_no_answer(l->opts.arg);
}

/* Open the store as a reader; create it if it does not exist. */
static int open_store(struct lazy_image *l, struct err *err)
{
    struct err why = { 0 };
    scoped(oci_store_close_scoped) struct oci_store *made = NULL;
    struct oci_store_opts opts = { .root = l->opts.store, .is_reader = true };
    int r = oci_store_open(&opts, &l->reader, &why);
    if (r != -ENOENT)
        return r < 0 ? err_set(err, r, "%s", err_text(&why)) : 0;
    struct oci_store_opts writes = { .root = l->opts.store, .lock_ms = l->opts.wait_ms };
    r = layer_cache_open_store(&writes, IMAGE_CACHE_ARC, &made, err);
    return r < 0 ? r : oci_store_open(&opts, &l->reader, err);
}

/* Files of other images, which the registry then is not asked for. */
static int find_contents(struct lazy_image *l, struct err *err)
{
    const struct lazy_status_row row = { .all_bytes = l->view.n_bytes,
                                         .manifest = l->opts.image->digest,
                                         .reference = l->opts.reference };
    int r = open_store(l, err);
    r = r < 0 ? r : lazy_layers_check(l->reader, &l->trees, err);
    if (r < 0)
        return r;
    if (oci_contents_new(l->reader, layer_rights_is_public, &l->contents, NULL) < 0)
        l->contents = NULL; /* all is fetched */
    if (lazy_status_new(l->reader, &row, &l->status, NULL) < 0)
        l->status = NULL; /* no status file */
    return 0;
}

/* ---- the layers, when all files are here ---- */

/* The store is busy or full, perhaps for long: other starts do not wait for that. */
static void report_not_stored(void *arg, const char *why)
{
    give_turn(arg);
    report_failure(arg, why);
}

/*
 * Another start of the image may fetch it for both: then its layers are in the store when it has
 * given its turn back. If the turn cannot be had for another reason, all fetch.
 */
static bool may_go_on(void *arg, struct lazy_fetch *fetch)
{
    struct lazy_image *l = arg;
    if (l->has_looked)
        return true;
    if (l->opts.may_fetch_rest && !l->opts.may_fetch_rest(l->opts.arg))
        return false;
    int turn = lazy_status_acquire(l->reader, &l->opts.image->digest);
    if (turn == -EAGAIN)
        return false;
    (void)pthread_mutex_lock(&l->mutex);
    l->turn = MAX(turn, -1);
    l->n_failures = 0;
    l->grown_ms = clock_mono_ms();
    (void)pthread_mutex_unlock(&l->mutex);
    l->has_looked = true;
    l->later = oci_contents_of(l->reader, l->trees.diff_ids, l->trees.n, layer_rights_is_public);
    (void)lazy_fetch_use(fetch, l->later, NULL);
    return true;
}

/* By the thread that fetched the last file. */
static void on_all(void *arg, struct lazy_fetch *fetch)
{
    struct lazy_image *l = arg;
    struct err err = { 0 };
    const struct lazy_layers_opts opts = {
        .store = l->opts.store,
        .image = l->opts.image,
        .name = l->opts.name,
        .state = l->opts.state,
        .stop = &l->stop,
        .trees = &l->trees,
        .view = &l->view,
        .first = l->has_list ? &l->first : NULL,
        .fetch = fetch,
        .prover = l->prover,
        .reading = l->opts.reading,
        .reading_arg = l->opts.reading_arg,
        .on_failure = report_not_stored,
        .arg = l,
    };
    int r = lazy_layers_keep(&opts, &err);
    give_turn(l);
    if (r == -ECANCELED)
        return;
    if (r == E_DIGEST)
        report_mismatch(l, err_text(&err));
    else if (l->opts.on_stored)
        l->opts.on_stored(l->opts.arg, r < 0 ? err_text(&err) : NULL);
}

/* ---- the whole ---- */

static int start_fetching(struct lazy_image *l, struct err *err)
{
    const struct lazy_fetch_opts opts = {
        .view = &l->view,
        .diff_ids = l->opts.image->config.diff_ids,
        .guard = l->guard,
        .first = &l->first,
        .contents = l->contents,
        .spool_dir = l->opts.state,
        .parcel = get_parcel,
        .stop = &l->stop,
        .on_progress = report_progress,
        .on_all = on_all,
        .on_failure = report_failure,
        .on_refused = report_refused,
        .on_no_answer = report_no_answer,
        .may_go_on = may_go_on,
        .arg = l,
    };
    const struct lazy_prover_opts proves = { .trees = &l->trees,
                                             .view = &l->view,
                                             .reading = l->opts.reading,
                                             .reading_arg = l->opts.reading_arg,
                                             .within_ms = l->opts.prove_ms,
                                             .on_mismatch = report_mismatch,
                                             .on_late = report_late,
                                             .must_end = must_end,
                                             .arg = l };
    l->prover = lazy_prover_new(&proves);
    int r = lazy_fetch_start(&opts, &l->fetch, err);
    r = r < 0 ? r : lazy_fetch_wait(l->fetch, err);
    return r < 0 ? r : lazy_prover_start(l->prover, l->fetch, err);
}

static int start(struct lazy_image *l, struct err *err)
{
    const struct lazy_guard_opts guard = { .open_ms = l->opts.open_ms, .program = l->opts.program };
    int r = get_list(l, err);
    r = r < 0 ? r : get_trees(l, err);
    r = r < 0 ? r : make_view(l, err);
    r = r < 0 ? r : find_contents(l, err);
    if (r < 0)
        return r;
    r = lazy_root_mount(&l->view, l->opts.state, l->opts.target, l->opts.root, &guard, &l->guard,
                        err);
    if (r < 0)
        return r;
    r = start_fetching(l, err);
    if (r < 0) {
        lazy_image_stop(l);
        (void)root_umount(l->opts.state, l->opts.target, 0, NULL);
    }
    return r;
}

int lazy_image_start(const struct lazy_image_opts *opts, struct lazy_image **ret, struct err *err)
{
    struct lazy_image *l = xnew(struct lazy_image);
    l->opts = *opts;
    l->turn = -1;
    (void)pthread_mutex_init(&l->mutex, NULL);
    int r = start(l, err);
    l->opts.root = NULL; /* the caller's */
    if (r < 0) {
        lazy_image_free(l);
        return r;
    }
    *ret = l;
    return 0;
}

uint32_t lazy_image_missing(const struct lazy_image *l)
{
    return lazy_guard_missing(l->guard);
}

int lazy_image_guard_pid(const struct lazy_image *l)
{
    return lazy_guard_pid(l->guard);
}

static bool is_ended(struct lazy_image *l)
{
    (void)pthread_mutex_lock(&l->mutex);
    bool is = l->is_ended;
    (void)pthread_mutex_unlock(&l->mutex);
    return is;
}

size_t lazy_image_finish(struct lazy_image *l)
{
    struct err err = { 0 };
    if (!is_ended(l) && lazy_prover_finish(l->prover, l->fetch, &err) == E_DIGEST)
        report_mismatch(l, err_text(&err));
    return is_ended(l) ? 0 : lazy_prover_missing(l->prover);
}

void lazy_image_stop(struct lazy_image *l)
{
    atomic_store(&l->stop, true);
    lazy_prover_stop(l->prover); /* its thread uses l->fetch, whose threads use it */
    lazy_fetch_free(l->fetch);
    l->fetch = NULL;
    give_turn(l);
}

void lazy_image_rest(struct lazy_image *l)
{
    lazy_image_stop(l);
    lazy_prover_free(take_ptr(&l->prover));
    lazy_status_free(take_ptr(&l->status));
    oci_contents_free(take_ptr(&l->contents));
    oci_contents_free(take_ptr(&l->later));
    oci_store_close(take_ptr(&l->reader));
    lazy_trees_fini(&l->trees);
    lazy_view_fini(&l->view);
    start_list_fini(&l->first);
}

void lazy_image_free(struct lazy_image *l)
{
    if (!l)
        return;
    lazy_image_rest(l);
    lazy_guard_free(l->guard);
    (void)pthread_mutex_destroy(&l->mutex);
    free(l->reported);
    free(l->reported_refused);
    free(l);
}
