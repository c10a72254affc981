/* SPDX-License-Identifier: Apache-2.0 */
/* KubeSchedulerConfiguration: what an administrator, or a ConfigMap, hands to the scheduler. */
#include "sched/config/config.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { 0 };
    struct sched_config c = { 0 };
    struct buf warnings = BUF_INIT(4 << 20);
    struct err err = { 0 };
    int r = sched_config_read(&a, str_n(data, n), &c, &warnings, &err);
    FUZZ_CHECK(r == 0 || (r < 0 && err.code == r && err.text[0]));
    if (r == 0) {
        FUZZ_CHECK(c.n_profiles >= 1 && c.n_profiles <= SCHED_CONFIG_MAX_PROFILES);
        FUZZ_CHECK(c.backoff_first_ms >= 1000 && c.backoff_max_ms >= c.backoff_first_ms);
        for (size_t i = 0; i < c.n_profiles; i++)
            for (size_t k = 0; k < SCHED_CONFIG_POINTS; k++)
                for (size_t p = 0; p < c.profiles[i].at[k].n; p++)
                    FUZZ_CHECK(c.profiles[i].at[k].p[p].weight != 0);
    }
    buf_fini(&warnings);
    arena_fini(&a);
    return 0;
}
