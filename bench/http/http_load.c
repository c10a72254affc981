/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http-load: requests per second and latency of an HTTP server, for benchmarks.
 *
 * Closed loop: every connection sends its next request when the answer is there. Open loop
 * (--rate): requests start at fixed times whatever the answers do, and latency counts from the
 * intended time, so that a stalled server cannot hide its stall. The result is one JSON object on
 * stdout.
 *
 * "{i}" in the target and in the body becomes the request's number.
 */
#include "histogram.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/sys.h"
#include "io/http.h"
#include "io/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    IN_FLIGHT_MAX =
        100000 /* open loop: beyond it the server is lost, and requests count as errors */
};

static struct options {
    const char *method, *host, *unix_path, *ca_file, *target, *body, *server_name;
    uint16_t port;
    bool tls, insecure;
    unsigned connections;
    uint64_t count;
    double rate, seconds, warmup;
    struct headers headers;
} opts = { .method = "GET", .connections = 1, .seconds = 10, .warmup = 1 };

static struct run {
    struct loop loop;
    struct http_client *client;
    uint64_t begin_ns, measure_ns, end_ns; /* warm-up until measure_ns */
    uint64_t number, next_ns, interval_ns;
    uint64_t errors, bytes, statuses[6];
    uint64_t in_flight;
    struct histogram latency;
    struct err first_error;
    int timer_fd;
    uv_poll_t poll;
} run;

struct request {
    uint64_t start_ns;
    int status;
    struct request *next; /* free list */
};
static struct request *spares;

/* ------------------------------------------------------------------ requests */

static void start_request(uint64_t start_ns);

static void on_head(void *arg, int status, const struct headers *headers)
{
    ((struct request *)arg)->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    run.bytes += chunk.n;
}

static void note(const struct request *q, int r, const struct err *err, uint64_t now)
{
    if (now < run.measure_ns)
        return;
    if (r < 0) {
        if (!run.errors++)
            run.first_error = *err;
        return;
    }
    uint64_t took = now - q->start_ns;
    run.statuses[MIN(q->status / 100, 5)]++;
    histogram_add(&run.latency, took);
}

