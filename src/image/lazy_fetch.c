/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_fetch.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/sm.h"
#include "base/sys.h"
#include "oci/file_parcel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { PIECE_BYTES = 256 << 10 };

/* A background request may take long: a file that an open waits for is also requested alone. */
enum lazy_fetch_state { STATE_AWAY, STATE_COMING, STATE_URGENT, STATE_HERE };

static const struct sm_state item_table[] = {
    [STATE_AWAY] = { "away", EDGE(STATE_COMING) | EDGE(STATE_URGENT) | EDGE(STATE_HERE) },
    [STATE_COMING] = { "coming", EDGE(STATE_AWAY) | EDGE(STATE_URGENT) | EDGE(STATE_HERE) },
    [STATE_URGENT] = { "urgent", EDGE(STATE_AWAY) | EDGE(STATE_HERE) },
    [STATE_HERE] = { "here", 0 },
};

struct lazy_fetch_place {
    int fd;          /* borrowed */
    uint32_t source; /* of the guardian */
    uint64_t at;
};

/* A file of the view. */
struct lazy_fetch_item {
    struct lazy_fetch_place place; /* where it is; while is_local, where it may be */
    /* It failed, while others did not: when, and until when the background leaves it. */
    uint64_t bad_ms, bad_until_ms;
    int bad_error; /* for opens */
    uint8_t state, n_bad;
    bool is_first;    /* of the start */
    bool is_wanted;   /* something waits in an open of it */
    bool is_local;    /* the store lists it; its content was not compared */
    bool is_refused;  /* permanently, and this was reported */
    bool is_hopeless; /* it cannot be fetched, and is not in the store */
    bool is_alone;    /* a request for it alone failed: it stays alone */
};

/* A struct sm would take 16 bytes of each of a million files. */
static void item_move(struct lazy_fetch_item *it, enum lazy_fetch_state to)
{
    struct sm sm = { item_table, it->state };
    sm_move(&sm, to);
    it->state = (uint8_t)sm.at;
}

/* Threads that do the same: after a failure of the registry all of them wait. */
struct lazy_fetch_lane {
    uint8_t state; /* of what they ask for */
    uint64_t again_ms, max_ms, until_ms;
    size_t most_files; /* of a request: halved when one fails as a whole, doubled when not */
};

struct lazy_fetch {
    struct lazy_fetch_opts opts;
    int spool;
    uint32_t spool_source;
    uint32_t *order; /* of fetching what nothing waits for; n_order, the start's are first */
    size_t n_order, n_first;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    struct lazy_fetch_item *items; /* of the view */
    struct lazy_fetch_lane rest, urgent;
    size_t n_wanted;
    uint64_t spooled, done_bytes;
    unsigned n_tries;        /* of fetching the start, that failed one after the other */
    struct err first_err;    /* of fetching the start */
    bool has_guardian_ended; /* there is no guardian any more */
    bool stops;
    pthread_t threads[2 + LAZY_FETCH_URGENT_THREADS];
    size_t n_threads;
};

/* The files of one request. */
struct lazy_fetch_batch {
    VEC(uint32_t) files, layers;
    uint64_t n_bytes, max_bytes, now_ms;
    uint8_t state; /* of its lane */
    size_t most_files;
    bool is_refused;   /* the request as a whole */
    uint64_t again_ms; /* clock: then one that is left out may be tried; UINT64_MAX: none */
    bool is_alone;
};

static void batch_fini(struct lazy_fetch_batch *b)
{
    vec_fini(&b->files);
    vec_fini(&b->layers);
}

static const struct lazy_file *file_of(const struct lazy_fetch *f, uint32_t file)
{
    return &f->opts.view->files[file];
}

/* ---- files in the store ---- */

