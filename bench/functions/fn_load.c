/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fn-load: requests to a gateway, over loopback, for ./dev bench functions.
 *
 * Three ways: --closed C (each of C connections sends its next request when the answer is there),
 * --rate R (open loop: requests start at fixed or, with --poisson, random times whatever the
 * answers do), and --schedule FILE (the same, at given times). In the open loop latency counts from
 * the intended time, so that a server that stalls cannot hide it, and a request that was never
 * answered is one of `unanswered`. Written against epoll alone, so that it costs little beside what
 * it measures. HTTP/1.1, kept-alive connections; every request has x-fake-sleep-ms or none.
 *
 * One JSON object on stdout; --record FILE has a line for each request: intended time and latency
 * in us, status (0: none), function.
 */
#include "histogram.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 20000,
    HEAD_MAX = 16 << 10,
    EVENTS = 256,
    REASONS_MAX = 16,
    REASON_BYTES = 32,
    ENTRIES_MAX = 50000000
};

static struct options {
    const char *host, *path, *record, *schedule;
    struct sockaddr_in to;
    unsigned closed, hosts, connections, burst;
    double rate, seconds, warmup;
    uint64_t timeout_ns, sleep_ms, seed, count;
    bool poisson;
} opts = { .host = "f{i}.default",
           .path = "/",
           .hosts = 1,
           .connections = 1000,
           .seconds = 10,
           .timeout_ns = 15000000000,
           .seed = 1 };

struct entry {
    uint64_t due_ns; /* after the begin */
    uint32_t function;
    uint32_t sleep_ms;
};

struct request {
    struct entry entry;
    uint64_t start_ns; /* of the clock: intended */
    struct request *next;
};

struct conn {
    int fd;
    bool is_connecting, is_open, close_after;
    struct request *request; /* under way */
    struct conn *next;       /* idle ones */
    /* Of the answer. */
    char head[HEAD_MAX];
    size_t head_n;
    bool in_body, is_chunked;
    uint64_t left; /* bytes of the body or chunk; UINT64_MAX: until the end */
    enum { CHUNK_SIZE, CHUNK_DATA, CHUNK_TAIL } chunk;
    unsigned line_n; /* of a chunk's size or a trailer */
    int status;
    char reason[REASON_BYTES];
    /* Of the request. */
    char out[1024];
    size_t out_n, out_at;
    struct conn *timeout_prev, *timeout_next;
};

static struct {
    int epoll, timer;
    uint64_t begin_ns, measure_ns, end_ns;
    struct entry *entries; /* open loop; NULL: made on the way */
    size_t n_entries, at;
    struct request *waiting, **waiting_tail, *spares; /* for a connection */
    size_t n_waiting, in_flight, answered, sent;
    struct conn *idle, *conns;
    unsigned n_conns;
    struct conn *oldest, *newest; /* with a request, in the order of their sending */
    uint64_t unanswered, broken, statuses[600];
    struct histogram latency;
    double *log_slowdown; /* sum for each function */
    uint32_t *n_slowdown;
    struct {
        char text[REASON_BYTES];
        uint64_t n;
    } reasons[REASONS_MAX];
    FILE *record;
    uint64_t random;
} run;

