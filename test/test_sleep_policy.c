/* SPDX-License-Identifier: Apache-2.0 */
/* wasm/sleep_policy: how long a guest stays awake without work, and what it is woken ahead of. */
#include "guest/sleep_policy.h"

#include "test.h"

static struct sleep_costs costs(uint32_t cycle_us, uint64_t resident_kib)
{
    return (struct sleep_costs){ .cycle_us = cycle_us,
                                 .wake_us = cycle_us / 2,
                                 .resident_bytes = resident_kib << 10,
                                 .default_ms = 1000 };
}

static uint64_t after(uint32_t cycle_us, uint32_t gap_ms, uint64_t resident_kib)
{
    const struct sleep_costs c = costs(cycle_us, resident_kib);
    const struct sleep_history h = { .gap_ms = gap_ms, .dev_ms = gap_ms & 0xfffffff, .n = 7 };
    return sleep_make_plan(&c, &h, 0).sleep_ms;
}

static struct sleep_history rhythm(uint32_t gap_ms, uint32_t jitter_ms)
{
    struct sleep_history h = { 0 };
    for (unsigned i = 0; i < 50; i++)
        sleep_note_gap(&h, gap_ms + (i % 2 ? jitter_ms : 0) - jitter_ms / 2);
    return h;
}

TEST(without_measurement_the_users_choice_holds)
{
    CHECK_INT(after(0, 0, 100), 1000);
}

TEST(what_holds_more_memory_sleeps_sooner)
{
    CHECK(after(300, 0, 8192) < after(300, 0, 1024));
    CHECK_INT(after(300, 0, 64 << 10), SLEEP_MIN_MS);
}

TEST(the_users_choice_bounds_the_model)
{
    CHECK_INT(after(100000, 0, 16), 1000 * SLEEP_MAX_TIMES);
}

TEST(an_event_that_is_far_off_lets_it_sleep_sooner_and_one_that_is_near_later)
{
    uint64_t plain = after(1000, 0, 1024);
    CHECK(after(1000, 100000, 1024) < plain);
    CHECK(after(1000, 50, 1024) > plain);
}

TEST(scarce_memory_makes_it_sleep_sooner)
{
    struct sleep_costs c = costs(1000, 1024);
    const struct sleep_history none = { 0 };
    uint64_t plenty = sleep_make_plan(&c, &none, 0).sleep_ms;
    c.rate_times = 16;
    CHECK_INT(sleep_make_plan(&c, &none, 0).sleep_ms, plenty / 16);
}

TEST(gaps_are_regular_when_they_hardly_deviate)
{
    struct sleep_history h = rhythm(5200, 1000);
    CHECK(sleep_is_regular(&h));
    CHECK(h.gap_ms > 4700 && h.gap_ms < 5700);
    h = rhythm(5200, 5000);
    CHECK(!sleep_is_regular(&h));
    h = (struct sleep_history){ 0 };
    sleep_note_gap(&h, 1000);
    CHECK(!sleep_is_regular(&h)); /* once is no rhythm */
}

TEST(a_rhythm_that_is_cheap_to_wait_for_keeps_it_awake)
{
    struct sleep_costs c = costs(4000, 1024); /* 8 s of memory */
    struct sleep_history h = rhythm(1000, 100);
    struct sleep_plan p = sleep_make_plan(&c, &h, 0);
    CHECK(p.sleep_ms >= 1000 && p.wake_ms == 0);
    h = rhythm(60000, 1000);
    CHECK_INT(sleep_make_plan(&c, &h, 0).sleep_ms, SLEEP_MIN_MS);
}

TEST(what_wakes_slowly_is_woken_ahead_and_what_wakes_fast_is_not)
{
    struct sleep_history h = rhythm(60000, 100);
    struct sleep_costs slow = costs(40000, 4096), fast = costs(200, 4096);
    struct sleep_plan p = sleep_make_plan(&slow, &h, 0);
    CHECK_INT(p.sleep_ms, SLEEP_MIN_MS);
    CHECK(p.wake_ms > 58000 && p.wake_ms < 60000 && p.give_up_ms > 60000);
    CHECK_INT(sleep_make_plan(&fast, &h, 0).wake_ms, 0);
    /* One that holds very much is woken late. */
    slow.resident_bytes = (uint64_t)4 << 30;
    CHECK_INT(sleep_make_plan(&slow, &h, 0).wake_ms, 0);
}

TEST(what_the_service_says_counts_before_what_was_seen)
{
    const struct sleep_costs c = costs(40000, 4096);
    const struct sleep_history none = { 0 };
    struct sleep_plan p = sleep_make_plan(&c, &none, 100000);
    CHECK_INT(p.sleep_ms, SLEEP_MIN_MS);
    CHECK_INT(p.wake_ms, 100000 - SLEEP_AHEAD_LEAD_MS - 20);
    p = sleep_make_plan(&c, &none, 50); /* cheaper to wait */
    CHECK(p.sleep_ms >= 50 && p.wake_ms == 0);
    struct sleep_history h = rhythm(30000, 10);
    CHECK(sleep_make_plan(&c, &h, 100000).wake_ms < 30000); /* the rhythm comes first */
}

TEST(the_average_moves_a_quarter_of_the_way)
{
    CHECK_INT(sleep_average(0, 40), 40);
    CHECK_INT(sleep_average(40, 80), 50);
    CHECK_INT(sleep_average(40, 0), 30);
    CHECK_INT(sleep_average(1, 0), 1);
}

TEST_MAIN