/* A guardian that has ended accepts no files; the store still needs them. */
static void put_here(struct lazy_fetch *f, uint32_t file, const struct lazy_fetch_place *p)
{
    (void)pthread_mutex_lock(&f->mutex);
    struct lazy_fetch_item *it = &f->items[file];
    bool was_here = it->state == STATE_HERE; /* it was asked for twice */
    if (!was_here) {
        it->place = *p;
        item_move(it, STATE_HERE);
        it->is_local = false;
        assert(!it->is_wanted || f->n_wanted > 0);
        f->n_wanted -= it->is_wanted;
        it->is_wanted = false;
        f->done_bytes += file_of(f, file)->size;
    }
    bool has_guardian_ended = f->has_guardian_ended;
    (void)pthread_mutex_unlock(&f->mutex);
    if (!was_here && !has_guardian_ended)
        (void)lazy_guard_have(f->opts.guard, file, p->source, p->at, NULL);
}

static int take_file(struct lazy_fetch *f, uint32_t file, const char *bytes, struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    const struct lazy_file *of = file_of(f, file);
    sha256_of(str_n(bytes, (size_t)of->size), digest);
    if (memcmp(digest, of->digest, sizeof digest) != 0)
        return err_set(err, E_DIGEST, "a file is not what its digest says");
    (void)pthread_mutex_lock(&f->mutex);
    bool is_here = f->items[file].state == STATE_HERE;
    struct lazy_fetch_place p = { .fd = f->spool, .source = f->spool_source, .at = f->spooled };
    f->spooled += is_here ? 0 : of->size;
    (void)pthread_mutex_unlock(&f->mutex);
    if (is_here)
        return 0;
    int r = sys_pwrite_all(f->spool, bytes, (size_t)of->size, p.at);
    if (r >= 0) {
        put_here(f, file, &p);
        return 0;
    }
    /* The next attempt writes elsewhere: what was written of this one must not keep the disk full.
     */
    (void)sys_fallocate(f->spool, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, p.at, of->size);
    return err_sys(err, r, "keep a file that came");
}

/* The store's copy is compared with the digest before a program can read it. */
static bool is_what_it_says(const struct lazy_fetch *f, uint32_t file,
                            const struct lazy_fetch_place *p)
{
    uint8_t digest[SHA256_BYTES];
    const struct lazy_file *of = file_of(f, file);
    scoped(free_scoped) char *piece = xalloc(PIECE_BYTES);
    scoped(sha256_free_scoped) struct sha256 *hash = sha256_new();
    for (uint64_t at = 0, n; at < of->size; at += n) {
        n = MIN(of->size - at, (uint64_t)PIECE_BYTES);
        if (lazy_fetch_is_over(f) ||
            sys_pread_full(p->fd, piece, (size_t)n, p->at + at) < (ssize_t)n)
            return false;
        sha256_add(hash, piece, (size_t)n);
    }
    sha256_end(hash, digest);
    return memcmp(digest, of->digest, sizeof digest) == 0;
}

/* ---- failures ---- */

/* The errno for waiting opens if the source sent wrong contents, or they cannot be stored; 0: any
 * other error, and the opens wait on. */
static int error_for_opens(int r)
{
    return r == -ENOSPC || r == -EDQUOT ? -r
           : r == E_DIGEST || r == E_PARSE || r == E_UNSUPPORTED || r == E_LIMIT || r == -ENOENT
               ? EIO
               : 0;
}

/* A file of this request was not received: it does not delay other files. Opens of it continue to
 * wait while the other lane requests it. */
