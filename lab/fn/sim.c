/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discrete events; see sim.h. Arrivals come from the trace, one minute at a time; all other events
 * are in a heap by time. Times are microseconds of the trace; policies get milliseconds.
 */
#include "lab/fn/sim.h"

#include "base/heap.h"

#include <math.h>

enum {
    CLOCK_BEGINS_MS = 3600000, /* for policies, 0 means "never" */
    LOADS_EVERY_MS = 5000,     /* nodes report their load, and functions are classified by it */
    LEVEL_EVERY_MS = 15 * 60000,
    POPULAR_PERCENT = 15,
    NODES = 93, /* the paper's cluster */
    NODE_CPU_MILLI = 10000,
    SANDBOX_CPU_MILLI = 100,
    COLD_START_MS = 40,
};
#define NODE_MEMORY_BYTES ((int64_t)64 << 30)
#define IMAGE_BYTES       ((uint64_t)100 << 20)
#define MIB               ((int64_t)1 << 20)

enum event_kind { EVENT_READY, EVENT_DONE, EVENT_TICK, EVENT_LOADS, EVENT_LEVEL };

struct sim_event {
    uint64_t at_us, seq;
    enum event_kind kind;
    uint32_t of;     /* sandbox or function */
    uint32_t run_us; /* DONE */
};

struct sim_waiting {
    uint64_t arrived_us;
    uint32_t run_us;
    bool counted;
};

struct sim_sandbox {
    uint32_t function, node, epoch;
    uint32_t inflight;
    uint64_t ordered_us, ready_us, idle_since_us, sequence;
    bool ready, draining, in_use;
    struct place_amounts need;
};

struct ids {
    uint32_t *p;
    size_t n, cap;
};

struct sim_function {
    struct scale scale;
    uint64_t tick_ms; /* time of the valid event; older events are ignored */
    struct ids ready; /* not draining */
    struct ids free;  /* of those, with a free slot; the last used one is at the end */
    uint32_t creating, running;
    struct {
        struct sim_waiting *p;
        size_t n, cap;
    } queue;
    size_t queue_head;
    int64_t memory_mib;
    struct place_tally image; /* nodes that hold it */
    /* since the last report */
    uint64_t reported_us, changed_us;
    double area_us;
    uint32_t arrived, finished;
    uint64_t duration_us;
    /* results */
    uint64_t calls;
    double log_slowdown, wait_ms;
    /* ch-rlu */
    uint64_t all_calls, first_call_us;
};

struct sim {
    const struct trace *trace;
    const struct sim_options *o;
    struct place_books *books;
    struct place *place;
    struct rng rng;
    struct sim_function *functions;
    VEC(struct sim_sandbox) sandboxes;
    struct ids unused;
    VEC(struct sim_event) events; /* a heap by time */
    uint64_t seq, now_us;
    uint32_t *node_running; /* calls */
    uint64_t open;          /* calls without a response */
    uint64_t counted_from_us, counted_to_us;
    int64_t memory_mib, idle_mib; /* now */
    uint32_t present;
    uint64_t image_hits;
    VEC(float) waits_ms;
    struct sim_result result;
};

void sim_options_default(struct sim_options *o)
{
    *o = (struct sim_options){
        .place = { .policy = PLACE_WARM_FIRST, .seed = 42 },
        .n_nodes = NODES,
        .node = { .at = { [PLACE_CPU_MILLI] = NODE_CPU_MILLI,
                          [PLACE_MEMORY_BYTES] = NODE_MEMORY_BYTES } },
        .sandbox_cpu_milli = SANDBOX_CPU_MILLI,
        .cold_start_ms = COLD_START_MS,
        .image_bytes = IMAGE_BYTES,
        .draw = { .seed = 42, .scale = 1 },
        .to_minute = UINT32_MAX,
    };
    scale_config_default(&o->scale, SCALE_KPA);
    o->scale.concurrency = 1;
}

/* ---- time ---- */

static uint64_t now_ms(const struct sim *s)
{
    return CLOCK_BEGINS_MS + s->now_us / 1000;
}

static uint64_t us_of(uint64_t at_ms)
{
    return (at_ms - CLOCK_BEGINS_MS) * 1000;
}

