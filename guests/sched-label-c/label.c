/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scheduler plugin: pods go to nodes that have a label, whose name is the configuration, and
 * among them to those with few pods.
 */
#include <dormouse_scheduler.h>

#include <stdio.h>

static const char *key(void)
{
    struct ds_str config = ds_config(); /* ends with a NUL */
    return config.p ? config.p : "";
}

DS_HOOK(filter)
{
    char why[128];
    if (ds_label(ds_node(ds_node_name()), key()).p)
        return DS_SUCCESS;
    (void)snprintf(why, sizeof why, "the node has no label %.80s", key());
    return ds_refuse(DS_UNSCHEDULABLE, why);
}

DS_HOOK64(score)
{
    size_t pods = ds_count(ds_node_pods(ds_node_name()));
    return ds_score(pods > 100 ? 0 : 100 - (int32_t)pods);
}