static void put_bad(struct lazy_fetch *f, const struct lazy_fetch_batch *b, uint32_t file, int r,
                    const struct err *err)
{
    (void)pthread_mutex_lock(&f->mutex);
    struct lazy_fetch_item *it = &f->items[file];
    bool is_over = it->state <= b->state;
    bool was_wanted = it->is_wanted && is_over, is_refused = false;
    if (it->state != STATE_HERE) {
        uint64_t ms = backoff_wait(LAZY_FETCH_AGAIN_MS, LAZY_FETCH_AGAIN_MAX_MS, it->n_bad);
        it->bad_ms = clock_mono_ms();
        it->bad_until_ms = it->is_hopeless ? UINT64_MAX : it->bad_ms + ms;
        it->bad_error = error_for_opens(r);
        it->n_bad = (uint8_t)MIN(it->n_bad + 1, UINT8_MAX);
        is_refused = error_for_opens(r) == EIO && !it->is_refused &&
                     (it->is_hopeless || it->n_bad >= LAZY_FETCH_REFUSED_TRIES);
        it->is_refused |= is_refused;
        if (is_over && it->state != STATE_AWAY)
            item_move(it, STATE_AWAY);
        it->is_wanted &= !was_wanted;
        assert(f->n_wanted >= was_wanted);
        f->n_wanted -= was_wanted;
        if (it->is_first && !f->first_err.code)
            f->first_err = *err;
    }
    (void)pthread_cond_broadcast(&f->changed);
    (void)pthread_mutex_unlock(&f->mutex);
    if (was_wanted)
        (void)lazy_guard_fail(f->opts.guard, file, error_for_opens(r), NULL);
    if (is_refused && f->opts.on_refused && !lazy_fetch_is_over(f))
        f->opts.on_refused(f->opts.arg, err_text(err));
}

/* ---- files that the store already has ---- */

static bool is_large(const struct lazy_fetch *f, uint32_t file)
{
    return file_of(f, file)->size >
           (f->opts.max_file_bytes ? f->opts.max_file_bytes : (uint64_t)OCI_PARCEL_BYTES_MAX);
}

static void put_hopeless(struct lazy_fetch *f, const struct lazy_fetch_batch *b, uint32_t file)
{
    struct err err = { 0 };
    int r = err_set(&err, E_UNSUPPORTED,
                    "what the store has of a file of %llu bytes is damaged, and it is too large to "
                    "be fetched alone",
                    (unsigned long long)file_of(f, file)->size);
    put_bad(f, b, file, r, &err);
}

/* Leaves those in `b` that have to come from the registry. */
static void take_local(struct lazy_fetch *f, struct lazy_fetch_batch *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->files.n; i++) {
        uint32_t file = b->files.p[i];
        (void)pthread_mutex_lock(&f->mutex);
        const struct lazy_fetch_item it = f->items[file];
        (void)pthread_mutex_unlock(&f->mutex);
        if (it.state == STATE_HERE)
            continue;
        if (it.is_local && is_what_it_says(f, file, &it.place)) {
            put_here(f, file, &it.place);
            continue;
        }
        (void)pthread_mutex_lock(&f->mutex);
        f->items[file].is_local = false;
        f->items[file].is_hopeless = is_large(f, file) && !lazy_fetch_is_over(f);
        (void)pthread_mutex_unlock(&f->mutex);
        if (!is_large(f, file))
            b->files.p[n++] = file;
        else
            put_hopeless(f, b, file);
    }
    b->files.n = n;
}

/* ---- one request ---- */

static int write_request(const struct lazy_fetch *f, const struct lazy_fetch_batch *b,
                         struct buf *to, struct err *err)
{
    struct oci_digest layers[OCI_PARCEL_LAYERS_MAX];
    scoped(free_scoped) struct oci_digest *files = xnew_n(struct oci_digest, b->files.n);
    for (size_t i = 0; i < b->files.n; i++)
        memcpy(files[i].bytes, file_of(f, b->files.p[i])->digest, sizeof files[i].bytes);
    for (size_t i = 0; i < b->layers.n; i++)
        layers[i] = f->opts.diff_ids[b->layers.p[i]];
    const struct oci_parcel_request q = {
        .layers = layers, .n_layers = b->layers.n, .files = files, .n_files = b->files.n
    };
    return oci_parcel_request_write(&q, to, err);
}

/* Errors: of the answer as a whole. Of single files: the last one is in *bad, and put_bad() was
 * called for each. */
