/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Autoscaling of one function; see scale.h.
 *
 * Reports become samples, ticks turn samples into a wanted count (want.c), settle() turns it into
 * the desired count. Fields that are only needed between the first request and rest are in struct
 * scale_active.
 */
#include "fn/scale/active.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>

enum { MINUTE_MS = 60000 };
/* Weight of what is new in moving means. */
#define DURATION_WEIGHT 0.8
#define RATE_WEIGHT     0.8
#define START_WEIGHT    0.5
#define GAP_WEIGHT      0.5

void scale_init(struct scale *s)
{
    *s = (struct scale){ 0 };
}

static void fall_asleep(struct scale *s)
{
    struct scale_active *a = s->active;
    s->n_zeros = a->window.averaged ? 0 : (uint16_t)MIN(a->window.n, UINT16_MAX);
    scale_window_fini(&a->window);
    free(a->delay);
    free(take_ptr(&s->active));
}

void scale_fini(struct scale *s)
{
    if (s->active)
        fall_asleep(s);
    scale_learned_free(s->learned);
    *s = (struct scale){ 0 };
}

bool scale_is_awake(const struct scale *s)
{
    return s->active != NULL;
}

static uint32_t present(const struct scale_counts *n)
{
    return n->ready + n->creating;
}

static uint32_t total(const struct scale_active *a)
{
    return a->running + a->queued;
}

