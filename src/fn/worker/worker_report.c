/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker reports to the control plane: a hello with all sandboxes, then the changes of each
 * turn of the loop, and heartbeats if there is a lease.
 */
#include "fn/worker/worker_impl.h"

#include <string.h>

enum {
    LOAD_AGE_MS = 1000, /* a load that is younger need not be read again */
    KEPT_NEWS = 256     /* entries whose memory is kept */
};

static void on_report(struct defer *d);

void worker_report_want(struct worker *w)
{
    if (w->at == WORKER_WELCOME)
        defer_start(w->loop, &w->report, on_report);
}

void worker_report_clear(struct worker *w)
{
    vec_each (c, &w->created)
        free(c->text);
    vec_each (g, &w->gone)
        free(g->reason);
    w->created.n = w->gone.n = 0;
    vec_fini(&w->compiling); /* rarely used */
    vec_fini(&w->pulling);
    if (w->created.cap > KEPT_NEWS) /* a burst is over */
        vec_fini(&w->created);
    if (w->gone.cap > KEPT_NEWS)
        vec_fini(&w->gone);
}

/* Without a stream nothing is collected: the hello of the next stream reports the state. */
static bool has_listener(const struct worker *w)
{
    return w->at == WORKER_HELLO || w->at == WORKER_WELCOME;
}

static void report_created(struct worker *w, struct created c)
{
    if (!has_listener(w)) {
        free(c.text);
        return;
    }
    vec_push(&w->created, c);
    worker_report_want(w);
}

void worker_report_gone(struct worker *w, uint64_t id, const char *reason)
{
    if (!has_listener(w))
        return;
    vec_push(&w->gone, ((struct gone){ id, xstrdup(reason) }));
    worker_report_want(w);
}

void worker_report_compiling(struct worker *w, uint64_t id)
{
    if (!has_listener(w) || w->compiling.n == WORKER_REPORT_MAX)
        return;
    vec_push(&w->compiling, id);
    worker_report_want(w);
}

void worker_report_pulling(struct worker *w, uint64_t id)
{
    if (!has_listener(w) || w->pulling.n == WORKER_REPORT_MAX)
        return;
    vec_push(&w->pulling, id);
    worker_report_want(w);
}

void worker_report_ready(struct worker *w, const struct sandbox *s,
                         const Dormouse__Fn__V1__Breakdown *breakdown)
{
    struct created c = { .sandbox = s->id, .by_worker = s->by_worker };
    c.text = s->address ? xstrdup(s->address) : NULL;
    if (breakdown)
        c.breakdown = *breakdown;
    else
        dormouse__fn__v1__breakdown__init(&c.breakdown);
    report_created(w, c);
}

void worker_report_failed(struct worker *w, uint64_t id, int r, const struct err *err)
{
    struct created c = { .sandbox = id, .is_error = true };
    c.text = xstrdup(err_text(err));
    c.is_permanent = r == E_INVALID || r == E_UNSUPPORTED || r == E_DIGEST || r == E_DENIED;
    c.is_image = r == RUNTIME_IMAGE_FAILED;
    dormouse__fn__v1__breakdown__init(&c.breakdown);
    report_created(w, c);
}

/* A client waits for this report: do not read files for it. */
static bool is_load_at_hand(const struct worker *w)
{
    return w->is_simulated || (w->load_ms && loop_now_ms(w->loop) < w->load_ms + LOAD_AGE_MS);
}

static void fill_load(struct worker *w, Dormouse__Fn__V1__WorkerLoad *load)
{
    uint64_t now = loop_now_ms(w->loop);
    if (w->is_simulated) {
        w->cpu_used = w->n_running * 1000;
        w->memory_used = (uint64_t)w->sandboxes.n << 20;
    } else if (!w->load_ms || now >= w->load_ms + LOAD_AGE_MS) {
        node_load_read(&w->node, &w->cpu_used, &w->memory_used);
        w->load_ms = now ? now : 1;
    }
    dormouse__fn__v1__worker_load__init(load);
    load->cpu_milli_used = w->cpu_used;
    load->memory_used = w->memory_used;
    load->running = w->n_running;
}

static void add_created(struct arena *a, Dormouse__Fn__V1__WorkerReport *to, struct created *from,
                        size_t n)
{
    to->created = arena_new_n(a, Dormouse__Fn__V1__Created *, n + 1);
    Dormouse__Fn__V1__Created *all = arena_new_n(a, Dormouse__Fn__V1__Created, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct created *c = &from[i];
        dormouse__fn__v1__created__init(&all[i]);
        all[i].sandbox = c->sandbox;
        if (c->text && c->is_error)
            all[i].error = c->text;
        else if (c->text)
            all[i].address = c->text;
        all[i].by_worker = c->by_worker;
        all[i].is_permanent = c->is_permanent;
        if (c->is_image)
            all[i].reason = (char *)(uintptr_t) "ErrImagePull";
        if (!c->is_error)
            all[i].breakdown = &c->breakdown;
        to->created[i] = &all[i];
    }
    to->n_created = n;
}

static void add_gone(struct arena *a, Dormouse__Fn__V1__WorkerReport *to, const struct gone *from,
                     size_t n)
{
    to->gone = arena_new_n(a, Dormouse__Fn__V1__Gone *, n + 1);
    Dormouse__Fn__V1__Gone *all = arena_new_n(a, Dormouse__Fn__V1__Gone, n + 1);
    for (size_t i = 0; i < n; i++) {
        dormouse__fn__v1__gone__init(&all[i]);
        all[i].sandbox = from[i].sandbox;
        all[i].reason = from[i].reason;
        to->gone[i] = &all[i];
    }
    to->n_gone = n;
}

