/* SPDX-License-Identifier: Apache-2.0 */
/* Autoscaling policies: tables worked out by hand, and twins that are written down anew. */
#include "base/mem.h"
#include "codec/json.h"
#include "fn/function.h"
#include "fn/scale/escargot.h"
#include "fn/scale/hybrid.h"
#include "fn/scale/scale.h"
#include "fn/scale/window.h"
#include "test.h"

#include <math.h>

/* A function, its time, and a world in which every order is carried out at once. */
struct rig {
    struct scale s;
    struct scale_config c;
    struct scale_counts n;
    struct scale_decision d;
    uint64_t now_ms;
};

static void rig_init(struct rig *r, enum scale_policy policy)
{
    *r = (struct rig){ .now_ms = 1000000 };
    scale_init(&r->s);
    scale_config_default(&r->c, policy);
}

/* Knative's formulas on momentary counts with one request for each sandbox: numbers by hand. */
static void rig_plain(struct rig *r)
{
    rig_init(r, SCALE_KPA);
    r->c.averaged = r->c.eager = r->c.limit_starts = false;
    r->c.concurrency = 1;
    r->c.utilization = 1;
}

static void obey(struct rig *r)
{
    r->n.ready = r->d.desired;
}

static void report(struct rig *r, uint32_t running, uint32_t queued)
{
    struct scale_report rep = { .running = running, .queued = queued };
    (void)scale_report(&r->s, &r->c, r->now_ms, &rep, &r->n, &r->d);
}

/* One tick later, with m requests in flight. */
static uint32_t tick(struct rig *r, uint32_t m)
{
    r->now_ms += r->c.tick_ms;
    report(r, m, 0);
    scale_tick(&r->s, &r->c, r->now_ms, &r->n, &r->d);
    obey(r);
    return r->d.desired;
}

/* ---- windows ---- */

TEST(a_ring_takes_the_mean_of_the_newest_samples)
{
    struct scale_window w;
    scale_window_init(&w, false, 60000, 2000, 0);
    double twin[200];
    for (int i = 0; i < 200; i++) {
        twin[i] = (double)test_random_below(100);
        scale_window_push(&w, twin[i]);
        for (int n = 1; n <= 30; n++) {
            double sum = 0;
            int have = MIN(n, i + 1);
            for (int k = 0; k < have; k++)
                sum += twin[i - k];
            CHECK(fabs(scale_window_mean_last(&w, (uint32_t)n) - sum / have) < 1e-6);
        }
    }
    scale_window_fini(&w);
}

TEST(buckets_weigh_by_time)
{
    struct scale_window w;
    scale_window_init(&w, true, 60000, 2000, 10000);
    CHECK(scale_window_mean_until(&w, 10000, 6000) == 0);
    scale_window_add(&w, 10000, 12000, 4 * 2000); /* 4 for 2 s */
    CHECK(scale_window_mean_until(&w, 12000, 6000) == 4);
    CHECK(scale_window_mean_until(&w, 14000, 6000) == 2); /* then nothing */
    CHECK(scale_window_mean_until(&w, 12500, 6000) == 3.2);
    scale_window_add(&w, 12000, 16000, 1 * 4000);
    CHECK(scale_window_mean_until(&w, 16000, 6000) == 2);
    CHECK(scale_window_mean_until(&w, 16000, 2000) == 1);
    CHECK(scale_window_mean_until(&w, 80000, 60000) == 0); /* all of it is older */
    scale_window_add(&w, 79000, 80000, 60 * 1000);
    CHECK(scale_window_mean_until(&w, 80000, 60000) == 1);
    scale_window_fini(&w);
}

/* Buckets against the sum of what was added, cut at whole seconds. */
TEST(buckets_count_what_was_added_however_it_overlaps)
{
    struct scale_window w;
    double per_ms[200000] = { 0 };
    scale_window_init(&w, true, 30000, 2000, 500);
    uint64_t now = 500;
    for (int i = 0; i < 300; i++) {
        uint64_t length = 1 + test_random_below(3000);
        now += test_random_below(600);
        double integral = (double)test_random_below(5000);
        uint64_t from = now > length + 500 ? now - length : 500;
        if (from == now)
            continue;
        scale_window_add(&w, from, now, integral);
        for (uint64_t t = from; t < now; t++)
            per_ms[t] += integral / (double)(now - from);
        uint64_t window_ms = 1000 * (1 + test_random_below(30));
        uint64_t end_bucket = (now + 999) / 1000 * 1000;
        uint64_t begin = end_bucket > window_ms ? MAX(end_bucket - window_ms, 500) : 500;
        double sum = 0;
        for (uint64_t t = begin; t < now; t++)
            sum += per_ms[t];
        double got = scale_window_mean_until(&w, now, window_ms),
               want = sum / (double)(now - begin);
        CHECK(fabs(got - want) <= 1e-4 * MAX(want, 1.0));
    }
    scale_window_fini(&w);
}

/* ---- kpa: the formulas ---- */

/* 3.1 of the specification, written down a second time, with all samples kept. */
struct twin {
    double samples[4000];
    int n;
    bool panic;
    uint64_t panic_at;
    double max_panic;
};

