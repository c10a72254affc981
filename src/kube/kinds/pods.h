/* SPDX-License-Identifier: Apache-2.0 */
/* What the API server does to Pods beside storing them. */
#pragma once

#include "codec/json.h"

/* "Guaranteed", "Burstable", "BestEffort". */
const char *pod_qos_class(const struct json *pod);
/* Add or change a condition of the status. now_s 0: without a time of transition. */
void pod_add_condition(struct arena *a, struct json *pod, const char *type, const char *status,
                       const char *reason, const char *message, int64_t now_s);