static uint32_t add_up_to(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* Set the wanted counts of the past to `before`. */
static void make_delay(struct scale_active *a, const struct scale_config *c, uint64_t now_ms,
                       uint32_t before)
{
    free(take_ptr(&a->delay));
    a->down_delay_ms = c->down_delay_ms;
    a->n_delay = (uint32_t)(c->down_delay_ms / c->tick_ms + 1);
    a->delay_newest = now_ms / c->tick_ms;
    if (!c->down_delay_ms)
        return;
    a->delay = xnew_n(uint32_t, a->n_delay);
    a->delay[a->delay_newest % a->n_delay] = before;
}

static void wake(struct scale *s, const struct scale_config *c, uint64_t now_ms)
{
    struct scale_active *a = s->active = xnew(struct scale_active);
    scale_window_init(&a->window, c->averaged, c->stable_ms, c->tick_ms, now_ms);
    if (!c->averaged)
        scale_window_push_zeros(&a->window, s->n_zeros);
    a->next_tick_ms = now_ms + c->tick_ms;
    a->last_report_ms = a->last_busy_ms = a->progress_ms = a->rate_since_ms = now_ms;
    a->stable_ms = c->stable_ms;
    a->tick_ms = c->tick_ms;
    make_delay(a, c, now_ms, 0);
}

/* The configuration may have changed since it woke. */
static void follow_config(struct scale *s, const struct scale_config *c, uint64_t now_ms)
{
    struct scale_active *a = s->active;
    if (a->stable_ms != c->stable_ms || a->tick_ms != c->tick_ms ||
        a->window.averaged != c->averaged)
        scale_window_change(&a->window, c->averaged, c->stable_ms, c->tick_ms, now_ms);
    if (a->down_delay_ms != c->down_delay_ms || a->tick_ms != c->tick_ms)
        make_delay(a, c, now_ms, s->desired);
    a->stable_ms = c->stable_ms;
    a->tick_ms = c->tick_ms;
}

static void hold(struct scale *s, uint32_t n, uint64_t until_ms)
{
    s->active->hold = n;
    s->active->hold_until_ms = until_ms;
}

/* ---- learning ---- */

static struct scale_learned *learned(struct scale *s, const struct scale_config *c, uint64_t now_ms)
{
    bool learns = c->policy == SCALE_HYBRID || c->policy == SCALE_ESCARGOT;
    if (s->learned && (!learns || s->learned->policy != c->policy)) {
        scale_learned_free(s->learned);
        s->learned = NULL;
    }
    if (!learns || s->learned)
        return s->learned;
    s->learned = xnew(struct scale_learned);
    s->learned->policy = c->policy;
    s->learned->first_minute = s->learned->minute = now_ms / MINUTE_MS;
    return s->learned;
}

/* Add minutes without calls up to now. */
static void minutes_advance(struct scale_learned *l, uint64_t now_ms)
{
    uint64_t minute = now_ms / MINUTE_MS;
    if (minute <= l->minute)
        return;
    uint64_t fresh = MIN(minute - l->minute, ESCARGOT_MINUTES);
    for (uint64_t i = 0; i < fresh; i++)
        l->counts[(minute - i) % ESCARGOT_MINUTES] = 0;
    l->minute = minute;
}

static void learn(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                  const struct scale_report *r)
{
    struct scale_learned *l = learned(s, c, now_ms);
    if (!l)
        return;
    minutes_advance(l, now_ms);
    l->counts[l->minute % ESCARGOT_MINUTES] += (float)r->arrived;
    bool busy = r->running + r->queued > 0 || r->arrived > 0;
    if (busy && l->idle)
        hybrid_add(&l->hybrid, now_ms - l->idle_since_ms);
    if (busy || !l->idle)
        l->idle_since_ms = now_ms;
    l->idle = r->running + r->queued == 0;
}

/*
 * Is there a call in the last hour, or one expected in the next? If not, an idle function needs no
 * timer.
 */
static bool expects_calls(const struct scale_learned *l)
{
    bool any = l->plan != NULL;
    for (int i = 0; i < ESCARGOT_MINUTES; i++)
        any = any || l->counts[i] > 0;
    return any;
}

/* ---- decisions ---- */

static void fill(const struct scale *s, const struct scale_counts *counts, uint64_t next_ms,
                 struct scale_decision *ret)
{
    uint32_t n = present(counts);
    *ret = (struct scale_decision){
        .desired = s->desired,
        .create = s->desired > n ? s->desired - n : 0,
        .remove = n > s->desired ? n - s->desired : 0,
        .decided = true,
        .panic = s->active && s->active->panic,
        .next_ms = s->active ? s->active->next_tick_ms : next_ms,
    };
}

/* The largest wanted count of the last down_delay_ms. */
static uint32_t delayed(struct scale_active *a, const struct scale_config *c, uint64_t now_ms,
                        uint32_t want)
{
    if (!a->delay)
        return want;
    uint64_t tick = now_ms / c->tick_ms, fresh = MIN(tick - a->delay_newest, a->n_delay);
    for (uint64_t i = 0; i < fresh; i++)
        a->delay[(tick - i) % a->n_delay] = 0;
    a->delay_newest = tick;
    a->delay[tick % a->n_delay] = want;
    for (uint32_t i = 0; i < a->n_delay; i++)
        want = MAX(want, a->delay[i]);
    return want;
}

/* Clamp the wanted count to the holds and the configuration. */
static uint32_t bounded(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                        const struct scale_counts *counts, uint32_t want)
{
    const struct scale_active *a = s->active;
    if (a && total(a) > 0)
        want = MAX(want, 1);
    else if (a && c->idle_ms && now_ms >= a->last_busy_ms + c->idle_ms)
        want = 0;
    else if (a && c->idle_ms && s->desired > 0)
        want = MAX(want, 1);
    if (a && now_ms < a->hold_until_ms)
        want = MAX(want, a->hold);
    if (now_ms < s->floor_until_ms)
        want = MAX(want, s->floor);
    s->initial_reached = s->initial_reached || counts->ready >= c->initial;
    if (!s->initial_reached)
        want = MAX(want, c->initial);
    return MIN(MAX(want, c->min), c->max);
}

/* Nothing to do, and nothing to undo: no tick would change anything before the next report. */
static bool is_at_rest(const struct scale *s, const struct scale_config *c, uint64_t now_ms,
                       double stable)
{
    const struct scale_active *a = s->active;
    if (total(a) > 0 || now_ms < s->floor_until_ms || !s->initial_reached)
        return false;
    if (s->desired == 0)
        return true;
    return s->desired == c->min && !a->panic && stable <= 0 && now_ms >= a->hold_until_ms;
}

/* When an idle function must be checked again without a report. */
static uint64_t sleeping_next(struct scale *s, const struct scale_config *c, uint64_t now_ms)
{
    struct scale_learned *l = s->learned;
    uint64_t next = 0;
    if (!l)
        return 0;
    if (l->policy == SCALE_HYBRID) {
        if (l->idle)
            (void)scale_want_idle(l, now_ms, &next);
        return next;
    }
    if (!expects_calls(l))
        return 0;
    (void)scale_planned(l, now_ms, &next);
    uint64_t plan_ms = MAX(l->planned_ms, now_ms) + 2 * MINUTE_MS;
    return next ? MIN(next, plan_ms) : plan_ms;
}

static int64_t excess(const struct scale_config *c, const struct scale_counts *counts, double panic)
{
    if (c->burst < 0)
        return -1;
    if (c->burst <= 0)
        return 0;
    return (int64_t)floor(counts->ready * scale_total(c) - c->burst - panic);
}

static void settle(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                   const struct scale_counts *counts, uint32_t want, struct scale_decision *ret)
{
    uint32_t before = s->desired;
    s->desired = bounded(s, c, now_ms, counts, want);
    fill(s, counts, 0, ret);
    ret->changed = s->desired != before;
}

/* ---- events ---- */

void scale_begin(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                 const struct scale_counts *counts, struct scale_decision *ret)
{
    s->initial_reached = c->initial <= c->min;
    if (!s->initial_reached && !s->active) {
        wake(s, c, now_ms);
        hold(s, c->initial, now_ms + c->stable_ms);
    }
    settle(s, c, now_ms, counts, c->min, ret);
}

/* Starts beyond the n sandboxes that are ready, being created, or ordered. */
static uint32_t starts_for_queue(const struct scale *s, const struct scale_config *c,
                                 uint64_t now_ms, const struct scale_counts *counts, uint32_t n)
{
    uint32_t ready = MIN(counts->ready, n);
    return scale_starts_for_queue(s->active->queued, ready, n - ready, scale_slots(c),
                                  scale_duration_ms(s, now_ms), scale_start_ms(s, c));
}

/* There is a request and perhaps no sandbox: start at least one, without a formula. */
static void first_report(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                         const struct scale_counts *counts, struct scale_decision *ret)
{
    struct scale_active *a = s->active;
    uint32_t want = MAX(c->activation, 1), n = present(counts);
    if (c->policy != SCALE_DIRIGENT && n > 1) { /* there were requests for them recently */
        a->panic = true;
        a->panic_at_ms = now_ms;
        a->max_panic = n;
    }
    if (c->policy != SCALE_DIRIGENT)
        want = MAX(want, n);
    if (c->eager)
        want = add_up_to(want, starts_for_queue(s, c, now_ms, counts, want));
    if (want > 1)
        hold(s, want, now_ms + c->panic_ms);
    settle(s, c, now_ms, counts, want, ret);
}

/* More requests wait than the present and coming sandboxes clear soon. */
static bool queue_report(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                         const struct scale_counts *counts, struct scale_decision *ret)
{
    uint32_t n = MAX(present(counts), s->desired);
    uint32_t starts = starts_for_queue(s, c, now_ms, counts, n);
    double up = ceil(c->up_rate * MAX(n, 1));
    uint32_t want = MIN(add_up_to(n, starts), up >= (double)UINT32_MAX ? UINT32_MAX : (uint32_t)up);
    if (want <= s->desired)
        return false;
    hold(s, want, now_ms + c->panic_ms);
    settle(s, c, now_ms, counts, want, ret);
    return ret->changed;
}

/*
 * A gateway's first report of a burst does not contain the time that its sums cover: it is at least
 * the integral of the requests.
 */
static uint64_t covered_from(const struct scale_config *c, uint64_t now_ms,
                             const struct scale_report *r)
{
    uint64_t ms = r->interval_ms ? r->interval_ms : MIN(r->concurrency_us / 1000, c->tick_ms);
    return now_ms - MIN(ms, now_ms);
}

/*
 * Dirigent's data plane reports the current count with the first request and at each tick after
 * that, until it has reported 0. So a call that ends at once still counts for the whole tick. The
 * autoscaler, which ticks from that first report on, reads the count: its tick comes before the
 * second report, which is sent at the same time.
 */
static void report_count(struct scale_active *a, uint64_t at_ms, uint32_t n)
{
    if (at_ms >= a->next_tick_ms && !a->has_due) {
        a->due_reported = a->reported;
        a->has_due = true;
    }
    a->reported = n;
    a->next_report_ms = n ? at_ms + a->tick_ms : 0;
}

static void report_until(struct scale_active *a, uint64_t before_ms)
{
    while (a->next_report_ms && a->next_report_ms < before_ms)
        report_count(a, a->next_report_ms, total(a));
}

static void report_first(struct scale_active *a, uint64_t now_ms, uint32_t arrived)
{
    if (a->next_report_ms == 0 && (total(a) > 0 || arrived))
        report_count(a, now_ms, MAX(total(a), 1));
}

/* The count that the tick now due reads. */
static double take_reported(struct scale_active *a)
{
    report_until(a, a->next_tick_ms);
    uint32_t n = a->has_due ? a->due_reported : a->reported;
    a->has_due = false;
    return n;
}

/* The samples of an awake function. */
static void sample(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                   const struct scale_report *r, const struct scale_counts *counts)
{
    struct scale_active *a = s->active;
    double held = c->averaged ? scale_limited(s, c, now_ms, counts) : 0;
    uint64_t held_ms = a->last_report_ms, from_ms;
    uint32_t held_total = total(a);
    report_until(a, now_ms);
    if (r->finished || (total(a) == 0 && r->running + r->queued > 0))
        a->progress_ms = now_ms;
    a->running = r->running;
    a->queued = r->queued;
    a->arrived += r->arrived;
    a->last_report_ms = now_ms;
    report_first(a, now_ms, r->arrived);
    if (total(a) > 0 || held_total > 0 || r->arrived || r->finished)
        a->last_busy_ms = now_ms;
    if (!c->averaged)
        return;
    from_ms = covered_from(c, now_ms, r);
    if (c->metric == SCALE_RPS) {
        scale_window_add(&a->window, from_ms, now_ms, (double)r->arrived * 1000);
        return;
    }
    if (r->concurrency_us || r->interval_ms) {
        a->has_sums = true;
        /* The present share of requests that need a sandbox is applied to the integral. */
        double integral = (double)r->concurrency_us / 1000;
        if (total(a) > 0)
            integral *= scale_limited(s, c, now_ms, counts) / total(a);
        scale_window_add(&a->window, from_ms, now_ms, integral);
    } else if (held_total > 0 && !a->has_sums) { /* extrapolate the last report */
        scale_window_add(&a->window, held_ms, now_ms, held * (double)(now_ms - held_ms));
    } else if (r->arrived > 0) { /* they began and ended between two reports */
        scale_window_add(&a->window, now_ms, now_ms, r->arrived);
    }
}

bool scale_report(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                  const struct scale_report *r, const struct scale_counts *counts,
                  struct scale_decision *ret)
{
    if (r->finished) {
        double mean = (double)r->duration_us / 1000 / r->finished;
        bool first = s->duration_ms <= 0;
        s->duration_ms = (float)(first ? mean
                                       : DURATION_WEIGHT * mean +
                                             (1 - DURATION_WEIGHT) * (double)s->duration_ms);
    }
    if (r->arrived) {
        double gap = (double)(now_ms - s->gap_since_ms) / r->arrived;
        if (s->gap_since_ms)
            s->gap_ms =
                (float)(s->gap_ms > 0 ? GAP_WEIGHT * gap + (1 - GAP_WEIGHT) * (double)s->gap_ms
                                      : gap);
        s->gap_since_ms = now_ms;
    }
    learn(s, c, now_ms, r);
    bool busy = r->running + r->queued > 0 || r->arrived > 0;
    bool was_awake = scale_is_awake(s);
    if (!was_awake && !busy) {
        fill(s, counts, sleeping_next(s, c, now_ms), ret);
        return false;
    }
    if (!was_awake) {
        wake(s, c, now_ms);
        s->active->window.begin_ms =
            MAX(covered_from(c, now_ms, r), now_ms - MIN(c->tick_ms, now_ms));
    }
    follow_config(s, c, now_ms);
    sample(s, c, now_ms, r, counts);
    if (!was_awake || (s->desired == 0 && total(s->active) > 0)) {
        first_report(s, c, now_ms, counts, ret);
        return true;
    }
    if (c->eager && r->queued && queue_report(s, c, now_ms, counts, ret))
        return true;
    fill(s, counts, 0, ret);
    return false;
}

/* A tick while it is idle: the learnt pattern may need a sandbox, or release one. */
static void sleeping_tick(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                          const struct scale_counts *counts, struct scale_decision *ret)
{
    struct scale_learned *l = learned(s, c, now_ms);
    uint32_t want = c->min;
    uint64_t next;
    if (l && l->policy == SCALE_HYBRID && l->idle)
        want = scale_want_idle(l, now_ms, &next);
    if (l && l->policy == SCALE_ESCARGOT) {
        minutes_advance(l, now_ms);
        scale_plan(s, now_ms);
        want = scale_planned(l, now_ms, &next);
    }
    settle(s, c, now_ms, counts, want, ret);
    ret->next_ms = sleeping_next(s, c, now_ms);
}

static void take_rate(struct scale_active *a, uint64_t now_ms)
{
    if (now_ms == a->rate_since_ms)
        return;
    double rate = a->arrived * 1000.0 / (double)(now_ms - a->rate_since_ms);
    a->rate = RATE_WEIGHT * rate + (1 - RATE_WEIGHT) * a->rate;
    a->rate_since_ms = now_ms;
    a->arrived = 0;
}

/* Mean over the newest length_ms. */
static double mean(const struct scale_active *a, const struct scale_config *c, uint64_t now_ms,
                   uint64_t length_ms)
{
    if (!c->averaged)
        return scale_window_mean_last(&a->window, (uint32_t)(length_ms / c->tick_ms));
    /* After the last report the load is unknown, unless that report was 0. */
    uint64_t end_ms = total(a) ? a->last_report_ms : now_ms;
    return scale_window_mean_until(&a->window, end_ms, length_ms);
}

void scale_tick(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                const struct scale_counts *counts, struct scale_decision *ret)
{
    struct scale_active *a = s->active;
    if (!a) {
        sleeping_tick(s, c, now_ms, counts, ret);
        return;
    }
    follow_config(s, c, now_ms);
    double momentary = c->metric == SCALE_RPS && now_ms > a->rate_since_ms
                           ? a->arrived * 1000.0 / (double)(now_ms - a->rate_since_ms)
                           : scale_limited(s, c, now_ms, counts);
    if (c->policy == SCALE_DIRIGENT && c->metric == SCALE_CONCURRENCY)
        momentary = take_reported(a);
    take_rate(a, now_ms);
    a->next_tick_ms = now_ms + c->tick_ms;
    if (total(a) > 0 && now_ms > a->last_report_ms + SCALE_NO_DATA_MS) {
        fill(s, counts, 0, ret);
        ret->decided = false;
        return;
    }
    if (!c->averaged)
        scale_window_push(&a->window, momentary);
    struct scale_learned *l = learned(s, c, now_ms);
    if (l && l->policy == SCALE_ESCARGOT) {
        minutes_advance(l, now_ms);
        scale_plan(s, now_ms);
    }
    double r = MAX(present(counts), 1);
    struct scale_view view = {
        .c = c,
        .counts = counts,
        .now_ms = now_ms,
        .stable = mean(a, c, now_ms, c->stable_ms),
        .panic = mean(a, c, now_ms, c->panic_ms),
        .up = ceil(c->up_rate * r),
        .down = counts->unreachable ? 0 : floor(r / c->down_rate),
        .present = present(counts),
    };
    uint32_t want = scale_want(s, &view);
    uint64_t next;
    bool has_idle_rule = l && l->policy == SCALE_HYBRID && l->idle && view.panic <= 0;
    if (has_idle_rule)
        want = MAX(want, scale_want_idle(l, now_ms, &next));
    settle(s, c, now_ms, counts, delayed(a, c, now_ms, want), ret);
    ret->excess = excess(c, counts, view.panic);
    if (is_at_rest(s, c, now_ms, view.stable) || (has_idle_rule && s->desired <= 1)) {
        fall_asleep(s);
        ret->next_ms = sleeping_next(s, c, now_ms);
    }
}

void scale_recount(struct scale *s, const struct scale_config *c, uint64_t now_ms,
                   const struct scale_counts *counts, struct scale_decision *ret)
{
    uint32_t before = s->desired;
    s->desired = MIN(MAX(s->desired, c->min), c->max);
    if (!s->active && !learned(s, c, now_ms) && s->desired > c->min)
        wake(s, c, now_ms); /* the minimum is lower than before: ticks remove the difference */
    fill(s, counts, s->active ? 0 : sleeping_next(s, c, now_ms), ret);
    ret->changed = s->desired != before;
}

void scale_recover(struct scale *s, const struct scale_config *c, uint64_t now_ms, uint32_t n,
                   struct scale_decision *ret)
{
    struct scale_counts counts = { .ready = n };
    s->floor = n;
    s->floor_until_ms = n ? now_ms + c->stable_ms : 0;
    s->initial_reached = true;
    if (n && !s->active)
        wake(s, c, now_ms);
    settle(s, c, now_ms, &counts, n, ret);
}

void scale_started(struct scale *s, uint64_t took_ms)
{
    float took = (float)MAX(took_ms, 1);
    s->start_ms =
        s->start_ms > 0
            ? (float)(START_WEIGHT * (double)took + (1 - START_WEIGHT) * (double)s->start_ms)
            : took;
}
