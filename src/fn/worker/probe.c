/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readiness probes; see probe.h. Pauses below a millisecond are kept by a timerfd, which the loop's
 * own timers cannot.
 */
#include "fn/worker/probe.h"

#include "base/backoff.h"
#include "base/buf.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { HEAD_BYTES = 12 /* "HTTP/1.1 200" */ };

struct probe {
    struct loop *loop;
    struct probe_opts o;
    char *path;
    uv_poll_t pause; /* of the timerfd: until the next try, or the end of one */
    int pause_fd;
    struct probe_attempt *attempt; /* NULL: between two */
    uint64_t pause_us, attempt_ms, give_up_ms;
    char last[80]; /* result of the last attempt */
    bool is_over;
};

/* Is closed independently of the probe, which continues with the next one. */
struct probe_attempt {
    uv_poll_t poll;
    int fd;
    struct probe *p; /* NULL: given up */
    bool is_sent;
    char head[HEAD_BYTES];
    size_t n;
};

static void try_now(struct probe *p);

/* ---------------------------------------------------------------- end */

static void on_attempt_closed(uv_handle_t *h)
{
    struct probe_attempt *a = h->data;
    (void)close(a->fd);
    free(a);
}

static void drop_attempt(struct probe *p)
{
    struct probe_attempt *a = take_ptr(&p->attempt);
    if (!a)
        return;
    a->p = NULL;
    uv_close((uv_handle_t *)&a->poll, on_attempt_closed);
}

static void on_probe_closed(uv_handle_t *h)
{
    struct probe *p = h->data;
    (void)close(p->pause_fd);
    free(p->path);
    free(p);
}

void probe_stop(struct probe *p)
{
    if (!p || p->is_over)
        return;
    p->is_over = true;
    drop_attempt(p);
    uv_close((uv_handle_t *)&p->pause, on_probe_closed);
}

static void finish(struct probe *p, int r, const char *text)
{
    void (*done)(void *, int, const struct err *) = p->o.done;
    void *arg = p->o.arg;
    struct err err = { 0 };
    if (r < 0)
        (void)err_set(&err, r, "%s", text);
    probe_stop(p);
    done(arg, r, &err);
}

/* ---------------------------------------------------------------- timers */

static void arm(struct probe *p, uint64_t us)
{
    struct itimerspec at = { .it_value = { .tv_sec = (time_t)(us / 1000000),
                                           .tv_nsec = (long)(us % 1000000) * 1000 + 1 } };
    (void)timerfd_settime(p->pause_fd, 0, &at, NULL);
}

/* Not yet: `why`, and again after a pause. */
static void again(struct probe *p, const char *why)
{
    char text[160];
    drop_attempt(p);
    (void)snprintf(p->last, sizeof p->last, "%s", why);
    if (loop_now_ms(p->loop) >= p->give_up_ms) {
        (void)snprintf(text, sizeof text, "not ready within %llu ms: %s",
                       (unsigned long long)p->o.limit_ms, p->last);
        finish(p, -ETIMEDOUT, text);
        return;
    }
    arm(p, p->pause_us);
    p->pause_us = MIN(p->pause_us + p->pause_us / 2, (uint64_t)PROBE_PAUSE_MAX_US);
}

static void on_pause(uv_poll_t *h, int status, int events)
{
    struct probe *p = h->data;
    uint64_t ignored;
    if (read(p->pause_fd, &ignored, sizeof ignored) < 0)
        return; /* the timer was armed again since */
    if (!p->attempt) {
        try_now(p);
        return;
    }
    p->attempt_ms = backoff_next(p->attempt_ms, PROBE_ATTEMPT_MS, PROBE_ATTEMPT_MAX_MS);
    again(p, p->attempt->is_sent ? "no answer" : "no connection");
}

/* ---------------------------------------------------------------- one attempt */

static int send_request(struct probe_attempt *a)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(16 << 10);
    (void)buf_printf(&text,
                     "GET %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: dormouse-probe\r\n"
                     "Connection: close\r\n\r\n",
                     a->p->path);
    ssize_t n = send(a->fd, text.p, text.n, MSG_NOSIGNAL);
    return n == (ssize_t)text.n ? 0 : n < 0 ? -errno : -EIO; /* an empty buffer takes it all */
}

static void evaluate_attempt(struct probe_attempt *a)
{
    struct probe *p = a->p;
    uint64_t status;
    char why[40];
    if (memcmp(a->head, "HTTP/1.", 7) != 0 ||
        parse_u64(str_n(a->head + 9, 3), 100, 999, &status) < 0) {
        again(p, "what answers speaks no HTTP/1.1");
        return;
    }
    (void)snprintf(why, sizeof why, "status %llu", (unsigned long long)status);
    if (status >= 200 && status < 400)
        finish(p, 0, "");
    else
        again(p, why);
}

static void on_socket(uv_poll_t *h, int status, int events)
{
    struct probe_attempt *a = h->data;
    struct probe *p = a->p;
    int code = 0;
    socklen_t size = sizeof code;
    if (!p)
        return;
    if (!a->is_sent) {
        (void)getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &code, &size);
        if (code == 0 && p->path[0])
            code = -send_request(a);
        if (code)
            again(p, err_strerror(-code));
        else if (!p->path[0])
            finish(p, 0, "");
        else {
            a->is_sent = true;
            (void)uv_poll_start(&a->poll, UV_READABLE, on_socket);
        }
        return;
    }
    ssize_t n = recv(a->fd, a->head + a->n, sizeof a->head - a->n, MSG_DONTWAIT);
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            again(p, "the connection was closed without an answer");
        return;
    }
    a->n += (size_t)n;
    if (a->n == sizeof a->head)
        evaluate_attempt(a);
}

static void try_now(struct probe *p)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(p->o.port),
                              .sin_addr.s_addr = htonl(p->o.address) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        again(p, err_strerror(-errno));
        return;
    }
    int one = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (const struct sockaddr *)&to, sizeof to) < 0 && errno != EINPROGRESS) {
        int code = errno;
        (void)close(fd);
        again(p, err_strerror(-code));
        return;
    }
    struct probe_attempt *a = xnew(struct probe_attempt);
    a->fd = fd;
    a->p = p;
    int r = uv_poll_init(&p->loop->uv, &a->poll, fd);
    if (r < 0) {
        (void)close(fd);
        free(a);
        again(p, err_strerror(r));
        return;
    }
    a->poll.data = a;
    p->attempt = a;
    (void)uv_poll_start(&a->poll, UV_WRITABLE, on_socket);
    arm(p, p->attempt_ms * 1000);
}

int probe_start(struct loop *loop, const struct probe_opts *o, struct probe **ret, struct err *err)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0)
        return err_sys(err, -errno, "timer of a probe");
    struct probe *p = xnew(struct probe);
    int r = uv_poll_init(&loop->uv, &p->pause, fd);
    if (r < 0) {
        (void)close(fd);
        free(p);
        return err_sys(err, r, "timer of a probe");
    }
    p->loop = loop;
    p->o = *o;
    p->path = str_dup(o->path);
    p->pause.data = p;
    p->pause_fd = fd;
    p->pause_us = PROBE_FIRST_US;
    p->attempt_ms = PROBE_ATTEMPT_MS;
    p->give_up_ms = loop_now_ms(loop) + o->limit_ms;
    (void)uv_poll_start(&p->pause, UV_READABLE, on_pause);
    arm(p, PROBE_FIRST_US);
    *ret = p;
    return 0;
}