static double twin_mean(const struct twin *t, int n)
{
    double sum = 0;
    n = MIN(n, t->n);
    for (int i = 0; i < n; i++)
        sum += t->samples[t->n - 1 - i];
    return sum / n;
}

static uint32_t twin_tick(struct twin *t, const struct scale_config *c, uint64_t now, double m,
                          double a)
{
    double r = fmax(1, a), up = ceil(c->up_rate * r), down = floor(r / c->down_rate);
    double target = (c->concurrency ? c->concurrency : 100) * c->utilization;
    t->samples[t->n++] = m;
    double ds = ceil(twin_mean(t, (int)(c->stable_ms / c->tick_ms)) / target - 1e-9);
    double dp = ceil(twin_mean(t, (int)(c->panic_ms / c->tick_ms)) / target - 1e-9);
    double s = fmin(fmax(ds, down), up), p = fmin(fmax(dp, down), up);
    if (dp / r >= c->panic_threshold) {
        t->panic = true;
        t->panic_at = now;
    } else if (t->panic && now > t->panic_at + c->stable_ms) {
        t->panic = false;
        t->max_panic = 0;
    }
    double want = s;
    if (t->panic)
        want = t->max_panic = fmax(t->max_panic, fmax(s, p));
    return (uint32_t)fmin(fmax(want, c->min), c->max);
}

TEST(kpa_equals_the_formulas_on_random_load)
{
    for (int run = 0; run < 200; run++) {
        struct rig r;
        struct twin t = { .n = 0 };
        rig_plain(&r);
        r.c.concurrency = (uint32_t)test_random_below(4);
        r.c.utilization = test_random_below(2) ? 0.7 : 1;
        r.c.up_rate = test_random_below(2) ? 1000 : 1.1;
        r.c.stable_ms = 6000 + 2000 * test_random_below(40);
        r.c.panic_ms = 2000 * (1 + test_random_below(3));
        r.c.max = test_random_below(2) ? UINT32_MAX : 20;
        r.c.min = 1; /* so that it stays awake: rest is another test */
        report(&r, 1, 0);
        CHECK_INT(r.d.desired, 1);
        obey(&r);
        uint32_t level = 1;
        for (int i = 0; i < 300; i++) {
            if (test_random_below(20) == 0)
                level = (uint32_t)test_random_below(60);
            uint32_t m = level ? (uint32_t)test_random_below(level + 1) : 0;
            if (test_random_below(10) == 0) /* sandboxes come late, or die */
                r.n.ready = (uint32_t)test_random_below(r.n.ready + 3);
            uint32_t present = r.n.ready;
            if (!scale_is_awake(&r.s)) {
                report(&r, 1, 0);
                break; /* at rest: a new life with other samples */
            }
            uint32_t want = twin_tick(&t, &r.c, r.now_ms + r.c.tick_ms, m, present);
            CHECK_INT(tick(&r, m), MAX(want, m ? 1 : 0));
            CHECK(r.d.panic == t.panic || !scale_is_awake(&r.s));
        }
        scale_fini(&r.s);
    }
}

TEST(the_first_report_asks_for_the_activation_scale_at_once)
{
    struct rig r;
    rig_plain(&r);
    struct scale_report rep = { .queued = 50 };
    CHECK(scale_report(&r.s, &r.c, r.now_ms, &rep, &r.n, &r.d));
    CHECK_INT(r.d.desired, 1);
    CHECK_INT(r.d.create, 1);
    CHECK_INT(r.d.next_ms, r.now_ms + 2000);
    CHECK(r.d.changed);
    r.n.creating = 1;
    CHECK(!scale_report(&r.s, &r.c, r.now_ms + 1, &rep, &r.n, &r.d)); /* not again */
    CHECK_INT(r.d.create, 0);
    scale_fini(&r.s);

    rig_plain(&r);
    r.c.activation = 4;
    report(&r, 0, 1);
    CHECK_INT(r.d.create, 4);
    scale_fini(&r.s);
}

TEST(panic_begins_extends_holds_and_ends)
{
    struct rig r;
    rig_plain(&r);
    report(&r, 1, 0);
    obey(&r);
    CHECK_INT(tick(&r, 1), 1);
    CHECK(!r.d.panic); /* 1 of 1 */
    CHECK_INT(tick(&r, 3), 2);
    CHECK(r.d.panic);          /* the mean of 1 and 3 is 2: twice of what there is */
    CHECK_INT(tick(&r, 8), 4); /* (1 + 3 + 8) / 3 */
    CHECK(r.d.panic);
    uint64_t last_over = r.now_ms;
    CHECK_INT(tick(&r, 4), 5); /* (3 + 8 + 4) / 3 = 5: not twice of 4 */
    while (r.now_ms < last_over + 60000)
        CHECK_INT(tick(&r, 1), 5); /* no scale-down while it lasts */
    CHECK(r.d.panic);
    CHECK_INT(tick(&r, 1), 2); /* over; the stable mean says 1, one step halves */
    CHECK(!r.d.panic);
    CHECK_INT(tick(&r, 1), 1);
    scale_fini(&r.s);
}

