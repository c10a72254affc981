/* SPDX-License-Identifier: Apache-2.0 */
#include "image/lazy_prover.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/sm.h"
#include "image/lazy_proof.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

/* Which thread proves. */
enum prover_state { PROVER_BY_THREAD, PROVER_BY_CALLER, PROVER_FINISHING };

static const struct sm_state prover_table[] = {
    [PROVER_BY_THREAD] = { "by thread", EDGE(PROVER_BY_CALLER) | EDGE(PROVER_FINISHING) },
    [PROVER_BY_CALLER] = { "by caller", EDGE(PROVER_FINISHING) },
    [PROVER_FINISHING] = { "finishing", 0 }, /* the container has ended; by the caller as well */
};

/* Of a layer, after a fault of this machine: when it is tried again, and the pause before that. */
struct later {
    uint64_t again_ms, pause_ms;
};

struct lazy_prover {
    struct lazy_prover_opts opts;
    struct lazy_fetch *fetch; /* of the thread */
    struct later *later;      /* of the thread, by layer */
    pthread_mutex_t mutex;    /* of the fields below */
    pthread_cond_t changed;
    bool *is_proven;
    uint64_t late_ms; /* clock: on_late(); UINT64_MAX: never */
    size_t *n_here;   /* number of the first parts of a layer that are present */
    bool is_busy;     /* a proof runs */
    struct sm sm;     /* enum prover_state */
    bool stops;       /* the thread must end */
    pthread_t thread;
    bool has_thread;
};

/* ---- one layer ---- */

struct giving {
    struct lazy_prover *p;
    struct lazy_fetch *f;
};

static int give_content(void *arg, const struct oci_skeleton_part *part, oci_skeleton_sink sink,
                        void *sink_arg, struct err *err)
{
    const struct giving *g = arg;
    const struct lazy_prover_opts *o = &g->p->opts;
    if (o->must_end && lazy_prover_is_finishing(g->p) && o->must_end(o->arg))
        return err_set(err, -ECANCELED, "it must end");
    return lazy_fetch_content(g->f, part, sink, sink_arg, err);
}

int lazy_prover_prove(struct lazy_prover *p, struct lazy_fetch *f, size_t layer, struct err *err)
{
    struct giving giving = { p, f };
    const struct lazy_proof_opts proof = {
        .trees = p->opts.trees,
        .layer = layer,
        .content = give_content,
        .content_arg = &giving,
        .reading = p->opts.reading ? p->opts.reading : &layer_parse_here,
        .reading_arg = p->opts.reading_arg,
    };
    (void)pthread_mutex_lock(&p->mutex);
    while (p->is_busy)
        (void)pthread_cond_wait(&p->changed, &p->mutex);
    bool is_proven = p->is_proven[layer];
    p->is_busy = !is_proven;
    (void)pthread_mutex_unlock(&p->mutex);
    if (is_proven)
        return 0;
    int r = lazy_proof_layer(&proof, err);
    (void)pthread_mutex_lock(&p->mutex);
    assert(p->is_busy);
    p->is_busy = false;
    p->is_proven[layer] |= r >= 0;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->mutex);
    return r < 0 ? err_ctx(err, r, "layer %zu", layer) : 0;
}

int lazy_prover_prove_all(struct lazy_prover *p, struct lazy_fetch *f, struct err *err)
{
    for (size_t i = 0; i < p->opts.trees->n; i++)
        if (lazy_trees_is_first(p->opts.trees, i) && lazy_prover_prove(p, f, i, err) == E_DIGEST)
            return E_DIGEST;
    return 0;
}

void lazy_prover_set(struct lazy_prover *p, size_t layer)
{
    (void)pthread_mutex_lock(&p->mutex);
    p->is_proven[layer] = true;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->mutex);
}

void lazy_prover_take_over(struct lazy_prover *p)
{
    (void)pthread_mutex_lock(&p->mutex);
    if (p->sm.at == PROVER_BY_THREAD)
        sm_move(&p->sm, PROVER_BY_CALLER);
    while (p->is_busy)
        (void)pthread_cond_wait(&p->changed, &p->mutex);
    (void)pthread_mutex_unlock(&p->mutex);
}

/* With the lock. */
static size_t count_missing(const struct lazy_prover *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->opts.trees->n; i++)
        n += lazy_trees_is_first(p->opts.trees, i) && !p->is_proven[i];
    return n;
}

size_t lazy_prover_missing(struct lazy_prover *p)
{
    (void)pthread_mutex_lock(&p->mutex);
    size_t n = count_missing(p);
    (void)pthread_mutex_unlock(&p->mutex);
    return n;
}

/* With the lock. */
static bool has_parts(struct lazy_prover *p, struct lazy_fetch *f, size_t layer)
{
    const struct oci_skeleton *k = &lazy_trees_get(p->opts.trees, layer)->skeleton;
    for (; p->n_here[layer] < k->n_parts; p->n_here[layer]++) {
        uint64_t at;
        struct oci_skeleton_part part = oci_skeleton_part(k, p->n_here[layer]);
        ptrdiff_t file = lazy_view_find(p->opts.view, part.digest);
        if (file < 0 || lazy_fetch_place(f, (uint32_t)file, &at) < 0)
            return false;
    }
    return true;
}

int lazy_prover_finish(struct lazy_prover *p, struct lazy_fetch *f, struct err *err)
{
    (void)pthread_mutex_lock(&p->mutex);
    if (p->sm.at != PROVER_FINISHING)
        sm_move(&p->sm, PROVER_FINISHING);
    p->late_ms = UINT64_MAX;
    (void)pthread_mutex_unlock(&p->mutex);
    for (size_t i = 0; i < p->opts.trees->n; i++) {
        (void)pthread_mutex_lock(&p->mutex);
        bool can = lazy_trees_is_first(p->opts.trees, i) && has_parts(p, f, i);
        (void)pthread_mutex_unlock(&p->mutex);
        if (can && lazy_prover_prove(p, f, i, err) == E_DIGEST)
            return E_DIGEST;
    }
    return 0;
}