static bool counts_now(const struct sim *s)
{
    return s->now_us >= s->counted_from_us && s->now_us < s->counted_to_us;
}

/* Advance all integrals over time to the next event. */
static void advance(struct sim *s, uint64_t to_us)
{
    uint64_t from = MAX(s->now_us, s->counted_from_us), to = MIN(to_us, s->counted_to_us);
    if (to > from) {
        s->result.memory_mib_s += (double)s->memory_mib * (double)(to - from) / 1e6;
        s->result.idle_memory_mib_s += (double)s->idle_mib * (double)(to - from) / 1e6;
    }
    s->now_us = MAX(s->now_us, to_us);
}

static bool event_before(const void *pa, const void *pb, const void *arg)
{
    const struct sim_event *a = pa, *b = pb;
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->seq < b->seq;
}

static const struct heap_kind by_time = { sizeof(struct sim_event), event_before, NULL };

static void event_push(struct sim *s, struct sim_event e)
{
    e.seq = s->seq++;
    heap_push(&by_time, NULL, &s->events, e);
}

static struct sim_event event_pop(struct sim *s)
{
    struct sim_event first = s->events.p[0];
    heap_remove(&by_time, NULL, &s->events, 1);
    return first;
}

/* ---- functions and their sandboxes ---- */

static uint32_t slots(const struct sim *s)
{
    return s->o->scale.concurrency ? s->o->scale.concurrency : UINT32_MAX;
}

static size_t queued(const struct sim_function *f)
{
    return f->queue.n - f->queue_head;
}

static void ids_remove(struct ids *l, uint32_t id)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->p[i] != id)
            continue;
        vec_remove(l, i);
        return;
    }
}

static struct scale_counts counts_of(const struct sim_function *f)
{
    return (struct scale_counts){ .ready = (uint32_t)f->ready.n, .creating = f->creating };
}

/* Call this before the number of the function's requests changes. */
static void touch(struct sim *s, struct sim_function *f)
{
    f->area_us += (double)(s->now_us - f->changed_us) * (f->running + (double)queued(f));
    f->changed_us = s->now_us;
}

static void set_idle(struct sim *s, const struct sim_sandbox *b, bool idle)
{
    int64_t mib = s->functions[b->function].memory_mib;
    s->idle_mib += idle ? mib : -mib;
}

static void sandbox_delete(struct sim *s, uint32_t id)
{
    struct sim_sandbox *b = &s->sandboxes.p[id];
    (void)place_release(s->books, b->node, b->epoch, &b->need);
    s->memory_mib -= s->functions[b->function].memory_mib;
    s->present--;
    set_idle(s, b, false);
    s->result.sandboxes_deleted += counts_now(s);
    b->in_use = false;
    vec_push(&s->unused, id);
}

static uint32_t sandbox_slot(struct sim *s)
{
    if (s->unused.n)
        return s->unused.p[--s->unused.n];
    vec_push(&s->sandboxes, (struct sim_sandbox){ 0 });
    return (uint32_t)s->sandboxes.n - 1;
}

static void sandbox_order(struct sim *s, uint32_t function)
{
    struct sim_function *f = &s->functions[function];
    struct place_request rq = {
        .need = { .at = { [PLACE_CPU_MILLI] = s->o->sandbox_cpu_milli,
                          [PLACE_MEMORY_BYTES] = f->memory_mib * MIB } },
        .key = function,
        .image = &f->image,
        .image_bytes = s->o->image_bytes,
    };
    if (f->all_calls > 1)
        rq.mean_gap_ms = (double)(s->now_us - f->first_call_us) / 1000 / (double)(f->all_calls - 1);
    struct place_choice at;
    if (place_decide(s->place, &rq, &at, NULL) < 0) {
        s->result.placements_failed += counts_now(s);
        return;
    }
    uint32_t id = sandbox_slot(s);
    s->sandboxes.p[id] = (struct sim_sandbox){
        .function = function,
        .node = at.node,
        .epoch = at.epoch,
        .need = rq.need,
        .ordered_us = s->now_us,
        .sequence = s->seq,
        .in_use = true,
    };
    if (!at.has_image)
        place_tally_add(&f->image, at.node, 1);
    f->creating++;
    s->memory_mib += f->memory_mib;
    s->present++;
    if (counts_now(s)) {
        s->result.sandboxes_created++;
        s->image_hits += at.has_image;
        s->result.sandboxes_most = MAX(s->result.sandboxes_most, s->present);
    }
    uint64_t ms = s->o->cold_start_ms + (at.has_image ? 0 : s->o->image_ms);
    event_push(s,
               (struct sim_event){ .at_us = s->now_us + ms * 1000, .kind = EVENT_READY, .of = id });
}

