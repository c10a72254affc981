/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the control plane hears: how many requests run and wait, for each revision that is in use.
 *
 * The first request that waits is told at the end of the turn, since a sandbox is wanted now; after
 * that every 20 ms while any waits, every 400 ms while any runs, and once more when all is over.
 * Between, a time-weighted sum is kept, so that nothing is lost by reporting seldom. A function
 * without requests is told once and costs nothing afterwards.
 */
#include "fn/gateway/gateway_int.h"

enum { LOAD_IDLE_MAX = 64 };

static void on_report(struct timer *t);
static void on_report_soon(struct defer *d);

static void integrate(struct pool *p)
{
    uint64_t now = gateway_now_us();
    p->concurrency_us += (now - p->since_us) * (p->running + p->queued);
    p->since_us = now;
}

static void report_within(struct gateway *g, uint64_t ms)
{
    uint64_t due = loop_now_ms(g->loop) + ms;
    if (!g->is_welcome || (timer_is_armed(&g->report_later) && g->report_later.due_ms <= due))
        return;
    timer_start(g->loop, &g->report_later, ms, on_report);
}

void load_changed(struct gateway *g, struct pool *p, int running, int queued)
{
    if (list_is_linked(&p->active)) {
        integrate(p);
    } else {
        p->since_us = gateway_now_us();
        list_push_back(&g->active, &p->active);
    }
    p->running = (uint32_t)((int64_t)p->running + running);
    p->queued = (uint32_t)((int64_t)p->queued + queued);
    g->n_running = (uint32_t)((int64_t)g->n_running + running);
    g->n_queued = (uint32_t)((int64_t)g->n_queued + queued);
    p->is_changed = true;
    if (queued > 0 && p->queued == 1)
        load_urgent(g);
    else
        report_within(g, p->queued ? GATEWAY_REPORT_QUEUED_MS : GATEWAY_REPORT_MS);
}

void load_urgent(struct gateway *g)
{
    if (g->is_welcome)
        defer_start(g->loop, &g->report_soon, on_report_soon);
}

void load_forget(struct gateway *g, struct pool *p)
{
    list_remove(&p->active);
}

void load_everything(struct gateway *g)
{
    list_each (node, &g->active) {
        struct pool *p = list_entry(node, struct pool, active);
        integrate(p);
        p->concurrency_us = p->duration_us = 0;
        p->arrived = p->finished = 0;
    }
    g->report_all = true;
    load_urgent(g);
}

/* ---------------------------------------------------------------- a report */

typedef Dormouse__Fn__V1__FunctionLoad load_message;

static int by_idleness(const void *a, const void *b)
{
    const struct sandbox *p = *(struct sandbox *const *)a, *q = *(struct sandbox *const *)b;
    return (p->idle_us > q->idle_us) - (p->idle_us < q->idle_us);
}

/* Sandboxes without a request, the longest idle first. */
static void add_idle(struct pool *p, load_message *m)
{
    VEC(struct sandbox *) idle = { 0 };
    vec_each (at, &p->balance.places) {
        struct sandbox *s = container_of(*at, struct sandbox, place);
        if (s->place.running == 0)
            vec_push(&idle, s);
    }
    if (idle.n) {
        qsort(idle.p, idle.n, sizeof *idle.p, by_idleness);
        m->n_idle = MIN(idle.n, (size_t)LOAD_IDLE_MAX);
        m->idle = xnew_n(uint64_t, m->n_idle);
        for (size_t i = 0; i < m->n_idle; i++)
            m->idle[i] = idle.p[i]->id;
    }
    vec_fini(&idle);
}

static uint32_t waited_ms(const struct pool *p, uint64_t now_us)
{
    struct queue_item *i = queue_first(&p->queue);
    if (!i)
        return 0;
    const struct gateway_call *c = container_of(i, struct gateway_call, waiting);
    return (uint32_t)((now_us - c->queued_us) / 1000);
}

static void fill(struct pool *p, load_message *m)
{
    dormouse__fn__v1__function_load__init(m);
    integrate(p);
    m->function = p->fn->number;
    m->revision = p->revision;
    m->running = p->running;
    m->queued = p->queued;
    m->concurrency_us = p->concurrency_us;
    m->arrived = p->arrived;
    m->finished = p->finished;
    m->duration_us = p->duration_us;
    m->waited_ms = waited_ms(p, p->since_us);
    add_idle(p, m);
    p->concurrency_us = p->duration_us = 0;
    p->arrived = p->finished = 0;
    p->is_changed = false;
}

/* Up to GATEWAY_REPORT_LOADS; pools at rest leave the list. */
static size_t gather(struct gateway *g, load_message *loads, load_message **at, size_t n_max)
{
    size_t n = 0;
    list_each_safe (node, &g->active) {
        struct pool *p = list_entry(node, struct pool, active);
        bool is_known = p->fn && p->fn->number;
        if (is_known && (p->is_changed || p->running || p->queued || g->report_all)) {
            if (n == n_max)
                break;
            at[n] = &loads[n];
            fill(p, &loads[n++]);
        }
        if (p->running + p->queued == 0) {
            list_remove(&p->active);
            pool_rest(g, p);
        }
    }
    return n;
}

static size_t count(const struct list *head)
{
    size_t n = 0;
    list_each (node, head)
        n++;
    return n;
}

static void report(struct gateway *g)
{
    defer_cancel(&g->report_soon);
    timer_stop(g->loop, &g->report_later);
    if (!g->is_welcome)
        return;
    size_t n_max = MIN(count(&g->active), (size_t)GATEWAY_REPORT_LOADS);
    load_message *loads = n_max ? xnew_n(load_message, n_max) : NULL;
    load_message **at = n_max ? xnew_n(load_message *, n_max) : NULL;
    Dormouse__Fn__V1__GatewayReport r = DORMOUSE__FN__V1__GATEWAY_REPORT__INIT;
    r.loads_are_all = g->report_all;
    r.n_loads = gather(g, loads, at, n_max);
    r.loads = at;
    g->report_all = false;
    r.n_broken = g->broken.n;
    r.broken = g->broken.p;
    r.n_drained = g->drained.n;
    r.drained = g->drained.p;
    r.endpoints_version = g->endpoints_version;
    r.is_leaving = g->is_leaving;
    uplink_send(g, &r);
    g->broken.n = g->drained.n = 0;
    for (size_t i = 0; i < r.n_loads; i++)
        free(loads[i].idle);
    free(loads);
    free(at);
    if (!list_is_empty(&g->active))
        report_within(g, g->n_queued ? GATEWAY_REPORT_QUEUED_MS : GATEWAY_REPORT_MS);
}

static void on_report(struct timer *t)
{
    report(container_of(t, struct gateway, report_later));
}

static void on_report_soon(struct defer *d)
{
    report(container_of(d, struct gateway, report_soon));
}

void load_init(struct gateway *g)
{
    list_init(&g->active);
}

void load_fini(struct gateway *g)
{
    defer_cancel(&g->report_soon);
    timer_stop(g->loop, &g->report_later);
    while (!list_is_empty(&g->active)) {
        struct pool *p = list_first(&g->active, struct pool, active);
        list_remove(&p->active);
        pool_rest(g, p);
    }
    vec_fini(&g->broken);
    vec_fini(&g->drained);
}
