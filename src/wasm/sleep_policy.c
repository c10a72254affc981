/* SPDX-License-Identifier: Apache-2.0 */
/* When guests fall asleep; see sleep_policy.h. */
#include "wasm/sleep_policy.h"

#include "base/mem.h"

uint64_t sleep_after_ms(const struct sleep_costs *c)
{
    if (c->cycle_us == 0)
        return c->default_ms;
    uint64_t kib = c->resident_bytes / 1024 + 1;
    /* cycle_us / (MiB * rate per s), in ms */
    uint64_t even_ms = (uint64_t)c->cycle_us * 1000 * 1024 / (kib * SLEEP_RATE_US);
    if (c->gap_ms > 4 * even_ms)
        even_ms /= 4;
    else if (c->gap_ms && c->gap_ms <= even_ms)
        even_ms *= 2;
    return MAX((uint64_t)SLEEP_MIN_MS, MIN(even_ms, c->default_ms * SLEEP_MAX_TIMES));
}

uint32_t sleep_average(uint32_t average, uint64_t sample)
{
    uint32_t s = (uint32_t)MIN(sample, (uint64_t)UINT32_MAX);
    if (average == 0)
        return MAX(s, 1u);
    int64_t next = (int64_t)average + ((int64_t)s - (int64_t)average) / 4;
    return (uint32_t)MAX(next, (int64_t)1);
}
