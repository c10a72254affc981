/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What containers and whole pods request and may use at most, and what follows from it for control
 * groups, by the rules of the kubelet. Pure, any thread.
 */
#pragma once

#include "agent/pod/spec.h"

enum { POD_AMOUNT_NONE = -1 };

/* Amounts of one kind, requests or limits; POD_AMOUNT_NONE: not stated. */
struct pod_amounts {
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t ephemeral_bytes; /* ephemeral-storage */
};
#define POD_AMOUNTS_NONE ((struct pod_amounts){ POD_AMOUNT_NONE, POD_AMOUNT_NONE, POD_AMOUNT_NONE })

struct pod_need {
    struct pod_amounts requests, limits;
};

/* Of a container. A request that is not stated is the limit, as the server sets it.
 * Errors: E_INVALID, a quantity that does not parse. */
int pod_need_of_container(const struct pod_container *c, struct pod_need *ret, struct err *err);
/*
 * Of a pod: sums of the containers and sidecars, or the largest init container with the sidecars
 * started before it; the pod's own resources replace these sums; the overhead is added to requests
 * and to limits that are stated.
 */
int pod_need_of_pod(const struct pod_spec *p, struct pod_need *ret, struct err *err);

/* status.qosClass */
enum pod_qos { POD_QOS_GUARANTEED, POD_QOS_BURSTABLE, POD_QOS_BEST_EFFORT };
enum pod_qos pod_qos_class(const struct pod_spec *p);
const char *pod_qos_name(enum pod_qos qos); /* "Guaranteed", "Burstable", "BestEffort" */

enum {
    POD_CPU_PERIOD_US = 100000,
    POD_CPU_SHARES_MIN = 2,
    POD_CPU_SHARES_MAX = 262144,
    POD_CPU_QUOTA_MIN_US = 1000
};

/* Settings of a control group, in the terms of version 1. */
struct pod_cgroup {
    uint64_t cpu_shares;  /* at least POD_CPU_SHARES_MIN */
    int64_t cpu_quota_us; /* of a period of POD_CPU_PERIOD_US; 0: no limit */
    int64_t memory_bytes; /* 0: no limit */
};
/* cpu.shares and cpu.cfs_quota_us of an amount of CPU; POD_AMOUNT_NONE and 0: the minimum of
 * shares, no quota. */
uint64_t pod_cpu_shares(int64_t cpu_milli);
int64_t pod_cpu_quota_us(int64_t cpu_milli);
/* cpu.weight (version 2) of cpu.shares, 1 to 10000. */
uint64_t pod_cpu_weight(uint64_t shares);

/* Of the pod's own group: quota and memory only if every container states the limit. */
int pod_cgroup_of_pod(const struct pod_spec *p, struct pod_cgroup *ret, struct err *err);
int pod_cgroup_of_container(const struct pod_spec *p, const struct pod_container *c,
                            struct pod_cgroup *ret, struct err *err);
/*
 * Path of the pod's group below the agent's: "pod<uid>" for Guaranteed pods, "burstable/pod<uid>",
 * "besteffort/pod<uid>".
 */
struct str pod_cgroup_path(struct arena *a, const struct pod_spec *p);

/* oom_score_adj of a container's processes; memory_bytes: of the machine. */
int pod_oom_score_adj(const struct pod_spec *p, const struct pod_container *c,
                      int64_t memory_bytes);
