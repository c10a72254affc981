/* SPDX-License-Identifier: Apache-2.0 */
/* wasm/sleep_policy: how long a guest stays awake without work. */
#include "wasm/sleep_policy.h"

#include "test.h"

static uint64_t after(uint32_t cycle_us, uint32_t gap_ms, uint64_t resident_kib)
{
    return sleep_after_ms(&(struct sleep_costs){ .cycle_us = cycle_us,
                                                 .gap_ms = gap_ms,
                                                 .resident_bytes = resident_kib << 10,
                                                 .default_ms = 1000 });
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

TEST(the_average_moves_a_quarter_of_the_way)
{
    CHECK_INT(sleep_average(0, 40), 40);
    CHECK_INT(sleep_average(40, 80), 50);
    CHECK_INT(sleep_average(40, 0), 30);
    CHECK_INT(sleep_average(1, 0), 1);
}

TEST_MAIN