static void die(const char *what)
{
    (void)fprintf(stderr, "fn-load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double random_unit(void)
{
    run.random = run.random * 6364136223846793005 + 1442695040888963407;
    return ((double)(run.random >> 11) + 0.5) / 9007199254740992.0;
}

/* ---------------------------------------------------------------- results */

static void note(const struct request *q, int status, const char *reason, uint64_t now)
{
    uint64_t took = now - q->start_ns;
    if (run.record)
        (void)fprintf(run.record, "%" PRIu64 " %" PRIu64 " %d %" PRIu32 "\n",
                      q->entry.due_ns / 1000, took / 1000, status, q->entry.function);
    run.answered++;
    if (q->start_ns < run.measure_ns)
        return;
    if (status == 0)
        return;
    run.statuses[MIN(status, 599)]++;
    if (status >= 200 && status < 300) {
        histogram_add(&run.latency, took);
        if (q->entry.sleep_ms && run.log_slowdown) {
            run.log_slowdown[q->entry.function] +=
                log((double)took / 1e6 / (double)q->entry.sleep_ms);
            run.n_slowdown[q->entry.function]++;
        }
    } else if (reason[0]) {
        for (size_t i = 0; i < REASONS_MAX; i++)
            if (!run.reasons[i].n || strcmp(run.reasons[i].text, reason) == 0) {
                (void)snprintf(run.reasons[i].text, REASON_BYTES, "%s", reason);
                run.reasons[i].n++;
                break;
            }
    }
}

/* ---------------------------------------------------------------- connections */

static void forget_timeout(struct conn *c)
{
    *(c->timeout_prev ? &c->timeout_prev->timeout_next : &run.oldest) = c->timeout_next;
    *(c->timeout_next ? &c->timeout_next->timeout_prev : &run.newest) = c->timeout_prev;
    c->timeout_prev = c->timeout_next = NULL;
}

static void release(struct request *q)
{
    q->next = run.spares;
    run.spares = q;
    run.in_flight--;
}

static void close_conn(struct conn *c)
{
    if (c->is_open)
        (void)close(c->fd);
    c->is_open = false;
}

static void start(struct request *q);
static void give(struct conn *c, struct request *q);

/* The request of `c` has ended, with an answer or without. */
static void finish(struct conn *c, int status, uint64_t now)
{
    struct request *q = c->request;
    uint32_t function = q->entry.function;
    c->request = NULL;
    forget_timeout(c);
    note(q, status, c->reason, now);
    release(q);
    if (status == 0 || c->close_after)
        close_conn(c);
    if (run.waiting) {
        struct request *first = run.waiting;
        run.waiting = first->next;
        if (!run.waiting)
            run.waiting_tail = &run.waiting;
        run.n_waiting--;
        give(c, first);
        return;
    }
    if (opts.closed && now < run.end_ns) {
        struct request *again = run.spares;
        run.spares = again->next;
        *again = (struct request){ .start_ns = now,
                                   .entry.function = function,
                                   .entry.due_ns = now - run.begin_ns,
                                   .entry.sleep_ms = (uint32_t)opts.sleep_ms };
        run.in_flight++;
        give(c, again);
        return;
    }
    c->next = run.idle;
    run.idle = c;
}

static void send_out(struct conn *c)
{
    ssize_t n = send(c->fd, c->out + c->out_at, c->out_n - c->out_at, MSG_NOSIGNAL);
    if (n > 0)
        c->out_at += (size_t)n;
}

static void connect_conn(struct conn *c)
{
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        die("socket");
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->is_open = true;
    c->is_connecting = connect(c->fd, (struct sockaddr *)&opts.to, sizeof opts.to) < 0;
    struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = c };
    if (epoll_ctl(run.epoll, EPOLL_CTL_ADD, c->fd, &ev) < 0)
        die("epoll_ctl");
}

/* Send `q` on a connection that has no request. */
static void give(struct conn *c, struct request *q)
{
    char host[128], sleep[48] = "";
    const char *number = strstr(opts.host, "{i}");
    if (number)
        (void)snprintf(host, sizeof host, "%.*s%05" PRIu32 "%s", (int)(number - opts.host),
                       opts.host, q->entry.function, number + 3);
    else
        (void)snprintf(host, sizeof host, "%s", opts.host);
    if (q->entry.sleep_ms)
        (void)snprintf(sleep, sizeof sleep, "x-fake-sleep-ms: %" PRIu32 "\r\n", q->entry.sleep_ms);
    c->out_n = (size_t)snprintf(c->out, sizeof c->out, "GET %s HTTP/1.1\r\nhost: %s\r\n%s\r\n",
                                opts.path, host, sleep);
    c->out_at = 0;
    c->request = q;
    c->head_n = 0;
    c->in_body = c->close_after = false;
    c->reason[0] = 0;
    c->status = 0;
    c->timeout_prev = run.newest;
    c->timeout_next = NULL;
    *(run.newest ? &run.newest->timeout_next : &run.oldest) = c;
    run.newest = c;
    run.sent++;
    if (!c->is_open)
        connect_conn(c);
    if (!c->is_connecting)
        send_out(c);
}

static void start(struct request *q)
{
    run.in_flight++;
    if (run.idle) {
        struct conn *c = run.idle;
        run.idle = c->next;
        give(c, q);
    } else if (run.n_conns < opts.connections) {
        give(&run.conns[run.n_conns++], q);
    } else {
        q->next = NULL;
        *run.waiting_tail = q;
        run.waiting_tail = &q->next;
        run.n_waiting++;
    }
}

static void start_entry(const struct entry *e)
{
    struct request *q = run.spares ? run.spares : xnew(struct request);
    run.spares = q->next;
    *q = (struct request){ .entry = *e, .start_ns = run.begin_ns + e->due_ns };
    start(q);
}

/* ---------------------------------------------------------------- answers */

static const char *field(const struct conn *c, const char *name)
{
    size_t n = strlen(name);
    for (const char *line = strstr(c->head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, n) == 0 && line[2 + n] == ':') {
            const char *v = line + 3 + n;
            return v + strspn(v, " ");
        }
    return NULL;
}

/* The head is whole; false: it is none. */
static bool read_head(struct conn *c)
{
    const char *v;
    uint64_t n;
    if (strncmp(c->head, "HTTP/1.1 ", 9) != 0 || parse_u64(str_n(c->head + 9, 3), 100, 599, &n) < 0)
        return false;
    c->status = (int)n;
    c->close_after = (v = field(c, "connection")) && strncasecmp(v, "close", 5) == 0;
    c->is_chunked = (v = field(c, "transfer-encoding")) && strncasecmp(v, "chunked", 7) == 0;
    c->left = UINT64_MAX;
    if ((v = field(c, "content-length")) &&
        parse_u64(str_n(v, strspn(v, "0123456789")), 0, UINT64_MAX - 1, &c->left) < 0)
        return false;
    if (c->status == 204 || c->status == 304)
        c->left = 0;
    if (c->is_chunked) {
        c->chunk = CHUNK_SIZE;
        c->left = c->line_n = 0;
    }
    if ((v = field(c, "x-dormouse-reason")))
        (void)snprintf(c->reason, sizeof c->reason, "%.*s", (int)strcspn(v, "\r\n"), v);
    return true;
}

/* Bytes of a chunked body; true: it has ended. */
static bool read_chunks(struct conn *c, const char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        if (c->chunk == CHUNK_DATA) {
            size_t part = MIN(c->left, n - i);
            c->left -= part;
            i += part;
            if (c->left == 0) {
                c->chunk = CHUNK_SIZE;
                c->line_n = 0;
                c->is_chunked = true;
            }
            continue;
        }
        char b = p[i++];
        if (b == '\r')
            continue;
        if (b != '\n') {
            if (c->chunk == CHUNK_SIZE) {
                int digit = b <= '9' ? b - '0' : (b | 32) - 'a' + 10;
                c->left = c->left * 16 + (uint64_t)digit;
            }
            c->line_n++;
        } else if (c->chunk == CHUNK_TAIL) {
            if (c->line_n == 0)
                return true;
            c->line_n = 0;
        } else if (c->line_n) { /* an empty line ends the chunk before */
            c->chunk = c->left ? CHUNK_DATA : CHUNK_TAIL;
            c->line_n = 0;
        }
    }
    return false;
}

