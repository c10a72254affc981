/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dm/host.h for an ordinary process: the operator that runs as a guest elsewhere, linked with this,
 * is a program that talks to the API server itself. One poll loop, one connection per watch, a few
 * kept ones for the rest.
 */
#include "cluster.h"
#include "conn.h"
#include "dm/host.h"
#include "dm/mem.h"
#include "response.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MS    60000u      /* for a head, and for the whole of a unary answer */
#define UNARY_MAX    16u         /* at a time; more wait */
#define IDLE_MAX     4u          /* kept connections */
#define BODY_MAX     (12u << 20) /* a page of a list; larger answers fail */
#define READ_BYTES   16384u
#define READS_A_TURN 64

struct exchange {
    struct exchange *next;
    uint64_t id;
    bool stream;
    bool reused;   /* runs on a kept connection, which may have been closed meanwhile */
    bool answered; /* a byte of an answer has come */
    bool too_large, late;
    uint64_t deadline_ms;
    struct dm_text out, body;
    size_t sent;
    struct conn conn;
    struct response response;
};

struct delay {
    struct delay *next;
    uint64_t id, due_ms;
};

static struct cluster cluster;
static SSL_CTX *tls;
static uint64_t next_id;
static struct exchange *waiting, **waiting_end = &waiting; /* not yet on a connection */
static struct exchange *active;
static unsigned n_active, n_unary;
static struct delay *delays; /* earliest first */
static struct conn idle[IDLE_MAX];
static unsigned n_idle;

/* ---- the platform's functions ---- */