static int take_parcel(struct lazy_fetch *f, const struct lazy_fetch_batch *b, struct str answer,
                       struct err *bad, struct err *err)
{
    struct oci_parcel p;
    uint64_t n_bytes = 0, at = 0;
    int r = oci_parcel_read(answer, &p, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < p.n_files && p.n_files == b->files.n; i++)
        n_bytes += p.has_file[i] ? file_of(f, b->files.p[i])->size : 0;
    if (p.n_bases != 0 || p.n_files != b->files.n || p.n_bytes != n_bytes)
        return err_set(err, E_PARSE, "the registry gives other files than were asked for");
    scoped(free_scoped) char *files = mem_try((size_t)n_bytes + 1);
    if (!files)
        return err_set(err, -ENOMEM, "files of an image");
    r = oci_parcel_unpack(&p, STR(""), files, err);
    for (size_t i = 0; r >= 0 && i < b->files.n; i++) {
        struct err why = { 0 };
        uint32_t file = b->files.p[i];
        int one = p.has_file[i] ? take_file(f, file, files + at, &why)
                                : err_set(&why, E_UNSUPPORTED,
                                          "the registry does not have all files of the image");
        at += p.has_file[i] ? file_of(f, file)->size : 0;
        if (one >= 0)
            continue;
        put_bad(f, b, file, one, &why);
        *bad = why;
    }
    return r;
}

static int fetch(struct lazy_fetch *f, struct lazy_fetch_batch *b, struct err *bad, struct err *err)
{
    scoped(buf_fini_scoped) struct buf request = BUF_INIT(OCI_PARCEL_REQUEST_MAX);
    scoped(buf_fini_scoped) struct buf answer = BUF_INIT(OCI_PARCEL_ANSWER_MAX);
    take_local(f, b);
    if (b->files.n == 0)
        return 0;
    int r = write_request(f, b, &request, err);
    r = r < 0 ? r : f->opts.parcel(f->opts.arg, buf_str(&request), &answer, err);
    b->is_refused = r < 0;
    return r < 0 ? r : take_parcel(f, b, buf_str(&answer), bad, err);
}

/* ---- what to ask for ---- */

static bool add_layer(struct lazy_fetch_batch *b, uint32_t layer)
{
    vec_each (l, &b->layers) {
        if (*l == layer)
            return true;
    }
    if (b->layers.n == OCI_PARCEL_LAYERS_MAX)
        return false;
    vec_push(&b->layers, layer);
    return true;
}

/* With the lock. false: it is full. */
static bool add_to_batch(struct lazy_fetch *f, struct lazy_fetch_batch *b, uint32_t file,
                         uint8_t state)
{
    struct lazy_fetch_item *it = &f->items[file];
    uint64_t size = file_of(f, file)->size;
    if (it->state >= state)
        return true;
    if (state == STATE_COMING && it->bad_until_ms > b->now_ms) {
        b->again_ms = MIN(b->again_ms, it->bad_until_ms);
        return true;
    }
    if (b->files.n && it->is_alone)
        return true; /* it has its turn when it is the first */
    if (b->is_alone ||
        (b->files.n && (b->n_bytes + size > b->max_bytes || b->files.n >= b->most_files)) ||
        !add_layer(b, file_of(f, file)->layer))
        return false;
    item_move(it, state);
    b->is_alone = it->is_alone;
    vec_push(&b->files, file);
    b->n_bytes += size;
    return true;
}

static void choose_wanted(struct lazy_fetch *f, struct lazy_fetch_batch *b)
{
    size_t n = 0;
    b->max_bytes = LAZY_FETCH_URGENT_BYTES;
    for (size_t i = 0; n < f->n_wanted && i < f->opts.view->n; i++) {
        n += f->items[i].is_wanted;
        if (f->items[i].is_wanted && !add_to_batch(f, b, (uint32_t)i, STATE_URGENT))
            return;
    }
}

static void choose_next(struct lazy_fetch *f, struct lazy_fetch_batch *b)
{
    bool has_room = true;
    b->max_bytes = LAZY_FETCH_BATCH_BYTES;
    for (size_t i = 0; i < f->n_order && has_room; i++) {
        if (i == f->n_first && b->files.n)
            return; /* a start waits for no more than it needs */
        has_room = add_to_batch(f, b, f->order[i], STATE_COMING);
    }
}

/* ---- threads ---- */

/* With the lock. */
static void wait_until(struct lazy_fetch *f, uint64_t until_ms)
{
    uint64_t now = clock_mono_ms();
    struct timespec until = clock_mono_in(until_ms - MIN(until_ms, now));
    (void)pthread_cond_timedwait(&f->changed, &f->mutex, &until);
}

