/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pod/shutdown.h"
#include "base/mem.h"
#include "test.h"

TEST(groups_are_sorted_and_a_pod_belongs_to_the_highest_that_it_reaches)
{
    struct pod_shutdown_plan plan;
    CHECK_OK(pod_shutdown_read(STR("2000000000:20000,-5:1,1000:40000"), &plan, NULL));
    CHECK_INT(plan.n, 3);
    CHECK(plan.groups[0].priority == -5 && plan.groups[0].grace_ms == 1);
    CHECK(plan.groups[1].priority == 1000 && plan.groups[2].grace_ms == 20000);
    CHECK_INT(pod_shutdown_find(&plan, INT32_MIN), 0); /* below all */
    CHECK_INT(pod_shutdown_find(&plan, -5), 0);
    CHECK_INT(pod_shutdown_find(&plan, 999), 0);
    CHECK_INT(pod_shutdown_find(&plan, 1000), 1);
    CHECK_INT(pod_shutdown_find(&plan, 1999999999), 1);
    CHECK_INT(pod_shutdown_find(&plan, 2000001000), 2);
}

TEST(other_texts_are_refused)
{
    static const char *const wrong[] = {
        "", ",", "0", "0:", ":1", "0:-1", "x:1", "0:1,", "0:1,0:2", "4294967296:1", "0:99999999999",
    };
    struct pod_shutdown_plan plan;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        CHECK_ERR(pod_shutdown_read(str_of(wrong[i]), &plan, NULL), E_INVALID);
    char many[16 * (POD_SHUTDOWN_GROUPS_MAX + 1)] = "";
    size_t n = 0;
    for (int i = 0; i <= POD_SHUTDOWN_GROUPS_MAX; i++)
        n += (size_t)snprintf(many + n, sizeof many - n, "%s%d:1", i ? "," : "", i);
    CHECK_ERR(pod_shutdown_read(str_of(many), &plan, NULL), E_LIMIT);
    CHECK_OK(pod_shutdown_read(str_slice(str_of(many), 0, n - 5), &plan, NULL));
    CHECK_INT(plan.n, POD_SHUTDOWN_GROUPS_MAX);
}

TEST_MAIN