static uint64_t clock_us(clockid_t id)
{
    struct timespec t;
    (void)clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t dm_host_now_ms(void)
{
    return clock_us(CLOCK_MONOTONIC) / 1000;
}

uint64_t dm_host_wall_us(void)
{
    return clock_us(CLOCK_REALTIME);
}

uint64_t dm_host_random(void)
{
    uint64_t v = 0;
    (void)!getrandom(&v, sizeof(v), 0);
    return v;
}

const char *dm_host_env(const char *name)
{
    return getenv(name);
}

void dm_host_write(const char *line, size_t n)
{
    (void)!write(STDERR_FILENO, line, n);
}

bool dm_host_can_watch(void)
{
    return false;
}

uint64_t dm_host_watch(const struct dm_watch_request *w)
{
    (void)w;
    abort();
}

uint64_t dm_host_delay(uint64_t ms)
{
    struct delay *d = dm_zalloc(sizeof(*d)), **at = &delays;
    d->id = next_id++;
    d->due_ms = dm_host_now_ms() + ms;
    while (*at && (*at)->due_ms <= d->due_ms)
        at = &(*at)->next;
    d->next = *at;
    *at = d;
    return d->id;
}

static void put_request(struct dm_text *t, const struct dm_request *r)
{
    bool v6 = strchr(cluster.host, ':') != NULL;
    dm_textf(t, "%s %s%s HTTP/1.1\r\nhost: %s%s%s:%s\r\naccept: application/json\r\n", r->method,
             cluster.prefix, r->path, v6 ? "[" : "", cluster.host, v6 ? "]" : "", cluster.port);
    dm_textf(t, "user-agent: dormouse-native\r\n");
    if (cluster.token)
        dm_textf(t, "authorization: Bearer %s\r\n", cluster.token);
    if (r->content_type)
        dm_textf(t, "content-type: %s\r\ncontent-length: %zu\r\n", r->content_type, r->body.n);
    dm_textf(t, "\r\n");
    dm_text_str(t, r->body);
}

uint64_t dm_host_request(const struct dm_request *r, bool stream)
{
    struct exchange *x = dm_zalloc(sizeof(*x));
    x->id = next_id++;
    x->stream = stream;
    x->conn.fd = -1;
    x->deadline_ms = dm_host_now_ms() + ANSWER_MS;
    put_request(&x->out, r);
    *waiting_end = x;
    waiting_end = &x->next;
    return x->id;
}

/* ---- exchanges ---- */

static void on_head(void *arg, int status)
{
    struct exchange *x = arg;
    if (x->stream)
        x->deadline_ms = UINT64_MAX;
    dm_on_head(x->id, status);
}

static void on_data(void *arg, const char *p, size_t n)
{
    struct exchange *x = arg;
    if (x->stream)
        dm_on_data(x->id, p, n);
    else if (x->body.n + n <= BODY_MAX)
        dm_text_put(&x->body, p, n);
    else
        x->too_large = true;
}

static const struct response_ops ops = { on_head, on_data };

static void deactivate(struct exchange *x)
{
    struct exchange **at = &active;
    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    n_active--;
    n_unary -= x->stream ? 0 : 1;
}

/* Told when it changes, not for every request. */
static void note_reachable(bool reachable, const char *why)
{
    static bool was_reachable = true;
    if (reachable != was_reachable && reachable)
        dm_log(DM_INFO, "the API server answers again host=%s port=%s", cluster.host, cluster.port);
    else if (reachable != was_reachable)
        dm_log(DM_WARN, "no answer from the API server host=%s port=%s: %s", cluster.host,
               cluster.port, why);
    was_reachable = reachable;
}

/* The exchange ends; `complete` with a whole answer. */
static void over(struct exchange *x, bool complete)
{
    if (complete || !x->answered)
        note_reachable(complete, x->late ? "it takes too long" : conn_why());
    deactivate(x);
    if (complete && !x->response.close && n_idle < IDLE_MAX)
        idle[n_idle++] = x->conn;
    else
        conn_close(&x->conn);
    if (complete && !x->stream)
        dm_on_end(x->id, x->body.p ? x->body.p : "", x->body.n);
    else
        dm_on_end(x->id, NULL, 0);
    response_reset(&x->response);
    dm_text_fini(&x->out);
    dm_text_fini(&x->body);
    dm_free(x);
    dm_settle();
}

/* A kept connection may turn out to be closed: that is nobody's failure, once. */
static void broken(struct exchange *x)
{
    if (x->reused && !x->answered) {
        conn_close(&x->conn);
        x->reused = false;
        x->sent = 0;
        if (conn_open(&x->conn, &cluster, tls) == 0)
            return;
    }
    over(x, false);
}

static void expire(struct exchange *x)
{
    x->late = true;
    over(x, false);
}

static long send_more(struct exchange *x)
{
    while (x->sent < x->out.n) {
        long r = conn_write(&x->conn, x->out.p + x->sent, x->out.n - x->sent);
        if (r <= 0)
            return r;
        x->sent += (size_t)r;
    }
    return 0;
}

/* Something happened on the connection. May end the exchange. */
static void drive(struct exchange *x)
{
    static char piece[READ_BYTES];
    if (send_more(x) < 0) {
        broken(x);
        return;
    }
    for (int i = 0; i < READS_A_TURN; i++) {
        long n = conn_read(&x->conn, piece, sizeof(piece));
        if (n == 0)
            break;
        if (n < 0 && response_closed(&x->response)) {
            x->response.close = true;
            over(x, true);
            return;
        }
        if (n < 0) {
            broken(x);
            return;
        }
        x->answered = true;
        long used = response_feed(&x->response, piece, (size_t)n, &ops, x);
        if (used < 0 || x->too_large) {
            over(x, false);
            return;
        }
        if (x->response.at == RESPONSE_DONE) {
            x->response.close |= used < n;
            over(x, true);
            return;
        }
    }
    dm_settle();
}

static void begin(struct exchange *x)
{
    x->next = active;
    active = x;
    n_active++;
    n_unary += x->stream ? 0 : 1;
    if (n_idle) {
        x->conn = idle[--n_idle];
        x->reused = true;
        x->conn.wants_write = true;
    } else if (conn_open(&x->conn, &cluster, tls) < 0) {
        over(x, false);
    }
}

static void begin_waiting(void)
{
    struct exchange **at = &waiting;
    while (*at) {
        struct exchange *x = *at;
        if (!x->stream && n_unary >= UNARY_MAX) {
            at = &x->next;
            continue;
        }
        *at = x->next;
        if (!*at)
            waiting_end = at;
        begin(x);
        at = &waiting; /* begin() may have added to the list */
    }
}

/* ---- the loop ---- */

static void end_delays(void)
{
    uint64_t now = dm_host_now_ms();
    while (delays && delays->due_ms <= now) {
        struct delay *d = delays;
        delays = d->next;
        dm_on_end(d->id, NULL, 0);
        dm_free(d);
        dm_settle();
    }
}

static int wait_ms(void)
{
    uint64_t now = dm_host_now_ms(), due = delays ? delays->due_ms : UINT64_MAX;
    for (const struct exchange *x = active; x; x = x->next)
        if (x->deadline_ms < due)
            due = x->deadline_ms;
    if (due == UINT64_MAX)
        return -1;
    return due <= now ? 0 : due - now > 86400000 ? 86400000 : (int)(due - now);
}

static short wanted(const struct exchange *x)
{
    return (short)(POLLIN | (x->conn.wants_write ? POLLOUT : 0));
}

/* Handing events out may end exchanges and begin others, so they are found again by their id. */
static struct exchange *find_active(uint64_t id)
{
    struct exchange *x = active;
    while (x && x->id != id)
        x = x->next;
    return x;
}

static void drop_closed_idle(const struct pollfd *polled, unsigned n)
{
    for (unsigned i = n; i-- > 0;) {
        if (!polled[i].revents || i >= n_idle || idle[i].fd != polled[i].fd)
            continue;
        conn_close(&idle[i]);
        idle[i] = idle[--n_idle];
    }
}

static void turn(void)
{
    static struct pollfd *fds;
    static uint64_t *ids;
    static unsigned room;
    unsigned n = 0, n_kept = n_idle;
    if (room < n_active + IDLE_MAX) {
        room = 2 * (n_active + IDLE_MAX);
        fds = dm_realloc(fds, room * sizeof(*fds));
        ids = dm_realloc(ids, room * sizeof(*ids));
    }
    for (; n < n_kept; n++)
        fds[n] = (struct pollfd){ .fd = idle[n].fd, .events = POLLIN };
    for (const struct exchange *x = active; x; x = x->next, n++) {
        fds[n] = (struct pollfd){ .fd = x->conn.fd, .events = wanted(x) };
        ids[n] = x->id;
    }
    if (poll(fds, n, wait_ms()) < 0 && errno != EINTR)
        abort();
    drop_closed_idle(fds, n_kept);
    uint64_t now = dm_host_now_ms();
    for (unsigned i = n_kept; i < n; i++) {
        struct exchange *x = find_active(ids[i]);
        if (x && fds[i].revents)
            drive(x);
        else if (x && x->deadline_ms <= now)
            expire(x);
    }
    end_delays();
}

int main(void)
{
    char why[512];
    (void)signal(SIGPIPE, SIG_IGN);
    if (cluster_load(&cluster, why, sizeof(why)) < 0) {
        dm_log(DM_ERROR, "%s", why);
        return 2;
    }
    if (cluster.tls && !(tls = conn_context(&cluster, why, sizeof(why)))) {
        dm_log(DM_ERROR, "%s", why);
        return 2;
    }
    int r = dm_start();
    if (r)
        return r;
    for (;;) {
        begin_waiting();
        turn();
    }
}
