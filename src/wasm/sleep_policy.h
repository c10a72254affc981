/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When an idle guest is worth dissolving. Pure.
 *
 * Awake it occupies memory, asleep it costs a suspend and a wake at its next event. Both are put in
 * microseconds of CPU: a MiB held for a second is worth SLEEP_RATE_US. Without knowledge of the
 * future the best one can do is to wait until holding it has cost as much as a cycle (then the sum
 * is at most twice the optimum). What the gaps between its activations were so far improves on
 * that: if the next one is expected far later, it sleeps sooner; if it is due before a cycle would
 * pay, later.
 */
#pragma once

#include <stdint.h>

enum {
    SLEEP_RATE_US = 500, /* what one MiB for one second is worth */
    SLEEP_MIN_MS = 20,   /* bursts go by */
    SLEEP_MAX_TIMES = 5  /* at most this many times what the user asked for (--idle) */
};

struct sleep_costs {
    uint32_t cycle_us; /* measured: suspend and wake together; 0: unknown */
    uint32_t gap_ms;   /* expected time between activations; 0: unknown */
    uint64_t resident_bytes;
    uint64_t
        default_ms; /* the user's choice: used when nothing was measured yet, and bounds the rest */
};

/* How long it should have been idle. */
uint64_t sleep_after_ms(const struct sleep_costs *c);
/* The next value of a moving average; 0 means none yet. */
uint32_t sleep_average(uint32_t average, uint64_t sample);
