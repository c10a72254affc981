/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections to ports of a pod, made from inside its network namespace: a job enters the
 * namespace on a pool thread, makes a socket there, and returns to that of this process; a socket
 * belongs to the namespace in which it was made.
 */
#include "agent/agent_impl.h"
#include "agent/answer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DIAL_MS = 5000 };

struct ports { /* of one client */
    struct loop *loop;
    char *netns; /* NULL: that of this process */
};

struct dial {
    struct job job;
    char *netns;
    uint16_t port;
    int fd, r;
    stream_dialed_cb done;
    void *arg;
};

static int connect_to(int family, uint16_t port)
{
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
                               .sin6_port = htons(port),
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct sockaddr_in v4 = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int failed = 0;
    socklen_t n = sizeof failed;
    if (fd < 0)
        return -errno;
    int r = family == AF_INET ? connect(fd, (struct sockaddr *)&v4, sizeof v4)
                              : connect(fd, (struct sockaddr *)&v6, sizeof v6);
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    if (r < 0 && errno == EINPROGRESS)
        failed = poll(&p, 1, DIAL_MS) == 1
                     ? (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &n), failed)
                     : ETIMEDOUT;
    else if (r < 0)
        failed = errno;
    if (failed == 0)
        return fd;
    (void)close(fd);
    return -failed;
}

static int dial_here(uint16_t port)
{
    int fd = connect_to(AF_INET, port);
    int other = fd < 0 ? connect_to(AF_INET6, port) : -1;
    return other >= 0 ? other : fd;
}

static int dial_there(const char *netns, uint16_t port)
{
    scoped(fd_scoped) int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    scoped(fd_scoped) int there = open(netns, O_RDONLY | O_CLOEXEC);
    if (own < 0 || there < 0 || setns(there, CLONE_NEWNET) < 0)
        return -errno;
    int fd = dial_here(port);
    if (setns(own, CLONE_NEWNET) < 0)
        abort(); /* else this thread would go on in a foreign network */
    return fd;
}

static void work(struct job *j)
{
    struct dial *d = container_of(j, struct dial, job);
    d->fd = d->netns ? dial_there(d->netns, d->port) : dial_here(d->port);
}

static void done(struct job *j, int r)
{
    struct dial *d = container_of(j, struct dial, job);
    struct err err = { 0 };
    if (r < 0)
        d->fd = r;
    if (d->fd < 0)
        (void)err_sys(&err, d->fd, "connect to port %u of the pod", d->port);
    d->done(d->arg, d->fd, &err);
    free(d->netns);
    free(d);
}

static int dial(void *arg, uint16_t port, stream_dialed_cb cb, void *cb_arg, struct err *err)
{
    const struct ports *p = arg;
    struct dial *d = xnew(struct dial);
    *d = (struct dial){ .job = { .work = work, .done = done },
                        .netns = p->netns ? xstrdup(p->netns) : NULL,
                        .port = port,
                        .fd = -1,
                        .done = cb,
                        .arg = cb_arg };
    int r = job_start(p->loop, &d->job);
    if (r < 0) {
        free(d->netns);
        free(d);
        return err_sys(err, r, "connect to port %u", port);
    }
    return 0;
}

static void close_ports(void *arg)
{
    struct ports *p = arg;
    free(p->netns);
    free(p);
}

static const struct stream_port_ops port_ops = { .dial = dial, .close = close_ports };

int agent_answer_forward(void *arg, const struct agent_ref *ref,
                         const struct stream_port_ops **ret_ops, void **ret_arg, struct err *err)
{
    struct agent_pod *pod = agent_answer_find(arg, ref);
    if (!pod || !pod->has_network)
        return err_set(err, -ENOENT, "the pod has no network");
    struct ports *p = xnew(struct ports);
    p->loop = pod->agent->loop;
    p->netns = pod->network ? xstrdup(pod_network_netns(pod->network)) : NULL;
    *ret_ops = &port_ops;
    *ret_arg = p;
    return 0;
}
