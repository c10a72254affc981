/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api-watch: how long a change takes to its watchers, for benchmarks.
 *
 * Watchers are divided into groups of `fan-out`; each group watches one ConfigMap by a label
 * selector. Writes replace these objects in turn, at fixed times whatever the answers do (open
 * loop), and carry the time at which they were meant to be sent; each watcher that sees one counts
 * from that time. So a delivery contains the wait for a connection, the durable write and the way
 * to the watcher, and a server that stalls cannot hide it. Rates are deliveries per second: writes
 * come at rate / fan-out. The result is one JSON object on stdout.
 *
 * PHASE_OPENING: objects are made, watches opened. PHASE_WRITING: all watch. PHASE_DRAINING: the
 * last write has been sent; ends when every watcher has seen it.
 */
#include "histogram.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/sys.h"
#include "io/http.h"
#include "io/tls.h"

#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    LINE_MAX_BYTES = 1 << 20, /* of one event */
    WRITERS = 64,
    OPENING_MAX = 16, /* watches on their way: more of one user would be told to wait */
    SETUP_MS = 120000,
    DRAIN_MS = 5000
};

static struct options {
    const char *host, *ca_file, *path;
    uint16_t port;
    bool tls, insecure;
    uint64_t watchers, fan_out;
    double rate, seconds, warmup;
    struct headers headers;
} opts = { .path = "/api/v1/namespaces/default/configmaps",
           .watchers = 1000,
           .fan_out = 1,
           .rate = 1000,
           .seconds = 10,
           .warmup = 2 };

struct watcher {
    struct buf line;
    uint64_t group;
    bool is_watching;
};

enum phase { PHASE_OPENING, PHASE_WRITING, PHASE_DRAINING };

static struct run {
    struct loop loop;
    enum phase phase;
    struct http_client *writers, *readers;
    struct watcher *watchers;
    uint64_t groups, made, opened, watching;
    uint64_t next_ns, interval_ns, measure_ns, end_ns; /* of writing */
    uint64_t writes, measured_writes, write_errors, answered;
    struct histogram latency;
    int timer_fd;
    uv_poll_t poll;
    struct timer deadline;
} run;

static void die(const char *what, const char *why)
{
    (void)fprintf(stderr, "api-watch: %s: %s\n", what, why);
    exit(1);
}

static void start_call(struct http_client *client, const char *method, const char *target,
                       struct str body, const struct exchange_events *events, void *arg)
{
    struct http_call_opts call_opts = { .method = str_of(method),
                                        .target = str_of(target),
                                        .headers = &opts.headers,
                                        .body = body,
                                        .events = events,
                                        .arg = arg };
    struct exchange *call;
    struct err err = { 0 };
    if (http_call_start(client, &call_opts, &call, &err) < 0)
        die("request", err_text(&err));
}

static struct str object_of(uint64_t group, uint64_t intended_ns, struct buf *b)
{
    buf_reset(b);
    (void)buf_printf(b,
                     "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                     "\"watched-%" PRIu64 "\",\"labels\":{\"group\":\"g%" PRIu64
                     "\"}},\"data\":{\"intended\":\"%" PRIu64 "\"}}",
                     group, group, intended_ns);
    return buf_str(b);
}

/* ------------------------------------------------------------------ writing */

static void on_write_head(void *arg, int status, const struct headers *headers)
{
    if (status >= 300)
        run.write_errors++;
}

static void stop_if_drained(void)
{
    if (run.phase == PHASE_DRAINING && run.answered == run.writes &&
        run.latency.n >= run.measured_writes * opts.fan_out)
        loop_stop(&run.loop);
}

static void on_write_end(void *arg, int r, const struct err *err)
{
    run.answered++;
    if (r < 0)
        run.write_errors++;
    stop_if_drained();
}

static const struct exchange_events write_events = { .on_head = on_write_head,
                                                     .on_end = on_write_end };

