/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which order pods end before their machine stops, and how much time they have (Kubernetes,
 * "Graceful node shutdown", shutdownGracePeriodByPodPriority). Pure, any thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

enum { POD_SHUTDOWN_GROUPS_MAX = 32 };

/* The pods of a priority, up to that of the next group. */
struct pod_shutdown_group {
    int32_t priority;
    uint64_t grace_ms;
};
struct pod_shutdown_plan { /* the lowest priority first */
    struct pod_shutdown_group groups[POD_SHUTDOWN_GROUPS_MAX];
    size_t n;
};

/* "PRIORITY:MILLISECONDS,...", in any order. Errors: E_INVALID: the text, a priority that comes
 * twice; E_LIMIT. */
int pod_shutdown_read(struct str text, struct pod_shutdown_plan *ret, struct err *err);
/* Index of the group of a pod: the highest that it reaches, else the first. n > 0. */
size_t pod_shutdown_find(const struct pod_shutdown_plan *plan, int32_t priority);
