/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics: Prometheus text with Knative's names where it has one (durations in milliseconds, as
 * there), and proxy_trace.csv with Dirigent's columns.
 *
 * A function's counters are made by its first request and live as long as the function. A worker
 * thread writes the rows of the trace; rows that the disk does not take in time are dropped and
 * counted.
 */
#include "fn/gateway/gateway_int.h"

#include "base/slab.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

enum {
    /*
     * Revisions with buckets. One has 40 lines of them, and the monitoring system has to store
     * them.
     */
    STATS_HISTOGRAMS_MAX = 500
};
enum { CLASSES = 6, LATENCIES = 17 };

/* As in Knative's activator and queue-proxy, where they are relevant here; shown in ms. */
static const double latency_bounds_us[LATENCIES] = { 1e3,  2e3,   5e3,   10e3,  20e3, 40e3,
                                                     60e3, 100e3, 200e3, 500e3, 1e6,  2e6,
                                                     5e6,  10e6,  30e6,  60e6,  300e6 };
static const struct histogram_kind latencies = { latency_bounds_us, LATENCIES, 1e3, 3, NULL };
/* Cold starts: the interesting ones are short. */
static const double cold_bounds_us[STATS_COLD_BOUNDS] = { 50,    100,   200,   500,  1e3,
                                                          2e3,   5e3,   10e3,  20e3, 50e3,
                                                          100e3, 200e3, 500e3, 1e6,  2e6,
                                                          5e6,   10e6,  20e6,  60e6 };
static const struct histogram_kind cold_times = { cold_bounds_us, STATS_COLD_BOUNDS, 1e6, 6, NULL };

struct latency_times {
    HISTOGRAM_FIELDS(uint32_t, LATENCIES);
};

struct gateway_stats { /* of one revision */
    struct gateway_stats *next;
    uint32_t revision;
    uint64_t by_class[CLASSES]; /* statuses / 100; [0]: the client left */
    uint64_t n_cold;
    struct latency_times all, app; /* app: the part in the sandbox */
};

static struct gateway_stats *stats_of(struct gateway_function *f, uint32_t revision)
{
    for (struct gateway_stats *s = f->stats; s; s = s->next)
        if (s->revision == revision)
            return s;
    struct gateway_stats *s = slab_new(struct gateway_stats);
    s->revision = revision;
    s->next = f->stats;
    f->stats = s;
    return s;
}

void stats_free(struct gateway_function *f)
{
    while (f->stats) {
        struct gateway_stats *s = f->stats;
        f->stats = s->next;
        slab_free(s);
    }
}

static void merge_times(struct latency_times *to, const struct latency_times *from)
{
    for (size_t i = 0; i < LATENCIES; i++)
        to->counts[i] += from->counts[i];
    to->n += from->n;
    to->sum += from->sum;
}

static void merge(struct gateway_stats *to, const struct gateway_stats *from)
{
    for (size_t i = 0; i < CLASSES; i++)
        to->by_class[i] += from->by_class[i];
    merge_times(&to->all, &from->all);
    merge_times(&to->app, &from->app);
    to->n_cold += from->n_cold;
}