static void sandboxes_remove(struct sim *s, struct sim_function *f, uint32_t n)
{
    n = MIN(n, (uint32_t)f->ready.n);
    if (n == 0)
        return;
    scoped(free_scoped) struct place_victim *v = xnew_n(struct place_victim, f->ready.n);
    scoped(free_scoped) size_t *at = xnew_n(size_t, n);
    scoped(free_scoped) uint32_t *ids = xnew_n(uint32_t, n);
    for (size_t i = 0; i < f->ready.n; i++) {
        const struct sim_sandbox *b = &s->sandboxes.p[f->ready.p[i]];
        v[i] = (struct place_victim){ .node = b->node,
                                      .inflight = b->inflight,
                                      .idle_since_ms = b->idle_since_us / 1000,
                                      .sequence = b->sequence };
    }
    place_evict(s->books, s->o->evict, v, f->ready.n, n, &s->rng, at);
    for (uint32_t i = 0; i < n; i++)
        ids[i] = f->ready.p[at[i]];
    for (uint32_t i = 0; i < n; i++) {
        struct sim_sandbox *b = &s->sandboxes.p[ids[i]];
        ids_remove(&f->ready, ids[i]);
        ids_remove(&f->free, ids[i]);
        b->draining = true;
        if (b->inflight == 0)
            sandbox_delete(s, ids[i]);
    }
}

/* ---- the policy ---- */

static void obey(struct sim *s, uint32_t function, const struct scale_decision *d)
{
    struct sim_function *f = &s->functions[function];
    for (uint32_t i = 0; i < d->create; i++)
        sandbox_order(s, function);
    sandboxes_remove(s, f, d->remove);
    if (d->next_ms == 0 || d->next_ms == f->tick_ms)
        return;
    f->tick_ms = d->next_ms;
    event_push(s, (struct sim_event){ .at_us = MAX(us_of(d->next_ms), s->now_us),
                                      .kind = EVENT_TICK,
                                      .of = function });
}

/* Pass the gateway's report to the policy, and carry out its decision. */
static void report(struct sim *s, uint32_t function)
{
    struct sim_function *f = &s->functions[function];
    touch(s, f);
    struct scale_report r = {
        .running = f->running,
        .queued = (uint32_t)queued(f),
        .interval_ms = (s->now_us - f->reported_us) / 1000,
        .concurrency_us = (uint64_t)f->area_us,
        .arrived = f->arrived,
        .finished = f->finished,
        .duration_us = f->duration_us,
    };
    f->reported_us = s->now_us;
    f->area_us = 0;
    f->arrived = f->finished = 0;
    f->duration_us = 0;
    s->result.reports++;
    struct scale_counts n = counts_of(f);
    struct scale_decision d;
    if (scale_report(&f->scale, &s->o->scale, now_ms(s), &r, &n, &d))
        obey(s, function, &d);
}

static void on_tick(struct sim *s, uint32_t function)
{
    struct sim_function *f = &s->functions[function];
    if (us_of(f->tick_ms) > s->now_us)
        return; /* a later event replaces this one */
    f->tick_ms = 0;
    if (scale_is_awake(&f->scale))
        report(s, function);
    struct scale_counts n = counts_of(f);
    struct scale_decision d;
    s->result.ticks++;
    scale_tick(&f->scale, &s->o->scale, now_ms(s), &n, &d);
    obey(s, function, &d);
}

/* ---- calls ---- */

