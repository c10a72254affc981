/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fn-sandbox: a sandbox's server that costs next to nothing, for benchmarks and tests of gateways.
 * Answers every HTTP/1.1 request with "ok\n", after x-fake-sleep-ms if the request asks for it.
 * `fn-sandbox [PORT]`, or $PORT: listens on all addresses and prints "ready port=N". Linked
 * statically it is the only file of a container.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNS_MAX = 65536, HEAD_MAX = 8 << 10, EVENTS = 256 };

struct conn {
    char *head;
    size_t n;
    uint64_t skip;   /* bytes of a body */
    uint64_t due_ns; /* an answer waits until then; 0: none */
    size_t heap_at;
};
static struct conn conns[CONNS_MAX]; /* by descriptor */
static int heap[CONNS_MAX + 1];      /* [1..n_heap]: descriptors, the earliest first */
static size_t n_heap;

static const char answer[] =
    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 3\r\n\r\nok\n";

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void place(size_t at, int fd)
{
    heap[at] = fd;
    conns[fd].heap_at = at;
}

static void heap_up(size_t at, int fd)
{
    for (; at > 1 && conns[heap[at / 2]].due_ns > conns[fd].due_ns; at /= 2)
        place(at, heap[at / 2]);
    place(at, fd);
}

static void heap_remove(int fd)
{
    size_t at = conns[fd].heap_at;
    int last = heap[n_heap--];
    conns[fd].heap_at = 0;
    if (last == fd)
        return;
    for (size_t child; (child = at * 2) <= n_heap; at = child) {
        if (child < n_heap && conns[heap[child + 1]].due_ns < conns[heap[child]].due_ns)
            child++;
        if (conns[heap[child]].due_ns >= conns[last].due_ns)
            break;
        place(at, heap[child]);
    }
    heap_up(at, last);
}

static void end(int fd)
{
    if (conns[fd].heap_at)
        heap_remove(fd);
    free(conns[fd].head);
    conns[fd] = (struct conn){ 0 };
    (void)close(fd);
}

static const char *field(const char *head, const char *name)
{
    size_t n = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, n) == 0 && line[2 + n] == ':')
            return line + 3 + n;
    return NULL;
}

static void reply(int fd)
{
    if (send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL) < 0 && errno != EAGAIN)
        end(fd);
}

/* Answer what is whole; requests do not overlap on a connection while one of them waits. */
static void serve(int fd)
{
    struct conn *c = &conns[fd];
    while (c->n && !c->due_ns) {
        if (c->skip) {
            size_t part = c->n < c->skip ? c->n : c->skip;
            c->skip -= part;
            memmove(c->head, c->head + part, c->n - part);
            c->n -= part;
            continue;
        }
        c->head[c->n] = 0;
        char *body = strstr(c->head, "\r\n\r\n");
        if (!body) {
            if (c->n == HEAD_MAX - 1)
                end(fd);
            return;
        }
        body[2] = 0;
        const char *length = field(c->head, "content-length"),
                   *wait = field(c->head, "x-fake-sleep-ms");
        uint64_t sleep = wait ? (uint64_t)(strtod(wait, NULL) * 1e6) : 0;
        c->skip = length ? (uint64_t)strtod(length, NULL) : 0;
        size_t used = (size_t)(body + 4 - c->head);
        memmove(c->head, body + 4, c->n - used);
        c->n -= used;
        if (sleep) {
            c->due_ns = now_ns() + sleep;
            heap_up(++n_heap, fd);
        } else {
            reply(fd);
        }
    }
}

static void on_readable(int fd)
{
    struct conn *c = &conns[fd];
    if (!c->head && !(c->head = malloc(HEAD_MAX))) {
        end(fd);
        return;
    }
    ssize_t n = recv(fd, c->head + c->n, HEAD_MAX - 1 - c->n, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN)) {
        end(fd);
    } else if (n > 0) {
        c->n += (size_t)n;
        serve(fd);
    }
}

int main(int argc, char **argv)
{
    const char *port = argc > 1 ? argv[1] : getenv("PORT");
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)(port ? strtod(port, NULL) : 0)) };
    socklen_t at_n = sizeof at;
    int one = 1, epoll = epoll_create1(0),
        listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) < 0 || listen(listener, 4096) < 0 ||
        getsockname(listener, (struct sockaddr *)&at, &at_n) < 0) {
        perror("fn-sandbox");
        return 1;
    }
    struct epoll_event ev = { .events = EPOLLIN, .data.fd = listener }, events[EVENTS];
    (void)epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &ev);
    (void)printf("ready port=%d\n", ntohs(at.sin_port));
    (void)fflush(stdout);
    for (;;) {
        struct timespec wait = { 0 };
        if (n_heap) {
            uint64_t now = now_ns(), due = conns[heap[1]].due_ns;
            uint64_t ns = due > now ? due - now : 0;
            wait = (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
        }
        int n = epoll_pwait2(epoll, events, EVENTS, n_heap ? &wait : NULL, NULL);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd != listener) {
                on_readable(fd);
                continue;
            }
            for (int c; (c = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
                (void)setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                ev = (struct epoll_event){ .events = EPOLLIN, .data.fd = c };
                if (c >= CONNS_MAX || epoll_ctl(epoll, EPOLL_CTL_ADD, c, &ev) < 0)
                    (void)close(c);
            }
        }
        for (uint64_t now = n_heap ? now_ns() : 0; n_heap && conns[heap[1]].due_ns <= now;) {
            int fd = heap[1];
            heap_remove(fd);
            conns[fd].due_ns = 0;
            reply(fd);
            if (conns[fd].head)
                serve(fd);
        }
    }
}