static void stop_if_over(uint64_t now)
{
    if (opts.count && run.latency.n + run.errors >= opts.count)
        run.end_ns = now;
    if (now >= run.end_ns)
        loop_stop(&run.loop);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct request *q = arg;
    uint64_t now = clock_mono_ns();
    note(q, r, err, now);
    q->next = spares;
    spares = q;
    run.in_flight--;
    stop_if_over(now);
    if (opts.rate == 0 && now < run.end_ns && (!opts.count || run.number < opts.count))
        start_request(now);
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

/* With every "{i}" replaced. */
static struct str numbered(const char *text, struct buf *to)
{
    if (!strstr(text, "{i}"))
        return str_of(text);
    buf_reset(to);
    for (const char *at; (at = strstr(text, "{i}")); text = at + 3) {
        (void)buf_add(to, text, (size_t)(at - text));
        (void)buf_add_u64_dec(to, run.number);
    }
    (void)buf_add_cstr(to, text);
    return buf_str(to);
}

static void start_request(uint64_t start_ns)
{
    static struct buf target = { .max = 1 << 20 }, body = { .max = 64 << 20 };
    if (run.in_flight >= IN_FLIGHT_MAX) {
        run.errors++;
        return;
    }
    struct request *q = spares ? spares : xnew(struct request);
    spares = q->next;
    *q = (struct request){ .start_ns = start_ns };
    run.number++;
    struct http_call_opts call_opts = {
        .method = str_of(opts.method),
        .target = numbered(opts.target, &target),
        .headers = &opts.headers,
        .body = opts.body ? numbered(opts.body, &body) : STR(""),
        .events = &call_events,
        .arg = q,
    };
    struct exchange *call;
    struct err err = { 0 };
    if (http_call_start(run.client, &call_opts, &call, &err) < 0) {
        (void)fprintf(stderr, "http-load: %s\n", err_text(&err));
        exit(1);
    }
    run.in_flight++;
}

static void arm_timer(void)
{
    struct itimerspec at = { .it_value = { (time_t)(run.next_ns / 1000000000),
                                           (long)(run.next_ns % 1000000000) } };
    (void)timerfd_settime(run.timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void on_timer(uv_poll_t *poll, int status, int events)
{
    uint64_t ticks;
    (void)!read(run.timer_fd, &ticks, sizeof ticks);
    uint64_t now = clock_mono_ns();
    for (; run.next_ns <= now; run.next_ns += run.interval_ns)
        start_request(run.next_ns);
    arm_timer();
    stop_if_over(now);
}

/* Should every answer stay out. */
static void on_deadline(struct timer *t)
{
    loop_stop(&run.loop);
}

/* ------------------------------------------------------------------ command line */

static void usage(void)
{
    (void)fputs("usage: http-load [OPTIONS] http[s]://HOST:PORT/TARGET\n"
                "  -c, --connections N   (1)\n"
                "  -r, --rate N          requests per second, open loop; without it closed loop\n"
                "  -t, --seconds N       (10)      -w, --warmup N  seconds before (1)\n"
                "  -n, --count N         so many requests, all measured, however long it takes\n"
                "  -m, --method M        (GET)     -d, --body TEXT or @FILE\n"
                "  -H, --header 'N: V'             -k, --insecure\n"
                "      --ca FILE         --unix PATH         --server-name NAME\n",
                stderr);
    exit(2);
}

static void die(const char *what, const struct err *err)
{
    (void)fprintf(stderr, "http-load: %s: %s\n", what, err_text(err));
    exit(1);
}

static double number(const char *text)
{
    char *end;
    double v = strtod(text, &end);
    if (*end || end == text || v < 0)
        usage();
    return v;
}

static char *file_text(const char *path)
{
    struct buf b = BUF_INIT(64 << 20);
    struct err err = { 0 };
    size_t n;
    if (sys_read_file(AT_FDCWD, path, &b, &err) < 0)
        die(path, &err);
    return buf_take(&b, &n);
}

static void add_header(const char *text)
{
    struct str name, value;
    if (!str_cut(str_of(text), ':', &name, &value) ||
        headers_add(&opts.headers, name, str_trim(value)) < 0)
        usage();
}

static void parse_url(const char *url)
{
    struct str rest = str_of(url), authority, target, host, port;
    opts.tls = str_has_prefix(rest, STR("https://"));
    if (!opts.tls && !str_has_prefix(rest, STR("http://")))
        usage();
    rest = str_slice(rest, opts.tls ? 8 : 7, rest.n);
    (void)str_cut(rest, '/', &authority, &target);
    opts.target = xasprintf("/" STR_FMT, STR_ARG(target));
    uint64_t number_ = opts.tls ? 443 : 80;
    if (str_cut(authority, ':', &host, &port) && parse_u64(port, 1, 65535, &number_) < 0)
        usage();
    opts.host = str_dup(host);
    opts.port = (uint16_t)number_;
}

static void parse_args(int argc, char **argv)
{
    enum { OPT_CA = 256, OPT_UNIX, OPT_NAME };
    static const struct option longs[] = {
        { "connections", 1, NULL, 'c' },
        { "rate", 1, NULL, 'r' },
        { "count", 1, NULL, 'n' },
        { "seconds", 1, NULL, 't' },
        { "warmup", 1, NULL, 'w' },
        { "method", 1, NULL, 'm' },
        { "body", 1, NULL, 'd' },
        { "header", 1, NULL, 'H' },
        { "insecure", 0, NULL, 'k' },
        { "ca", 1, NULL, OPT_CA },
        { "unix", 1, NULL, OPT_UNIX },
        { "server-name", 1, NULL, OPT_NAME },
        { NULL, 0, NULL, 0 },
    };
    int c;
    while ((c = getopt_long(argc, argv, "c:r:n:t:w:m:d:H:k", longs, NULL)) != -1) {
        switch (c) {
        case 'c':
            opts.connections = (unsigned)number(optarg);
            break;
        case 'r':
            opts.rate = number(optarg);
            break;
        case 'n':
            opts.count = (uint64_t)number(optarg);
            break;
        case 't':
            opts.seconds = number(optarg);
            break;
        case 'w':
            opts.warmup = number(optarg);
            break;
        case 'm':
            opts.method = optarg;
            break;
        case 'd':
            opts.body = optarg[0] == '@' ? file_text(optarg + 1) : optarg;
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
        case OPT_UNIX:
            opts.unix_path = optarg;
            break;
        case OPT_NAME:
            opts.server_name = optarg;
            break;
        default:
            usage();
        }
    }
    if (optind + 1 != argc || !opts.connections)
        usage();
    parse_url(argv[optind]);
}

/* ------------------------------------------------------------------ the run */

static void print_result(void)
{
    double seconds = (double)(run.end_ns - run.measure_ns) / 1e9;
    (void)printf("{\"requests\": %" PRIu64 ", \"errors\": %" PRIu64 ", \"seconds\": %.3f, "
                 "\"per_second\": %.1f, \"bytes\": %" PRIu64
                 ", \"connections\": %u, \"rate\": %.1f,\n",
                 run.latency.n, run.errors, seconds, (double)run.latency.n / seconds, run.bytes,
                 opts.connections, opts.rate);
    (void)printf(" \"statuses\": {\"2xx\": %" PRIu64 ", \"3xx\": %" PRIu64 ", \"4xx\": %" PRIu64
                 ", \"5xx\": %" PRIu64 "},\n",
                 run.statuses[2], run.statuses[3], run.statuses[4], run.statuses[5]);
    (void)printf(" \"latency_us\": {\"p50\": %.1f, \"p90\": %.1f, \"p99\": %.1f, \"p99.9\": %.1f, "
                 "\"max\": %.1f}}\n",
                 (double)histogram_percentile(&run.latency, 50) / 1e3,
                 (double)histogram_percentile(&run.latency, 90) / 1e3,
                 (double)histogram_percentile(&run.latency, 99) / 1e3,
                 (double)histogram_percentile(&run.latency, 99.9) / 1e3,
                 (double)run.latency.max / 1e3);
    if (run.errors)
        (void)fprintf(stderr, "http-load: first error: %s\n", err_text(&run.first_error));
}

static struct tls_ctx *make_tls(void)
{
    struct tls_ctx *tls = NULL;
    struct err err = { 0 };
    struct str ca = opts.ca_file ? str_of(file_text(opts.ca_file)) : STR("");
    if (opts.tls && tls_ctx_new_client(ca, STR(""), STR(""), opts.insecure, &tls, &err) < 0)
        die("TLS", &err);
    return tls;
}

static void run_open_loop(void)
{
    run.interval_ns = (uint64_t)(1e9 / opts.rate);
    run.next_ns = run.begin_ns;
    run.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    (void)uv_poll_init(&run.loop.uv, &run.poll, run.timer_fd);
    (void)uv_poll_start(&run.poll, UV_READABLE, on_timer);
    arm_timer();
}

int main(int argc, char **argv)
{
    parse_args(argc, argv);
    struct err err = { 0 };
    if (loop_init(&run.loop, &err) < 0)
        die("loop", &err);
    struct http_client_opts client_opts = {
        .host = opts.host,
        .port = opts.port,
        .unix_path = opts.unix_path,
        .tls = make_tls(),
        .server_name = opts.server_name,
        .max_connections = opts.connections,
    };
    if (http_client_new(&run.loop, &client_opts, &run.client, &err) < 0)
        die("client", &err);
    run.begin_ns = clock_mono_ns();
    run.measure_ns = run.begin_ns + (opts.count ? 0 : (uint64_t)(opts.warmup * 1e9));
    run.end_ns = opts.count ? UINT64_MAX : run.measure_ns + (uint64_t)(opts.seconds * 1e9);
    struct timer deadline = { 0 };
    if (!opts.count)
        timer_start(&run.loop, &deadline, (uint64_t)((opts.warmup + opts.seconds) * 1000) + 100,
                    on_deadline);
    if (opts.rate > 0)
        run_open_loop();
    else
        for (unsigned i = 0; i < opts.connections && (!opts.count || i < opts.count); i++)
            start_request(clock_mono_ns());
    loop_run(&run.loop);
    print_result();
    return run.latency.n ? 0 : 1; /* what is still open ends with the process */
}
