/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pressure as the kernel sees it (PSI): of our control group where it has one, else of the
 * machine. The kernel wakes us when somebody had to wait for memory; until then this costs nothing.
 *
 * Loop thread only.
 */
#pragma once

#include "io/loop.h"

enum {
    PRESSURE_STALL_MS = 100, /* somebody waited for so long, */
    PRESSURE_WINDOW_MS =
        2000 /* within this time; the kernel wants multiples of 2 s from ordinary users */
};

struct pressure {
    uv_poll_t poll;
    int fd; /* -1: the kernel does not tell */
    void (*on_pressure)(void *arg);
    void (*on_closed)(void *arg);
    void *arg;
};

/* Without PSI nothing is ever called; that is no error. */
void pressure_start(struct pressure *p, struct loop *loop, void (*on_pressure)(void *arg),
                    void *arg);
/* `cb` runs once when the struct may go: later, or at once if there was nothing to close. */
void pressure_close(struct pressure *p, void (*cb)(void *arg));
