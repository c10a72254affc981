/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports to the control plane: how many requests run and wait, for each revision in use.
 *
 * There are two rates. A revision whose queue has changed is *urgent*: the first waiting request is
 * reported at the end of the turn, since it needs a sandbox now, and later changes within 20 ms.
 * Urgent reports name only the urgent revisions, so that a thousand cold starts a second do not
 * repeat the load of a thousand warm functions. Every 400 ms a report names all *active* revisions.
 * A revision that becomes idle is reported once more and then costs nothing.
 *
 * Between reports a time-weighted sum is kept, so that infrequent reports lose nothing.
 */
#include "fn/gateway/gateway_int.h"

enum { LOAD_IDLE_MAX = 64 };

static void on_report(struct timer *t);
static void on_report_soon(struct defer *d);

static void integrate(struct gateway_pool *p)
{
    uint64_t now = gateway_now_us();
    p->concurrency_us += (now - p->since_us) * (p->running + p->queued);
    p->since_us = now;
}

static void report_by(struct gateway *g, uint64_t due_ms)
{
    if (!uplink_is_welcome(g) ||
        (timer_is_armed(&g->load.report_later) && g->load.report_later.due_ms <= due_ms))
        return;
    uint64_t now = loop_now_ms(g->loop);
    timer_start(g->loop, &g->load.report_later, due_ms > now ? due_ms - now : 0, on_report);
}

void load_changed(struct gateway *g, struct gateway_pool *p, int running, int queued)
{
    if (list_is_empty(&g->load.active))
        g->load.report_all_ms = loop_now_ms(g->loop) + GATEWAY_REPORT_MS;
    if (list_is_linked(&p->active)) {
        integrate(p);
    } else {
        p->since_us = gateway_now_us();
        list_push_back(&g->load.active, &p->active);
    }
    p->running = (uint32_t)((int64_t)p->running + running);
    p->queued = (uint32_t)((int64_t)p->queued + queued);
    assert(p->queued == p->queue.n && p->running <= INT32_MAX);
    g->load.n_running = (uint32_t)((int64_t)g->load.n_running + running);
    g->load.n_queued = (uint32_t)((int64_t)g->load.n_queued + queued);
    assert(g->load.n_running >= p->running && g->load.n_queued >= p->queued);
    if ((p->queued || p->was_queued) && !list_is_linked(&p->urgent))
        list_push_back(&g->load.urgent, &p->urgent);
    if (queued > 0 && !p->was_queued)
        load_report_soon(g);
    else if (list_is_linked(&p->urgent))
        report_by(g, loop_now_ms(g->loop) + GATEWAY_REPORT_QUEUED_MS);
    else
        report_by(g, g->load.report_all_ms);
}

void load_report_soon(struct gateway *g)
{
    if (uplink_is_welcome(g))
        defer_start(g->loop, &g->load.report_soon, on_report_soon);
}

void load_forget(struct gateway *g, struct gateway_pool *p)
{
    list_remove(&p->active);
    list_remove(&p->urgent);
}

void load_report_all(struct gateway *g)
{
    list_each (node, &g->load.active) {
        struct gateway_pool *p = list_entry(node, struct gateway_pool, active);
        integrate(p);
        p->concurrency_us = p->duration_us = 0;
        p->arrived = p->finished = 0;
    }
    g->load.is_first_report = true;
    load_report_soon(g);
}

/* ---------------------------------------------------------------- a report */

typedef Dormouse__Fn__V1__FunctionLoad load_message;

static int by_idleness(const void *a, const void *b)
{
    const struct gateway_sandbox *p = *(struct gateway_sandbox *const *)a,
                                 *q = *(struct gateway_sandbox *const *)b;
    return (p->idle_us > q->idle_us) - (p->idle_us < q->idle_us);
}

