/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's role; see worker.h. Its functions are in revisions.c, the calls of its sandboxes in
 * worker_invoker.c.
 */
#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sm.h"
#include "base/sys.h"
#include "fn/worker/http_invoker.h"
#include "fn/worker/worker_impl.h"
#include "guest/guest_log.h"

#include <errno.h>
#include <string.h>

/*
 *     CREATING -> READY -> DESTROYING -> (free)
 *         |         `-> (free: it died)
 *         `-> (free: failed), DESTROYING
 */
static const struct sm_state sandbox_table[] = {
    [SANDBOX_CREATING] = { "creating", EDGE(SANDBOX_READY) | EDGE(SANDBOX_DESTROYING) },
    [SANDBOX_READY] = { "ready", EDGE(SANDBOX_DESTROYING) },
    [SANDBOX_DESTROYING] = { "destroying", 0 },
};

static void dial(struct worker *w);
static void lose_stream(struct worker *w, const char *why);
static void on_stop_grace(struct timer *t);

/* ---------------------------------------------------------------- sandboxes */

static struct str id_key(const uint64_t *id)
{
    return str_n(id, sizeof *id);
}

struct sandbox *worker_sandbox(const struct worker *w, uint64_t id)
{
    return map_get(&w->sandboxes, id_key(&id));
}

static struct sandbox *add_sandbox(struct worker *w, uint64_t id, struct runtime *rt)
{
    assert(!worker_sandbox(w, id) && !w->is_closing);
    struct sandbox *s = xnew(struct sandbox);
    s->id = id;
    s->rt = rt;
    sm_init(&s->sm, sandbox_table, SANDBOX_CREATING);
    map_put(&w->sandboxes, id_key(&id), s);
    if (w->index)
        map_put(w->index, id_key(&id), w);
    w->n_in[SANDBOX_CREATING]++;
    crowd_is(&w->crowd, w->sandboxes.n);
    return s;
}

static void move_sandbox(struct worker *w, struct sandbox *s, enum sandbox_at to)
{
    assert(w->n_in[s->sm.at] > 0);
    w->n_in[s->sm.at]--;
    sm_move(&s->sm, to);
    w->n_in[to]++;
}

static void free_sandbox(struct worker *w, struct sandbox *s)
{
    assert(w->n_in[s->sm.at] > 0 && worker_sandbox(w, s->id) == s);
    w->n_in[s->sm.at]--;
    map_del(&w->sandboxes, id_key(&s->id));
    if (w->index && map_get(w->index, id_key(&s->id)) == w)
        map_del(w->index, id_key(&s->id));
    if (s->revision)
        revision_unref(&w->revisions, s->revision);
    http_invoker_close(s->proxy);
    free(s->uid);
    free(s->address);
    free(s->direct);
    free(s);
    crowd_is(&w->crowd, w->sandboxes.n);
    if (w->is_stopping && w->sandboxes.n == 0)
        timer_start(w->loop, &w->stop_timer, 0, on_stop_grace);
}

static void destroy_sandbox(struct worker *w, struct sandbox *s, uint32_t grace_ms)
{
    if (s->sm.at == SANDBOX_DESTROYING)
        return;
    move_sandbox(w, s, SANDBOX_DESTROYING);
    s->rt->ops->destroy(s->rt, s->id, grace_ms);
}

static void set_address(struct worker *w, struct sandbox *s, const char *address)
{
    s->by_worker = !address || w->is_proxy;
    if (w->is_proxy && address)
        s->direct = xstrdup(address);
    if (!s->by_worker)
        s->address = xstrdup(address);
    else if (w->address[0])
        s->address = xstrdup(w->address);
}