static void count_call(struct sim *s, struct sim_function *f, const struct sim_waiting *w,
                       const struct sim_sandbox *b)
{
    if (!w->counted)
        return;
    double wait_ms = (double)(s->now_us - w->arrived_us) / 1000, run_ms = w->run_us / 1e3;
    f->calls++;
    f->log_slowdown += log((wait_ms + run_ms) / run_ms);
    f->wait_ms += wait_ms;
    vec_push(&s->waits_ms, (float)wait_ms);
    s->result.cold_starts += b->ready_us > w->arrived_us;
    s->result.queued += s->now_us > w->arrived_us;
}

/* Start a call in a sandbox with a free slot. */
static void call_begin(struct sim *s, uint32_t id, const struct sim_waiting *w)
{
    struct sim_sandbox *b = &s->sandboxes.p[id];
    struct sim_function *f = &s->functions[b->function];
    count_call(s, f, w, b);
    if (b->inflight == 0)
        set_idle(s, b, false);
    b->inflight++;
    f->running++;
    s->node_running[b->node]++;
    event_push(
        s, (struct sim_event){
               .at_us = s->now_us + w->run_us, .kind = EVENT_DONE, .of = id, .run_us = w->run_us });
}

/* Start queued calls, the oldest first, until the sandbox has no free slot. */
static void queue_serve(struct sim *s, uint32_t id)
{
    struct sim_function *f = &s->functions[s->sandboxes.p[id].function];
    while (queued(f) && s->sandboxes.p[id].inflight < slots(s)) {
        touch(s, f);
        struct sim_waiting w = f->queue.p[f->queue_head++];
        call_begin(s, id, &w);
    }
    if (queued(f) == 0)
        f->queue.n = f->queue_head = 0;
}

static void on_ready(struct sim *s, uint32_t id)
{
    struct sim_sandbox *b = &s->sandboxes.p[id];
    struct sim_function *f = &s->functions[b->function];
    f->creating--;
    b->ready = true;
    b->ready_us = b->idle_since_us = s->now_us;
    set_idle(s, b, true);
    vec_push(&f->ready, id);
    scale_started(&f->scale, (s->now_us - b->ordered_us) / 1000);
    queue_serve(s, id);
    if (s->sandboxes.p[id].inflight < slots(s))
        vec_push(&f->free, id);
    struct scale_counts n = counts_of(f);
    struct scale_decision d;
    scale_recount(&f->scale, &s->o->scale, now_ms(s), &n, &d);
    sandboxes_remove(s, f, d.remove); /* the policy no longer wants the sandbox */
}

static void on_done(struct sim *s, uint32_t id, uint32_t run_us)
{
    struct sim_sandbox *b = &s->sandboxes.p[id];
    struct sim_function *f = &s->functions[b->function];
    touch(s, f);
    f->running--;
    f->finished++;
    f->duration_us += run_us;
    s->open--;
    s->node_running[b->node]--;
    bool was_full = b->inflight-- == slots(s);
    if (b->inflight == 0) {
        set_idle(s, b, true);
        b->idle_since_us = s->now_us;
    }
    if (b->draining) {
        if (b->inflight == 0)
            sandbox_delete(s, id);
        return;
    }
    queue_serve(s, id);
    if (s->sandboxes.p[id].inflight == slots(s))
        return;
    if (!was_full)
        ids_remove(&f->free, id);
    vec_push(&f->free, id);
}

static void on_arrival(struct sim *s, const struct trace_call *c)
{
    struct sim_function *f = &s->functions[c->function];
    struct sim_waiting w = { .arrived_us = s->now_us,
                             .run_us = c->run_us,
                             .counted = counts_now(s) };
    s->result.calls += w.counted;
    s->open++;
    if (f->all_calls++ == 0)
        f->first_call_us = s->now_us;
    touch(s, f);
    f->arrived++;
    if (f->free.n) {
        uint32_t id = f->free.p[f->free.n - 1];
        call_begin(s, id, &w);
        if (s->sandboxes.p[id].inflight == slots(s))
            f->free.n--;
        if (!scale_is_awake(&f->scale))
            report(s, c->function);
        return;
    }
    vec_push(&f->queue, w);
    report(s, c->function);
}

/* ---- periodic work of the cluster ---- */

