/* SPDX-License-Identifier: Apache-2.0 */
/* On which nodes a pod of a DaemonSet may be: upstream's NodeShouldRunDaemonPod(). Pure. */
#pragma once

#include "workload/frame/controller.h"

struct daemon_fit {
    bool should_run; /* a pod is to be made there */
    bool may_stay;   /* one that is there stays */
};

/* pod: its spec, with the tolerations of daemons. node: a claim of workload_nodes. */
struct daemon_fit daemonset_node_fit(struct arena *a, const struct json *pod_spec,
                                     const struct workload_claim *node);
/* Adds the tolerations that every daemon has. */
void daemonset_add_tolerations(struct arena *a, struct json *pod_spec);
