/* SPDX-License-Identifier: Apache-2.0 */
/* Many workers in one process; see simulate.h. */
#include "fn/worker/simulate.h"

#include "base/mem.h"
#include "base/random.h"
#include "fn/worker/fake.h"

#include <errno.h>

struct fn_simulation {
    struct loop *loop;
    struct worker **workers;
    uint32_t n, n_synced, n_left;
    void (*on_synced)(void *arg);
    void *arg;
    void (*done)(void *arg);
    void *done_arg;
    struct invoker invoker;
    struct map index; /* sandbox -> worker */
};

/* ---------------------------------------------------------------- calls */

static int start(struct invoker *v, const struct invoke_request *req,
                 const struct exchange_events *events, void *arg, struct exchange **ret,
                 struct err *err)
{
    struct fn_simulation *s = container_of(v, struct fn_simulation, invoker);
    struct worker *w = map_get(&s->index, str_n(&req->sandbox, sizeof req->sandbox));
    if (!w)
        return err_set(err, -ECONNREFUSED, "no simulated worker has this sandbox");
    return invoke_start(worker_invoker(w), req, events, arg, ret, err);
}

struct invoker *simulate_invoker(struct fn_simulation *s)
{
    return &s->invoker;
}

/* ---------------------------------------------------------------- start and stop */

static void on_synced(void *arg)
{
    struct fn_simulation *s = arg;
    if (++s->n_synced == s->n && s->on_synced)
        s->on_synced(s->arg);
}

static int start_one(struct fn_simulation *s, const struct fn_simulation_opts *o, uint32_t i,
                     struct err *err)
{
    scoped(free_scoped) char *name = xasprintf("%s%u", o->prefix, i);
    struct rng seed = rng_fork(o->seed, i, 0);
    struct worker_opts w = { .loop = o->loop,
                             .name = name,
                             .incarnation = o->incarnation,
                             .dialer = o->dialer,
                             .address = o->address,
                             .cpu_milli = o->cpu_milli ? o->cpu_milli : 8000,
                             .memory_bytes = o->memory_bytes ? o->memory_bytes : UINT64_C(32) << 30,
                             .n_runtimes = 1,
                             .index = &s->index,
                             .is_simulated = true,
                             .on_synced = on_synced,
                             .arg = s };
    w.runtimes[0] = fake_runtime_new(o->loop, o->fail_permille, rng_next(&seed));
    return worker_start(&w, &s->workers[i], err);
}

int simulate_start(const struct fn_simulation_opts *o, struct fn_simulation **ret, struct err *err)
{
    if (o->n_workers == 0 || o->n_workers > SIMULATION_WORKERS_MAX || !o->prefix[0])
        return err_set(err, E_INVALID, "1 to %d simulated workers, and a prefix of their names",
                       (int)SIMULATION_WORKERS_MAX);
    struct fn_simulation *s = xnew(struct fn_simulation);
    s->loop = o->loop;
    s->workers = xnew_n(struct worker *, o->n_workers);
    s->n = o->n_workers;
    s->on_synced = o->on_synced;
    s->arg = o->arg;
    s->invoker.start = start;
    for (uint32_t i = 0; i < s->n; i++) {
        int r = start_one(s, o, i, err);
        assert(r == 0); /* only a name and a runtime are needed */
        (void)r;
    }
    *ret = s;
    return 0;
}

void simulate_count(const struct fn_simulation *s, struct worker_counts *ret)
{
    *ret = (struct worker_counts){ .is_welcome = true };
    for (uint32_t i = 0; i < s->n; i++) {
        struct worker_counts n;
        worker_count(s->workers[i], &n);
        ret->creating += n.creating;
        ret->ready += n.ready;
        ret->destroying += n.destroying;
        ret->running += n.running;
        ret->created += n.created;
        ret->failed += n.failed;
        ret->gone += n.gone;
        ret->destroyed += n.destroyed;
        ret->refused += n.refused;
        ret->term = MAX(ret->term, n.term);
        ret->is_welcome = ret->is_welcome && n.is_welcome;
    }
}

static void on_stopped(void *arg)
{
    struct fn_simulation *s = arg;
    if (--s->n_left > 0)
        return;
    void (*done)(void *) = s->done;
    void *done_arg = s->done_arg;
    map_fini(&s->index);
    free(s->workers);
    free(s);
    done(done_arg);
}

void simulate_stop(struct fn_simulation *s, void (*done)(void *arg), void *arg)
{
    s->done = done;
    s->done_arg = arg;
    s->n_left = s->n;
    for (uint32_t i = 0, n = s->n; i < n; i++)
        worker_stop(s->workers[i], 0, on_stopped, s);
}