static void on_created(void *arg, uint64_t id, int r, const char *address,
                       const Dormouse__Fn__V1__Breakdown *breakdown, const struct err *err)
{
    struct worker *w = arg;
    struct sandbox *s = worker_sandbox(w, id);
    if (!s || s->sm.at != SANDBOX_CREATING)
        return; /* it was ordered to delete it since: on_destroyed() follows */
    if (r < 0) {
        w->total.failed++;
        worker_report_failed(w, id, r, err);
        free_sandbox(w, s);
        return;
    }
    w->total.created++;
    move_sandbox(w, s, SANDBOX_READY);
    set_address(w, s, address);
    worker_report_ready(w, s, breakdown);
}

static void on_compiling(void *arg, uint64_t id)
{
    struct worker *w = arg;
    const struct sandbox *s = worker_sandbox(w, id);
    if (s && s->sm.at == SANDBOX_CREATING)
        worker_report_compiling(w, id);
}

static void on_pulling(void *arg, uint64_t id)
{
    struct worker *w = arg;
    const struct sandbox *s = worker_sandbox(w, id);
    if (s && s->sm.at == SANDBOX_CREATING)
        worker_report_pulling(w, id);
}

static void on_gone(void *arg, uint64_t id, const char *reason)
{
    struct worker *w = arg;
    struct sandbox *s = worker_sandbox(w, id);
    if (!s || s->sm.at != SANDBOX_READY)
        return;
    w->total.gone++;
    worker_report_gone(w, id, reason);
    free_sandbox(w, s);
}

static void on_destroyed(void *arg, uint64_t id)
{
    struct worker *w = arg;
    struct sandbox *s = worker_sandbox(w, id);
    if (!s || s->sm.at != SANDBOX_DESTROYING)
        return;
    w->total.destroyed++;
    worker_report_gone(w, id, "");
    free_sandbox(w, s);
}

static void on_recovered(void *arg, uint64_t id, const char *uid, uint32_t revision,
                         const char *address)
{
    struct worker *w = arg;
    assert(w->recovering);
    struct sandbox *s = add_sandbox(w, id, w->recovering);
    s->uid = xstrdup(uid);
    s->revision_number = revision;
    set_address(w, s, address);
    move_sandbox(w, s, SANDBOX_READY);
}

static const struct runtime_events events = { .on_created = on_created,
                                              .on_compiling = on_compiling,
                                              .on_pulling = on_pulling,
                                              .on_gone = on_gone,
                                              .on_destroyed = on_destroyed,
                                              .on_recovered = on_recovered };

/* ---------------------------------------------------------------- orders */

/* A create that cannot even begin. */
static void refuse_create(struct worker *w, uint64_t id, int r, const char *text)
{
    struct err err = { 0 };
    w->total.failed++;
    worker_report_failed(w, id, err_set(&err, r, "%s", text), &err);
}

static void create_again(struct worker *w, struct sandbox *s)
{
    s->is_adopted = true;
    if (s->sm.at == SANDBOX_READY)
        worker_report_ready(w, s, NULL);
    else if (s->sm.at == SANDBOX_DESTROYING)
        refuse_create(w, s->id, -ESTALE, "this sandbox is being deleted");
}

static void do_create(struct worker *w, const Dormouse__Fn__V1__Create *c)
{
    struct sandbox *s = worker_sandbox(w, c->sandbox);
    if (s) {
        create_again(w, s);
        return;
    }
    struct worker_revision *v = revisions_find(&w->revisions, c->function, c->revision);
    if (w->is_stopping)
        refuse_create(w, c->sandbox, -ESHUTDOWN, "this worker stops");
    else if (!v)
        refuse_create(w, c->sandbox, -ENOENT, "this worker does not know the function");
    else if (!v->rt)
        refuse_create(w, c->sandbox, v->err->code, err_text(v->err));
    else if (w->sandboxes.n >= WORKER_SANDBOXES_MAX)
        refuse_create(w, c->sandbox, E_LIMIT, "this worker has as many sandboxes as it can");
    else {
        s = add_sandbox(w, c->sandbox, v->rt);
        s->revision = v;
        s->uid = xstrdup(v->pub.uid);
        s->revision_number = v->pub.revision;
        s->is_adopted = true;
        revision_ref(v);
        v->rt->ops->create(v->rt, c->sandbox, &v->pub);
    }
}

