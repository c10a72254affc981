/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pod/shutdown.h"

#include <stdlib.h>

static int read_group(struct str word, struct pod_shutdown_group *ret, struct err *err)
{
    struct str priority, grace;
    int64_t p;
    if (!str_cut(word, ':', &priority, &grace) ||
        parse_i64(priority, INT32_MIN, INT32_MAX, &p) < 0 ||
        parse_u64(grace, 0, INT32_MAX, &ret->grace_ms) < 0)
        return err_set(err, E_INVALID, "'" STR_FMT "' is no PRIORITY:MILLISECONDS", STR_ARG(word));
    ret->priority = (int32_t)p;
    return 0;
}

static int by_priority(const void *a, const void *b)
{
    const struct pod_shutdown_group *x = a, *y = b;
    return (x->priority > y->priority) - (x->priority < y->priority);
}

int pod_shutdown_read(struct str text, struct pod_shutdown_plan *ret, struct err *err)
{
    struct pod_shutdown_plan plan = { 0 };
    for (bool is_more = true; is_more;) {
        struct str word;
        is_more = str_cut(text, ',', &word, &text);
        if (plan.n == POD_SHUTDOWN_GROUPS_MAX)
            return err_set(err, E_LIMIT, "more than %d priorities", POD_SHUTDOWN_GROUPS_MAX);
        int r = read_group(word, &plan.groups[plan.n++], err);
        if (r < 0)
            return r;
    }
    qsort(plan.groups, plan.n, sizeof plan.groups[0], by_priority);
    for (size_t i = 1; i < plan.n; i++) {
        if (plan.groups[i].priority == plan.groups[i - 1].priority)
            return err_set(err, E_INVALID, "the priority %d comes twice", plan.groups[i].priority);
    }
    *ret = plan;
    return 0;
}

size_t pod_shutdown_find(const struct pod_shutdown_plan *plan, int32_t priority)
{
    size_t i = 0;
    while (i + 1 < plan->n && plan->groups[i + 1].priority <= priority)
        i++;
    return i;
}
