/* SPDX-License-Identifier: Apache-2.0 */
/* The engine that plugins share, and the clock that limits their run time. */
#include "sched/wasm/internal.h"

#include "wasm/engine_config.h"

#include <errno.h>
#include <time.h>

/*
 * The ticker blocks after this many ticks without a call, so that a burst of calls wakes it once.
 */
enum { TICKS_AT_REST = 50 };

struct wplugin_host *wplugin_host_new(struct loop *loop, struct module_cache *cache,
                                      struct module_references *references)
{
    struct wplugin_host *h = xnew(struct wplugin_host);
    h->loop = loop;
    h->cache = cache;
    h->references = references;
    list_init(&h->sources);
    list_init(&h->compiling);
    list_init(&h->starts);
    (void)pthread_mutex_init(&h->tick_lock, NULL);
    (void)pthread_cond_init(&h->tick_more, NULL);
    return h;
}

void wplugin_host_free(struct wplugin_host *h)
{
    if (!h)
        return;
    assert(h->n_plugins == 0 && h->n_loads == 0);
    (void)pthread_cond_destroy(&h->tick_more);
    (void)pthread_mutex_destroy(&h->tick_lock);
    free(h);
}

void wplugin_host_interrupt(struct wplugin_host *h)
{
    enum { TICKS = 2 * WPLUGIN_CALL_MS / HOST_TICK_MS }; /* more than any call has left */
    h->is_interrupted = true;
    for (unsigned i = 0; i < TICKS && h->engine; i++)
        wasmtime_engine_increment_epoch(h->engine);
}

/* ---- the ticker ---- */

static bool is_at_rest(struct wplugin_host *h, uint64_t *seen, unsigned *quiet)
{
    uint64_t entered = h->n_entered;
    *quiet = entered == *seen && entered == h->n_left ? *quiet + 1 : 0;
    *seen = entered;
    return *quiet >= TICKS_AT_REST;
}

static void *tick(void *arg)
{
    struct wplugin_host *h = arg;
    const struct timespec step = { .tv_nsec = HOST_TICK_MS * 1000000 };
    uint64_t seen = 0;
    unsigned quiet = 0;
    (void)pthread_mutex_lock(&h->tick_lock);
    while (!h->is_ending) {
        if (is_at_rest(h, &seen, &quiet)) {
            h->is_asleep = true;
            /* Check again: a call may have entered before it could see the flag. */
            if (h->n_entered == seen)
                (void)pthread_cond_wait(&h->tick_more, &h->tick_lock);
            h->is_asleep = false;
            quiet = 0;
            continue;
        }
        (void)pthread_mutex_unlock(&h->tick_lock);
        (void)nanosleep(&step, NULL);
        wasmtime_engine_increment_epoch(h->engine);
        (void)pthread_mutex_lock(&h->tick_lock);
    }
    (void)pthread_mutex_unlock(&h->tick_lock);
    return NULL;
}

void whost_enter(struct wplugin_host *h)
{
    h->n_entered++;
    if (!h->is_asleep)
        return;
    (void)pthread_mutex_lock(&h->tick_lock);
    (void)pthread_cond_signal(&h->tick_more);
    (void)pthread_mutex_unlock(&h->tick_lock);
}

void whost_leave(struct wplugin_host *h)
{
    h->n_left++;
}

static void end_ticker(struct wplugin_host *h)
{
    if (!h->has_ticker)
        return;
    (void)pthread_mutex_lock(&h->tick_lock);
    h->is_ending = true;
    (void)pthread_cond_signal(&h->tick_more);
    (void)pthread_mutex_unlock(&h->tick_lock);
    (void)pthread_join(h->ticker, NULL);
    h->has_ticker = h->is_ending = false;
}

/* ---- engine and linkers ---- */

static int start(struct wplugin_host *h, struct err *err)
{
    int r = engine_new(NULL, &h->engine, err);
    if (r < 0)
        return r;
    r = pthread_create(&h->ticker, NULL, tick, h);
    if (r) {
        wasm_engine_delete(h->engine);
        h->engine = NULL;
        return err_sys(err, -r, "start the clock of plugins");
    }
    h->has_ticker = true;
    return 0;
}

int whost_use(struct wplugin_host *h, struct err *err)
{
    int r = h->engine ? 0 : start(h, err);
    if (r == 0)
        h->n_plugins++;
    return r;
}

void whost_release(struct wplugin_host *h)
{
    assert(h->n_plugins > 0);
    if (--h->n_plugins)
        return;
    end_ticker(h);
    for (int i = 0; i < GENERATION_COUNT; i++) {
        if (h->linkers[i])
            wasmtime_linker_delete(h->linkers[i]);
        h->linkers[i] = NULL;
    }
    wasm_engine_delete(h->engine);
    h->engine = NULL;
}

int whost_linker(struct wplugin_host *h, int generation, wasmtime_linker_t **ret, struct err *err)
{
    int r = 0;
    if (h->linkers[generation]) {
        *ret = h->linkers[generation];
        return 0;
    }
    wasmtime_linker_t *linker = wasmtime_linker_new(h->engine);
    r = wasi_define(linker, false, err);
    for (size_t i = 0; i < wplugin_n_imports && r == 0; i++)
        if (wplugin_imports[i].generation < 0 || wplugin_imports[i].generation == generation)
            r = engine_define(linker, &wplugin_imports[i].func, 1, err);
    if (r < 0) {
        wasmtime_linker_delete(linker);
        return r;
    }
    *ret = h->linkers[generation] = linker;
    return 0;
}