/* Else a function that is changed again and again has more of them each time. */
void stats_fold(struct gateway_function *f)
{
    for (struct gateway_stats **at = &f->stats; *at;) {
        struct gateway_stats *s = *at;
        if (s->revision == 0 || gateway_function_has(f, s->revision)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        struct gateway_stats gone = *s;
        slab_free(s);
        merge(stats_of(f, 0), &gone); /* to the front, behind `at` or not */
        at = &f->stats;
    }
}

void stats_answered(struct gateway *g, struct gateway_call *c, int status, uint64_t now_us)
{
    if (c->pool && c->pool->fn) {
        struct gateway_stats *s = stats_of(c->pool->fn, c->pool->revision);
        bool client_left = status == STATS_CLIENT_GONE;
        s->by_class[client_left ? 0 : MIN(status / 100, CLASSES - 1)]++;
        histogram_add(&latencies, &s->all, now_us - c->times.arrived_us);
        if (c->times.started_us) {
            s->n_cold += c->attempt.is_cold;
            histogram_add(&latencies, &s->app, now_us - c->times.started_us);
        }
    }
    if (c->pool && c->times.started_us) {
        histogram_add(&cold_times, &g->stats.queue_wait, c->times.started_us - c->times.queued_us);
        if (c->attempt.is_cold)
            histogram_add(&cold_times, &g->stats.cold_start,
                          c->times.started_us - c->times.queued_us);
        if (c->times.head_us)
            histogram_add(&cold_times, &g->stats.first_byte,
                          c->times.head_us - c->times.started_us);
    }
    if (g->trace && c->pool)
        gateway_trace_call(g, c, now_us);
}

/* ---------------------------------------------------------------- Prometheus */

static void value(struct buf *to, const char *name, const char *type, const char *help, uint64_t v)
{
    metric_head(to, name, type, help);
    (void)buf_printf(to, "%s %llu\n", name, (unsigned long long)v);
}

/* Without braces; taken, free(). */
static char *labels(const struct gateway_function *f, uint32_t revision)
{
    struct str ns = function_namespace(f), name = function_name(f);
    return xasprintf("namespace_name=\"" STR_FMT "\",configuration_name=\"" STR_FMT
                     "\",revision_name=\"" STR_FMT "-%05u\"",
                     STR_ARG(ns), STR_ARG(name), STR_ARG(name), revision);
}

static void write_counts(const struct gateway *g, struct buf *to)
{
    static const char *const classes[CLASSES] = { "499", "1xx", "2xx", "3xx", "4xx", "5xx" };
    metric_head(to, "revision_request_count", "counter", "Requests answered, by class of status.");
    map_each (e, &g->dir.functions)
        for (const struct gateway_stats *s = ((struct gateway_function *)e->value)->stats; s;
             s = s->next)
            for (size_t i = 0; i < CLASSES; i++) {
                if (!s->by_class[i])
                    continue;
                scoped(free_scoped) char *of = labels(e->value, s->revision);
                (void)buf_printf(to, "revision_request_count{%s,response_code_class=\"%s\"} %llu\n",
                                 of, classes[i], (unsigned long long)s->by_class[i]);
            }
}

/* Past STATS_HISTOGRAMS_MAX revisions that were ever called: sums and counts alone. */
static bool has_buckets(const struct gateway *g)
{
    size_t n = 0;
    map_each (e, &g->dir.functions)
        for (const struct gateway_stats *s = ((struct gateway_function *)e->value)->stats; s;
             s = s->next)
            n++;
    return n <= STATS_HISTOGRAMS_MAX;
}

static void write_latency(const struct gateway *g, struct buf *to, const char *name,
                          const char *help, size_t at)
{
    enum histogram_lines lines = has_buckets(g) ? HISTOGRAM_ALL : HISTOGRAM_SUM;
    metric_head(to, name, "histogram", help);
    map_each (e, &g->dir.functions)
        for (const struct gateway_stats *s = ((struct gateway_function *)e->value)->stats; s;
             s = s->next) {
            const struct latency_times *t = (const void *)((const char *)s + at);
            scoped(free_scoped) char *of = labels(e->value, s->revision);
            const struct histogram_text text = { str_of(name), str_of(of), lines, NULL };
            histogram_write(to, &latencies, &text, histogram_view(t));
        }
}

static void write_latencies(const struct gateway *g, struct buf *to)
{
    write_latency(g, to, "revision_request_latencies",
                  "From the request's arrival to its answer's end, in ms.",
                  offsetof(struct gateway_stats, all));
    write_latency(g, to, "revision_app_request_latencies", "The part in the sandbox, in ms.",
                  offsetof(struct gateway_stats, app));
}

static void write_gauge(const struct gateway *g, struct buf *to, const char *name, const char *help,
                        uint32_t (*read)(const struct gateway_pool *p))
{
    metric_head(to, name, "gauge", help);
    map_each (e, &g->dir.functions)
        for (const struct gateway_pool *p = ((struct gateway_function *)e->value)->pools; p;
             p = p->next) {
            scoped(free_scoped) char *of = labels(e->value, p->revision);
            (void)buf_printf(to, "%s{%s} %u\n", name, of, read(p));
        }
}

static uint32_t read_concurrency(const struct gateway_pool *p)
{
    return p->running + p->queued;
}

static uint32_t read_queued(const struct gateway_pool *p)
{
    return p->queued;
}

static uint32_t read_sandboxes(const struct gateway_pool *p)
{
    return p->n_sandboxes;
}

static void write_phase(struct buf *to, const char *phase, const struct gateway_times *t)
{
    scoped(free_scoped) char *of = xasprintf("phase=\"%s\"", phase);
    const struct histogram_text text = { .name = STR("dormouse_gateway_seconds"),
                                         .labels = str_of(of) };
    histogram_write(to, &cold_times, &text, histogram_view(t));
}

void gateway_metrics(const struct gateway *g, struct buf *to)
{
    write_counts(g, to);
    write_latencies(g, to);
    write_gauge(g, to, "request_concurrency", "Requests that run or wait.", read_concurrency);
    write_gauge(g, to, "queue_depth", "Requests that wait for a sandbox.", read_queued);
    write_gauge(g, to, "dormouse_gateway_sandboxes", "Sandboxes that are known.", read_sandboxes);
    metric_head(
        to, "dormouse_gateway_seconds", "histogram",
        "Waiting for room in a sandbox (queue; cold_start: those that found none at all), and from "
        "there to the answer's head (first_byte).");
    write_phase(to, "queue", &g->stats.queue_wait);
    write_phase(to, "cold_start", &g->stats.cold_start);
    write_phase(to, "first_byte", &g->stats.first_byte);
    value(to, "dormouse_gateway_functions", "gauge", "Functions that are known.",
          g->dir.functions.n);
    value(to, "dormouse_gateway_unknown_total", "counter", "Requests for no known function.",
          g->stats.n_unknown);
    value(to, "dormouse_gateway_forwarded_total", "counter", "Requests sent to the owner.",
          g->stats.n_forwarded);
    value(to, "dormouse_gateway_retries_total", "counter", "Second attempts.", g->stats.n_retries);
    value(to, "dormouse_gateway_ejected_total", "counter", "Sandboxes that refused a connection.",
          g->stats.n_ejected);
    value(to, "dormouse_gateway_cut_total", "counter", "Answers cut after their head.",
          g->stats.n_aborted);
    value(to, "dormouse_gateway_refused_terms_total", "counter",
          "Welcomes of deposed control planes.", g->stats.n_refused_terms);
    value(to, "dormouse_gateway_connected", "gauge", "A control plane is there.",
          uplink_is_welcome(g));
}

/* ---------------------------------------------------------------- a table */

/* Upper bound in ms of the bucket that holds this part of all. */
static uint32_t quantile_ms(const uint64_t *buckets, uint64_t n, double part)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < LATENCIES; i++)
        if ((sum += buckets[i]) > 0 && (double)sum >= part * (double)n)
            return (uint32_t)(latency_bounds_us[i] / 1e3);
    return (uint32_t)(latency_bounds_us[LATENCIES - 1] / 1e3);
}