/* A sandbox of an earlier process gets its revision. */
static void do_adopt(struct worker *w, const Dormouse__Fn__V1__Adopt *a)
{
    struct sandbox *s = worker_sandbox(w, a->sandbox);
    if (!s)
        return;
    s->is_adopted = true;
    struct worker_revision *v = revisions_find(&w->revisions, a->function, s->revision_number);
    if (s->revision || !v || v->rt != s->rt || strcmp(v->pub.uid, s->uid) != 0)
        return;
    s->revision = v;
    revision_ref(v);
}

static void do_delete(struct worker *w, const Dormouse__Fn__V1__Delete *d)
{
    struct sandbox *s = worker_sandbox(w, d->sandbox);
    if (s)
        destroy_sandbox(w, s, d->grace_ms);
    else
        worker_report_gone(w, d->sandbox, ""); /* again: the first answer was lost */
}

static void do_functions(struct worker *w, const Dormouse__Fn__V1__WorkerOrder *m)
{
    for (size_t i = 0; i < m->n_functions; i++) {
        struct err err = { 0 };
        if (revisions_put(&w->revisions, m->functions[i], &err) < 0)
            log_warn("function refused", "function=%s/%s error=\"%s\"", m->functions[i]->namespace_,
                     m->functions[i]->name, err_text(&err));
    }
}

/* It has been deleted, and its log is removed with it. */
static void forget_function(struct worker *w, uint32_t number)
{
    const struct worker_function *f = revisions_function(&w->revisions, number);
    if (f)
        guest_log_remove(w->logs, f->namespace, f->name);
    revisions_gone(&w->revisions, number);
}

static void do_orders(struct worker *w, const Dormouse__Fn__V1__WorkerOrder *m)
{
    for (size_t i = 0; i < m->n_functions_resting; i++)
        revisions_gone(&w->revisions, m->functions_resting[i]);
    do_functions(w, m);
    for (size_t i = 0; i < m->n_adopts; i++)
        do_adopt(w, m->adopts[i]);
    for (size_t i = 0; i < m->n_deletes; i++)
        do_delete(w, m->deletes[i]);
    for (size_t i = 0; i < m->n_creates; i++)
        do_create(w, m->creates[i]);
    for (size_t i = 0; i < m->n_functions_gone; i++)
        forget_function(w, m->functions_gone[i]);
    for (size_t i = 0; i < m->n_functions_deleted; i++)
        guest_log_remove(w->logs, m->functions_deleted[i]->namespace_,
                         m->functions_deleted[i]->name);
}

/* ---------------------------------------------------------------- the stream */

static void on_orphans(struct timer *t)
{
    struct worker *w = container_of(t, struct worker, orphans);
    VEC(struct sandbox *) left = { 0 };
    map_each (e, &w->sandboxes) {
        struct sandbox *s = e->value;
        if (!s->is_adopted && s->sm.at != SANDBOX_DESTROYING)
            vec_push(&left, s);
    }
    if (left.n)
        log_info("removing sandboxes that were not adopted", "worker=%s n=%zu", w->name, left.n);
    vec_each (s, &left)
        destroy_sandbox(w, *s, 0);
    vec_fini(&left);
    revisions_sweep(&w->revisions);
}

static void welcome(struct worker *w, const Dormouse__Fn__V1__Welcome *m)
{
    if (m->term < w->term) {
        w->total.refused++;
        log_warn("orders of an earlier term are refused",
                 "worker=%s leader=\"%s\" term=%llu seen=%llu", w->name, m->leader,
                 (unsigned long long)m->term, (unsigned long long)w->term);
        lose_stream(w, "earlier term");
        return;
    }
    if (!w->is_simulated && (w->at != WORKER_WELCOME || m->term != w->term))
        log_info("worker: connected", "worker=%s leader=\"%s\" term=%llu", w->name, m->leader,
                 (unsigned long long)m->term);
    w->term = m->term;
    w->lease_ms = m->lease_ms;
    w->backoff_ms = 0;
    timer_stop(w->loop, &w->dial_timer);
    revisions_new_term(&w->revisions);
    timer_start(w->loop, &w->orphans, WORKER_ORPHAN_MS, on_orphans);
    w->at = WORKER_WELCOME;
    worker_report_keep_lease(w);
    if (w->created.n || w->gone.n || w->is_stopping)
        worker_report_want(w);
    if (w->on_synced) {
        void (*synced)(void *) = w->on_synced;
        w->on_synced = NULL;
        synced(w->arg);
    }
}

