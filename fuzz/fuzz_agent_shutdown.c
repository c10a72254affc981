/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of pods of a shutdown, as the admin socket takes them. */
#include "fuzz.h"

#include "agent/pod/shutdown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct pod_shutdown_plan plan;
    struct err err = { 0 };
    int r = pod_shutdown_read(str_n(data, n), &plan, &err);
    if (r < 0) {
        FUZZ_CHECK((r == E_INVALID || r == E_LIMIT) && err.text[0]);
        return 0;
    }
    FUZZ_CHECK(plan.n > 0 && plan.n <= POD_SHUTDOWN_GROUPS_MAX);
    for (size_t i = 0; i < plan.n; i++) {
        FUZZ_CHECK(i == 0 || plan.groups[i - 1].priority < plan.groups[i].priority);
        FUZZ_CHECK(pod_shutdown_find(&plan, plan.groups[i].priority) == i);
    }
    return 0;
}