/* true: the answer is whole. */
static bool take(struct conn *c, const char *p, size_t n)
{
    if (!c->in_body) {
        size_t part = MIN(n, HEAD_MAX - 1 - c->head_n);
        memcpy(c->head + c->head_n, p, part);
        size_t before = c->head_n;
        c->head_n += part;
        c->head[c->head_n] = 0;
        const char *end = strstr(c->head, "\r\n\r\n");
        if (!end) {
            if (c->head_n == HEAD_MAX - 1)
                c->close_after = true;
            return c->close_after;
        }
        if (!read_head(c)) {
            c->status = 0;
            return true;
        }
        c->in_body = true;
        size_t used = (size_t)(end + 4 - c->head) - before;
        p += used;
        n -= used;
    }
    if (c->is_chunked)
        return read_chunks(c, p, n);
    if (c->left != UINT64_MAX)
        c->left -= MIN(c->left, n);
    return c->left == 0;
}

static void on_readable(struct conn *c)
{
    static char bytes[64 << 10];
    while (c->is_open) {
        ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            if (c->request) {
                bool is_whole = n == 0 && c->in_body && c->left == UINT64_MAX;
                run.broken += !is_whole;
                c->close_after = true;
                finish(c, is_whole ? c->status : 0, clock_mono_ns());
            } else {
                close_conn(c);
            }
            return;
        }
        if (!c->request)
            continue;
        if (take(c, bytes, (size_t)n)) {
            finish(c, c->status, clock_mono_ns());
            if ((size_t)n < sizeof bytes)
                return;
        }
    }
}