/* The connection or the machine may have failed; the files of the request did not. With the lock.
 */
static void slow_down(struct lazy_fetch *f, struct lazy_fetch_lane *l, int r, const struct err *err)
{
    /* What could not be sent was tried again already. */
    bool is_tried = r == -ECONNREFUSED || r == -EHOSTUNREACH || r == -ENETUNREACH;
    l->until_ms = clock_mono_ms() + l->again_ms;
    l->again_ms = backoff_next(l->again_ms, LAZY_FETCH_AGAIN_MS, l->max_ms);
    f->n_tries += l == &f->rest;
    if ((is_tried || f->n_tries >= LAZY_FETCH_START_TRIES) && !f->first_err.code)
        f->first_err = *err;
}

/* The request of a batch failed: the next one may take its files. */
static void put_back(struct lazy_fetch *f, const struct lazy_fetch_batch *b,
                     struct lazy_fetch_lane *l, int r, const struct err *err)
{
    bool is_about_files = error_for_opens(r) != 0, is_one = b->files.n == 1;
    if (is_about_files && is_one)
        put_bad(f, b, b->files.p[0], r, err);
    (void)pthread_mutex_lock(&f->mutex);
    for (size_t i = 0; i < b->files.n; i++) {
        struct lazy_fetch_item *it = &f->items[b->files.p[i]];
        if (it->state == l->state)
            item_move(it, STATE_AWAY);
        it->is_alone |= is_about_files && is_one;
    }
    if (is_about_files) /* one of them may be the reason */
        l->most_files = MAX(b->files.n / 2, (size_t)1);
    if (b->is_refused || !is_about_files)
        slow_down(f, l, r, err);
    (void)pthread_cond_broadcast(&f->changed);
    (void)pthread_mutex_unlock(&f->mutex);
}

/* Without the lock. */
static void fetch_batch(struct lazy_fetch *f, struct lazy_fetch_batch *b, struct lazy_fetch_lane *l)
{
    struct err err = { 0 }, bad = { 0 };
    int r = fetch(f, b, &bad, &err);
    if (r < 0)
        put_back(f, b, l, r, &err);
    if ((r < 0 || bad.code) && f->opts.on_failure && !lazy_fetch_is_over(f))
        f->opts.on_failure(f->opts.arg, err_text(r < 0 ? &err : &bad));
    (void)pthread_mutex_lock(&f->mutex);
    uint64_t done = f->done_bytes;
    if (r >= 0) {
        l->again_ms = LAZY_FETCH_AGAIN_MS;
        l->most_files = MIN(l->most_files * 2, (size_t)LAZY_FETCH_BATCH_FILES);
        f->n_tries = l == &f->rest ? 0 : f->n_tries;
        (void)pthread_cond_broadcast(&f->changed);
    }
    (void)pthread_mutex_unlock(&f->mutex);
    if (f->opts.on_progress) /* of a request that failed, files of the store may be here */
        f->opts.on_progress(f->opts.arg, done, f->opts.view->n_bytes);
}

/* With the lock. */
static bool has_first(const struct lazy_fetch *f)
{
    for (size_t i = 0; i < f->n_first; i++)
        if (f->items[f->order[i]].state != STATE_HERE)
            return false;
    return true;
}

/* With the lock, which is released meanwhile. */
static bool may_go_on(struct lazy_fetch *f)
{
    if (!f->opts.may_go_on || !has_first(f))
        return true;
    (void)pthread_mutex_unlock(&f->mutex);
    bool may = f->opts.may_go_on(f->opts.arg, f);
    (void)pthread_mutex_lock(&f->mutex);
    return may;
}