static void redirect(struct worker *w, const char *address)
{
    free(w->dial_address);
    w->dial_address = xstrdup(address);
    lose_stream(w, "another control plane leads");
}

/* An operator must act; until then the worker retries. */
static void refused(struct worker *w, const char *why)
{
    uint64_t skipped;
    char quoted[LOG_QUOTE_MAX];
    if (log_rate_ok(&w->refused_rate, 10000, &skipped))
        log_warn("the control plane refuses this worker", "worker=%s reason=\"%s\"", w->name,
                 log_quote(quoted, str_of(why)));
    lose_stream(w, "refused");
}

static void on_message(void *arg, const ProtobufCMessage *base)
{
    struct worker *w = arg;
    const Dormouse__Fn__V1__WorkerOrder *m = (const Dormouse__Fn__V1__WorkerOrder *)base;
    if (m->redirect) {
        redirect(w, m->redirect->address);
        return;
    }
    if (m->refusal) {
        refused(w, m->refusal->message);
        return;
    }
    if (m->welcome) {
        welcome(w, m->welcome);
        if (w->at != WORKER_WELCOME)
            return;
    }
    if (w->at != WORKER_WELCOME) {
        lose_stream(w, "orders without a welcome");
        return;
    }
    do_orders(w, m);
}

static void on_end(void *arg, int r, const struct err *err)
{
    lose_stream(arg, r < 0 ? err_text(err) : "closed");
}

static const struct fn_stream_ops stream_ops = { .on_message = on_message, .on_end = on_end };

static void on_no_welcome(struct timer *t)
{
    lose_stream(container_of(t, struct worker, dial_timer), "no welcome came");
}

static void dial(struct worker *w)
{
    assert(w->at == WORKER_AWAY && !w->stream && !w->is_closing);
    w->stream = w->dialer->ops->dial(w->dialer, &dormouse__fn__v1__worker_order__descriptor,
                                     w->dial_address ? w->dial_address : "");
    free(take_ptr(&w->dial_address));
    fn_stream_set(w->stream, &stream_ops, w);
    w->at = WORKER_HELLO;
    w->seq = 0;
    worker_report_hello(w);
    timer_start(w->loop, &w->dial_timer, WORKER_WELCOME_MS, on_no_welcome);
}

static void on_dial(struct timer *t)
{
    dial(container_of(t, struct worker, dial_timer));
}

/* With jitter, so that a thousand workers do not reconnect in the same millisecond. */
static uint64_t next_backoff(struct worker *w)
{
    uint64_t ms = w->backoff_ms ? w->backoff_ms : WORKER_RECONNECT_FIRST_MS;
    w->backoff_ms = backoff_next(ms, WORKER_RECONNECT_FIRST_MS, WORKER_RECONNECT_MAX_MS);
    return backoff_upper_half(&w->rng, ms);
}

static void lose_stream(struct worker *w, const char *why)
{
    uint64_t skipped;
    bool is_first = w->backoff_ms == 0; /* usual for a worker that has just started */
    if (!w->is_closing && !w->is_simulated && w->at == WORKER_WELCOME)
        log_info("worker: connection to the control plane lost", "worker=%s reason=\"%s\"", w->name,
                 why);
    else if (!w->is_closing && !w->is_simulated && !is_first &&
             log_rate_ok(&w->lost_rate, 10000, &skipped))
        log_info("worker: dialing the control plane", "worker=%s reason=\"%s\"", w->name, why);
    fn_stream_close(take_ptr(&w->stream));
    timer_stop(w->loop, &w->lease);
    timer_stop(w->loop, &w->orphans); /* sandboxes are kept while no control plane is connected */
    defer_cancel(&w->report);
    worker_report_clear(w);
    w->at = WORKER_AWAY;
    if (w->is_closing)
        return;
    timer_start(w->loop, &w->dial_timer, next_backoff(w), on_dial);
}