static void on_event(struct conn *c, uint32_t events)
{
    if (!c->is_open)
        return;
    if (c->is_connecting && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP))) {
        int error = 0;
        socklen_t n = sizeof error;
        (void)getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &n);
        c->is_connecting = false;
        if (error) {
            run.broken++;
            finish(c, 0, clock_mono_ns());
            return;
        }
    }
    if (c->out_at < c->out_n && c->request)
        send_out(c);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        on_readable(c);
}

/* ---------------------------------------------------------------- time */

static bool next_entry(struct entry *ret)
{
    static double at;
    if (run.entries) {
        if (run.at == run.n_entries)
            return false;
        *ret = run.entries[run.at++];
        return true;
    }
    if (opts.burst) {
        if (run.at == opts.burst)
            return false;
        *ret = (struct entry){ .function = (uint32_t)(run.at++ % opts.hosts),
                               .sleep_ms = (uint32_t)opts.sleep_ms };
        return true;
    }
    if (at >= opts.seconds + opts.warmup || (opts.count && run.at == opts.count))
        return false;
    *ret = (struct entry){ .due_ns = (uint64_t)(at * 1e9),
                           .function = (uint32_t)(run.at++ % opts.hosts),
                           .sleep_ms = (uint32_t)opts.sleep_ms };
    at += opts.poisson ? -log(random_unit()) / opts.rate : 1 / opts.rate;
    return true;
}

static void end_timed_out(uint64_t now)
{
    while (run.oldest && run.oldest->request->start_ns + opts.timeout_ns < now) {
        run.unanswered += run.oldest->request->start_ns >= run.measure_ns;
        finish(run.oldest, 0, now);
    }
}

static void open_loop(void)
{
    struct epoll_event events[EVENTS];
    struct entry next;
    bool has_next = next_entry(&next);
    while (has_next || run.in_flight) {
        uint64_t now = clock_mono_ns();
        while (has_next && run.begin_ns + next.due_ns <= now) {
            start_entry(&next);
            has_next = next_entry(&next);
        }
        end_timed_out(now);
        uint64_t until = has_next ? run.begin_ns + next.due_ns : now + 100000000;
        struct itimerspec at = { .it_value = { (time_t)(until / 1000000000),
                                               (long)(until % 1000000000) } };
        (void)timerfd_settime(run.timer, TFD_TIMER_ABSTIME, &at, NULL);
        int n = epoll_wait(run.epoll, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            uint64_t ticks;
            if (events[i].data.ptr)
                on_event(events[i].data.ptr, events[i].events);
            else
                (void)!read(run.timer, &ticks, sizeof ticks);
        }
    }
    run.end_ns = clock_mono_ns();
}

static void closed_loop(void)
{
    struct epoll_event events[EVENTS];
    for (unsigned i = 0; i < opts.closed; i++)
        start_entry(
            &(struct entry){ .function = i % opts.hosts, .sleep_ms = (uint32_t)opts.sleep_ms });
    for (uint64_t now; (now = clock_mono_ns()) < run.end_ns;) {
        end_timed_out(now);
        int n = epoll_wait(run.epoll, events, EVENTS, 10);
        for (int i = 0; i < n; i++)
            if (events[i].data.ptr)
                on_event(events[i].data.ptr, events[i].events);
    }
}

/* ---------------------------------------------------------------- the run */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_slowdown(void)
{
    double *means = xnew_n(double, opts.hosts);
    size_t n = 0;
    for (unsigned i = 0; i < opts.hosts; i++)
        if (run.n_slowdown[i])
            means[n++] = exp(run.log_slowdown[i] / run.n_slowdown[i]);
    qsort(means, n, sizeof *means, compare);
    if (n)
        (void)printf(" \"slowdown\": {\"p50\": %.4f, \"p90\": %.4f, \"p99\": %.4f, \"max\": %.4f, "
                     "\"n\": %zu},\n",
                     means[n / 2], means[n * 9 / 10], means[n * 99 / 100], means[n - 1], n);
    free(means);
}

