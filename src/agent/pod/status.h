/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status of a Pod object (core/v1 PodStatus) from its life cycle, as the kubelet writes it.
 * Pure.
 */
#pragma once

#include "agent/pod/life.h"

enum pod_condition {
    POD_CONDITION_READY_TO_START, /* PodReadyToStartContainers */
    POD_CONDITION_INITIALIZED,
    POD_CONDITION_READY,
    POD_CONDITION_CONTAINERS_READY,
    POD_CONDITION_DISRUPTION_TARGET, /* only of a pod that the node evicts */
    POD_CONDITIONS
};

/* What the last status said, for lastTransitionTime. Zeroed: nothing. */
struct pod_conditions {
    struct {
        bool is_known, is_true;
        int64_t since_s; /* Unix time */
    } at[POD_CONDITIONS];
};

/* Read them from the status of the object, after a restart. status: NULL is fine. */
void pod_conditions_read(const struct json *status, struct pod_conditions *ret);
/* The object's status has these conditions still: no other writer has changed them. */
bool pod_conditions_are_in(const struct pod_conditions *c, const struct json *status);

struct pod_status_facts {                 /* borrowed */
    const struct str *host_ips, *pod_ips; /* pod_ips: none while the pod has no network */
    size_t n_host_ips, n_pod_ips;
    const char *qos;
    const struct json *object_status; /* for readiness gates; NULL: none is true */
    int64_t now_s;                    /* Unix time */
    bool has_network;
    /* Adds members to the status of a container; NULL: none. */
    void (*extend)(void *arg, struct arena *a, size_t i, struct json *container_status);
    void *arg;
};

/* A new status; updates the memory. */
struct json *pod_status_make(struct arena *a, const struct pod_life *l,
                             const struct pod_status_facts *facts, struct pod_conditions *memory);
/* The condition Ready of the last status. */
static inline bool pod_conditions_is_ready(const struct pod_conditions *c)
{
    return c->at[POD_CONDITION_READY].is_true;
}