static void write_function(const struct gateway_function *f, struct buf *to)
{
    uint64_t n = 0, n_bad = 0, n_cold = 0, latency[LATENCIES] = { 0 };
    uint32_t sandboxes = 0, running = 0, queued = 0;
    for (const struct gateway_stats *s = f->stats; s; s = s->next) {
        for (size_t i = 0; i < CLASSES; i++)
            n += s->by_class[i];
        for (size_t i = 0; i < LATENCIES; i++)
            latency[i] += s->all.counts[i];
        n_bad += s->by_class[5];
        n_cold += s->n_cold;
    }
    for (const struct gateway_pool *p = f->pools; p; p = p->next) {
        sandboxes += p->n_sandboxes;
        running += p->running;
        queued += p->queued;
    }
    (void)buf_printf(
        to,
        "{\"namespace\":\"" STR_FMT "\",\"name\":\"" STR_FMT
        "\",\"revision\":%u,\"sandboxes\":%u,\"running\":%u,\"queued\":%u,\"requests\":%llu,"
        "\"failures\":%llu,\"coldStarts\":%llu",
        STR_ARG(function_namespace(f)), STR_ARG(function_name(f)), f->latest, sandboxes, running,
        queued, (unsigned long long)n, (unsigned long long)n_bad, (unsigned long long)n_cold);
    if (n)
        (void)buf_printf(to, ",\"p50Ms\":%u,\"p99Ms\":%u", quantile_ms(latency, n, 0.5),
                         quantile_ms(latency, n, 0.99));
    if (f->failures)
        (void)buf_printf(to, ",\"failure\":\"%s\"", f->failures->reason);
    (void)buf_add_char(to, '}');
}

void gateway_functions_json(const struct gateway *g, struct buf *to)
{
    const char *between = "[";
    map_each (e, &g->dir.functions) {
        (void)buf_add_cstr(to, between);
        write_function(e->value, to);
        between = ",\n";
    }
    (void)buf_add_cstr(to, *between == '[' ? "[]" : "]");
}

/* ---------------------------------------------------------------- proxy_trace.csv */

enum { TRACE_MAX_BYTES = 1 << 20, TRACE_WRITE_BYTES = 64 << 10, TRACE_WRITE_MS = 1000 };

struct gateway_trace {
    struct gateway *g;
    int fd;
    struct buf rows, writing;
    struct job job;
    struct timer later;
    bool busy, stopping;
    uint64_t dropped;
};

