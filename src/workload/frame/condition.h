/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions and counters of a status. */
#pragma once

#include "codec/json.h"

struct workload_condition {
    const char *type, *status, *reason;
    struct str message;
    int64_t at_s; /* now */
    const char
        *other_time; /* one more member with the time, such as "lastUpdateTime"; NULL: none */
    bool is_renewed; /* replace also one with the same status and reason */
};

/* NULL: there is none of this type. */
struct json *workload_condition_find(const struct json *status, const char *type);
/*
 * Nothing changes if there is one of the type with the same status and reason; else it is replaced,
 * and keeps its lastTransitionTime if its status stays.
 */
void workload_condition_set(struct arena *a, struct json *status,
                            const struct workload_condition *c);
void workload_condition_remove(struct json *status, const char *type);

/* A counter that is 0 is left out, as upstream's encoder does. */
void workload_status_count(struct arena *a, struct json *status, const char *name, int64_t n);
