/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_fetch.h"

#include "base/clock.h"
#include "base/sys.h"
#include "oci/file_parcel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

/* What comes in the background may take long: who waits in an open asks for it alone, too. */
enum state { STATE_AWAY, STATE_COMING, STATE_URGENT, STATE_HERE };

struct place {
    int fd;          /* borrowed */
    uint32_t source; /* of the guardian */
    uint64_t at;
};

struct lazy_fetch {
    struct lazy_fetch_opts opts;
    int spool;
    uint32_t spool_source;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    uint8_t *states;
    bool *is_wanted; /* something waits in an open of it */
    struct place *places;
    uint32_t *order; /* of fetching what nothing waits for; n_order, the start's are first */
    size_t n_order, n_first, n_wanted;
    uint64_t spooled, done_bytes;
    struct err first_err; /* of fetching the start */
    bool stops;
    pthread_t threads[3];
    size_t n_threads;
};

/* What a request asks for. */
struct batch {
    VEC(uint32_t) files;
    uint64_t n_bytes;
};

/* ---- one request ---- */

static int write_request(const struct lazy_fetch *f, const struct batch *b, struct buf *to,
                         struct err *err)
{
    struct oci_digest layers[OCI_PARCEL_LAYERS_MAX];
    scoped(free_scoped) struct oci_digest *files = xnew_n(struct oci_digest, b->files.n);
    scoped(free_scoped) bool *has = xnew_n(bool, UINT16_MAX + 1);
    size_t n = 0;
    for (size_t i = 0; i < b->files.n; i++) {
        const struct lazy_file *file = &f->opts.view->files[b->files.p[i]];
        memcpy(files[i].bytes, file->digest, sizeof files[i].bytes);
        if (file->layer > UINT16_MAX || has[file->layer])
            continue;
        if (n == ARRAY_LEN(layers))
            return err_set(err, E_LIMIT, "files of more than %zu layers at once", n);
        has[file->layer] = true;
        layers[n++] = f->opts.diff_ids[file->layer];
    }
    const struct oci_parcel_request q = {
        .layers = layers, .n_layers = n, .files = files, .n_files = b->files.n
    };
    return oci_parcel_request_write(&q, to, err);
}

/* From now on it can be read. */
static int put_here(struct lazy_fetch *f, uint32_t file, const struct place *p, struct err *err)
{
    (void)pthread_mutex_lock(&f->mutex);
    if (f->states[file] == STATE_HERE) { /* it was asked for twice */
        (void)pthread_mutex_unlock(&f->mutex);
        return 0;
    }
    f->places[file] = *p;
    f->states[file] = STATE_HERE;
    f->n_wanted -= f->is_wanted[file];
    f->is_wanted[file] = false;
    f->done_bytes += f->opts.view->files[file].size;
    (void)pthread_mutex_unlock(&f->mutex);
    return lazy_guard_have(f->opts.guard, file, p->source, p->at, err);
}

static int take_file(struct lazy_fetch *f, uint32_t file, const char *bytes, struct err *err)
{
    uint8_t digest[SHA256_BYTES];
    const struct lazy_file *of = &f->opts.view->files[file];
    sha256_of(str_n(bytes, (size_t)of->size), digest);
    if (memcmp(digest, of->digest, sizeof digest) != 0)
        return err_set(err, E_DIGEST, "a file is not what its digest says");
    (void)pthread_mutex_lock(&f->mutex);
    bool is_here = f->states[file] == STATE_HERE;
    struct place p = { .fd = f->spool, .source = f->spool_source, .at = f->spooled };
    f->spooled += is_here ? 0 : of->size;
    (void)pthread_mutex_unlock(&f->mutex);
    if (is_here)
        return 0;
    int r = sys_pwrite_all(f->spool, bytes, (size_t)of->size, p.at);
    if (r >= 0)
        return put_here(f, file, &p, err);
    /* The next attempt writes elsewhere: what was written of this one must not keep the disk full.
     */
    (void)sys_fallocate(f->spool, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, p.at, of->size);
    return err_sys(err, r, "keep a file that came");
}

