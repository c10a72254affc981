/* SPDX-License-Identifier: Apache-2.0 */
/* wasm/latency: percentiles out of 88 bytes. */
#include "test.h"

#include "guest/latency.h"

TEST(a_percentile_is_at_most_a_fifth_below_the_truth)
{
    struct latency *l = NULL;
    CHECK_INT(latency_percentile(l, 50), 0);
    for (uint64_t us = 1; us <= 100; us++)
        latency_add(&l, us * 10);
    uint64_t p50 = latency_percentile(l, 50), p99 = latency_percentile(l, 99);
    CHECK(p50 <= 500 && p50 >= 400);
    CHECK(p99 <= 990 && p99 >= 792);
    CHECK(latency_percentile(l, 100) >= p99);
    free(l);
}

TEST(small_and_huge_values_have_a_place)
{
    struct latency *l = NULL;
    latency_add(&l, 0);
    CHECK_INT(latency_percentile(l, 99), 0);
    latency_add(&l, UINT64_MAX);
    CHECK(latency_percentile(l, 99) >= 3000000);
    free(l);
}

TEST(the_past_fades)
{
    struct latency *l = NULL;
    for (int i = 0; i < 10000; i++)
        latency_add(&l, 10);
    for (int i = 0; i < 300; i++)
        latency_add(&l, 1000);
    CHECK(latency_percentile(l, 50) > 700);
    free(l);
}

TEST_MAIN
