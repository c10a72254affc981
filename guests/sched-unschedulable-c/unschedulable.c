/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scheduler plugin: kube-scheduler's NodeUnschedulable. Nodes with spec.unschedulable are left
 * out, unless the pod tolerates the taint that goes with it. `./dev bench scheduler` compares it
 * with the native one.
 */
#include <dormouse_scheduler.h>

/* Field numbers of k8s.io/api/core/v1. */
#define NODE_SPEC_UNSCHEDULABLE "\2\4"
#define POD_SPEC                "\2"
enum { TOLERATIONS = 22, KEY = 1, OPERATOR = 2, VALUE = 3, EFFECT = 4 };

static bool is_tolerated;

static bool tolerates(struct ds_str toleration)
{
    struct ds_str key = ds_field(toleration, KEY), effect = ds_field(toleration, EFFECT);
    bool exists = ds_is(ds_field(toleration, OPERATOR), "Exists");
    if (effect.n && !ds_is(effect, "NoSchedule"))
        return false;
    if (key.n == 0)
        return exists;
    return ds_is(key, "node.kubernetes.io/unschedulable") &&
           (exists || ds_field(toleration, VALUE).n == 0);
}

int32_t ds_prefilter(void)
{
    struct ds_str at = ds_pod_field(POD_SPEC, NULL), item;
    is_tolerated = false;
    while (ds_next(&at, TOLERATIONS, &item))
        is_tolerated |= tolerates(item);
    return DS_SUCCESS;
}

DS_HOOK(filter)
{
    if (is_tolerated || !ds_node_number(DS_THIS_NODE, NODE_SPEC_UNSCHEDULABLE, 0))
        return DS_SUCCESS;
    return ds_refuse(DS_UNRESOLVABLE, "node(s) were unschedulable");
}