/* ---------------------------------------------------------------- start and stop */

static int check(const struct worker_opts *o, struct err *err)
{
    if (!o->name || !o->name[0])
        return err_set(err, E_INVALID, "a worker needs a name");
    if (o->is_proxy && !(o->address && o->address[0]))
        return err_set(err, E_INVALID, "a worker that gateways go through needs an address");
    if (o->n_runtimes == 0 || o->n_runtimes > WORKER_RUNTIMES_MAX)
        return err_set(err, E_INVALID, "a worker needs one to %d runtimes", WORKER_RUNTIMES_MAX);
    return 0;
}

static void copy_opts(struct worker *w, const struct worker_opts *o)
{
    w->loop = o->loop;
    w->name = xstrdup(o->name);
    w->address = xstrdup(o->address ? o->address : "");
    w->incarnation = o->incarnation;
    w->dialer = o->dialer;
    w->cpu_milli = o->cpu_milli ? o->cpu_milli : node_cpu_milli();
    w->memory_bytes = o->memory_bytes ? o->memory_bytes : node_memory_bytes();
    w->is_simulated = o->is_simulated;
    w->is_proxy = o->is_proxy;
    w->logs = o->logs;
    w->index = o->index;
    w->on_synced = o->on_synced;
    w->arg = o->arg;
    for (size_t i = 0; i < o->n_labels; i++)
        vec_push(&w->labels,
                 ((struct label){ xstrdup(o->labels[i].key), xstrdup(o->labels[i].value) }));
    memcpy(w->runtimes, o->runtimes, sizeof w->runtimes);
    w->n_runtimes = o->n_runtimes;
    w->revisions.runtimes = w->runtimes;
    w->revisions.n_runtimes = w->n_runtimes;
    w->rng.state = sys_random_u64();
}

int worker_start(const struct worker_opts *o, struct worker **ret, struct err *err)
{
    int r = check(o, err);
    if (r < 0)
        return r;
    struct worker *w = xnew(struct worker);
    copy_opts(w, o);
    worker_invoker_init(w);
    for (size_t i = 0; i < w->n_runtimes; i++) {
        w->recovering = w->runtimes[i];
        w->recovering->events = &events;
        w->recovering->events_arg = w;
        w->recovering->ops->recover(w->recovering);
    }
    w->recovering = NULL;
    dial(w);
    *ret = w;
    return 0;
}

static void on_released(struct defer *d)
{
    struct worker *w = container_of(d, struct worker, report);
    void (*done)(void *) = w->done;
    void *arg = w->done_arg;
    vec_each (l, &w->labels) {
        free(l->key);
        free(l->value);
    }
    vec_fini(&w->labels);
    vec_fini(&w->created);
    vec_fini(&w->gone);
    vec_fini(&w->compiling);
    vec_fini(&w->pulling);
    map_fini(&w->sandboxes);
    arena_fini(&w->scratch);
    worker_invoker_fini(w);
    free(w->dial_address);
    free(w->address);
    free(w->name);
    free(w);
    if (done)
        done(arg);
}

static void on_runtime_closed(void *arg)
{
    struct worker *w = arg;
    assert(w->is_closing && w->n_runtimes > 0);
    if (--w->n_runtimes > 0)
        return;
    assert(w->sandboxes.n == 0 && !w->stream);
    defer_start(w->loop, &w->report, on_released);
}

