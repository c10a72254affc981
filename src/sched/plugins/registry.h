/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All native plugins: a row here, and plugins/<name>.c with `sched_<name>_ops`. The name that
 * configurations use is in the table of functions.
 */
#pragma once

#include "sched/framework/profile.h"

#define SCHED_NATIVE_PLUGINS(X)                                                                    \
    X(balanced_allocation)                                                                         \
    X(break_balance)                                                                               \
    X(break_deploy_time)                                                                           \
    X(break_layer_locality)                                                                        \
    X(break_least_requested)                                                                       \
    X(break_network)                                                                               \
    X(default_binder)                                                                              \
    X(default_preemption)                                                                          \
    X(image_locality)                                                                              \
    X(inter_pod_affinity)                                                                          \
    X(node_affinity)                                                                               \
    X(node_declared_features)                                                                      \
    X(node_name)                                                                                   \
    X(node_ports)                                                                                  \
    X(node_resources_fit)                                                                          \
    X(node_unschedulable)                                                                          \
    X(node_volume_limits)                                                                          \
    X(pod_topology_spread)                                                                         \
    X(priority_sort)                                                                               \
    X(scheduling_gates)                                                                            \
    X(taint_toleration)                                                                            \
    X(volume_binding)                                                                              \
    X(volume_restrictions)                                                                         \
    X(volume_zone)

#define SCHED_NATIVE_PLUGIN_OPS(name) extern const struct sched_plugin_ops sched_##name##_ops;
SCHED_NATIVE_PLUGINS(SCHED_NATIVE_PLUGIN_OPS)
#undef SCHED_NATIVE_PLUGIN_OPS
