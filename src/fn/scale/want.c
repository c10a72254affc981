/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox count that each policy wants for a function, computed from means, counts and learnt
 * patterns; scale.c keeps those, and applies bounds, delay and holds.
 */
#include "fn/scale/active.h"

#include "base/mem.h"

#include <math.h>

enum {
    SLO_FACTOR = 10,           /* mu: latency goal, in durations */
    PLAN_EVERY_MS = 2 * 60000, /* escargot */
    MINUTE_MS = 60000,
    PLAN_HISTORY_MINUTES = 60,    /* before the first plan */
    LEVEL_WITHIN_MS = 10 * 60000, /* of the beginning of a plan */
};
#define CROWDED 2.0 /* escargot: requests for each ready sandbox beyond which the plan is wrong */
/* Sums of decimal fractions that should be whole are rounded. */
#define EPSILON 1e-9

static double whole(double x)
{
    return ceil(x - EPSILON);
}

static uint32_t count_of(double x)
{
    return x <= 0 ? 0 : x >= (double)INT32_MAX ? INT32_MAX : (uint32_t)x;
}

/* ---- starts against a queue ---- */

uint32_t scale_starts_for_queue(uint32_t queued, uint32_t ready, uint32_t coming, uint32_t slots,
                                double duration_ms, double start_ms)
{
    if (queued == 0)
        return 0;
    if (duration_ms <= 0)
        return ready + coming ? 0 : 1;
    /* Requests that one sandbox finishes while another starts. */
    double each = (double)slots * MAX(start_ms, 1.0) / duration_ms;
    double left = queued - each * ready - MAX(each, (double)slots) * coming;
    if (left <= 0)
        return 0;
    double by_time = whole(left / each), by_slots = whole(left / slots);
    return count_of(MAX(MIN(by_time, by_slots), 1.0));
}

double scale_duration_ms(const struct scale *s, uint64_t now_ms)
{
    double mean = (double)s->duration_ms;
    const struct scale_active *a = s->active;
    /* No request ended for longer than requests used to take: assume that they take longer now. */
    if (a && a->running && now_ms > a->progress_ms)
        mean = MAX(mean, (double)(now_ms - a->progress_ms));
    return mean;
}

double scale_start_ms(const struct scale *s, const struct scale_config *c)
{
    return s->start_ms > 0 ? (double)s->start_ms : (double)c->start_ms;
}

double scale_limited(const struct scale *s, const struct scale_config *c, uint64_t now_ms,
                     const struct scale_counts *counts)
{
    const struct scale_active *a = s->active;
    double total = (double)a->running + a->queued;
    if (!c->limit_starts || a->queued == 0)
        return total;
    uint32_t starts =
        scale_starts_for_queue(a->queued, counts->ready, counts->creating, scale_slots(c),
                               scale_duration_ms(s, now_ms), scale_start_ms(s, c));
    double asked = scale_target(c) * ((double)counts->ready + counts->creating + starts);
    return MIN(MAX(asked, (double)a->running), total);
}

/* ---- Knative's ---- */

static uint32_t step(const struct scale_view *v, double wish)
{
    return count_of(MIN(MAX(wish, v->down), v->up));
}

static uint32_t want_kpa(struct scale *s, const struct scale_view *v)
{
    struct scale_active *a = s->active;
    const struct scale_config *c = v->c;
    double target = scale_target(c), present = MAX(v->present, 1);
    double stable = whole(v->stable / target), panic = whole(v->panic / target);
    uint32_t want_stable = step(v, stable), want_panic = step(v, panic);
    if (stable > 0)
        want_stable = MAX(want_stable, c->activation);
    if (panic > 0)
        want_panic = MAX(want_panic, c->activation);
    if (panic / present >= c->panic_threshold) { /* the wanted count before clamping */
        a->panic = true;
        a->panic_at_ms = v->now_ms;
    } else if (a->panic && v->now_ms > a->panic_at_ms + c->stable_ms) {
        a->panic = false;
        a->max_panic = 0;
    }
    if (!a->panic)
        return want_stable;
    a->max_panic = MAX(a->max_panic, MAX(want_stable, want_panic));
    return a->max_panic;
}

/* ---- mu ---- */

static uint32_t want_mu(struct scale *s, const struct scale_view *v)
{
    const struct scale_active *a = s->active;
    double duration = scale_duration_ms(s, v->now_ms) / 1000;
    if (duration <= 0)
        return want_kpa(s, v);
    if (v->stable <= 0)
        return step(v, 0);
    double capacity = scale_slots(v->c) / duration; /* calls per second of one sandbox */
    double goal = SLO_FACTOR * duration;
    double waiting = (double)a->running + a->queued - (double)v->counts->ready * scale_slots(v->c);
    double want = whole(a->rate / capacity);
    if (waiting > 0)
        want += whole(waiting / (capacity * (goal - duration)));
    return step(v, MAX(want, 1.0));
}

/* ---- hybrid ---- */

uint32_t scale_want_idle(const struct scale_learned *l, uint64_t now_ms, uint64_t *ret_next_ms)
{
    uint64_t prewarm, keep, idle = now_ms - l->idle_since_ms;
    hybrid_windows(&l->hybrid, &prewarm, &keep);
    bool has_one = idle >= prewarm && idle < keep;
    *ret_next_ms = idle < prewarm ? l->idle_since_ms + prewarm
                   : has_one      ? l->idle_since_ms + keep
                                  : 0;
    return has_one;
}