/* With the lock. 1: b was filled; 0: look again. */
static int wait_for_batch(struct lazy_fetch *f, struct lazy_fetch_batch *b,
                          struct lazy_fetch_lane *l)
{
    *b = (struct lazy_fetch_batch){ .now_ms = clock_mono_ms(),
                                    .again_ms = UINT64_MAX,
                                    .state = l->state,
                                    .most_files = l->most_files };
    if (l->until_ms > b->now_ms) {
        wait_until(f, l->until_ms);
        return 0;
    }
    if (l == &f->rest && !may_go_on(f)) {
        wait_until(f, b->now_ms + LAZY_FETCH_ASK_MS);
        return 0;
    }
    if (l == &f->rest)
        choose_next(f, b);
    else
        choose_wanted(f, b);
    if (b->files.n)
        return 1;
    if (b->again_ms == UINT64_MAX)
        (void)pthread_cond_wait(&f->changed, &f->mutex);
    else
        wait_until(f, b->again_ms);
    return 0;
}

static bool is_all(const struct lazy_fetch *f)
{
    return f->done_bytes == f->opts.view->n_bytes;
}

static void work(struct lazy_fetch *f, struct lazy_fetch_lane *l)
{
    (void)pthread_mutex_lock(&f->mutex);
    while (!f->stops && !(l == &f->rest && is_all(f))) {
        struct lazy_fetch_batch b;
        if (wait_for_batch(f, &b, l)) {
            (void)pthread_mutex_unlock(&f->mutex);
            fetch_batch(f, &b, l);
            (void)pthread_mutex_lock(&f->mutex);
        }
        batch_fini(&b);
    }
    bool ends = !f->stops && l == &f->rest;
    (void)pthread_mutex_unlock(&f->mutex);
    if (ends && f->opts.on_all)
        f->opts.on_all(f->opts.arg, f);
}

static void *urgent_main(void *arg)
{
    struct lazy_fetch *f = arg;
    work(f, &f->urgent);
    return NULL;
}

static void *rest_main(void *arg)
{
    struct lazy_fetch *f = arg;
    work(f, &f->rest);
    return NULL;
}

/* It is opened. 0, or an error: it failed a moment ago. With the lock. */
static int want(struct lazy_fetch *f, uint32_t file)
{
    struct lazy_fetch_item *it = &f->items[file];
    if (it->state == STATE_HERE || it->is_wanted)
        return 0;
    if (it->is_hopeless)
        return EIO;
    if (it->n_bad && clock_mono_ms() < it->bad_ms + LAZY_FETCH_AGAIN_MS)
        return it->bad_error ? it->bad_error : EIO;
    it->is_wanted = true;
    f->n_wanted++;
    (void)pthread_cond_broadcast(&f->changed);
    return 0;
}

static void *listen_main(void *arg)
{
    struct lazy_fetch *f = arg;
    uint32_t file;
    int r;
    while ((r = lazy_guard_next(f->opts.guard, &file)) > 0) {
        if (file >= f->opts.view->n)
            continue;
        (void)pthread_mutex_lock(&f->mutex);
        int error = want(f, file);
        (void)pthread_mutex_unlock(&f->mutex);
        if (error)
            (void)lazy_guard_fail(f->opts.guard, file, error, NULL);
    }
    (void)pthread_mutex_lock(&f->mutex);
    f->has_guardian_ended = true;
    (void)pthread_cond_broadcast(&f->changed);
    (void)pthread_mutex_unlock(&f->mutex);
    if (f->opts.on_no_answer && r < 0)
        f->opts.on_no_answer(f->opts.arg);
    return NULL;
}

static int start_threads(struct lazy_fetch *f)
{
    sigset_t all, old;
    int r = 0;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &old);
    while (f->n_threads < ARRAY_LEN(f->threads) && r == 0) {
        void *(*main)(void *) = f->n_threads == 0   ? listen_main
                                : f->n_threads == 1 ? rest_main
                                                    : urgent_main;
        r = pthread_create(&f->threads[f->n_threads], NULL, main, f);
        f->n_threads += r == 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -r;
}

/* ---- beginning ---- */

