/* SPDX-License-Identifier: Apache-2.0 */
/* Connections into network namespaces; see dial.h. */
#include "agent/stream/dial.h"

#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FAMILIES = 2 };

static const int families[FAMILIES] = { AF_INET, AF_INET6 };

struct stream_dial {
    struct job job;
    struct loop *loop;
    char *netns;
    uint16_t port;
    stream_dialed_cb done;
    void *arg;
    int fds[FAMILIES];   /* -1: none, or closed */
    int codes[FAMILIES]; /* why not */
    unsigned at;         /* which one connects */
    uv_poll_t poll;
    struct timer timeout;
};

/* ------------------------------------------------------------------ on a pool thread */

static void make_sockets(struct stream_dial *d)
{
    for (unsigned i = 0; i < FAMILIES; i++) {
        d->fds[i] = socket(families[i], SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        d->codes[i] = d->fds[i] < 0 ? -errno : 0;
    }
}

static void on_work(struct job *j)
{
    struct stream_dial *d = container_of(j, struct stream_dial, job);
    if (!d->netns) {
        make_sockets(d);
        return;
    }
    scoped(fd_scoped) int own = sys_openat(AT_FDCWD, "/proc/thread-self/ns/net", O_RDONLY, 0);
    scoped(fd_scoped) int other = sys_openat(AT_FDCWD, d->netns, O_RDONLY, 0);
    int r = own < 0 ? own : other < 0 ? other : setns(other, CLONE_NEWNET) < 0 ? -errno : 0;
    if (r < 0) {
        d->codes[0] = d->codes[1] = r;
        return;
    }
    make_sockets(d);
    if (setns(own, CLONE_NEWNET) < 0)
        abort(); /* the thread would go on working in the pod's network */
}

/* ------------------------------------------------------------------ on the loop */

static void try_next(struct stream_dial *d);

static void finish(struct stream_dial *d, int fd)
{
    struct err err = { 0 };
    if (fd < 0)
        fd = err_set(&err, d->codes[0],
                     "failed to connect to localhost:%u inside the pod: 127.0.0.1: %s; [::1]: %s",
                     d->port, err_strerror(d->codes[0]), err_strerror(d->codes[1]));
    for (unsigned i = 0; i < FAMILIES; i++)
        if (d->fds[i] >= 0 && d->fds[i] != fd)
            (void)close(d->fds[i]);
    stream_dialed_cb done = d->done;
    void *arg = d->arg;
    free(d->netns);
    free(d);
    done(arg, fd, &err);
}

static void on_poll_closed(uv_handle_t *h)
{
    struct stream_dial *d = h->data;
    if (d->codes[d->at] == 0) {
        finish(d, d->fds[d->at]);
        return;
    }
    d->at++;
    try_next(d);
}

static void settle(struct stream_dial *d, int r)
{
    d->codes[d->at] = r;
    timer_stop(d->loop, &d->timeout);
    uv_close((uv_handle_t *)&d->poll, on_poll_closed);
}

static void on_connected(uv_poll_t *h, int status, int events)
{
    struct stream_dial *d = h->data;
    int code = 0;
    socklen_t n = sizeof code;
    (void)uv_poll_stop(h);
    if (getsockopt(d->fds[d->at], SOL_SOCKET, SO_ERROR, &code, &n) < 0)
        code = errno;
    settle(d, -code);
}

static void on_timeout(struct timer *t)
{
    settle(container_of(t, struct stream_dial, timeout), -ETIMEDOUT);
}

static int start_connect(int fd, unsigned i, uint16_t port)
{
    const struct sockaddr_in v4 = { .sin_family = AF_INET,
                                    .sin_port = htons(port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
                                     .sin6_port = htons(port),
                                     .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    int r = families[i] == AF_INET ? connect(fd, (const struct sockaddr *)&v4, sizeof v4)
                                   : connect(fd, (const struct sockaddr *)&v6, sizeof v6);
    return r == 0 || errno == EINPROGRESS || errno == EINTR ? 0 : -errno;
}

static void try_next(struct stream_dial *d)
{
    for (; d->at < FAMILIES; d->at++) {
        int fd = d->fds[d->at];
        if (fd < 0)
            continue;
        d->codes[d->at] = start_connect(fd, d->at, d->port);
        if (d->codes[d->at] == 0 && uv_poll_init(&d->loop->uv, &d->poll, fd) == 0) {
            d->poll.data = d;
            (void)uv_poll_start(&d->poll, UV_WRITABLE, on_connected);
            timer_start(d->loop, &d->timeout, STREAM_DIAL_MS, on_timeout);
            return;
        }
    }
    finish(d, -1);
}

static void on_made(struct job *j, int r)
{
    struct stream_dial *d = container_of(j, struct stream_dial, job);
    if (r < 0)
        d->codes[0] = d->codes[1] = r;
    try_next(d);
}

void stream_dial_start(struct loop *loop, const char *netns, uint16_t port, stream_dialed_cb done,
                       void *dial)
{
    struct stream_dial *d = xnew(struct stream_dial);
    *d = (struct stream_dial){ .job = { .work = on_work, .done = on_made },
                               .loop = loop,
                               .netns = netns ? xstrdup(netns) : NULL,
                               .port = port,
                               .done = done,
                               .arg = dial,
                               .fds = { -1, -1 } };
    int r = job_start(loop, &d->job);
    assert(r >= 0); /* it would be a job without work */
}
