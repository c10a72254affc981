/* SPDX-License-Identifier: Apache-2.0 */
/* The API server's processing of Pods besides storing them. */
#pragma once

#include "codec/json.h"

/* "Guaranteed", "Burstable", "BestEffort". */
const char *kind_pod_qos_class(const struct json *pod);
/* Report settings of a new pod that are allowed but probably mistakes. */
void pod_warnings(struct arena *a, const struct json *pod, void (*say)(void *arg, struct str text),
                  void *arg);
/* Add or change a condition of the status. now_s 0: without a transition time. */
void kind_pod_add_condition(struct arena *a, struct json *pod, const char *type, const char *status,
                            const char *reason, const char *message, int64_t now_s);