static void make_order(struct lazy_fetch *f)
{
    const struct lazy_view *v = f->opts.view;
    scoped(free_scoped) bool *has = xnew_n(bool, v->n + 1);
    f->order = xnew_n(uint32_t, v->n + 1);
    for (size_t i = 0; i < f->opts.first->files.n; i++) {
        ptrdiff_t at = lazy_view_find(v, f->opts.first->files.p[i].bytes);
        if (at < 0 || has[at])
            continue;
        has[at] = true;
        f->items[at].is_first = true;
        f->order[f->n_order++] = (uint32_t)at;
    }
    f->n_first = f->n_order;
    for (size_t i = 0; i < v->n; i++)
        if (!has[v->in_order[i]])
            f->order[f->n_order++] = v->in_order[i];
}

/* The source of the guardian for a descriptor of the contents that are here. */
static int source_of(struct lazy_fetch *f, struct map *known, int fd, struct err *err)
{
    struct str key = str_n((const char *)&fd, sizeof fd);
    uintptr_t found = (uintptr_t)map_get(known, key);
    if (found)
        return (int)(found - 1);
    int r = lazy_guard_source(f->opts.guard, fd, err);
    if (r >= 0)
        (void)map_put(known, key, (void *)((uintptr_t)r + 1));
    return r;
}

int lazy_fetch_use(struct lazy_fetch *f, struct oci_contents *c, struct err *err)
{
    struct map known = { 0 };
    const struct lazy_view *v = f->opts.view;
    int r = 0;
    for (size_t i = 0; i < v->n && r >= 0; i++) {
        struct oci_digest d;
        struct oci_content found;
        memcpy(d.bytes, v->files[i].digest, sizeof d.bytes);
        if (!oci_contents_find(c, &d, v->files[i].size, &found) || found.fd < 0)
            continue; /* an object may leave the store */
        r = source_of(f, &known, found.fd, err);
        (void)pthread_mutex_lock(&f->mutex);
        struct lazy_fetch_item *it = &f->items[i];
        if (r >= 0 && it->state != STATE_HERE && !it->is_local) {
            it->place = (struct lazy_fetch_place){ found.fd, (uint32_t)r, found.at };
            it->is_local = true;
            it->is_hopeless = false;
            it->bad_until_ms = 0;
        }
        (void)pthread_mutex_unlock(&f->mutex);
    }
    map_fini(&known);
    return r < 0 ? r : 0;
}

static int check_sizes(const struct lazy_fetch *f, struct err *err)
{
    for (size_t i = 0; i < f->opts.view->n; i++)
        if (!f->items[i].is_local && is_large(f, (uint32_t)i))
            return err_set(err, E_UNSUPPORTED,
                           "the image has a file of more than %d MiB, which is not fetched alone",
                           OCI_PARCEL_BYTES_MAX >> 20);
    return 0;
}

/* The guardian does not write. */
static int give_spool(struct lazy_fetch *f, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("/proc/self/fd/%d", f->spool);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
    return fd < 0 ? err_sys(err, fd, "open what comes for reading")
                  : lazy_guard_source(f->opts.guard, fd, err);
}

static int begin(struct lazy_fetch *f, struct err *err)
{
    f->spool = sys_openat(AT_FDCWD, f->opts.spool_dir, O_TMPFILE | O_RDWR, 0600);
    if (f->spool < 0)
        return err_sys(err, f->spool, "temporary file in '%s'", f->opts.spool_dir);
    int r = give_spool(f, err);
    f->spool_source = (uint32_t)r;
    if (r >= 0 && f->opts.contents)
        r = lazy_fetch_use(f, f->opts.contents, err);
    r = r < 0 ? r : check_sizes(f, err);
    make_order(f);
    if (r >= 0 && (r = start_threads(f)) < 0)
        r = err_sys(err, r, "start a thread");
    return r;
}