static int take_parcel(struct lazy_fetch *f, const struct batch *b, struct str answer,
                       struct err *err)
{
    struct oci_parcel p;
    int r = oci_parcel_read(answer, &p, err);
    if (r < 0)
        return r;
    if (p.n_bases != 0 || p.n_files != b->files.n || p.n_bytes != b->n_bytes)
        return err_set(err, E_UNSUPPORTED, "the registry does not have all files of the image");
    scoped(free_scoped) char *files = mem_try((size_t)b->n_bytes + 1);
    if (!files)
        return err_set(err, -ENOMEM, "files of an image");
    r = oci_parcel_unpack(&p, STR(""), files, err);
    uint64_t at = 0;
    for (size_t i = 0; r >= 0 && i < b->files.n; i++) {
        r = take_file(f, b->files.p[i], files + at, err);
        at += f->opts.view->files[b->files.p[i]].size;
    }
    return r;
}

static int fetch(struct lazy_fetch *f, const struct batch *b, struct err *err)
{
    scoped(buf_fini_scoped) struct buf request = BUF_INIT(OCI_PARCEL_REQUEST_MAX);
    scoped(buf_fini_scoped) struct buf answer = BUF_INIT(OCI_PARCEL_ANSWER_MAX);
    int r = write_request(f, b, &request, err);
    r = r < 0 ? r : f->opts.parcel(f->opts.arg, buf_str(&request), &answer, err);
    return r < 0 ? r : take_parcel(f, b, buf_str(&answer), err);
}

/* ---- what to ask for ---- */

/* With the lock. false: it is full. */
static bool add_to_batch(struct lazy_fetch *f, struct batch *b, uint32_t file, uint8_t state)
{
    uint64_t size = f->opts.view->files[file].size;
    if (f->states[file] >= state)
        return true;
    if (b->files.n &&
        (b->n_bytes + size > LAZY_FETCH_BATCH_BYTES || b->files.n == LAZY_FETCH_BATCH_FILES))
        return false;
    f->states[file] = state;
    vec_push(&b->files, file);
    b->n_bytes += size;
    return true;
}

static void choose_wanted(struct lazy_fetch *f, struct batch *b)
{
    for (size_t i = 0; f->n_wanted && i < f->opts.view->n; i++)
        if (f->is_wanted[i] && !add_to_batch(f, b, (uint32_t)i, STATE_URGENT))
            return;
}

static void choose_next(struct lazy_fetch *f, struct batch *b)
{
    bool has_room = true;
    for (size_t i = 0; i < f->n_order && has_room; i++) {
        if (i == f->n_first && b->files.n)
            return; /* a start waits for no more than it needs */
        has_room = add_to_batch(f, b, f->order[i], STATE_COMING);
    }
}

/* It failed: the next one may take them. Returns whether some of them were of the start. */
static bool put_back(struct lazy_fetch *f, const struct batch *b, uint8_t state)
{
    bool is_first = false;
    for (size_t i = 0; i < b->files.n; i++)
        if (f->states[b->files.p[i]] == state)
            f->states[b->files.p[i]] = STATE_AWAY;
    for (size_t i = 0; i < f->n_first; i++)
        is_first |= f->states[f->order[i]] != STATE_HERE;
    return is_first;
}

/* What the source says of contents is wrong, or cannot be kept: who waits hears it at once. */
static int error_for_opens(int r)
{
    return r == -ENOSPC || r == -EDQUOT                          ? -r
           : r == E_DIGEST || r == E_PARSE || r == E_UNSUPPORTED ? EIO
                                                                 : 0;
}

static void refuse_opens(struct lazy_fetch *f, const struct batch *b, int error)
{
    for (size_t i = 0; i < b->files.n; i++) {
        uint32_t file = b->files.p[i];
        if (f->states[file] == STATE_HERE || !f->is_wanted[file])
            continue;
        f->is_wanted[file] = false;
        f->n_wanted--;
        (void)lazy_guard_fail(f->opts.guard, file, error, NULL);
    }
}

