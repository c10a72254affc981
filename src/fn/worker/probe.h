/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether a sandbox is ready: its port accepts, or a path answers 200..399. The first
 * attempt starts after PROBE_FIRST_US, since most programs listen within a millisecond; then the
 * pause grows by half each time. An attempt may take PROBE_ATTEMPT_MS, and twice as long after each
 * without an answer in time, so that a slow machine or network is not mistaken for a failed one.
 *
 * Loop thread only.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "io/loop.h"

struct probe;

enum {
    PROBE_FIRST_US = 200,
    PROBE_PAUSE_MAX_US = 100000,
    PROBE_ATTEMPT_MS = 10,
    PROBE_ATTEMPT_MAX_MS = 5000
};

struct probe_opts {
    uint32_t address; /* IPv4, host byte order */
    uint16_t port;
    struct str path; /* copied; "": the port accepts */
    uint64_t limit_ms;
    /*
     * Once, unless probe_stop() ran first; the probe has been freed by then. -ETIMEDOUT after the
     * limit.
     */
    void (*done)(void *arg, int r, const struct err *err);
    void *arg;
};

int probe_start(struct loop *loop, const struct probe_opts *opts, struct probe **ret,
                struct err *err);
void probe_stop(struct probe *p); /* NULL is fine */
