/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This program run as a child, for work that takes much memory or may fail on what strangers wrote:
 * its memory goes back to the system, and it does not outlive its parent (SIGKILL).
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct child_opts {
    const char *const *words;                /* after the program's name; ends with NULL */
    int stop_fd;                             /* readable: end the child (a signalfd); -1: none */
    uint64_t tick_ms;                        /* 0: none */
    int (*tick)(void *arg, struct err *err); /* a negative code ends the child */
    void *arg;
};

/*
 * Run it until it ends, with its standard output appended to `out`; standard error is this
 * program's. Returns the exit status, or 128 and the signal. Errors: -ECANCELED (stop_fd),
 * what `tick` returned, those of `out`, of starting it.
 */
int child_run(const struct child_opts *opts, struct buf *out, struct err *err);