bool lazy_prover_is_finishing(struct lazy_prover *p)
{
    (void)pthread_mutex_lock(&p->mutex);
    bool is = p->sm.at == PROVER_FINISHING;
    (void)pthread_mutex_unlock(&p->mutex);
    return is;
}

/* ---- the thread ---- */

/* With the lock. A layer that can be proven now, or the number of layers. *next_ms: at most, when
 * another one is tried again. */
static size_t find_ready(struct lazy_prover *p, uint64_t now, uint64_t *next_ms)
{
    for (size_t i = 0; i < p->opts.trees->n; i++) {
        if (!lazy_trees_is_first(p->opts.trees, i) || p->is_proven[i] || !has_parts(p, p->fetch, i))
            continue;
        if (now >= p->later[i].again_ms)
            return i;
        *next_ms = MIN(*next_ms, p->later[i].again_ms);
    }
    return p->opts.trees->n;
}

/* With the lock. */
static void wait_until(struct lazy_prover *p, uint64_t until_ms)
{
    if (until_ms == UINT64_MAX) {
        (void)pthread_cond_wait(&p->changed, &p->mutex);
        return;
    }
    uint64_t now = clock_mono_ms();
    struct timespec until = clock_mono_in(until_ms - MIN(until_ms, now));
    (void)pthread_cond_timedwait(&p->changed, &p->mutex, &until);
}

/* With the lock, which is released meanwhile. false: the data of the registry is wrong. */
static bool prove_ready(struct lazy_prover *p, size_t layer)
{
    struct err err = { 0 };
    struct later *l = &p->later[layer];
    (void)pthread_mutex_unlock(&p->mutex);
    int r = lazy_prover_prove(p, p->fetch, layer, &err);
    if (r == E_DIGEST)
        p->opts.on_mismatch(p->opts.arg, err_text(&err));
    if (r < 0) {
        l->pause_ms = backoff_next(l->pause_ms, LAZY_PROVER_AGAIN_MS, LAZY_PROVER_AGAIN_MAX_MS);
        l->again_ms = clock_mono_ms() + l->pause_ms;
    }
    (void)pthread_mutex_lock(&p->mutex);
    return r != E_DIGEST;
}

/* Likewise. */
static void report_late(struct lazy_prover *p)
{
    scoped(free_scoped) char *why =
        xasprintf("%zu of its layers are not compared after %llu ms", count_missing(p),
                  (unsigned long long)p->opts.within_ms);
    p->late_ms = UINT64_MAX;
    (void)pthread_mutex_unlock(&p->mutex);
    p->opts.on_late(p->opts.arg, why);
    (void)pthread_mutex_lock(&p->mutex);
}

static void *prover_main(void *arg)
{
    struct lazy_prover *p = arg;
    (void)pthread_mutex_lock(&p->mutex);
    while (!p->stops && count_missing(p)) {
        uint64_t now = clock_mono_ms(), next_ms = p->late_ms;
        bool may_prove = p->sm.at == PROVER_BY_THREAD && !p->is_busy;
        size_t ready = may_prove ? find_ready(p, now, &next_ms) : p->opts.trees->n;
        bool is_ready = ready < p->opts.trees->n;
        if (now >= p->late_ms)
            report_late(p);
        else if (is_ready && !prove_ready(p, ready))
            break;
        else if (!is_ready)
            wait_until(p, next_ms);
    }
    (void)pthread_mutex_unlock(&p->mutex);
    return NULL;
}

struct lazy_prover *lazy_prover_new(const struct lazy_prover_opts *opts)
{
    struct lazy_prover *p = xnew(struct lazy_prover);
    pthread_condattr_t clock;
    p->opts = *opts;
    sm_init(&p->sm, prover_table, PROVER_BY_THREAD);
    p->is_proven = xnew_n(bool, opts->trees->n + 1);
    p->n_here = xnew_n(size_t, opts->trees->n + 1);
    p->later = xnew_n(struct later, opts->trees->n + 1);
    (void)pthread_mutex_init(&p->mutex, NULL);
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&p->changed, &clock);
    (void)pthread_condattr_destroy(&clock);
    return p;
}

int lazy_prover_start(struct lazy_prover *p, struct lazy_fetch *f, struct err *err)
{
    sigset_t all, old;
    p->fetch = f;
    p->late_ms =
        p->opts.within_ms ? clock_mono_ms() + MIN(p->opts.within_ms, UINT64_MAX / 2) : UINT64_MAX;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &old);
    int code = pthread_create(&p->thread, NULL, prover_main, p);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    p->has_thread = code == 0;
    return code ? err_sys(err, -code, "start a thread") : 0;
}

void lazy_prover_wake(struct lazy_prover *p)
{
    (void)pthread_mutex_lock(&p->mutex);
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->mutex);
}

void lazy_prover_stop(struct lazy_prover *p)
{
    if (!p || !p->has_thread)
        return;
    (void)pthread_mutex_lock(&p->mutex);
    p->stops = true;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->mutex);
    (void)pthread_join(p->thread, NULL);
    p->has_thread = false;
}

void lazy_prover_free(struct lazy_prover *p)
{
    if (!p)
        return;
    lazy_prover_stop(p);
    (void)pthread_cond_destroy(&p->changed);
    (void)pthread_mutex_destroy(&p->mutex);
    free(p->is_proven);
    free(p->n_here);
    free(p->later);
    free(p);
}
