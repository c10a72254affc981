/* SPDX-License-Identifier: Apache-2.0 */
/* The node's probes together: how many run at a time; see probe.h and prober.h. */
#include "agent/probe/prober.h"

#include "base/mem.h"
#include "io/tls.h"

#include <assert.h>

const char *probe_kind_name(enum probe_kind kind)
{
    static const char *const names[] = {
        [PROBE_LIVENESS] = "Liveness", [PROBE_READINESS] = "Readiness", [PROBE_STARTUP] = "Startup"
    };
    return names[kind];
}

struct probers *probers_new(const struct probers_opts *o)
{
    struct probers *p = xnew(struct probers);
    p->env = (struct probe_env){ .loop = o->loop,
                                 .exec = o->exec,
                                 .user_agent = o->user_agent ? o->user_agent : "kube-probe/1.34" };
    p->random = (struct rng){ o->seed };
    list_init(&p->waiting);
    return p;
}

static void on_closing(struct defer *d)
{
    struct probers *p = container_of(d, struct probers, closing);
    void (*closed)(void *) = p->closed;
    void *arg = p->closed_arg;
    tls_ctx_free(p->env.tls);
    free(p);
    closed(arg);
}

static void on_none(struct probe_env *env)
{
    struct probers *p = container_of(env, struct probers, env);
    defer_start(env->loop, &p->closing, on_closing);
}

void probers_close(struct probers *p, void (*done)(void *arg), void *arg)
{
    assert(p->n_containers == 0 && list_is_empty(&p->waiting) && p->n_busy == 0);
    p->closed = done;
    p->closed_arg = arg;
    p->env.on_none = on_none;
    if (p->env.n_attempts == 0)
        on_none(&p->env);
}

void prober_request(struct probers *p, struct prober_slot *s, void (*run)(struct prober_slot *s))
{
    assert(!s->is_taken && !list_is_linked(&s->node));
    s->run = run;
    if (p->n_busy >= PROBES_BUSY) {
        list_push_back(&p->waiting, &s->node);
        return;
    }
    p->n_busy++;
    s->is_taken = true;
    run(s);
}

void prober_release(struct probers *p, struct prober_slot *s)
{
    list_remove(&s->node);
    if (!s->is_taken)
        return;
    s->is_taken = false;
    assert(p->n_busy > 0);
    p->n_busy--;
    if (list_is_empty(&p->waiting))
        return;
    struct prober_slot *next = list_entry(list_pop_front(&p->waiting), struct prober_slot, node);
    p->n_busy++;
    next->is_taken = true;
    next->run(next);
}

struct prober_attempt *probers_run(struct probers *p, const struct probe_spec *spec,
                                   struct str address, void *container, probe_done_cb done,
                                   void *arg)
{
    return prober_attempt_start(&p->env, spec, address, container, done, arg);
}

void probers_cancel(struct prober_attempt *a)
{
    prober_attempt_cancel(a);
}