TEST(each_tick_halves_and_zero_comes_after_a_whole_window)
{
    struct rig r;
    rig_plain(&r);
    r.n.ready = 16;
    report(&r, 16, 0);
    CHECK_INT(r.d.desired, 16); /* those that are there count */
    CHECK(r.d.panic);
    obey(&r);
    uint32_t last = 16;
    int zeros = 0;
    for (int i = 0; i < 40; i++) /* leave panic under load */
        CHECK_INT(tick(&r, 16), 16);
    while (r.d.desired > 0) {
        uint32_t now = tick(&r, 0);
        zeros++;
        CHECK(now >= last / 2);
        last = now;
    }
    CHECK_INT(zeros, 30);
    CHECK(!scale_is_awake(&r.s));
    CHECK_INT(r.d.next_ms, 0); /* no timer */
    scale_fini(&r.s);
}

TEST(kpa_keeps_the_last_sandbox_for_the_stable_window_after_a_short_request)
{
    struct rig r;
    rig_init(&r, SCALE_KPA);
    uint64_t began = r.now_ms;
    report(&r, 0, 1);
    obey(&r);
    r.now_ms += 5;
    struct scale_report end = {
        .arrived = 1, .finished = 1, .duration_us = 1000, .interval_ms = 5, .concurrency_us = 5000
    };
    CHECK(!scale_report(&r.s, &r.c, r.now_ms, &end, &r.n, &r.d));
    while (r.d.desired)
        (void)tick(&r, 0);
    CHECK(r.now_ms - began >= 58000 && r.now_ms - began <= 62000);
    scale_fini(&r.s);
}

/* A gateway's first report of a burst cannot say what time its sums cover. */
TEST(sums_without_their_time_count_all_the_same)
{
    struct rig r;
    rig_plain(&r);
    r.c.averaged = true;
    report(&r, 1, 0);
    obey(&r);
    for (int i = 0; i < 60; i++) { /* each second five calls of 0.6 s that end before the report */
        r.now_ms += 1000;
        struct scale_report rep = {
            .arrived = 5, .finished = 5, .duration_us = 3000000, .concurrency_us = 3000000
        };
        (void)scale_report(&r.s, &r.c, r.now_ms, &rep, &r.n, &r.d);
        if (i % 2)
            scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d), obey(&r);
    }
    CHECK_INT(r.d.desired, 3);
    CHECK(r.s.gap_ms > 150 && r.s.gap_ms < 250);
    scale_fini(&r.s);
}

TEST(unreachable_revisions_go_at_once)
{
    struct rig r;
    rig_plain(&r);
    r.c.stable_ms = 6000;
    r.n.ready = 1;
    report(&r, 1, 0);
    r.n.ready = 9;
    for (int i = 0; i < 3; i++) {
        r.now_ms += 2000;
        report(&r, 0, 0);
        r.n.unreachable = true;
        scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    }
    CHECK_INT(r.d.desired, 0);
    CHECK_INT(r.d.remove, 9);
    scale_fini(&r.s);
}

TEST(a_tick_without_data_decides_nothing)
{
    struct rig r;
    rig_plain(&r);
    report(&r, 5, 0);
    obey(&r);
    CHECK_INT(tick(&r, 5), 5);
    r.now_ms += SCALE_NO_DATA_MS + 1; /* the gateway is silent, with requests open */
    scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    CHECK(!r.d.decided);
    CHECK_INT(r.d.desired, 5);
    CHECK_INT(r.d.next_ms, r.now_ms + 2000);
    CHECK_INT(tick(&r, 5), 5);
    CHECK(r.d.decided);
    scale_fini(&r.s);
}