/* ---- threads ---- */

/* With the lock. */
static void wait_changed(struct lazy_fetch *f, uint64_t ms)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(ms / 1000);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&f->changed, &f->mutex, &until);
}

/* With the lock. */
static void pause_for(struct lazy_fetch *f, uint64_t ms)
{
    uint64_t until_ms = clock_mono_ms() + ms;
    for (uint64_t now; !f->stops && (now = clock_mono_ms()) < until_ms;)
        wait_changed(f, until_ms - now);
}

static void note_failure(struct lazy_fetch *f, const struct batch *b, uint8_t state, int r,
                         const struct err *err)
{
    int error = error_for_opens(r);
    bool is_first = put_back(f, b, state);
    if (error)
        refuse_opens(f, b, error);
    if (is_first && !f->first_err.code)
        f->first_err = *err;
    (void)pthread_cond_broadcast(&f->changed);
}

/* With the lock, which is released meanwhile. */
static void fetch_batch(struct lazy_fetch *f, const struct batch *b, uint8_t state,
                        uint64_t *again_ms, uint64_t max_ms)
{
    struct err err = { 0 };
    (void)pthread_mutex_unlock(&f->mutex);
    int r = fetch(f, b, &err);
    if (r < 0 && f->opts.on_failure && !atomic_load(f->opts.stop))
        f->opts.on_failure(f->opts.arg, err_text(&err));
    (void)pthread_mutex_lock(&f->mutex);
    if (r >= 0) {
        uint64_t done = f->done_bytes;
        *again_ms = LAZY_FETCH_AGAIN_MS;
        (void)pthread_cond_broadcast(&f->changed);
        (void)pthread_mutex_unlock(&f->mutex);
        if (f->opts.on_progress)
            f->opts.on_progress(f->opts.arg, done, f->opts.view->n_bytes);
        (void)pthread_mutex_lock(&f->mutex);
        return;
    }
    note_failure(f, b, state, r, &err);
    pause_for(f, *again_ms);
    *again_ms = MIN(*again_ms * 2, max_ms);
}

static void work(struct lazy_fetch *f, void (*choose)(struct lazy_fetch *f, struct batch *b),
                 bool ends)
{
    uint64_t max_ms = ends ? LAZY_FETCH_AGAIN_MAX_MS : LAZY_FETCH_URGENT_MAX_MS;
    uint64_t again_ms = LAZY_FETCH_AGAIN_MS;
    (void)pthread_mutex_lock(&f->mutex);
    while (!f->stops && !(ends && f->done_bytes == f->opts.view->n_bytes)) {
        struct batch b = { 0 };
        choose(f, &b);
        if (b.files.n)
            fetch_batch(f, &b, ends ? STATE_COMING : STATE_URGENT, &again_ms, max_ms);
        else
            (void)pthread_cond_wait(&f->changed, &f->mutex);
        vec_fini(&b.files);
    }
    bool is_all = !f->stops && ends;
    (void)pthread_mutex_unlock(&f->mutex);
    if (is_all && f->opts.on_all)
        f->opts.on_all(f->opts.arg, f);
}

static void *urgent_main(void *arg)
{
    work(arg, choose_wanted, false);
    return NULL;
}

static void *rest_main(void *arg)
{
    work(arg, choose_next, true);
    return NULL;
}

static void *listen_main(void *arg)
{
    struct lazy_fetch *f = arg;
    uint32_t file;
    while (lazy_guard_next(f->opts.guard, &file) > 0) {
        (void)pthread_mutex_lock(&f->mutex);
        if (file < f->opts.view->n && f->states[file] != STATE_HERE && !f->is_wanted[file]) {
            f->is_wanted[file] = true;
            f->n_wanted++;
            (void)pthread_cond_broadcast(&f->changed);
        }
        (void)pthread_mutex_unlock(&f->mutex);
    }
    return NULL;
}

