/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a pod that is bound to this node may run here, as kubelet decides once for each pod: a
 * scheduler may have been wrong, or another client has set spec.nodeName. Pure, any thread.
 */
#pragma once

#include "agent/pod/spec.h"

enum { POD_ADMISSION_TEXT_MAX = 256 };

/* Of the pods that were admitted and have not ended. */
struct pod_admission_used {
    int64_t cpu_milli, memory_bytes, ephemeral_bytes;
    size_t pods;
};
void pod_admission_add(struct pod_admission_used *to, const struct pod_spec *p);

struct pod_refusal {
    char reason[POD_ADMISSION_TEXT_MAX]; /* "OutOfcpu", "NodeAffinity", "TaintToleration" */
    char message[POD_ADMISSION_TEXT_MAX];
};
/*
 * pod, node: the objects. false: refused. max_pods: beside the node's allocatable. Critical pods
 * are not refused for want of resources: others are evicted.
 */
bool pod_admission_check(const struct json *pod, const struct pod_spec *spec,
                         const struct json *node, const struct pod_admission_used *used,
                         size_t max_pods, struct pod_refusal *ret);
/*
 * Whether the sysctls of a pod are allowed: those that only count for the pod, and do no harm to
 * others; further ones by the machine's list ("net.core.somaxconn", "kernel.msg*"). false: refused.
 */
bool pod_admission_sysctls(const struct pod_spec *spec, const char *const *allowed,
                           size_t n_allowed, struct pod_refusal *ret);
/* false: it names an AppArmor profile, and the agent applies none. */
bool pod_admission_profiles(const struct json *pod, struct pod_refusal *ret);