int lazy_fetch_start(const struct lazy_fetch_opts *opts, struct lazy_fetch **ret, struct err *err)
{
    struct lazy_fetch *f = xnew(struct lazy_fetch);
    pthread_condattr_t clock;
    f->opts = *opts;
    f->spool = -1;
    f->items = xnew_n(struct lazy_fetch_item, opts->view->n + 1);
    f->rest = (struct lazy_fetch_lane){ STATE_COMING, LAZY_FETCH_AGAIN_MS, LAZY_FETCH_AGAIN_MAX_MS,
                                        0, LAZY_FETCH_BATCH_FILES };
    f->urgent = (struct lazy_fetch_lane){ STATE_URGENT, LAZY_FETCH_AGAIN_MS,
                                          LAZY_FETCH_URGENT_MAX_MS, 0, LAZY_FETCH_BATCH_FILES };
    (void)pthread_mutex_init(&f->mutex, NULL);
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&f->changed, &clock);
    (void)pthread_condattr_destroy(&clock);
    int r = begin(f, err);
    if (r < 0) {
        lazy_fetch_free(f);
        return r;
    }
    *ret = f;
    return 0;
}

int lazy_fetch_wait(struct lazy_fetch *f, struct err *err)
{
    (void)pthread_mutex_lock(&f->mutex);
    while (!has_first(f) && !f->first_err.code && !f->has_guardian_ended)
        (void)pthread_cond_wait(&f->changed, &f->mutex);
    int r = f->has_guardian_ended ? err_set(err, -EPIPE, "the guardian of the files has ended")
            : has_first(f)        ? 0
                                  : err_set(err, f->first_err.code, "%s", f->first_err.text);
    (void)pthread_mutex_unlock(&f->mutex);
    return r;
}

int lazy_fetch_place(struct lazy_fetch *f, uint32_t file, uint64_t *ret_at)
{
    (void)pthread_mutex_lock(&f->mutex);
    int fd = f->items[file].state == STATE_HERE ? f->items[file].place.fd : -ENOENT;
    *ret_at = f->items[file].place.at;
    (void)pthread_mutex_unlock(&f->mutex);
    return fd;
}

int lazy_fetch_content(void *arg, const struct oci_skeleton_part *p, oci_skeleton_sink sink,
                       void *sink_arg, struct err *err)
{
    struct lazy_fetch *f = arg;
    uint64_t at = 0;
    ptrdiff_t file = lazy_view_find(f->opts.view, p->digest);
    int fd = file < 0 ? -ENOENT : lazy_fetch_place(f, (uint32_t)file, &at);
    scoped(free_scoped) char *piece = xalloc(PIECE_BYTES);
    if (fd < 0)
        return err_set(err, fd, "a file of the image is missing");
    for (uint64_t left = p->size, n; left; left -= n) {
        n = MIN(left, (uint64_t)PIECE_BYTES);
        ssize_t got = lazy_fetch_is_over(f) ? -ECANCELED : sys_pread_full(fd, piece, (size_t)n, at);
        if (got < 0)
            return err_sys(err, (int)got, "read a file that came");
        if ((uint64_t)got < n)
            return err_set(err, -EIO, "a file that came is shorter now");
        int r = sink(sink_arg, str_n(piece, (size_t)n), err);
        if (r < 0)
            return r;
        at += n;
    }
    return 0;
}

bool lazy_fetch_is_over(const struct lazy_fetch *f)
{
    return atomic_load(f->opts.stop);
}

void lazy_fetch_pause(struct lazy_fetch *f, uint64_t ms)
{
    (void)pthread_mutex_lock(&f->mutex);
    uint64_t until_ms = clock_mono_ms() + ms;
    while (!f->stops && clock_mono_ms() < until_ms)
        wait_until(f, until_ms);
    (void)pthread_mutex_unlock(&f->mutex);
}

void lazy_fetch_free(struct lazy_fetch *f)
{
    if (!f)
        return;
    atomic_store(f->opts.stop, true);
    lazy_guard_wake(f->opts.guard);
    (void)pthread_mutex_lock(&f->mutex);
    f->stops = true;
    (void)pthread_cond_broadcast(&f->changed);
    (void)pthread_mutex_unlock(&f->mutex);
    for (size_t i = 0; i < f->n_threads; i++)
        (void)pthread_join(f->threads[i], NULL);
    (void)pthread_cond_destroy(&f->changed);
    (void)pthread_mutex_destroy(&f->mutex);
    free(f->items);
    free(f->order);
    fd_scoped(&f->spool);
    free(f);
}
