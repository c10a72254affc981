/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched-load: how fast pods are bound, whoever schedules, for benchmarks.
 *
 * Watches a namespace's pods, creates N of them over a few connections as fast as they are taken
 * ("{i}" in the body is the pod's number, and its name has to be PREFIX-{i}), and is done when the
 * watch has told of each that it is on a node. Times are the watcher's: from the first request to
 * the last binding; of one pod from its creation's answer to its binding. One JSON object on
 * stdout.
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
#include <unistd.h>

enum { LINE_MAX_BYTES = 4 << 20, CONNECT_MS = 10000 };

static struct options {
    const char *host, *ca_file, *prefix, *namespace;
    struct str body;
    uint16_t port;
    bool tls, insecure;
    uint64_t pods, connections, timeout_s;
    struct headers headers;
} opts = {
    .prefix = "pod", .namespace = "default", .pods = 1000, .connections = 32, .timeout_s = 120
};

static struct run {
    struct loop loop;
    struct http_client *writers, *reader;
    struct buf line;
    char *mark; /* "name":"PREFIX- */
    size_t n_mark;
    uint64_t *answered_ns, *bound_ns; /* by number; 0: not yet */
    uint64_t sent, answered, refused, bound, began_ns, created_ns, last_ns;
    char version[24]; /* what the watch has told last */
    uint64_t watches;
    struct timer deadline;
} run;

static void die(const char *what, const char *why)
{
    (void)fprintf(stderr, "sched-load: %s: %s\n", what, why);
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

/* ------------------------------------------------------------------ creating */

static void create_next(void);

static void on_created_head(void *arg, int status, const struct headers *headers)
{
    if (status >= 300 && run.refused++ == 0)
        (void)fprintf(stderr, "sched-load: a pod was refused with status %d\n", status);
}

static void on_created(void *arg, int r, const struct err *err)
{
    if (r < 0)
        die("a pod", err_text(err));
    run.created_ns = run.answered_ns[(uintptr_t)arg] = clock_mono_ns();
    run.answered++;
    create_next();
}

static const struct exchange_events create_events = { .on_head = on_created_head,
                                                      .on_end = on_created };

static void put_numbered(struct buf *b, struct str pattern, uint64_t i)
{
    ptrdiff_t at;
    buf_reset(b);
    while ((at = str_find(pattern, STR("{i}"))) >= 0) {
        (void)buf_add(b, pattern.p, (size_t)at);
        (void)buf_add_u64_dec(b, i);
        pattern = str_slice(pattern, (size_t)at + 3, pattern.n);
    }
    (void)buf_add_str(b, pattern);
}

static void create_next(void)
{
    static struct buf body = { .max = LINE_MAX_BYTES };
    if (run.sent == opts.pods)
        return;
    uint64_t i = run.sent++;
    put_numbered(&body, opts.body, i);
    scoped(free_scoped) char *target = xasprintf("/api/v1/namespaces/%s/pods", opts.namespace);
    start_call(run.writers, "POST", target, buf_str(&body), &create_events, (void *)(uintptr_t)i);
}

/* ------------------------------------------------------------------ watching */

static void start_creating(void)
{
    run.began_ns = clock_mono_ns();
    for (uint64_t i = 0; i < opts.connections; i++)
        create_next();
}

static void note_version(struct str text)
{
    static const char mark[] = "\"resourceVersion\":\"";
    const char *at = memmem(text.p, text.n, mark, sizeof mark - 1);
    if (!at)
        die("watch", "something without a version");
    at += sizeof mark - 1;
    size_t n = 0;
    for (; n + 1 < sizeof run.version && at[n] >= '0' && at[n] <= '9'; n++)
        run.version[n] = at[n];
    run.version[n] = '\0';
}

static void on_event(struct str line, uint64_t now)
{
    note_version(line);
    static const char node[] = "\"nodeName\":\"";
    const char *at = memmem(line.p, line.n, run.mark, run.n_mark);
    if (!at || !memmem(line.p, line.n, node, sizeof node - 1))
        return;
    uint64_t i = 0;
    for (at += run.n_mark; *at >= '0' && *at <= '9'; at++)
        i = i * 10 + (uint64_t)(*at - '0');
    if (i >= opts.pods || run.bound_ns[i])
        return;
    run.bound_ns[i] = run.last_ns = now;
    if (++run.bound == opts.pods)
        loop_stop(&run.loop);
}

static void on_watch_head(void *arg, int status, const struct headers *headers)
{
    if (status != 200)
        die("watch", "refused");
    if (run.watches++ == 0)
        start_creating();
}

static void on_watch_data(void *arg, struct str chunk)
{
    uint64_t now = clock_mono_ns();
    const char *end;
    while ((end = memchr(chunk.p, '\n', chunk.n))) {
        size_t n = (size_t)(end - chunk.p);
        if (run.line.n == 0) {
            on_event(str_n(chunk.p, n + 1), now); /* ends in a newline, so digits end */
        } else {
            if (buf_add(&run.line, chunk.p, n + 1) < 0)
                die("watch", "an event is too large");
            on_event(buf_str(&run.line), now);
            buf_reset(&run.line);
        }
        chunk = str_slice(chunk, n + 1, chunk.n);
    }
    if (buf_add(&run.line, chunk.p, chunk.n) < 0)
        die("watch", "an event is too large");
}

static void watch(void);

/* A server that is overtaxed ends the watches of those who read too slowly. */
static void on_watch_end(void *arg, int r, const struct err *err)
{
    if (r < 0)
        die("the watch ended", err_text(err));
    buf_reset(&run.line);
    watch();
}

static const struct exchange_events watch_events = { .on_head = on_watch_head,
                                                     .on_data = on_watch_data,
                                                     .on_end = on_watch_end };

static void watch(void)
{
    scoped(free_scoped) char *target = xasprintf(
        "/api/v1/namespaces/%s/pods?watch=1&resourceVersion=%s", opts.namespace, run.version);
    start_call(run.reader, "GET", target, STR(""), &watch_events, NULL);
}

/* The collection's version is asked for first, so that the watch begins with what comes now. */
static struct buf list = { .max = LINE_MAX_BYTES };

static void on_list_head(void *arg, int status, const struct headers *headers)
{
    if (status != 200)
        die("list", "refused");
}

static void on_list_data(void *arg, struct str chunk)
{
    (void)buf_add(&list, chunk.p, chunk.n);
}

static void on_list_end(void *arg, int r, const struct err *err)
{
    if (r < 0)
        die("list", err_text(err));
    note_version(buf_str(&list));
    watch();
}

static const struct exchange_events list_events = { .on_head = on_list_head,
                                                    .on_data = on_list_data,
                                                    .on_end = on_list_end };

static void on_late(struct timer *t)
{
    loop_stop(&run.loop);
}

/* ------------------------------------------------------------------ command line */

static void usage(void)
{
    (void)fputs("usage: sched-load [OPTIONS] http[s]://HOST:PORT\n"
                "  -n, --pods N      (1000)     -c, --connections N  (32)\n"
                "  -t, --timeout N   seconds (120)\n"
                "      --namespace NAME (default)      --prefix NAME  of the pods (pod)\n"
                "      --body FILE   the pod as JSON, {i} is its number\n"
                "  -H, --header 'N: V'          --ca FILE    -k, --insecure\n",
                stderr);
    exit(2);
}

static uint64_t number(const char *text)
{
    uint64_t n = 0;
    if (parse_u64(str_of(text), 1, 10000000, &n) < 0)
        usage();
    return n;
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

static void read_body(const char *path)
{
    struct err err = { 0 };
    struct buf b = BUF_INIT(LINE_MAX_BYTES);
    if (sys_read_file(AT_FDCWD, path, &b, &err) < 0)
        die(path, err_text(&err));
    size_t n;
    const char *p = buf_take(&b, &n);
    opts.body = str_n(p, n);
}

static void parse_args(int argc, char **argv)
{
    enum { OPT_CA = 256, OPT_NAMESPACE, OPT_PREFIX, OPT_BODY };
    static const struct option longs[] = {
        { "pods", 1, NULL, 'n' },
        { "connections", 1, NULL, 'c' },
        { "timeout", 1, NULL, 't' },
        { "header", 1, NULL, 'H' },
        { "insecure", 0, NULL, 'k' },
        { "ca", 1, NULL, OPT_CA },
        { "namespace", 1, NULL, OPT_NAMESPACE },
        { "prefix", 1, NULL, OPT_PREFIX },
        { "body", 1, NULL, OPT_BODY },
        { NULL, 0, NULL, 0 },
    };
    int c;
    while ((c = getopt_long(argc, argv, "n:c:t:H:k", longs, NULL)) != -1) {
        switch (c) {
        case 'n':
            opts.pods = number(optarg);
            break;
        case 'c':
            opts.connections = number(optarg);
            break;
        case 't':
            opts.timeout_s = number(optarg);
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
        case OPT_NAMESPACE:
            opts.namespace = optarg;
            break;
        case OPT_PREFIX:
            opts.prefix = optarg;
            break;
        case OPT_BODY:
            read_body(optarg);
            break;
        default:
            usage();
        }
    }
    if (optind + 1 != argc || opts.body.n == 0)
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
                                            .connect_timeout_ms = CONNECT_MS };
    if (http_client_new(&run.loop, &client_opts, &client, &err) < 0)
        die("client", err_text(&err));
    return client;
}

static void print_result(void)
{
    struct histogram latency = { 0 };
    for (uint64_t i = 0; i < opts.pods; i++)
        if (run.bound_ns[i]) /* it may be told before the answer came */
            histogram_add(&latency, run.bound_ns[i] > run.answered_ns[i] && run.answered_ns[i]
                                        ? run.bound_ns[i] - run.answered_ns[i]
                                        : 0);
    double seconds = (double)(run.last_ns - run.began_ns) / 1e9;
    (void)printf("{\"pods\": %" PRIu64 ", \"bound\": %" PRIu64 ", \"refused\": %" PRIu64
                 ", \"seconds\": %.3f, \"create_seconds\": %.3f, \"per_second\": %.1f,\n",
                 opts.pods, run.bound, run.refused, seconds,
                 (double)(run.created_ns - run.began_ns) / 1e9,
                 run.bound ? (double)run.bound / seconds : 0);
    (void)printf(" \"bind_ms\": {\"p50\": %.2f, \"p90\": %.2f, \"p99\": %.2f}}\n",
                 (double)histogram_percentile(&latency, 50) / 1e6,
                 (double)histogram_percentile(&latency, 90) / 1e6,
                 (double)histogram_percentile(&latency, 99) / 1e6);
}

int main(int argc, char **argv)
{
    parse_args(argc, argv);
    struct err err = { 0 };
    if (loop_init(&run.loop, &err) < 0)
        die("loop", err_text(&err));
    struct tls_ctx *tls = make_tls();
    run.writers = make_client(tls, opts.connections);
    run.reader = make_client(tls, 2);
    run.line = (struct buf)BUF_INIT(LINE_MAX_BYTES);
    run.mark = xasprintf("\"name\":\"%s-", opts.prefix);
    run.n_mark = strlen(run.mark);
    run.answered_ns = xnew_n(uint64_t, opts.pods);
    run.bound_ns = xnew_n(uint64_t, opts.pods);
    scoped(free_scoped) char *target =
        xasprintf("/api/v1/namespaces/%s/pods?limit=1", opts.namespace);
    start_call(run.reader, "GET", target, STR(""), &list_events, NULL);
    timer_start(&run.loop, &run.deadline, opts.timeout_s * 1000, on_late);
    loop_run(&run.loop);
    print_result();
    return run.bound == opts.pods ? 0 : 1; /* what is still open ends with the process */
}
