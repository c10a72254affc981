/* SPDX-License-Identifier: Apache-2.0 */
/* base/backoff and base/token_bucket, beside naive twins. */
#include "base/backoff.h"

#include "base/mem.h"
#include "base/token_bucket.h"
#include "test.h"

TEST(each_wait_is_twice_as_long_up_to_the_limit)
{
    static const uint64_t want[] = { 100, 200, 400, 800, 1000, 1000 };
    uint64_t last = 0;
    for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
        last = backoff_next(last, 100, 1000);
        CHECK_INT(last, want[i]);
        CHECK_INT(backoff_wait(100, 1000, i), want[i]);
    }
    CHECK_INT(backoff_next(0, 5000, 1000), 1000);
    CHECK_INT(backoff_wait(5000, 1000, 0), 1000);
    CHECK_INT(backoff_wait(1, UINT64_MAX, 63), INT64_MIN);
    CHECK(backoff_wait(1, UINT64_MAX, 64) == UINT64_MAX);
    CHECK(backoff_wait(3, UINT64_MAX, 63) == UINT64_MAX);
    CHECK(backoff_next(UINT64_MAX, 1, UINT64_MAX) == UINT64_MAX);
}

TEST(waits_are_as_of_repeated_doubling)
{
    for (int i = 0; i < 20000; i++) {
        uint64_t first = 1 + test_random() % 5000, max = 1 + test_random() % 1000000;
        unsigned failures = (unsigned)(test_random() % 100);
        uint64_t twin = first;
        for (unsigned k = 0; k < failures && twin < max; k++)
            twin *= 2;
        CHECK_INT(backoff_wait(first, max, failures), MIN(twin, max));
    }
}

TEST(jitter_stays_within_its_bounds_and_reaches_both)
{
    struct rng rng = { test_random() };
    bool low = false, high = false;
    for (int i = 0; i < 2000; i++) {
        uint64_t ms = backoff_jitter(&rng, 10, 15), half = backoff_upper_half(&rng, 8);
        CHECK(ms >= 10 && ms <= 15 && half >= 4 && half <= 8);
        low |= ms == 10;
        high |= ms == 15;
    }
    CHECK(low && high);
    CHECK_INT(backoff_jitter(&rng, 7, 7), 7);
}

TEST(a_bucket_gives_its_burst_and_then_one_in_a_time)
{
    struct token_bucket b = { 0 };
    for (int i = 0; i < 5; i++)
        CHECK(token_bucket_take(&b, 500, 100, 1000));
    CHECK(!token_bucket_take(&b, 500, 100, 1000));
    CHECK_INT(token_bucket_wait(&b, 500, 100, 1000), 100);
    CHECK(!token_bucket_take(&b, 500, 100, 1099));
    CHECK(token_bucket_take(&b, 500, 100, 1100));
    CHECK(!token_bucket_take(&b, 500, 100, 1100));
    for (int i = 0; i < 5; i++) /* a long rest fills it, no more */
        CHECK(token_bucket_take(&b, 500, 100, 1000000));
    CHECK(!token_bucket_take(&b, 500, 100, 1000000));
}

TEST(who_reserves_waits_behind_those_before)
{
    struct token_bucket b = { 0 };
    CHECK_INT(token_bucket_reserve(&b, 200, 100, 50), 0);
    CHECK_INT(token_bucket_reserve(&b, 200, 100, 50), 0);
    CHECK_INT(token_bucket_reserve(&b, 200, 100, 50), 100);
    CHECK_INT(token_bucket_reserve(&b, 200, 100, 50), 200);
    CHECK_INT(token_bucket_reserve(&b, 200, 100, 100), 250);
    CHECK(!token_bucket_take(&b, 200, 100, 300));
}

/* The twin counts tokens (in the time they come back in) and adds what has come. */
TEST(a_bucket_is_as_a_count_that_is_filled_up)
{
    struct token_bucket b = { 0 };
    uint64_t now = 0, held = 700, level = held, filled = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t cost = 1 + test_random() % 300;
        now += test_random() % 200;
        level = MIN(level + (now - filled), held);
        filled = now;
        CHECK_INT(token_bucket_wait(&b, held, cost, now), level < cost ? cost - level : 0);
        bool has = level >= cost;
        CHECK_INT(token_bucket_take(&b, held, cost, now), has);
        if (has)
            level -= cost;
    }
}

TEST_MAIN