static void write_next(uint64_t intended_ns)
{
    static struct buf body = { .max = LINE_MAX_BYTES };
    uint64_t group = run.writes++ % run.groups;
    scoped(free_scoped) char *target = xasprintf("%s/watched-%" PRIu64, opts.path, group);
    if (intended_ns >= run.measure_ns)
        run.measured_writes++;
    start_call(run.writers, "PUT", target, object_of(group, intended_ns, &body), &write_events,
               NULL);
}

static void arm_timer(void)
{
    struct itimerspec at = { .it_value = { (time_t)(run.next_ns / 1000000000),
                                           (long)(run.next_ns % 1000000000) } };
    (void)timerfd_settime(run.timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/* Should a delivery stay out. */
static void on_drained(struct timer *t)
{
    loop_stop(&run.loop);
}

static void on_tick(uv_poll_t *poll, int status, int events)
{
    uint64_t ticks;
    (void)!read(run.timer_fd, &ticks, sizeof ticks);
    uint64_t now = clock_mono_ns();
    for (; run.next_ns <= now && run.next_ns < run.end_ns; run.next_ns += run.interval_ns)
        write_next(run.next_ns);
    if (run.next_ns < run.end_ns) {
        arm_timer();
        return;
    }
    run.phase = PHASE_DRAINING;
    (void)uv_poll_stop(&run.poll);
    timer_start(&run.loop, &run.deadline, DRAIN_MS, on_drained);
    stop_if_drained();
}

static void start_writing(void)
{
    timer_stop(&run.loop, &run.deadline);
    run.phase = PHASE_WRITING;
    run.interval_ns = (uint64_t)(1e9 * (double)opts.fan_out / opts.rate);
    run.next_ns = clock_mono_ns();
    run.measure_ns = run.next_ns + (uint64_t)(opts.warmup * 1e9);
    run.end_ns = run.measure_ns + (uint64_t)(opts.seconds * 1e9);
    run.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    (void)uv_poll_init(&run.loop.uv, &run.poll, run.timer_fd);
    (void)uv_poll_start(&run.poll, UV_READABLE, on_tick);
    arm_timer();
    (void)fprintf(stderr, "watching\n"); /* who measures memory looks now */
}

/* ------------------------------------------------------------------ watching */

static void open_more(void);

static void on_event(struct watcher *w, struct str line, uint64_t now)
{
    static const char mark[] = "\"intended\":\"";
    const char *at = memmem(line.p, line.n, mark, sizeof mark - 1);
    if (!at)
        return; /* a bookmark */
    uint64_t intended_ns = 0;
    for (at += sizeof mark - 1; *at >= '0' && *at <= '9'; at++)
        intended_ns = intended_ns * 10 + (uint64_t)(*at - '0');
    if (!w->is_watching) { /* the object as it was */
        w->is_watching = true;
        run.watching++;
        if (run.watching == opts.watchers)
            start_writing();
        else
            open_more();
        return;
    }
    if (intended_ns >= run.measure_ns && run.measure_ns)
        histogram_add(&run.latency, now - intended_ns);
}

static void on_watch_head(void *arg, int status, const struct headers *headers)
{
    if (status != 200) {
        (void)fprintf(stderr, "api-watch: a watch was refused with status %d\n", status);
        exit(1);
    }
}

static void on_watch_data(void *arg, struct str chunk)
{
    struct watcher *w = arg;
    uint64_t now = clock_mono_ns();
    const char *end;
    while ((end = memchr(chunk.p, '\n', chunk.n))) {
        size_t n = (size_t)(end - chunk.p);
        if (buf_add(&w->line, chunk.p, n) < 0)
            die("watch", "an event is too large");
        on_event(w, buf_str(&w->line), now);
        buf_reset(&w->line);
        chunk = str_slice(chunk, n + 1, chunk.n);
    }
    if (buf_add(&w->line, chunk.p, chunk.n) < 0)
        die("watch", "an event is too large");
    stop_if_drained();
}

static void on_watch_end(void *arg, int r, const struct err *err)
{
    die("a watch ended", r < 0 ? err_text(err) : "by the server");
}

static const struct exchange_events watch_events = { .on_head = on_watch_head,
                                                     .on_data = on_watch_data,
                                                     .on_end = on_watch_end };

static void open_more(void)
{
    for (; run.opened < opts.watchers && run.opened - run.watching < OPENING_MAX; run.opened++) {
        struct watcher *w = &run.watchers[run.opened];
        w->group = run.opened / opts.fan_out;
        w->line = (struct buf)BUF_INIT(LINE_MAX_BYTES);
        scoped(free_scoped) char *target = xasprintf(
            "%s?watch=1&resourceVersion=0&labelSelector=group%%3Dg%" PRIu64, opts.path, w->group);
        start_call(run.readers, "GET", target, STR(""), &watch_events, w);
    }
}

/* ------------------------------------------------------------------ setup */

static void on_made(void *arg, int r, const struct err *err)
{
    if (r < 0)
        die("setup", err_text(err));
    if (++run.made == run.groups)
        open_more();
}

static void on_made_head(void *arg, int status, const struct headers *headers)
{
    if (status >= 300 && status != 409) {
        (void)fprintf(stderr, "api-watch: an object was refused with status %d\n", status);
        exit(1);
    }
}

static const struct exchange_events make_events = { .on_head = on_made_head, .on_end = on_made };

static void on_setup_late(struct timer *t)
{
    die("setup", "not all watches were open in time");
}

static void make_objects(void)
{
    struct buf body = BUF_INIT(LINE_MAX_BYTES);
    timer_start(&run.loop, &run.deadline, SETUP_MS, on_setup_late);
    for (uint64_t g = 0; g < run.groups; g++)
        start_call(run.writers, "POST", opts.path, object_of(g, 0, &body), &make_events, NULL);
    buf_fini(&body);
}

/* ------------------------------------------------------------------ command line */

static void usage(void)
{
    (void)fputs("usage: api-watch [OPTIONS] http[s]://HOST:PORT\n"
                "  -c, --watchers N  (1000)     -f, --fan-out N  watchers of one object (1)\n"
                "  -r, --rate N      deliveries per second (1000)\n"
                "  -t, --seconds N   (10)       -w, --warmup N   (2)\n"
                "  -H, --header 'N: V'          --ca FILE    -k, --insecure\n"
                "      --path P      collection of ConfigMaps\n",
                stderr);
    exit(2);
}

static double number(const char *text)
{
    char *end;
    double v = strtod(text, &end);
    if (*end || end == text || v <= 0)
        usage();
    return v;
}

static void parse_url(const char *url)
{
    struct str rest = str_of(url), host, port;
    opts.tls = str_has_prefix(rest, STR("https://"));
    if (!opts.tls && !str_has_prefix(rest, STR("http://")))
        usage();
    rest = str_slice(rest, opts.tls ? 8 : 7, rest.n);
    uint64_t n = 0;
    if (!str_cut(rest, ':', &host, &port) || parse_u64(port, 1, 65535, &n) < 0)
        usage();
    opts.host = str_dup(host);
    opts.port = (uint16_t)n;
}

static void add_header(const char *text)
{
    struct str name, value;
    if (!str_cut(str_of(text), ':', &name, &value) ||
        headers_add(&opts.headers, name, str_trim(value)) < 0)
        usage();
}

static void parse_args(int argc, char **argv)
{
    enum { OPT_CA = 256, OPT_PATH };
    static const struct option longs[] = {
        { "watchers", 1, NULL, 'c' }, { "fan-out", 1, NULL, 'f' }, { "rate", 1, NULL, 'r' },
        { "seconds", 1, NULL, 't' },  { "warmup", 1, NULL, 'w' },  { "header", 1, NULL, 'H' },
        { "insecure", 0, NULL, 'k' }, { "ca", 1, NULL, OPT_CA },   { "path", 1, NULL, OPT_PATH },
        { NULL, 0, NULL, 0 },
    };
    int c;
    while ((c = getopt_long(argc, argv, "c:f:r:t:w:H:k", longs, NULL)) != -1) {
        switch (c) {
        case 'c':
            opts.watchers = (uint64_t)number(optarg);
            break;
        case 'f':
            opts.fan_out = (uint64_t)number(optarg);
            break;
        case 'r':
            opts.rate = number(optarg);
            break;
        case 't':
            opts.seconds = number(optarg);
            break;
        case 'w':
            opts.warmup = number(optarg);
            break;
        case 'H':
            add_header(optarg);
            break;
        case 'k':
            opts.insecure = true;
            break;
        case OPT_CA:
            opts.ca_file = optarg;
            break;
        case OPT_PATH:
            opts.path = optarg;
            break;
        default:
            usage();
        }
    }
    if (optind + 1 != argc || opts.watchers % opts.fan_out)
        usage();
    parse_url(argv[optind]);
}

/* ------------------------------------------------------------------ the run */

static struct tls_ctx *make_tls(void)
{
    struct tls_ctx *tls = NULL;
    struct err err = { 0 };
    struct buf ca = BUF_INIT(1 << 20);
    if (opts.ca_file && sys_read_file(AT_FDCWD, opts.ca_file, &ca, &err) < 0)
        die(opts.ca_file, err_text(&err));
    if (opts.tls &&
        tls_ctx_new_client(buf_str(&ca), STR(""), STR(""), opts.insecure, &tls, &err) < 0)
        die("TLS", err_text(&err));
    return tls;
}

static struct http_client *make_client(struct tls_ctx *tls, uint64_t connections)
{
    struct http_client *client;
    struct err err = { 0 };
    struct http_client_opts client_opts = { .host = opts.host,
                                            .port = opts.port,
                                            .tls = tls,
                                            .max_connections = (unsigned)connections,
                                            .connect_timeout_ms = SETUP_MS };
    if (http_client_new(&run.loop, &client_opts, &client, &err) < 0)
        die("client", err_text(&err));
    return client;
}

static void print_result(void)
{
    const struct histogram *h = &run.latency;
    double us[4];
    const double ps[] = { 50, 90, 99, 99.9 };
    for (size_t i = 0; i < ARRAY_LEN(ps); i++)
        us[i] = (double)histogram_percentile(h, ps[i]) / 1e3;
    (void)printf("{\"watchers\": %" PRIu64 ", \"fan_out\": %" PRIu64
                 ", \"rate\": %.1f, \"writes\": "
                 "%" PRIu64 ", \"write_errors\": %" PRIu64 ", \"expected\": %" PRIu64
                 ", \"delivered\": %" PRIu64 ",\n",
                 opts.watchers, opts.fan_out, opts.rate, run.writes, run.write_errors,
                 run.measured_writes * opts.fan_out, h->n);
    (void)printf(" \"latency_us\": {\"p50\": %.1f, \"p90\": %.1f, \"p99\": %.1f, \"p99.9\": %.1f, "
                 "\"max\": %.1f}}\n",
                 us[0], us[1], us[2], us[3], (double)h->max / 1e3);
}

static void allow_many_files(void)
{
    struct rlimit limit;
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    parse_args(argc, argv);
    allow_many_files();
    struct err err = { 0 };
    if (loop_init(&run.loop, &err) < 0)
        die("loop", err_text(&err));
    struct tls_ctx *tls = make_tls();
    run.groups = opts.watchers / opts.fan_out;
    run.watchers = xnew_n(struct watcher, opts.watchers);
    run.writers = make_client(tls, WRITERS);
    run.readers = make_client(tls, opts.watchers);
    make_objects();
    loop_run(&run.loop);
    print_result();
    return run.latency.n ? 0 : 1; /* what is still open ends with the process */
}
