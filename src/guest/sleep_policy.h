/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides when to put an idle guest to sleep, and when to wake a sleeping one before its next
 * event. Pure; bench/sleep replays traces against it.
 *
 * An awake guest occupies memory; a sleeping one costs a suspend and a wake at its next event. Both
 * costs are expressed in microseconds of CPU: a MiB held for a second is worth SLEEP_RATE_US, more
 * when memory is short.
 *
 * Without history: wait until holding the memory has cost as much as a cycle (the sum is then at
 * most twice the optimum). The gaps between earlier activations improve on that. If they are
 * regular, or the service has announced when work is due, the guest sleeps at once or stays awake
 * until then, whichever is cheaper; otherwise the average gap shortens or extends the wait.
 *
 * A guest whose wake takes long (a large guest, or one whose file has left the page cache) is woken
 * ahead of an expected event, if the memory for the time until the event costs less than the faster
 * reaction is worth.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    SLEEP_RATE_US = 500,     /* value of one MiB held for one second */
    SLEEP_MIN_MS = 20,       /* shortest wait, so that bursts pass */
    SLEEP_MAX_TIMES = 5,     /* upper bound, as a multiple of the user's --idle */
    SLEEP_REGULAR_GAPS = 6,  /* gaps needed to recognise a rhythm */
    SLEEP_REGULAR_PARTS = 4, /* which must deviate by less than this part of their length */
    SLEEP_WINDOW_TIMES = 3,  /* deviations around an expected event; 98 of 100 events are inside */
    SLEEP_AHEAD_MIN_US = 1000, /* a faster wake is not worth an exchange of its own */
    SLEEP_REACTION_WORTH = 2,  /* CPU microseconds that one microsecond of reaction is worth */
    SLEEP_AHEAD_LEAD_MS = 2    /* lead in addition to the time of the wake */
};

/* Statistics of the gaps between activations. Zero-initialised. */
struct sleep_history {
    uint32_t gap_ms;      /* smoothed; 0: unknown */
    uint32_t dev_ms : 29; /* smoothed absolute deviation from it; up to 6 days */
    uint32_t n : 3;       /* gaps seen, up to 7 */
};
void sleep_note_gap(struct sleep_history *h, uint64_t gap_ms);
bool sleep_is_regular(const struct sleep_history *h);

struct sleep_costs {
    uint32_t cycle_us; /* measured: suspend and wake together; 0: unknown */
    uint32_t wake_us;  /* latency of an event for a sleeping guest; 0: unknown */
    uint64_t resident_bytes;
    uint64_t default_ms; /* the user's choice, until something is measured; bounds the rest */
    bool is_asleep;      /* decide only whether to wake it ahead of work */
    uint32_t rate_times; /* price of memory as a factor of SLEEP_RATE_US; 0: 1 */
};

/* Times are relative to now, the end of an activation. */
struct sleep_plan {
    uint64_t sleep_ms;   /* sleep after this long without work */
    uint64_t wake_ms;    /* then wake at this time, ahead of work; 0: only when work arrives */
    uint64_t give_up_ms; /* with wake_ms: sleep again if no work has arrived by then */
};

/* due_ms: when the service expects work; 0: unknown. */
struct sleep_plan sleep_make_plan(const struct sleep_costs *c, const struct sleep_history *h,
                                  uint64_t due_ms);
/* The next value of a moving average; 0 means none yet. */
uint32_t sleep_average(uint32_t average, uint64_t sample);