static int start_threads(struct lazy_fetch *f)
{
    static void *(*const mains[])(void *) = { listen_main, urgent_main, rest_main };
    sigset_t all, old;
    int r = 0;
    _Static_assert(ARRAY_LEN(mains) == ARRAY_LEN(f->threads), "one of each");
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &old);
    while (f->n_threads < ARRAY_LEN(mains) && r == 0) {
        r = pthread_create(&f->threads[f->n_threads], NULL, mains[f->n_threads], f);
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

static int use_contents(struct lazy_fetch *f, struct err *err)
{
    struct map known = { 0 };
    const struct lazy_view *v = f->opts.view;
    int r = 0;
    for (size_t i = 0; f->opts.contents && i < v->n && r >= 0; i++) {
        struct oci_digest d;
        struct oci_content found;
        memcpy(d.bytes, v->files[i].digest, sizeof d.bytes);
        if (!oci_contents_find(f->opts.contents, &d, v->files[i].size, &found) || found.fd < 0)
            continue; /* an object may leave the store */
        r = source_of(f, &known, found.fd, err);
        const struct place p = { .fd = found.fd, .source = (uint32_t)r, .at = found.at };
        r = r < 0 ? r : put_here(f, (uint32_t)i, &p, err);
    }
    map_fini(&known);
    return r;
}

static int check_sizes(const struct lazy_fetch *f, struct err *err)
{
    for (size_t i = 0; i < f->opts.view->n; i++)
        if (f->states[i] == STATE_AWAY && f->opts.view->files[i].size > OCI_PARCEL_BYTES_MAX)
            return err_set(err, E_UNSUPPORTED,
                           "the image has a file of more than %d MiB, which is not fetched alone",
                           OCI_PARCEL_BYTES_MAX >> 20);
    return 0;
}

static int begin(struct lazy_fetch *f, struct err *err)
{
    f->spool = sys_openat(AT_FDCWD, f->opts.spool_dir, O_TMPFILE | O_RDWR, 0600);
    if (f->spool < 0)
        return err_sys(err, f->spool, "temporary file in '%s'", f->opts.spool_dir);
    int r = lazy_guard_source(f->opts.guard, f->spool, err);
    f->spool_source = (uint32_t)r;
    r = r < 0 ? r : use_contents(f, err);
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
    f->states = xnew_n(uint8_t, opts->view->n + 1);
    f->is_wanted = xnew_n(bool, opts->view->n + 1);
    f->places = xnew_n(struct place, opts->view->n + 1);
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

/* With the lock. */
static bool has_first(const struct lazy_fetch *f)
{
    for (size_t i = 0; i < f->n_first; i++)
        if (f->states[f->order[i]] != STATE_HERE)
            return false;
    return true;
}

int lazy_fetch_wait(struct lazy_fetch *f, struct err *err)
{
    (void)pthread_mutex_lock(&f->mutex);
    while (!has_first(f) && !f->first_err.code)
        (void)pthread_cond_wait(&f->changed, &f->mutex);
    int r = has_first(f) ? 0 : err_set(err, f->first_err.code, "%s", f->first_err.text);
    (void)pthread_mutex_unlock(&f->mutex);
    return r;
}

int lazy_fetch_place(struct lazy_fetch *f, uint32_t file, uint64_t *ret_at)
{
    (void)pthread_mutex_lock(&f->mutex);
    int fd = f->states[file] == STATE_HERE ? f->places[file].fd : -ENOENT;
    *ret_at = f->places[file].at;
    (void)pthread_mutex_unlock(&f->mutex);
    return fd;
}

bool lazy_fetch_is_over(const struct lazy_fetch *f)
{
    return atomic_load(f->opts.stop);
}

void lazy_fetch_pause(struct lazy_fetch *f, uint64_t ms)
{
    (void)pthread_mutex_lock(&f->mutex);
    pause_for(f, ms);
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
    free(f->states);
    free(f->is_wanted);
    free(f->places);
    free(f->order);
    fd_scoped(&f->spool);
    free(f);
}