static void send_report(struct worker *w, size_t created_at, size_t n_created, size_t gone_at,
                        size_t n_gone, bool with_load)
{
    Dormouse__Fn__V1__WorkerReport m = DORMOUSE__FN__V1__WORKER_REPORT__INIT;
    Dormouse__Fn__V1__WorkerLoad load;
    add_created(&w->scratch, &m, w->created.p + created_at, n_created);
    add_gone(&w->scratch, &m, w->gone.p + gone_at, n_gone);
    if (with_load || is_load_at_hand(w)) {
        fill_load(w, &load);
        m.load = &load;
    }
    m.compiling = w->compiling.p;
    m.n_compiling = w->compiling.n;
    m.pulling = w->pulling.p;
    m.n_pulling = w->pulling.n;
    m.seq = ++w->seq;
    m.leaving = w->is_stopping;
    fn_stream_send(w->stream, &m.base);
    w->compiling.n = w->pulling.n = 0;
    arena_reset(&w->scratch);
    w->sent_ms = loop_now_ms(w->loop);
}

/* All that this turn of the loop has brought, in pieces of WORKER_REPORT_MAX. */
static void on_report(struct defer *d)
{
    struct worker *w = container_of(d, struct worker, report);
    size_t c = 0, g = 0;
    do {
        size_t nc = MIN(w->created.n - c, (size_t)WORKER_REPORT_MAX);
        size_t ng = MIN(w->gone.n - g, WORKER_REPORT_MAX - nc);
        send_report(w, c, nc, g, ng, false);
        c += nc;
        g += ng;
    } while (c < w->created.n || g < w->gone.n);
    worker_report_clear(w);
}

static void on_lease(struct timer *t)
{
    struct worker *w = container_of(t, struct worker, lease);
    uint64_t quarter = MAX(w->lease_ms / 4, 1), age = loop_now_ms(w->loop) - w->sent_ms;
    if (age + quarter / 4 >= quarter || !is_load_at_hand(w))
        send_report(w, 0, 0, 0, 0, true);
    timer_start(w->loop, &w->lease, quarter, on_lease);
}

void worker_report_keep_lease(struct worker *w)
{
    timer_stop(w->loop, &w->lease);
    if (w->lease_ms)
        timer_start(w->loop, &w->lease, MAX(w->lease_ms / 4, 1), on_lease);
}

void worker_report_flush(struct worker *w)
{
    if (!list_is_linked(&w->report.node))
        return;
    defer_cancel(&w->report);
    on_report(&w->report);
}

/* ---------------------------------------------------------------- the hello */

static void add_existing(struct worker *w, Dormouse__Fn__V1__WorkerHello *hello)
{
    struct arena *a = &w->scratch;
    hello->sandboxes = arena_new_n(a, Dormouse__Fn__V1__Existing *, w->sandboxes.n + 1);
    map_each (e, &w->sandboxes) {
        struct sandbox *s = e->value;
        if (s->sm.at == SANDBOX_DESTROYING)
            continue; /* it is being removed in any case */
        Dormouse__Fn__V1__Existing *x = arena_new(a, Dormouse__Fn__V1__Existing);
        dormouse__fn__v1__existing__init(x);
        x->sandbox = s->id;
        x->function_uid = s->uid;
        x->revision = s->revision_number;
        if (s->address)
            x->address = s->address;
        x->by_worker = s->by_worker;
        x->is_ready = s->sm.at == SANDBOX_READY;
        s->is_adopted = false;
        hello->sandboxes[hello->n_sandboxes++] = x;
    }
}

static void add_labels(struct worker *w, Dormouse__Fn__V1__WorkerHello *hello)
{
    typedef Dormouse__Fn__V1__WorkerHello__LabelsEntry entry;
    hello->labels = arena_new_n(&w->scratch, entry *, w->labels.n + 1);
    vec_each (l, &w->labels) {
        entry *x = arena_new(&w->scratch, entry);
        dormouse__fn__v1__worker_hello__labels_entry__init(x);
        x->key = l->key;
        x->value = l->value;
        hello->labels[hello->n_labels++] = x;
    }
}

void worker_report_hello(struct worker *w)
{
    Dormouse__Fn__V1__WorkerReport m = DORMOUSE__FN__V1__WORKER_REPORT__INIT;
    Dormouse__Fn__V1__WorkerHello hello = DORMOUSE__FN__V1__WORKER_HELLO__INIT;
    Dormouse__Fn__V1__WorkerLoad load;
    char *runtimes[WORKER_RUNTIMES_MAX];
    hello.name = w->name;
    hello.incarnation = w->incarnation;
    hello.address = w->address;
    hello.cpu_milli = w->cpu_milli;
    hello.memory_bytes = w->memory_bytes;
    hello.highest_term = w->term;
    for (size_t i = 0; i < w->n_runtimes; i++)
        runtimes[i] = (char *)(uintptr_t)w->runtimes[i]->ops->name;
    hello.runtimes = runtimes;
    hello.n_runtimes = w->n_runtimes;
    add_labels(w, &hello);
    add_existing(w, &hello);
    fill_load(w, &load);
    m.hello = &hello;
    m.load = &load;
    m.seq = ++w->seq;
    m.leaving = w->is_stopping;
    fn_stream_send(w->stream, &m.base);
    arena_fini(&w->scratch);
    w->sent_ms = loop_now_ms(w->loop);
}