static void on_loads(struct sim *s)
{
    for (uint32_t i = 0; i < s->o->n_nodes; i++)
        place_node_set_load(s->books, i, (int64_t)s->node_running[i] * 1000);
    scoped(free_scoped) double *gaps = xnew_n(double, s->trace->n_functions + 1);
    size_t n = 0;
    for (size_t i = 0; i < s->trace->n_functions; i++) {
        const struct sim_function *f = &s->functions[i];
        if (f->all_calls > 1)
            gaps[n++] = (double)(s->now_us - f->first_call_us) / 1000 / (double)(f->all_calls - 1);
    }
    place_set_popularity(s->place, gaps, n, POPULAR_PERCENT);
    event_push(
        s, (struct sim_event){ .at_us = s->now_us + LOADS_EVERY_MS * 1000, .kind = EVENT_LOADS });
}

static void on_level(struct sim *s)
{
    scoped(free_scoped) struct scale **all = xnew_n(struct scale *, s->trace->n_functions + 1);
    for (size_t i = 0; i < s->trace->n_functions; i++)
        all[i] = &s->functions[i].scale;
    scale_level(all, s->trace->n_functions, now_ms(s));
    event_push(s, (struct sim_event){ .at_us = s->now_us + LEVEL_EVERY_MS * 1000ULL,
                                      .kind = EVENT_LEVEL });
}

static void event_run(struct sim *s)
{
    struct sim_event e = event_pop(s);
    advance(s, e.at_us);
    switch (e.kind) {
    case EVENT_READY:
        on_ready(s, e.of);
        return;
    case EVENT_DONE:
        on_done(s, e.of, e.run_us);
        return;
    case EVENT_TICK:
        on_tick(s, e.of);
        return;
    case EVENT_LOADS:
        on_loads(s);
        return;
    case EVENT_LEVEL:
        on_level(s);
        return;
    }
}

static void run_until(struct sim *s, uint64_t until_us)
{
    while (s->events.n && s->events.p[0].at_us <= until_us)
        event_run(s);
    advance(s, until_us);
}