/* Busy: what the last seconds needed. */
static uint32_t want_hybrid(struct scale *s, const struct scale_view *v)
{
    return step(v, whole(v->panic / scale_target(v->c)));
}

/* ---- escargot ---- */

void scale_plan(struct scale *s, uint64_t now_ms)
{
    struct scale_learned *l = s->learned;
    if (l->minute - l->first_minute < PLAN_HISTORY_MINUTES ||
        (l->planned_ms && now_ms < l->planned_ms + PLAN_EVERY_MS))
        return;
    float counts[ESCARGOT_MINUTES], predicted[ESCARGOT_MINUTES];
    uint16_t plan[ESCARGOT_EPOCHS];
    /* The minute that has not ended is not among them. */
    for (uint64_t i = 0; i < ESCARGOT_MINUTES; i++)
        counts[i] = l->counts[(l->minute + i) % ESCARGOT_MINUTES];
    escargot_forecast(counts, predicted);
    uint32_t most = escargot_plan(predicted, scale_duration_ms(s, now_ms), plan);
    l->planned_ms = now_ms;
    l->plan_from_ms = l->minute * MINUTE_MS;
    if (most == 0) {
        free(take_ptr(&l->plan));
        return;
    }
    if (!l->plan)
        l->plan = xnew_n(uint16_t, ESCARGOT_EPOCHS);
    for (int e = 0; e < ESCARGOT_EPOCHS; e++)
        l->plan[e] = plan[e];
}

uint32_t scale_planned(const struct scale_learned *l, uint64_t now_ms, uint64_t *ret_next_ms)
{
    *ret_next_ms = 0;
    if (!l->plan || now_ms < l->plan_from_ms)
        return 0;
    uint64_t e = (now_ms - l->plan_from_ms) / ESCARGOT_EPOCH_MS;
    uint16_t now = e < ESCARGOT_EPOCHS ? l->plan[e] : 0;
    for (uint64_t i = e + 1; i < ESCARGOT_EPOCHS; i++) {
        if (l->plan[i] == now)
            continue;
        *ret_next_ms = l->plan_from_ms + i * ESCARGOT_EPOCH_MS;
        break;
    }
    return now;
}

static uint32_t want_escargot(struct scale *s, const struct scale_view *v)
{
    const struct scale_active *a = s->active;
    if (!s->learned->planned_ms)
        return count_of(whole(v->stable / scale_target(v->c)));
    uint64_t next;
    uint32_t want = scale_planned(s->learned, v->now_ms, &next), ready = v->counts->ready;
    double total = (double)a->running + a->queued;
    if (total > 0)
        want = MAX(want, 1);
    if (ready && total / ((double)ready * scale_slots(v->c)) > CROWDED && want <= ready)
        want = ready + 1;
    return want;
}

uint32_t scale_want(struct scale *s, const struct scale_view *v)
{
    switch (v->c->policy) {
    case SCALE_KPA:
    case SCALE_DIRIGENT:
        return want_kpa(s, v);
    case SCALE_MU:
        return want_mu(s, v);
    case SCALE_ESCARGOT:
        return want_escargot(s, v);
    case SCALE_HYBRID:
        return want_hybrid(s, v);
    case SCALE_POLICY_COUNT:
        break;
    }
    return 0;
}

/* Its plan from epoch `shift` on, the end of it prolonged. */
static void plan_shifted(const struct scale_learned *l, uint64_t shift, uint16_t *to)
{
    for (uint64_t e = 0; e < ESCARGOT_EPOCHS; e++)
        to[e] = l->plan[MIN(e + shift, ESCARGOT_EPOCHS - 1)];
}

/* The position in a function's plan; false: it has no plan that is recent enough to be levelled. */
static bool plan_at(const struct scale *s, uint64_t now_ms, uint64_t *ret_epoch)
{
    const struct scale_learned *l = s->learned;
    if (!l || !l->plan || now_ms < l->plan_from_ms || now_ms > l->plan_from_ms + LEVEL_WITHIN_MS)
        return false;
    *ret_epoch = (now_ms - l->plan_from_ms) / ESCARGOT_EPOCH_MS;
    return true;
}

void scale_level(struct scale *const *s, size_t n, uint64_t now_ms)
{
    uint16_t **plans = xnew_n(uint16_t *, n + 1), *before = xnew_n(uint16_t, n + 1);
    uint64_t at;
    size_t n_plans = 0;
    for (size_t i = 0; i < n; i++) {
        if (!plan_at(s[i], now_ms, &at))
            continue;
        before[n_plans] = (uint16_t)MIN(s[i]->desired, UINT16_MAX);
        plans[n_plans] = xnew_n(uint16_t, ESCARGOT_EPOCHS);
        plan_shifted(s[i]->learned, at, plans[n_plans++]);
    }
    escargot_level(plans, before, n_plans, ESCARGOT_PER_EPOCH);
    n_plans = 0;
    for (size_t i = 0; i < n; i++) {
        if (!plan_at(s[i], now_ms, &at))
            continue;
        for (uint64_t e = at; e < ESCARGOT_EPOCHS; e++)
            s[i]->learned->plan[e] = plans[n_plans][e - at];
        free(plans[n_plans++]);
    }
    free(plans);
    free(before);
}

void scale_learned_free(struct scale_learned *l)
{
    if (!l)
        return;
    free(l->plan);
    free(l);
}