TEST(bounds_hold_and_min_stays_without_a_timer)
{
    struct rig r;
    rig_plain(&r);
    r.c.min = 2;
    r.c.max = 6;
    scale_begin(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    CHECK_INT(r.d.create, 2);
    CHECK_INT(r.d.next_ms, 0);
    obey(&r);
    report(&r, 1, 0);
    CHECK_INT(r.d.desired, 2);
    for (int i = 0; i < 10; i++)
        CHECK(tick(&r, 100) <= 6);
    CHECK_INT(r.d.desired, 6);
    for (int i = 0; i < 100 && scale_is_awake(&r.s); i++)
        (void)tick(&r, 0);
    CHECK_INT(r.d.desired, 2);
    CHECK_INT(r.d.next_ms, 0);
    CHECK(!scale_is_awake(&r.s));
    scale_fini(&r.s);
}

TEST(the_initial_scale_is_made_first_and_left_later)
{
    struct rig r;
    rig_init(&r, SCALE_KPA);
    r.c.initial = 3;
    scale_begin(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    CHECK_INT(r.d.create, 3);
    CHECK(scale_is_awake(&r.s));
    r.n.creating = 3;
    for (int i = 0; i < 60; i++) { /* never ready: it is still wanted */
        r.now_ms += 2000;
        scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
        CHECK_INT(r.d.desired, 3);
    }
    r.n.creating = 0;
    r.n.ready = 3;
    for (int i = 0; i < 40 && r.d.desired; i++)
        (void)tick(&r, 0);
    CHECK_INT(r.d.desired, 0);
    scale_fini(&r.s);
}

TEST(the_largest_wish_of_the_delay_counts)
{
    struct rig r;
    rig_plain(&r);
    r.c.stable_ms = 6000;
    r.c.panic_ms = 2000;
    r.c.panic_threshold = 10;
    r.c.down_delay_ms = 20000;
    report(&r, 4, 0);
    obey(&r);
    for (int i = 0; i < 5; i++)
        (void)tick(&r, 4);
    CHECK_INT(r.d.desired, 4);
    uint64_t last_busy = r.now_ms;
    while (tick(&r, 0) == 4)
        ;
    CHECK(r.now_ms - last_busy >= 20000 && r.now_ms - last_busy <= 26000);
    scale_fini(&r.s);
}

TEST(an_idle_time_given_by_the_user_counts_exactly)
{
    static const uint64_t idle[] = { 10000, 300000 };
    for (size_t i = 0; i < ARRAY_LEN(idle); i++) {
        struct rig r;
        rig_init(&r, SCALE_KPA);
        r.c.idle_ms = idle[i];
        report(&r, 1, 0);
        obey(&r);
        (void)tick(&r, 1);
        uint64_t last_busy = r.now_ms + 2000; /* the report that says 0 */
        while (tick(&r, 0))
            ;
        CHECK(r.now_ms - last_busy >= idle[i] && r.now_ms - last_busy <= idle[i] + 2000);
        scale_fini(&r.s);
    }
}

TEST(excess_burst_capacity_is_ready_capacity_less_burst_and_panic_mean)
{
    struct rig r;
    rig_plain(&r);
    r.c.concurrency = 10;
    r.c.burst = 25;
    report(&r, 7, 0);
    r.n.ready = 3;
    r.now_ms += 2000;
    scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    CHECK_INT(r.d.excess, 3 * 10 - 25 - 7);
    r.c.burst = 0;
    r.now_ms += 2000;
    scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    CHECK_INT(r.d.excess, 0);
    r.c.burst = -1;
    r.now_ms += 2000;
    scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    CHECK_INT(r.d.excess, -1);
    scale_fini(&r.s);
}

TEST(calls_per_second_can_be_the_metric)
{
    struct rig r;
    rig_plain(&r);
    r.c.metric = SCALE_RPS;
    r.c.target = 50;
    r.c.concurrency = 0;
    r.c.averaged = true;
    report(&r, 1, 0);
    obey(&r);
    for (int i = 0; i < 40; i++) {
        r.now_ms += 2000;
        struct scale_report rep = { .running = 1,
                                    .arrived = 400,
                                    .finished = 400,
                                    .duration_us = 400 * 5000,
                                    .interval_ms = 2000,
                                    .concurrency_us = 2000000 };
        (void)scale_report(&r.s, &r.c, r.now_ms, &rep, &r.n, &r.d);
        scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
        obey(&r);
    }
    CHECK_INT(r.d.desired, 4); /* 200 in a second, 50 for each */
    scale_fini(&r.s);
}

TEST(targets_follow_the_limit_and_the_utilization)
{
    struct scale_config c;
    scale_config_default(&c, SCALE_KPA);
    CHECK(scale_target(&c) == 70); /* no limit: 100 */
    c.concurrency = 10;
    CHECK(scale_target(&c) == 7);
    c.target = 4;
    CHECK(fabs(scale_target(&c) - 2.8) < 1e-9);
    c.target = 40; /* not above the limit */
    CHECK(scale_target(&c) == 7);
    c.metric = SCALE_RPS;
    c.target = 0;
    CHECK(scale_target(&c) == 140);
}

TEST(a_functions_spec_becomes_parameters)
{
    struct arena a = { 0 };
    struct json *spec;
    struct err err = { 0 };
    struct fn_spec f;
    struct scale_config c;
    CHECK_OK(json_parse(&a,
                        STR("{\"fake\":{},\"scale\":{\"policy\":\"dirigent\",\"max\":7,"
                            "\"stableMilliseconds\":20000,\"maxDownPercent\":300}}"),
                        NULL, &spec, &err));
    if (fn_spec_read(&a, spec, &f, &err) < 0)
        TEST_FAIL("%s", err.text);
    scale_config_of(&c, &f.scale, 0);
    CHECK(c.policy == SCALE_DIRIGENT && scale_target(&c) == 1 && !c.eager);
    CHECK(c.max == 7 && c.stable_ms == 20000 && c.panic_ms == 2000 && c.down_rate == 3);
    arena_fini(&a);
}

TEST(parameters_out_of_bounds_are_moved_into_them)
{
    struct scale_config c;
    scale_config_default(&c, SCALE_KPA);
    c.stable_ms = 1;
    c.panic_ms = 1 << 30;
    c.min = 9;
    c.max = 3;
    c.utilization = 7;
    c.panic_threshold = 0;
    c.concurrency = 5000;
    scale_config_check(&c);
    CHECK_INT(c.stable_ms, SCALE_WINDOW_MIN_MS);
    CHECK_INT(c.panic_ms, SCALE_WINDOW_MIN_MS);
    CHECK_INT(c.min, 3);
    CHECK(c.utilization == 1 && c.panic_threshold == 1.1);
    CHECK_INT(c.concurrency, 1000);
    for (int i = 0; i < SCALE_POLICY_COUNT; i++)
        CHECK_INT(scale_policy_of(str_of(scale_policy_name((enum scale_policy)i))), i);
    CHECK_INT(scale_policy_of(STR("best")), SCALE_POLICY_COUNT);
}

/* ---- what is ours ---- */

TEST(one_start_that_clears_the_queue_is_enough)
{
    /* Requests of 1 ms, a start takes 40 ms: a sandbox does 40 of them meanwhile. */
    CHECK_INT(scale_starts_for_queue(40, 0, 1, 1, 1, 40), 0);
    CHECK_INT(scale_starts_for_queue(100, 1, 0, 1, 1, 40), 2); /* 60 are left, 40 for each */
    CHECK_INT(scale_starts_for_queue(100, 1, 2, 1, 1, 40), 0);
    /* Long requests: one sandbox for each slot. */
    CHECK_INT(scale_starts_for_queue(10, 1, 0, 1, 1000, 40), 10);
    CHECK_INT(scale_starts_for_queue(10, 1, 10, 1, 1000, 40), 0);
    CHECK_INT(scale_starts_for_queue(10, 1, 0, 5, 1000, 40), 2);
    CHECK_INT(scale_starts_for_queue(10, 0, 0, 1, 0, 40), 1); /* nothing is known: one */
    CHECK_INT(scale_starts_for_queue(10, 0, 1, 1, 0, 40), 0);
    CHECK_INT(scale_starts_for_queue(0, 0, 0, 1, 5, 40), 0);
}

TEST(a_queue_of_long_requests_starts_sandboxes_at_once)
{
    struct rig r;
    rig_init(&r, SCALE_KPA);
    r.c.concurrency = 1;
    report(&r, 0, 1);
    obey(&r);
    r.now_ms += 500;
    struct scale_report done = { .arrived = 1, .finished = 1, .duration_us = 500000 };
    (void)scale_report(&r.s, &r.c, r.now_ms, &done, &r.n, &r.d);
    r.now_ms += 10;
    struct scale_report burst = { .running = 1, .queued = 5, .arrived = 6 };
    CHECK(scale_report(&r.s, &r.c, r.now_ms, &burst, &r.n, &r.d));
    CHECK_INT(r.d.create, 5);
    r.n.creating = 5;
    CHECK(!scale_report(&r.s, &r.c, r.now_ms, &burst, &r.n, &r.d)); /* they are coming */
    (void)tick(&r, 1);
    CHECK_INT(r.d.desired, 6); /* held for the panic window */
    scale_fini(&r.s);
}

TEST(short_requests_behind_a_slow_start_do_not_each_get_a_sandbox)
{
    uint32_t most[2] = { 0 };
    for (int limited = 0; limited < 2; limited++) {
        struct rig r;
        rig_init(&r, SCALE_KPA);
        r.c.concurrency = 1;
        r.c.limit_starts = limited;
        r.c.eager = false;
        r.c.start_ms = 3000;
        report(&r, 0, 1);
        r.n.creating = 1;
        r.s.duration_ms = 2;
        for (int i = 0; i < 3; i++) { /* 100 requests of 2 ms wait for the first sandbox */
            r.now_ms += 2000;
            report(&r, 0, 100);
            scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
            r.n.creating = r.d.desired;
            most[limited] = MAX(most[limited], r.d.desired);
        }
        scale_fini(&r.s);
    }
    CHECK(most[0] >= 50);
    CHECK(most[1] <= 2);
}

TEST(requests_that_stop_ending_are_taken_for_long_ones)
{
    struct rig r;
    rig_init(&r, SCALE_KPA);
    r.c.concurrency = 1;
    r.c.utilization = 1;
    report(&r, 0, 1);
    obey(&r);
    r.s.duration_ms = 1;
    for (int i = 0; i < 3; i++) {
        r.now_ms += 2000;
        report(&r, 1, 9);
        scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    }
    CHECK(r.d.desired >= 9);
    scale_fini(&r.s);
}

TEST(counts_that_change_without_a_decision_are_made_good)
{
    struct rig r;
    rig_plain(&r);
    report(&r, 0, 1);
    for (int i = 0; i < 5; i++)
        obey(&r), (void)tick(&r, 4);
    CHECK_INT(r.d.desired, 4);
    r.n.ready = 2; /* a node died */
    scale_recount(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    CHECK_INT(r.d.create, 2);
    CHECK(!r.d.changed);
    scale_fini(&r.s);
}

TEST(a_configuration_changes_under_a_busy_function)
{
    struct rig r;
    rig_init(&r, SCALE_KPA);
    r.c.concurrency = 1;
    r.c.utilization = 1;
    report(&r, 4, 0);
    obey(&r);
    for (int i = 0; i < 40; i++)
        (void)tick(&r, 4);
    CHECK_INT(r.d.desired, 4);
    static const uint64_t windows[] = { 6000, 600000, 60000 };
    for (size_t i = 0; i < ARRAY_LEN(windows); i++) {
        r.c.stable_ms = windows[i];
        r.c.averaged = i != 2; /* even the kind of samples */
        r.c.down_delay_ms = windows[i] / 2;
        scale_recount(&r.s, &r.c, r.now_ms, &r.n, &r.d);
        for (int k = 0; k < 10; k++)
            CHECK_INT(tick(&r, 4), 4);
    }
    r.c.max = 3;
    scale_recount(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    CHECK(r.d.changed && r.d.desired == 3 && r.d.remove == 1);
    scale_fini(&r.s);
}

TEST(another_minimum_counts_while_a_function_sleeps)
{
    struct rig r;
    rig_init(&r, SCALE_KPA);
    r.c.min = 3;
    scale_recount(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    CHECK(r.d.create == 3 && r.d.next_ms == 0);
    obey(&r);
    r.c.min = 0;
    scale_recount(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    CHECK(r.d.desired == 3 && r.d.next_ms != 0); /* down by the ordinary rule */
    while (r.d.next_ms) {
        r.now_ms = r.d.next_ms;
        scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
        obey(&r);
    }
    CHECK(r.d.desired == 0 && !scale_is_awake(&r.s));
    scale_fini(&r.s);
}

TEST(recovered_sandboxes_stay_for_one_stable_window)
{
    struct rig r;
    rig_init(&r, SCALE_KPA);
    r.c.concurrency = 1;
    scale_recover(&r.s, &r.c, r.now_ms, 50, &r.d);
    CHECK_INT(r.d.desired, 50);
    CHECK(r.d.create == 0 && r.d.remove == 0);
    r.n.ready = 50;
    uint64_t began = r.now_ms;
    while (r.now_ms + 2000 < began + 60000) {
        CHECK_INT(tick(&r, 1), 50);
        CHECK(r.d.next_ms != 0);
    }
    CHECK_INT(tick(&r, 1), 25); /* then the ordinary rule: each step halves */
    CHECK_INT(tick(&r, 1), 12);
    CHECK_INT(tick(&r, 1), 6);
    scale_fini(&r.s);
}

TEST(a_sleeping_function_is_a_small_record)
{
    struct rig r;
    rig_init(&r, SCALE_KPA);
    CHECK(sizeof(struct scale) <= 64);
    report(&r, 1, 0);
    obey(&r);
    while (r.d.desired)
        (void)tick(&r, 0);
    CHECK(!r.s.active && !r.s.learned);
    scale_fini(&r.s);
}

/* ---- dirigent ---- */

TEST(dirigent_has_its_own_parameters)
{
    struct scale_config c;
    scale_config_default(&c, SCALE_DIRIGENT);
    CHECK(scale_target(&c) == 1 && c.stable_ms == 60000 && c.panic_ms == 6000);
    CHECK(!c.averaged && !c.eager && !c.limit_starts && c.tick_ms == 2000);
    scale_config_sweep(&c);
    CHECK(c.max == 1 && c.stable_ms == 6000 && c.panic_ms == 2000);
}

/* The loop starts with 1 whatever waits, and its ring remembers the quiet before. */
TEST(dirigent_starts_with_one_and_remembers_the_quiet)
{
    struct rig r;
    rig_init(&r, SCALE_DIRIGENT);
    report(&r, 0, 30);
    CHECK_INT(r.d.desired, 1);
    obey(&r);
    CHECK_INT(tick(&r, 30), 30);
    CHECK(r.d.panic);
    while (r.d.desired)
        (void)tick(&r, 0);
    report(&r, 5, 0);
    CHECK_INT(r.d.desired, 1);
    obey(&r);
    CHECK_INT(tick(&r, 5), 2); /* stable (29 zeros and 5) 1, panic 5 / 3: 2, twice of 1 */
    CHECK(r.d.panic);
    scale_fini(&r.s);
}

/* One call at the beginning, over after took_ms; returns after how long its sandbox is removed. */
static uint64_t dirigent_keeps(struct rig *r, uint64_t took_ms)
{
    uint64_t began_ms = r->now_ms, tick_ms;
    struct scale_report came = { .queued = 1, .arrived = 1 }, went = { .finished = 1 };
    (void)scale_report(&r->s, &r->c, r->now_ms, &came, &r->n, &r->d);
    CHECK_INT(r->d.desired, 1);
    obey(r);
    bool is_over = false;
    while (r->d.desired) {
        tick_ms = r->d.next_ms;
        if (!is_over && began_ms + took_ms <= tick_ms) {
            is_over = true;
            r->now_ms = began_ms + took_ms;
            (void)scale_report(&r->s, &r->c, r->now_ms, &went, &r->n, &r->d);
        }
        r->now_ms = tick_ms;
        if (!is_over)
            report(r, 1, 0);
        scale_tick(&r->s, &r->c, r->now_ms, &r->n, &r->d);
        obey(r);
    }
    CHECK(!scale_is_awake(&r->s));
    return r->now_ms - began_ms;
}

/* 30 samples of 0 after the last 1; the first tick, at 2 s, reads the data plane's first report,
 * however short the call was. */
TEST(dirigent_keeps_the_sandbox_of_a_short_call_for_a_minute)
{
    struct rig r;
    rig_init(&r, SCALE_DIRIGENT);
    CHECK_INT(dirigent_keeps(&r, 1), 62000);
    r.now_ms += 100000;
    CHECK_INT(dirigent_keeps(&r, 1), 62000); /* its ring is full of zeros now */
    r.now_ms += 100000;
    CHECK_INT(dirigent_keeps(&r, 1999), 62000);
    r.now_ms += 100000;
    CHECK_INT(dirigent_keeps(&r, 2001), 64000); /* reported again at 2 s, read at 4 s */
    scale_config_sweep(&r.c);
    r.now_ms += 100000;
    CHECK_INT(dirigent_keeps(&r, 1), 8000);
    scale_fini(&r.s);
}

/* Only one report in the middle of a tick, after the end of the call; and ticks that come late,
 * after the next report of the data plane. */
TEST(dirigent_counts_a_call_for_the_whole_tick_in_which_it_came)
{
    struct rig r;
    rig_init(&r, SCALE_DIRIGENT);
    report(&r, 1, 0);
    obey(&r);
    for (int i = 0; i < 20; i++)
        CHECK_INT(tick(&r, 0), 1);
    r.now_ms += 1300;
    struct scale_report passed = { .arrived = 1, .finished = 1 };
    (void)scale_report(&r.s, &r.c, r.now_ms, &passed, &r.n, &r.d);
    uint64_t since_ms = r.now_ms;
    r.now_ms += 700;
    while (r.d.desired) {
        scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
        obey(&r);
        r.now_ms = r.d.next_ms;
    }
    CHECK(r.now_ms == 0);
    r.now_ms = since_ms + 700 + 60000;
    report(&r, 1, 0);
    obey(&r);
    r.now_ms += 2010;
    report(&r, 0, 0); /* the tick was due at 2,000 */
    r.now_ms += 240;
    scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    CHECK_INT(r.d.desired, 1);
    scale_fini(&r.s);
}

/* ---- mu ---- */

TEST(mu_takes_rate_over_capacity_and_the_queue_within_the_goal)
{
    struct rig r;
    rig_init(&r, SCALE_MU);
    r.c.concurrency = 1;
    r.c.eager = r.c.limit_starts = false;
    report(&r, 1, 0);
    obey(&r);
    struct scale_report rep = { .running = 5,
                                .queued = 18,
                                .arrived = 100,
                                .finished = 100,
                                .duration_us = 100 * 100000,
                                .interval_ms = 2000,
                                .concurrency_us = 23000000 };
    r.now_ms += 2000;
    (void)scale_report(&r.s, &r.c, r.now_ms, &rep, &r.n, &r.d);
    r.n.ready = 5;
    scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
    /* 50 per second smoothed to 40, 10 per second each: 4; (23 - 5) / (10 * 0.9): 2 */
    CHECK_INT(r.d.desired, 6);
    scale_fini(&r.s);
}

TEST(mu_goes_to_zero_when_nothing_came_for_a_window)
{
    struct rig r;
    rig_init(&r, SCALE_MU);
    report(&r, 1, 0);
    obey(&r);
    r.s.duration_ms = 10;
    (void)tick(&r, 1);
    int ticks = 0;
    while (tick(&r, 0))
        ticks++;
    CHECK(ticks >= 28 && ticks <= 31);
    scale_fini(&r.s);
}

/* ---- hybrid ---- */

TEST(idle_times_seen_in_one_place_prewarm_before_it)
{
    struct hybrid h = { .n = 0 };
    uint64_t prewarm, keep;
    hybrid_windows(&h, &prewarm, &keep);
    CHECK(prewarm == 0 && keep == 240 * 60000); /* nothing is known: the range */
    for (int i = 0; i < 100; i++)
        hybrid_add(&h, 30 * 60000 + 5000); /* each half hour: bin 30 */
    hybrid_windows(&h, &prewarm, &keep);
    CHECK_INT(prewarm, 30 * 60000 * 9 / 10);
    CHECK(llabs((long long)keep - 31 * 60000 * 11 / 10) <= 1);
}

TEST(idle_times_all_over_the_place_keep_for_the_range)
{
    struct hybrid h = { .n = 0 };
    uint64_t prewarm, keep;
    for (uint64_t i = 0; i < 240; i++)
        hybrid_add(&h, i * 60000);
    hybrid_windows(&h, &prewarm, &keep);
    CHECK(prewarm == 0 && keep == 240 * 60000);
}

TEST(idle_times_beyond_the_range_are_forecast)
{
    struct hybrid h = { .n = 0 };
    uint64_t prewarm, keep, six = 6 * 3600000;
    for (int i = 0; i < 20; i++)
        hybrid_add(&h, six);
    hybrid_windows(&h, &prewarm, &keep);
    CHECK(fabs((double)prewarm - 0.85 * (double)six) < 60000);
    CHECK(fabs((double)keep - 1.15 * (double)six) < 60000);
}

TEST(a_histogram_that_is_full_halves_and_keeps_its_shape)
{
    struct hybrid h = { .n = 0 };
    for (int i = 0; i < 70000; i++)
        hybrid_add(&h, 5 * 60000);
    uint64_t prewarm, keep;
    hybrid_windows(&h, &prewarm, &keep);
    CHECK_INT(prewarm, 5 * 60000 * 9 / 10);
    CHECK(h.n < UINT16_MAX && h.n == h.bins[5]);
}

TEST(hybrid_gives_up_prewarms_and_gives_up_again)
{
    struct rig r;
    rig_init(&r, SCALE_HYBRID);
    struct scale_report one = { .running = 1, .arrived = 1 }, none = { .finished = 1 };
    for (int i = 0; i < 50; i++) { /* a call each 10 minutes, for half a second */
        (void)scale_report(&r.s, &r.c, r.now_ms, &one, &r.n, &r.d);
        obey(&r);
        r.now_ms += 500;
        (void)scale_report(&r.s, &r.c, r.now_ms, &none, &r.n, &r.d);
        uint64_t next_call = r.now_ms + 600000;
        bool was_gone = false;
        while (r.d.next_ms && r.d.next_ms < next_call) {
            r.now_ms = r.d.next_ms;
            scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
            obey(&r);
            was_gone = was_gone || r.d.desired == 0;
        }
        r.now_ms = next_call;
        if (i < 2)
            continue; /* nothing was known before the first idle time */
        CHECK(was_gone);
        CHECK_INT(r.n.ready, 1); /* and yet the call finds a sandbox */
    }
    /* No call comes any more. */
    for (int i = 0; i < 50 && r.d.next_ms; i++) {
        r.now_ms = r.d.next_ms;
        scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
        obey(&r);
    }
    CHECK(r.d.desired == 0 && r.d.next_ms == 0 && !scale_is_awake(&r.s));
    scale_fini(&r.s);
}

/* ---- escargot ---- */

TEST(a_period_is_found_and_continued)
{
    float counts[ESCARGOT_MINUTES], next[ESCARGOT_MINUTES];
    for (int t = 0; t < ESCARGOT_MINUTES; t++)
        counts[t] = 20 + 10 * (float)cos(6.283185307 * t / 15);
    escargot_forecast(counts, next);
    for (int t = 0; t < ESCARGOT_MINUTES; t++)
        CHECK(fabs((double)next[t] - (20 + 10 * cos(6.283185307 * (t + 60) / 15))) < 3);
    for (int t = 0; t < ESCARGOT_MINUTES; t++)
        counts[t] = (float)t; /* nothing but trend */
    escargot_forecast(counts, next);
    for (int t = 0; t < ESCARGOT_MINUTES; t++)
        CHECK(fabs((double)next[t] - (60 + t)) < 1e-3);
    for (int t = 0; t < ESCARGOT_MINUTES; t++)
        counts[t] = (float)(60 - t); /* it does not fall below nothing */
    escargot_forecast(counts, next);
    CHECK(next[30] == 0);
}

TEST(predicted_calls_become_sandboxes)
{
    CHECK_INT(escargot_sandboxes(0.05, 1000), 0);
    CHECK_INT(escargot_sandboxes(0.5, 1000), 1);
    CHECK_INT(escargot_sandboxes(120, 1000), 3); /* 1.5 * 120 / 60 */
    CHECK_INT(escargot_sandboxes(120, 10), 1);
    CHECK_INT(escargot_sandboxes(4, 600000), 4); /* never more than calls */
}

TEST(a_plan_holds_the_largest_of_three_epochs)
{
    float p[ESCARGOT_MINUTES] = { 0 };
    uint16_t plan[ESCARGOT_EPOCHS];
    p[10] = 120;
    CHECK_INT(escargot_plan(p, 1000, plan), 3);
    CHECK_INT(plan[299], 0);
    CHECK_INT(plan[300], 3);
    CHECK_INT(plan[329], 3);
    CHECK_INT(plan[331], 3);
    CHECK_INT(plan[332], 0);
}

TEST(creations_and_removals_of_all_functions_are_levelled)
{
    enum { N = 100, CAP = 8 };
    uint16_t *plans[N], before[N] = { 0 };
    for (int i = 0; i < N; i++) {
        plans[i] = xnew_n(uint16_t, ESCARGOT_EPOCHS);
        for (int e = 600; e < 900; e++)
            plans[i][e] = 2;
    }
    escargot_level(plans, before, N, CAP);
    for (int e = 1; e < ESCARGOT_EPOCHS; e++) {
        int created = 0, removed = 0;
        for (int i = 0; i < N; i++) {
            int d = plans[i][e] - plans[i][e - 1];
            created += MAX(d, 0);
            removed += MAX(-d, 0);
            CHECK(e < 600 || e >= 900 || plans[i][e] >= 2); /* nobody gets less than planned */
        }
        CHECK(created <= CAP && removed <= CAP);
    }
    for (int i = 0; i < N; i++)
        free(plans[i]);
}

TEST(escargot_has_a_sandbox_ready_when_the_period_comes)
{
    struct rig r;
    rig_init(&r, SCALE_ESCARGOT);
    int cold_late = 0, late = 0;
    struct scale_report one = { .running = 1, .arrived = 20 },
                        none = { .finished = 20, .duration_us = 20 * 1000000 };
    for (int i = 0; i < 60; i++) { /* 20 calls each 5 minutes, for 5 hours */
        bool cold = r.n.ready == 0;
        if (i > 30) {
            late++;
            cold_late += cold;
        }
        (void)scale_report(&r.s, &r.c, r.now_ms, &one, &r.n, &r.d);
        obey(&r);
        r.now_ms += 2000;
        (void)scale_report(&r.s, &r.c, r.now_ms, &none, &r.n, &r.d);
        uint64_t next_call = r.now_ms + 298000;
        while (r.d.next_ms && r.d.next_ms < next_call) {
            r.now_ms = r.d.next_ms;
            scale_tick(&r.s, &r.c, r.now_ms, &r.n, &r.d);
            obey(&r);
        }
        r.now_ms = next_call;
    }
    CHECK(cold_late * 10 <= late);
    scale_fini(&r.s);
}

TEST_MAIN
