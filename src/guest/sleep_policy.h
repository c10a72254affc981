/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When an idle guest is worth dissolving, and when one that sleeps is worth waking before its next
 * event. Pure; bench/sleep replays traces against it.
 *
 * Awake it occupies memory, asleep it costs a suspend and a wake at its next event. Both are put in
 * microseconds of CPU: a MiB held for a second is worth SLEEP_RATE_US, more when memory is short.
 *
 * Nothing known: wait until holding it has cost as much as a cycle (then the sum is at most twice
 * the optimum). The gaps between its activations so far improve on that: if they are regular, or
 * its service has said when work is due, it sleeps at once or stays awake for it, whichever is
 * cheaper; otherwise the average gap shortens or stretches the wait.
 *
 * A guest whose wake takes long (a large one, or one whose file has left the page cache) is woken
 * ahead of an event that is expected, if being early costs less memory than the reaction is worth.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    SLEEP_RATE_US = 500,       /* what one MiB for one second is worth */
    SLEEP_MIN_MS = 20,         /* bursts go by */
    SLEEP_MAX_TIMES = 5,       /* at most this many times what the user asked for (--idle) */
    SLEEP_REGULAR_GAPS = 6,    /* so many gaps make a rhythm, */
    SLEEP_REGULAR_PARTS = 4,   /* if they deviate by less than this part of their length */
    SLEEP_WINDOW_TIMES = 3,    /* deviations around an expected event: 98 of 100 are inside */
    SLEEP_AHEAD_MIN_US = 1000, /* a wake that takes less is not worth an exchange of its own */
    SLEEP_REACTION_WORTH = 2,  /* a microsecond of reaction is worth so many of CPU */
    SLEEP_AHEAD_LEAD_MS = 2    /* beyond what the wake takes */
};

/* What the gaps between activations were like. Zero-initialised. */
struct sleep_history {
    uint32_t gap_ms;      /* smoothed; 0: unknown */
    uint32_t dev_ms : 29; /* smoothed absolute deviation from it; up to 6 days */
    uint32_t n : 3;       /* gaps seen, up to 7 */
};
void sleep_note_gap(struct sleep_history *h, uint64_t gap_ms);
bool sleep_is_regular(const struct sleep_history *h);

struct sleep_costs {
    uint32_t cycle_us; /* measured: suspend and wake together; 0: unknown */
    uint32_t wake_us;  /* what an event waits for a sleeping guest; 0: unknown */
    uint64_t resident_bytes;
    uint64_t
        default_ms; /* the user's choice: used when nothing was measured yet, and bounds the rest */
    bool is_asleep; /* the question is only whether to wake it ahead */
    uint32_t rate_times; /* memory is worth so many times SLEEP_RATE_US; 0: once */
};

/* Times are from now, the end of an activation. */
struct sleep_plan {
    uint64_t sleep_ms;   /* asleep after so long without work */
    uint64_t wake_ms;    /* then awake again at this time, ahead of work; 0: only by work */
    uint64_t give_up_ms; /* with wake_ms: asleep again when nothing has come by then */
};

/* due_ms: its service expects work then; 0: it has not said. */
struct sleep_plan sleep_make_plan(const struct sleep_costs *c, const struct sleep_history *h,
                                  uint64_t due_ms);
/* The next value of a moving average; 0 means none yet. */
uint32_t sleep_average(uint32_t average, uint64_t sample);
