/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sleep policy against plain time-outs, on the same traces and on a clock of numbers.
 *
 *   bench_sleep [seed]
 *
 * One guest per trace; costs are those that were measured on real guests
 * (docs/internals/runner.md), with small, large and slow ones. Prints the common result form, for
 * each trace, guest and policy:
 *
 * held_mib: memory held on average. reaction_us: how long events waited for the guest to wake, on
 * average. awake_ratio: events that found it awake. cycles: suspends per event. cost_us: per event,
 * CPU of the cycles, memory at SLEEP_RATE_US, reaction at SLEEP_REACTION_WORTH.
 *
 * Traces: "requeue" has the published one's shape (an operator that asks to be called again every
 * 5.2 s, deviation 0.61 s); "timer" is the same with the time known; "minute" is strict; "poisson"
 * has no memory; "burst" is 40 events within a second, then minutes of nothing; "shift" is a rhythm
 * that changes now and then; "day" is dense by day and thin by night.
 */
#include "base/mem.h"
#include "base/str.h"
#include "guest/sleep_policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { EVENTS = 20000, NEVER = 1 << 30 };

static uint64_t random_state;

static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return ((double)(random_state >> 11) + 0.5) / 9007199254740992.0;
}

static double exponential(double mean)
{
    return -mean * log(uniform());
}