static void on_write(struct job *j)
{
    struct gateway_trace *t = container_of(j, struct gateway_trace, job);
    for (size_t at = 0; at < t->writing.n;) {
        ssize_t n = write(t->fd, t->writing.p + at, t->writing.n - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        at += (size_t)n;
    }
}

static void trace_free(struct gateway_trace *t)
{
    (void)close(t->fd);
    buf_fini(&t->rows);
    buf_fini(&t->writing);
    free(t);
}

static void trace_write(struct gateway_trace *t);

static void on_written(struct job *j, int r)
{
    struct gateway_trace *t = container_of(j, struct gateway_trace, job);
    t->busy = false;
    buf_reset(&t->writing);
    if (t->rows.n >= TRACE_WRITE_BYTES || (t->stopping && t->rows.n))
        trace_write(t);
    else if (t->stopping)
        trace_free(t);
}

static void trace_write(struct gateway_trace *t)
{
    if (t->busy || t->rows.n == 0)
        return;
    struct buf full = t->rows;
    t->rows = t->writing;
    t->writing = full;
    t->busy = job_start(t->g->loop, &t->job) >= 0;
}

static void on_trace_timer(struct timer *timer)
{
    trace_write(container_of(timer, struct gateway_trace, later));
}

int gateway_trace_start(struct gateway *g, const char *dir, struct err *err)
{
    static const char columns[] =
        "time,service_name,container_id,get_metadata,add_deployment,cold_start,load_balancing,"
        "cc_throttling,proxying,serialization,persistence_layer,other\n";
    scoped(free_scoped) char *path = xasprintf("%s/proxy_trace.csv", dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(err, -errno, "open '%s'", path);
    struct gateway_trace *t = xnew(struct gateway_trace);
    *t = (struct gateway_trace){ .g = g,
                                 .fd = fd,
                                 .rows = BUF_INIT(TRACE_MAX_BYTES),
                                 .writing = BUF_INIT(TRACE_MAX_BYTES),
                                 .job = { .work = on_write, .done = on_written } };
    if (lseek(fd, 0, SEEK_END) == 0)
        (void)buf_add_cstr(&t->rows, columns);
    g->trace = t;
    return 0;
}

/* As the control plane names it in cold_start_trace.csv: plain in the default namespace. */
static void add_name(struct buf *to, struct str key)
{
    struct str namespace, name;
    (void)str_cut(key, '/', &namespace, &name);
    (void)buf_add_str(to, name);
    if (!str_is(namespace, "default"))
        (void)buf_printf(to, "." STR_FMT, STR_ARG(namespace));
}

struct phases {
    uint64_t find, wait, choose, proxy;
};

static void take_phases(const struct gateway_call *c, uint64_t now_us, struct phases *ret)
{
    *ret = (struct phases){ .find = c->times.found_us > c->times.arrived_us
                                        ? c->times.found_us - c->times.arrived_us
                                        : 0 };
    if (!c->times.started_us)
        return;
    uint64_t offered_us =
        MAX(c->times.offered_us, c->times.queued_us); /* equal where the call did not wait */
    ret->wait = offered_us - c->times.queued_us;
    ret->choose = c->times.started_us > offered_us ? c->times.started_us - offered_us : 0;
    ret->proxy = now_us - c->times.started_us;
}

/*
 * Times in us. get_metadata: until the function was found; cold_start: waiting while there was no
 * sandbox; add_deployment: from its first endpoint to leaving the queue; cc_throttling: waiting
 * while all were busy; load_balancing: choosing one; other: the rest of the total.
 */
void gateway_trace_call(struct gateway *g, const struct gateway_call *c, uint64_t now_us)
{
    struct gateway_trace *t = g->trace;
    struct phases p;
    take_phases(c, now_us, &p);
    uint64_t total = now_us - c->times.arrived_us, parts = p.find + p.wait + p.choose + p.proxy;
    uint64_t cold = c->attempt.is_cold ? UINT64_MAX : 0; /* which columns */
    size_t was = t->rows.n;
    (void)buf_printf(&t->rows, "%" PRId64 ",", clock_wall_us() * 1000);
    add_name(&t->rows, str_of(c->function_key));
    (void)buf_printf(&t->rows,
                     ",%" PRIx64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                     ",%" PRIu64 ",0,0,%" PRIu64 "\n",
                     c->sandbox ? c->sandbox->id : c->attempt.last_sandbox, p.find, p.choose & cold,
                     p.wait & cold, p.choose & ~cold, p.wait & ~cold, p.proxy,
                     total > parts ? total - parts : 0);
    if (!buf_ok(&t->rows)) {
        t->rows.n = was;
        t->rows.failed = 0;
        t->dropped++;
    }
    if (t->rows.n >= TRACE_WRITE_BYTES)
        trace_write(t);
    else if (!timer_is_armed(&t->later))
        timer_start(g->loop, &t->later, TRACE_WRITE_MS, on_trace_timer);
}

void gateway_trace_stop(struct gateway *g)
{
    struct gateway_trace *t = g->trace;
    if (!t)
        return;
    g->trace = NULL;
    timer_stop(g->loop, &t->later);
    t->stopping = true;
    trace_write(t);
    if (!t->busy)
        trace_free(t);
}
