/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports that addresses or routes of this network namespace have changed, from rtnetlink(7). Until
 * then it costs nothing. Changes that come together are one.
 *
 * Loop thread only.
 */
#pragma once

#include "io/loop.h"

enum { ADDRESS_WATCH_SETTLE_MS = 1000 }; /* a new address is followed by its routes */

struct address_watch {
    struct loop *loop;
    int fd; /* -1: the kernel gives none, or it is not started */
    uv_poll_t poll;
    struct timer settling;
    struct defer closing; /* for address_watch_close() without a socket */
    void (*on_change)(void *arg);
    void (*on_closed)(void *arg);
    void *arg;
};

/* Without a socket on_change() never runs; that is not an error. */
void address_watch_start(struct address_watch *w, struct loop *loop, void (*on_change)(void *arg),
                         void *arg);
/* on_closed() runs once, from the loop, when the struct may be freed. */
void address_watch_close(struct address_watch *w, void (*on_closed)(void *arg));