static double normal(double mean, double deviation)
{
    return mean + deviation * sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* ---- traces: gaps in ms ---- */

static double gap_requeue(unsigned i)
{
    return fmax(1, normal(5200, 610));
}
static double gap_minute(unsigned i)
{
    return fmax(1, normal(60000, 20));
}
static double gap_poisson(unsigned i)
{
    return 1 + exponential(10000);
}
static double gap_burst(unsigned i)
{
    return i % 40 ? exponential(25) : exponential(240000);
}
static double gap_shift(unsigned i)
{
    static const double gaps[] = { 2000, 30000, 7000, 120000 };
    return fmax(1, normal(gaps[i / 300 % 4], 100));
}
static double gap_day(unsigned i)
{
    return exponential(3000 * exp(2.5 + 2.5 * sin((double)i / 700)));
}

static const struct trace {
    const char *name;
    double (*gap)(unsigned i);
    bool is_known; /* its service says when */
} traces[] = {
    { "requeue", gap_requeue, false }, { "timer", gap_requeue, true },
    { "minute", gap_minute, false },   { "poisson", gap_poisson, false },
    { "burst", gap_burst, false },     { "shift", gap_shift, false },
    { "day", gap_day, false },
};

/* ---- guests ---- */

static const struct guest_costs {
    const char *name;
    uint32_t cycle_us, wake_us;
    uint64_t resident_bytes;
} guests[] = {
    { "c-200KiB", 115, 87, (200 << 10) + (14 << 10) },
    { "go-6MiB", 900, 350, 6 << 20 },
    { "large-90MiB", 90000, 45000, 90 << 20 }, /* its pages are wanted soon after */
    { "disk-2MiB", 12000, 8000, 2 << 20 },     /* its file has left the page cache */
};

/* ---- policies ---- */

static const struct policy {
    const char *name;
    double timeout_ms; /* negative: the model */
    bool ahead;
} policies[] = {
    { "at-once", 0, false },         { "timeout-1s", 1000, false }, { "timeout-10s", 10000, false },
    { "timeout-60s", 60000, false }, { "never", NEVER, false },     { "model", -1, false },
    { "model-ahead", -1, true },
};

struct outcome {
    double total_ms, held_ms, reaction_us, cpu_us;
    uint64_t awake, cycles, wasted;
};

static struct sleep_plan plan(const struct policy *p, const struct guest_costs *g,
                              const struct sleep_history *h, double known_ms)
{
    if (p->timeout_ms >= 0)
        return (struct sleep_plan){ .sleep_ms = (uint64_t)p->timeout_ms };
    const struct sleep_costs c = { .cycle_us = g->cycle_us,
                                   .wake_us = g->wake_us,
                                   .resident_bytes = g->resident_bytes,
                                   .default_ms = 1000 };
    struct sleep_plan made = sleep_make_plan(&c, h, (uint64_t)known_ms);
    if (!p->ahead)
        made.wake_ms = 0;
    return made;
}

/* What one gap costs under its plan. */
static void pass(struct outcome *o, const struct sleep_plan *p, const struct guest_costs *g,
                 double gap)
{
    o->total_ms += gap;
    if (gap <= (double)p->sleep_ms) {
        o->held_ms += gap;
        o->awake++;
        return;
    }
    o->held_ms += (double)p->sleep_ms;
    o->cycles++;
    o->cpu_us += g->cycle_us;
    if (!p->wake_ms || gap < (double)p->wake_ms) {
        o->reaction_us += g->wake_us;
        return;
    }
    if (gap <= (double)p->give_up_ms) {
        o->held_ms += gap - (double)p->wake_ms;
        double left = (double)p->wake_ms + g->wake_us / 1000.0 - gap; /* still at it */
        o->reaction_us += left > 0 ? left * 1000 : 0;
        o->awake++;
        return;
    }
    o->held_ms += (double)(p->give_up_ms - p->wake_ms);
    o->reaction_us += g->wake_us;
    o->cpu_us += g->cycle_us;
    o->cycles++;
    o->wasted++;
}

static void print(const char *metric, const struct trace *t, const struct guest_costs *g,
                  const struct policy *p, const char *unit, double value)
{
    static bool more;
    (void)printf("%s\n  {\"metric\": \"%s\", \"labels\": {\"trace\": \"%s\", \"guest\": \"%s\", "
                 "\"policy\": \"%s\"}, \"unit\": \"%s\", \"value\": %.4g}",
                 more ? "," : "", metric, t->name, g->name, p->name, unit, value);
    more = true;
}

static void run(const struct trace *t, const struct guest_costs *g, const struct policy *p,
                const double *gaps)
{
    struct outcome o = { 0 };
    struct sleep_history h = { 0 };
    for (unsigned i = 0; i < EVENTS; i++) {
        struct sleep_plan made = plan(p, g, &h, t->is_known ? gaps[i] : 0);
        pass(&o, &made, g, gaps[i]);
        sleep_note_gap(&h, (uint64_t)gaps[i]);
    }
    double mib = (double)g->resident_bytes / (1 << 20);
    double reaction = o.reaction_us / EVENTS;
    print("held_mib", t, g, p, "MiB", mib * o.held_ms / o.total_ms);
    print("reaction_us", t, g, p, "us", reaction);
    print("awake_ratio", t, g, p, "ratio", (double)o.awake / EVENTS);
    print("cycles", t, g, p, "per event", (double)o.cycles / EVENTS);
    print("cost_us", t, g, p, "us",
          o.cpu_us / EVENTS + o.held_ms / 1000 * mib * SLEEP_RATE_US / EVENTS +
              reaction * SLEEP_REACTION_WORTH);
}

int main(int argc, char **argv)
{
    uint64_t seed = 20240521;
    struct utsname u;
    if (argc > 1 && parse_u64(str_of(argv[1]), 1, UINT64_MAX, &seed) < 0)
        return 2;
    if (uname(&u) < 0)
        return 1;
    static double gaps[EVENTS];
    (void)printf("{\"bench\": \"sleep\", \"machine\": \"%s %s %s\", \"revision\": \"%s\", "
                 "\"seed\": %llu, \"results\": [",
                 u.sysname, u.release, u.machine, DORMOUSE_VERSION, (unsigned long long)seed);
    for (size_t t = 0; t < ARRAY_LEN(traces); t++) {
        random_state = seed;
        for (unsigned i = 0; i < EVENTS; i++)
            gaps[i] = traces[t].gap(i);
        for (size_t g = 0; g < ARRAY_LEN(guests); g++)
            for (size_t p = 0; p < ARRAY_LEN(policies); p++)
                run(&traces[t], &guests[g], &policies[p], gaps);
    }
    (void)printf("\n]}\n");
    return 0;
}