/* ---- results ---- */

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int by_float(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/* Index of the element floor(p * n). */
static size_t rank(double p, size_t n)
{
    size_t at = (size_t)(p * (double)n);
    return at < n ? at : n - 1;
}

static void summarize(struct sim *s)
{
    struct sim_result *r = &s->result;
    size_t n = 0, n_waits = s->waits_ms.n;
    scoped(free_scoped) double *slow = xnew_n(double, s->trace->n_functions + 1);
    scoped(free_scoped) double *waits = xnew_n(double, s->trace->n_functions + 1);
    for (size_t i = 0; i < s->trace->n_functions; i++) {
        const struct sim_function *f = &s->functions[i];
        if (f->calls == 0)
            continue;
        slow[n] = exp(f->log_slowdown / (double)f->calls);
        waits[n++] = f->wait_ms / (double)f->calls;
        r->wait_mean_ms += f->wait_ms;
    }
    r->functions = (uint32_t)n;
    r->unanswered = r->calls - n_waits;
    if (r->sandboxes_created)
        r->image_hits = (double)s->image_hits / (double)r->sandboxes_created;
    if (n == 0)
        return;
    qsort(slow, n, sizeof *slow, by_double);
    qsort(waits, n, sizeof *waits, by_double);
    qsort(s->waits_ms.p, n_waits, sizeof *s->waits_ms.p, by_float);
    r->slowdown_p50 = slow[rank(0.5, n)];
    r->slowdown_p90 = slow[rank(0.9, n)];
    r->slowdown_p99 = slow[rank(0.99, n)];
    r->function_wait_p50_ms = waits[rank(0.5, n)];
    r->function_wait_p99_ms = waits[rank(0.99, n)];
    r->wait_mean_ms /= (double)n_waits;
    r->wait_p50_ms = (double)s->waits_ms.p[rank(0.5, n_waits)];
    r->wait_p99_ms = (double)s->waits_ms.p[rank(0.99, n_waits)];
}

/* ---- a run ---- */

static void sim_fini(struct sim *s)
{
    for (size_t i = 0; i < s->trace->n_functions; i++) {
        struct sim_function *f = &s->functions[i];
        scale_fini(&f->scale);
        vec_fini(&f->ready);
        vec_fini(&f->free);
        vec_fini(&f->queue);
        place_tally_fini(&f->image);
    }
    free(s->functions);
    free(s->node_running);
    vec_fini(&s->sandboxes);
    vec_fini(&s->unused);
    vec_fini(&s->events);
    vec_fini(&s->waits_ms);
    place_free(s->place);
    place_books_free(s->books);
}

static int check(const struct trace *t, const struct sim_options *o, uint32_t to, struct err *err)
{
    if (o->from_minute >= to)
        return err_set(err, E_INVALID, "there is no minute between %u and %u; the trace has %u",
                       o->from_minute, o->to_minute, t->n_minutes);
    if (o->warmup_minutes >= to - o->from_minute)
        return err_set(err, E_INVALID, "%u minutes of warm-up leave nothing of %u",
                       o->warmup_minutes, to - o->from_minute);
    if (o->n_nodes == 0 || o->n_nodes > SIM_NODES_MAX)
        return err_set(err, E_INVALID, "there are 1 to %d nodes", SIM_NODES_MAX);
    return 0;
}

static int sim_init(struct sim *s, const struct trace *t, const struct sim_options *o, uint32_t to,
                    struct err *err)
{
    *s = (struct sim){ .trace = t,
                       .o = o,
                       .books = place_books_new(),
                       .rng = rng_fork(o->draw.seed, 1, 1),
                       .functions = xnew_n(struct sim_function, t->n_functions + 1),
                       .node_running = xnew_n(uint32_t, o->n_nodes) };
    for (uint32_t i = 0; i < o->n_nodes; i++) {
        int r = place_node_add(s->books, &o->node, err);
        if (r < 0)
            return r;
    }
    s->place = place_new(s->books, &o->place);
    s->now_us = o->from_minute * 60000000ULL;
    s->counted_from_us = s->now_us + o->warmup_minutes * 60000000ULL;
    s->counted_to_us = to * 60000000ULL;
    for (size_t i = 0; i < t->n_functions; i++) {
        struct sim_function *f = &s->functions[i];
        double mib = t->functions[i].has_memory ? (double)t->functions[i].memory_mib.average
                                                : TRACE_MEMORY_DEFAULT_MIB;
        f->memory_mib = (int64_t)MAX(lround(mib), 1L);
        f->reported_us = f->changed_us = s->now_us;
        scale_init(&f->scale);
        struct scale_decision d;
        struct scale_counts none = { 0 };
        scale_begin(&f->scale, &o->scale, now_ms(s), &none, &d);
        obey(s, (uint32_t)i, &d);
    }
    event_push(s, (struct sim_event){ .at_us = s->now_us, .kind = EVENT_LOADS });
    if (o->scale.policy == SCALE_ESCARGOT)
        event_push(s, (struct sim_event){ .at_us = s->now_us, .kind = EVENT_LEVEL });
    return 0;
}

int sim_run(const struct trace *t, const struct sim_options *options, struct sim_result *ret,
            struct err *err)
{
    struct sim s;
    struct sim_options o = *options;
    uint32_t to = MIN(o.to_minute, t->n_minutes);
    int r = check(t, &o, to, err);
    if (r < 0)
        return r;
    scale_config_check(&o.scale);
    r = sim_init(&s, t, &o, to, err);
    struct trace_calls calls = { 0 };
    for (uint32_t m = o.from_minute; r >= 0 && m < to; m++) {
        trace_draw_minute(t, &o.draw, m, &calls);
        for (size_t i = 0; i < calls.n; i++) {
            run_until(&s, calls.p[i].at_us);
            on_arrival(&s, &calls.p[i]);
        }
        run_until(&s, (m + 1) * 60000000ULL);
    }
    uint64_t end_us = s.now_us + SIM_LINGER_MS * 1000ULL;
    while (r >= 0 && s.open && s.events.n && s.events.p[0].at_us <= end_us)
        event_run(&s);
    if (r >= 0) {
        summarize(&s);
        *ret = s.result;
    }
    trace_calls_fini(&calls);
    sim_fini(&s);
    return r;
}