static void print_result(void)
{
    uint64_t ok = run.latency.n, other = 0;
    double seconds = (double)(run.end_ns - run.measure_ns) / 1e9;
    (void)printf("{\"requests\": %" PRIu64 ", \"seconds\": %.3f, \"per_second\": %.1f, "
                 "\"unanswered\": %" PRIu64 ", \"broken\": %" PRIu64 ",\n \"statuses\": {",
                 ok, seconds, (double)ok / seconds, run.unanswered, run.broken);
    const char *between = "";
    for (int i = 100; i < 600; i++)
        if (run.statuses[i]) {
            (void)printf("%s\"%d\": %" PRIu64, between, i, run.statuses[i]);
            between = ", ";
            other += i / 100 != 2 ? run.statuses[i] : 0;
        }
    (void)printf("}, \"refused\": %" PRIu64 ",\n \"reasons\": {", other);
    for (size_t i = 0; i < REASONS_MAX && run.reasons[i].n; i++)
        (void)printf("%s\"%s\": %" PRIu64, i ? ", " : "", run.reasons[i].text, run.reasons[i].n);
    (void)printf("},\n");
    if (run.log_slowdown)
        print_slowdown();
    (void)printf(" \"latency_ms\": {\"p50\": %.4f, \"p90\": %.4f, \"p99\": %.4f, \"p99.9\": %.4f, "
                 "\"max\": %.4f, \"n\": %" PRIu64 "}}\n",
                 (double)histogram_percentile(&run.latency, 50) / 1e6,
                 (double)histogram_percentile(&run.latency, 90) / 1e6,
                 (double)histogram_percentile(&run.latency, 99) / 1e6,
                 (double)histogram_percentile(&run.latency, 99.9) / 1e6,
                 (double)run.latency.max / 1e6, run.latency.n);
}

/* "MICROSECONDS FUNCTION MILLISECONDS" */
static bool read_entry(struct str line, struct entry *ret)
{
    struct str us, function, rest = line;
    uint64_t at, f, sleep;
    if (!str_cut(rest, ' ', &us, &rest) || !str_cut(rest, ' ', &function, &rest) ||
        parse_u64(us, 0, UINT64_MAX / 1000, &at) < 0 ||
        parse_u64(function, 0, opts.hosts - 1, &f) < 0 ||
        parse_u64(str_trim(rest), 0, UINT32_MAX, &sleep) < 0)
        return false;
    *ret = (struct entry){ at * 1000, (uint32_t)f, (uint32_t)sleep };
    return true;
}

static void read_schedule(void)
{
    FILE *f = fopen(opts.schedule, "re");
    char line[128];
    size_t cap = 0;
    if (!f)
        die(opts.schedule);
    while (fgets(line, sizeof line, f)) {
        if (run.n_entries == cap) {
            cap = cap ? cap * 2 : 4096;
            run.entries = xrealloc(run.entries, cap * sizeof *run.entries);
        }
        if (run.n_entries == ENTRIES_MAX ||
            !read_entry(str_of(line), &run.entries[run.n_entries])) {
            errno = EINVAL;
            die(opts.schedule);
        }
        run.n_entries++;
    }
    (void)fclose(f);
    run.log_slowdown = xnew_n(double, opts.hosts);
    run.n_slowdown = xnew_n(uint32_t, opts.hosts);
}

static void usage(void)
{
    (void)fputs(
        "usage: fn-load (--closed C | --rate R | --burst N | --schedule FILE) [OPTIONS] HOST:PORT\n"
        "  --closed C        each of C connections sends its next request after the answer\n"
        "  --rate R          requests a second, whatever the answers do; --poisson: at random "
        "times\n"
        "  --burst N         N requests at once\n"
        "  --schedule FILE   lines: microseconds, function's number, milliseconds of work\n"
        "  --hosts N         requests go to N functions in turn (1)\n"
        "  --host NAME       of them, {i} is the number in five digits (f{i}.default)\n"
        "  --path PATH       (/)               --sleep-ms N   work asked for (0)\n"
        "  --seconds S       (10)              --warmup S     not measured (0)\n"
        "  --connections N   at most (1000)    --timeout S    (15)\n"
        "  --count N         --record FILE     --seed N\n",
        stderr);
    exit(2);
}

static double number(const char *text, double max)
{
    char *end;
    double v = strtod(text, &end);
    if (*end || end == text || v < 0 || v > max)
        usage();
    return v;
}