/* No sandbox is left: only the last report has to be sent. */
static void finish_stop(struct worker *w)
{
    assert(w->is_stopping && !w->is_closing && w->sandboxes.n == 0);
    w->is_closing = true;
    worker_report_flush(w);
    timer_stop(w->loop, &w->dial_timer);
    lose_stream(w, "stopping");
    revisions_fini(&w->revisions);
    for (size_t i = 0, n = w->n_runtimes; i < n; i++)
        w->runtimes[i]->ops->close(w->runtimes[i], on_runtime_closed, w);
}

static void on_stop_grace(struct timer *t)
{
    struct worker *w = container_of(t, struct worker, stop_timer);
    VEC(struct sandbox *) all = { 0 };
    map_each (e, &w->sandboxes)
        vec_push(&all, (struct sandbox *)e->value);
    vec_each (s, &all)
        destroy_sandbox(w, *s, 0);
    vec_fini(&all);
    if (w->sandboxes.n == 0)
        finish_stop(w);
}

void worker_stop(struct worker *w, uint64_t grace_ms, void (*done)(void *arg), void *arg)
{
    assert(!w->is_stopping);
    w->is_stopping = true;
    w->done = done;
    w->done_arg = arg;
    worker_report_want(w);
    timer_start(w->loop, &w->stop_timer, w->sandboxes.n ? grace_ms : 0, on_stop_grace);
}

/* ---------------------------------------------------------------- status */

void worker_count(const struct worker *w, struct worker_counts *ret)
{
    *ret = w->total;
    ret->creating = w->n_in[SANDBOX_CREATING];
    ret->ready = w->n_in[SANDBOX_READY];
    ret->destroying = w->n_in[SANDBOX_DESTROYING];
    ret->running = w->n_running;
    ret->revisions = (uint32_t)w->revisions.n;
    ret->term = w->term;
    ret->is_welcome = w->at == WORKER_WELCOME;
}

void worker_metrics(const struct worker *w, struct buf *to)
{
    struct worker_counts n;
    worker_count(w, &n);
    (void)buf_printf(to,
                     "# HELP dormouse_fn_sandboxes Sandboxes of this worker.\n"
                     "# TYPE dormouse_fn_sandboxes gauge\n"
                     "dormouse_fn_sandboxes{state=\"creating\"} %u\n"
                     "dormouse_fn_sandboxes{state=\"ready\"} %u\n"
                     "dormouse_fn_sandboxes{state=\"deleting\"} %u\n"
                     "# HELP dormouse_fn_sandbox_requests Requests in sandboxes of this process.\n"
                     "# TYPE dormouse_fn_sandbox_requests gauge\n"
                     "dormouse_fn_sandbox_requests %u\n"
                     "# HELP dormouse_fn_worker_revisions Revisions that this worker knows.\n"
                     "# TYPE dormouse_fn_worker_revisions gauge\n"
                     "dormouse_fn_worker_revisions %u\n"
                     "# HELP dormouse_fn_sandbox_ends_total What became of sandboxes.\n"
                     "# TYPE dormouse_fn_sandbox_ends_total counter\n",
                     n.creating, n.ready, n.destroying, n.running, n.revisions);
    const struct {
        const char *what;
        uint64_t n;
    } ends[] = { { "created", n.created },
                 { "failed", n.failed },
                 { "died", n.gone },
                 { "deleted", n.destroyed } };
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        (void)buf_printf(to, "dormouse_fn_sandbox_ends_total{what=\"%s\"} %llu\n", ends[i].what,
                         (unsigned long long)ends[i].n);
    (void)buf_printf(to,
                     "# HELP dormouse_fn_orders_refused_total Streams of an earlier term.\n"
                     "# TYPE dormouse_fn_orders_refused_total counter\n"
                     "dormouse_fn_orders_refused_total %llu\n"
                     "# HELP dormouse_fn_worker_welcome Whether a control plane is there.\n"
                     "# TYPE dormouse_fn_worker_welcome gauge\n"
                     "dormouse_fn_worker_welcome %d\n",
                     (unsigned long long)n.refused, n.is_welcome);
}
