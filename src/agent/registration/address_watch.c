/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/registration/address_watch.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    GROUPS = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
    READS_MAX = 64 /* at a time */
};

static void on_settled(struct timer *t)
{
    struct address_watch *w = container_of(t, struct address_watch, settling);
    w->on_change(w->arg);
}

/* What has changed is not read: the caller looks at what there is now. */
static void on_readable(uv_poll_t *p, int status, int events)
{
    struct address_watch *w = container_of(p, struct address_watch, poll);
    char byte;
    (void)status;
    (void)events;
    for (int i = 0; i < READS_MAX && recv(w->fd, &byte, 1, MSG_DONTWAIT) >= 0; i++)
        ;
    if (!timer_is_armed(&w->settling))
        timer_start(w->loop, &w->settling, ADDRESS_WATCH_SETTLE_MS, on_settled);
}

void address_watch_start(struct address_watch *w, struct loop *loop, void (*on_change)(void *arg),
                         void *arg)
{
    const struct sockaddr_nl at = { .nl_family = AF_NETLINK, .nl_groups = GROUPS };
    *w = (struct address_watch){ .loop = loop, .on_change = on_change, .arg = arg };
    w->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (w->fd < 0)
        return;
    if (bind(w->fd, (const struct sockaddr *)&at, sizeof at) < 0 ||
        uv_poll_init(&loop->uv, &w->poll, w->fd) < 0) {
        (void)close(w->fd);
        w->fd = -1;
        return;
    }
    (void)uv_poll_start(&w->poll, UV_READABLE, on_readable);
    uv_unref((uv_handle_t *)&w->poll);
}

static void end(struct address_watch *w)
{
    w->on_closed(w->arg);
}

static void on_poll_closed(uv_handle_t *h)
{
    struct address_watch *w = container_of((uv_poll_t *)h, struct address_watch, poll);
    (void)close(w->fd);
    end(w);
}

static void on_closing(struct defer *d)
{
    end(container_of(d, struct address_watch, closing));
}

void address_watch_close(struct address_watch *w, void (*on_closed)(void *arg))
{
    w->on_closed = on_closed;
    timer_stop(w->loop, &w->settling);
    if (w->fd >= 0)
        uv_close((uv_handle_t *)&w->poll, on_poll_closed);
    else
        defer_start(w->loop, &w->closing, on_closing);
}