static void parse_args(int argc, char **argv)
{
    enum {
        CLOSED = 256,
        RATE,
        BURST,
        SCHEDULE,
        HOSTS,
        HOST,
        PATH,
        SLEEP,
        SECONDS,
        WARMUP,
        CONNECTIONS,
        TIMEOUT,
        COUNT,
        RECORD,
        SEED,
        POISSON
    };
    static const struct option longs[] = {
        { "closed", 1, NULL, CLOSED },
        { "rate", 1, NULL, RATE },
        { "burst", 1, NULL, BURST },
        { "schedule", 1, NULL, SCHEDULE },
        { "hosts", 1, NULL, HOSTS },
        { "host", 1, NULL, HOST },
        { "path", 1, NULL, PATH },
        { "sleep-ms", 1, NULL, SLEEP },
        { "seconds", 1, NULL, SECONDS },
        { "warmup", 1, NULL, WARMUP },
        { "connections", 1, NULL, CONNECTIONS },
        { "timeout", 1, NULL, TIMEOUT },
        { "count", 1, NULL, COUNT },
        { "record", 1, NULL, RECORD },
        { "seed", 1, NULL, SEED },
        { "poisson", 0, NULL, POISSON },
        { NULL, 0, NULL, 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        switch (c) {
        case CLOSED:
            opts.closed = (unsigned)number(optarg, CONNECTIONS_MAX);
            break;
        case RATE:
            opts.rate = number(optarg, 1e6);
            break;
        case BURST:
            opts.burst = (unsigned)number(optarg, CONNECTIONS_MAX);
            break;
        case SCHEDULE:
            opts.schedule = optarg;
            break;
        case HOSTS:
            opts.hosts = (unsigned)number(optarg, 1e6);
            break;
        case HOST:
            opts.host = optarg;
            break;
        case PATH:
            opts.path = optarg;
            break;
        case SLEEP:
            opts.sleep_ms = (uint64_t)number(optarg, 1e9);
            break;
        case SECONDS:
            opts.seconds = number(optarg, 36000);
            break;
        case WARMUP:
            opts.warmup = number(optarg, 3600);
            break;
        case CONNECTIONS:
            opts.connections = (unsigned)number(optarg, CONNECTIONS_MAX);
            break;
        case TIMEOUT:
            opts.timeout_ns = (uint64_t)(number(optarg, 3600) * 1e9);
            break;
        case COUNT:
            opts.count = (uint64_t)number(optarg, 1e9);
            break;
        case RECORD:
            opts.record = optarg;
            break;
        case SEED:
            opts.seed = (uint64_t)number(optarg, 1e15);
            break;
        case POISSON:
            opts.poisson = true;
            break;
        default:
            usage();
        }
    }
    struct str host = STR(""), port;
    uint64_t n = 0;
    if (optind + 1 != argc || !str_cut(str_of(argv[optind]), ':', &host, &port) ||
        parse_u64(port, 1, 65535, &n) < 0 ||
        (opts.closed > 0) + (opts.rate > 0) + (opts.burst > 0) + (opts.schedule != NULL) != 1 ||
        !opts.hosts || !opts.connections)
        usage();
    char *address = str_dup(host);
    opts.to = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)n) };
    if (inet_pton(AF_INET, address, &opts.to.sin_addr) != 1)
        usage();
    free(address);
    opts.connections = MAX(opts.connections, opts.closed);
}

int main(int argc, char **argv)
{
    parse_args(argc, argv);
    run.random = opts.seed * 2654435769 + 1;
    run.waiting_tail = &run.waiting;
    run.conns = xnew_n(struct conn, opts.connections);
    if (opts.schedule)
        read_schedule();
    if (opts.record && !(run.record = fopen(opts.record, "we")))
        die(opts.record);
    run.epoll = epoll_create1(EPOLL_CLOEXEC);
    run.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event ev = { .events = EPOLLIN };
    if (run.epoll < 0 || run.timer < 0 || epoll_ctl(run.epoll, EPOLL_CTL_ADD, run.timer, &ev) < 0)
        die("epoll");
    run.begin_ns = clock_mono_ns() + (opts.closed ? 0 : 10000000);
    run.measure_ns = run.begin_ns + (uint64_t)(opts.warmup * 1e9);
    run.end_ns = run.measure_ns + (uint64_t)(opts.seconds * 1e9);
    if (opts.closed)
        closed_loop();
    else
        open_loop();
    print_result();
    if (run.record && fclose(run.record) != 0)
        die(opts.record);
    return run.latency.n ? 0 : 1;
}