/* Sandboxes without a request, the longest idle first. */
static void add_idle(struct gateway_pool *p, load_message *m)
{
    VEC(struct gateway_sandbox *) idle = { 0 };
    vec_each (at, &p->balance.places) {
        struct gateway_sandbox *s = container_of(*at, struct gateway_sandbox, place);
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

static uint32_t waited_ms(const struct gateway_pool *p, uint64_t now_us)
{
    struct queue_item *i = queue_first(&p->queue);
    if (!i)
        return 0;
    const struct gateway_call *c = container_of(i, struct gateway_call, waiting);
    return (uint32_t)((now_us - c->times.queued_us) / 1000);
}

static void fill(struct gateway_pool *p, load_message *m)
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
    p->was_queued = p->queued > 0;
}

struct load_batch {
    load_message *loads, **at;
    size_t n, max;
};

/* false: the report is full. */
static bool take(struct load_batch *b, struct gateway_pool *p)
{
    if (!p->fn || !p->fn->number)
        return true; /* the control plane does not know it */
    if (b->n == b->max)
        return false;
    b->at[b->n] = &b->loads[b->n];
    fill(p, &b->loads[b->n++]);
    return true;
}

static void take_urgent(struct gateway *g, struct load_batch *b)
{
    while (!list_is_empty(&g->load.urgent)) {
        struct gateway_pool *p = list_first(&g->load.urgent, struct gateway_pool, urgent);
        if (!take(b, p))
            return;
        list_remove(&p->urgent);
    }
}

/*
 * Reported pools move to the end, so that each has its turn even if not all fit into one message.
 */
static void take_active(struct gateway *g, struct load_batch *b, size_t n)
{
    for (; n > 0; n--) {
        struct gateway_pool *p = list_first(&g->load.active, struct gateway_pool, active);
        if (!take(b, p))
            return;
        list_remove(&p->urgent);
        list_remove(&p->active);
        if (p->running + p->queued == 0)
            gateway_pool_rest(g, p);
        else
            list_push_back(&g->load.active, &p->active);
    }
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
    defer_cancel(&g->load.report_soon);
    timer_stop(g->loop, &g->load.report_later);
    if (!uplink_is_welcome(g))
        return;
    bool all = g->load.is_first_report || loop_now_ms(g->loop) >= g->load.report_all_ms;
    size_t n_all = count(all ? &g->load.active : &g->load.urgent);
    size_t n_max = MIN(n_all, (size_t)GATEWAY_REPORT_LOADS);
    struct load_batch b = { .max = n_max };
    b.loads = n_max ? xnew_n(load_message, n_max) : NULL;
    b.at = n_max ? xnew_n(load_message *, n_max) : NULL;
    if (all)
        take_active(g, &b, n_all);
    else
        take_urgent(g, &b);
    Dormouse__Fn__V1__GatewayReport r = DORMOUSE__FN__V1__GATEWAY_REPORT__INIT;
    r.loads_are_all = g->load.is_first_report;
    r.n_loads = b.n;
    r.loads = b.at;
    r.n_broken = g->load.broken.n;
    r.broken = g->load.broken.p;
    r.n_drained = g->load.drained.n;
    r.drained = g->load.drained.p;
    r.endpoints_version = g->dir.endpoints_version;
    r.is_leaving = gateway_is_leaving(g);
    uplink_send(g, &r);
    g->load.is_first_report = false;
    g->load.broken.n = g->load.drained.n = 0;
    for (size_t i = 0; i < b.n; i++)
        free(b.loads[i].idle);
    free(b.loads);
    free(b.at);
    if (all)
        g->load.report_all_ms = loop_now_ms(g->loop) + GATEWAY_REPORT_MS;
    if (!list_is_empty(&g->load.urgent))
        report_by(g, loop_now_ms(g->loop) + GATEWAY_REPORT_QUEUED_MS);
    else if (!list_is_empty(&g->load.active))
        report_by(g, g->load.report_all_ms);
    else if (g->calls.n_live == 0)
        calls_trim(g);
}

static void on_report(struct timer *t)
{
    report(container_of(t, struct gateway, load.report_later));
}

static void on_report_soon(struct defer *d)
{
    report(container_of(d, struct gateway, load.report_soon));
}

void load_init(struct gateway *g)
{
    list_init(&g->load.active);
    list_init(&g->load.urgent);
}

void load_fini(struct gateway *g)
{
    defer_cancel(&g->load.report_soon);
    timer_stop(g->loop, &g->load.report_later);
    while (!list_is_empty(&g->load.active)) {
        struct gateway_pool *p = list_first(&g->load.active, struct gateway_pool, active);
        load_forget(g, p);
        gateway_pool_rest(g, p);
    }
    vec_fini(&g->load.broken);
    vec_fini(&g->load.drained);
}
