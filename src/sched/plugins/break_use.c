/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BreakBalance and BreakLeastRequested: scores of the fractions of CPU, memory and disk (ephemeral
 * storage) that are promised, including the pod. Like the upstream plugins that they extend, the
 * second one assumes a small request for pods without one.
 */
#include "sched/plugins/break_inputs.h"

struct use {
    struct sched_plugin plugin;
    enum place_break_reading reading;
};

static double fraction(int64_t used, int64_t capacity)
{
    return capacity <= 0 ? 0 : MIN((double)MAX(used, 0) / (double)capacity, 1.0);
}

static struct place_break_use use_of(const struct sched_pod *pod,
                                     const struct sched_node_info *node, bool nonzero)
{
    const struct sched_amounts *has = &node->node->allocatable, *used = &node->requested;
    int64_t cpu = nonzero ? node->nonzero_milli_cpu + pod->nonzero_milli_cpu
                          : used->milli_cpu + pod->requests.milli_cpu;
    int64_t memory =
        nonzero ? node->nonzero_memory + pod->nonzero_memory : used->memory + pod->requests.memory;
    return (struct place_break_use){
        .cpu = fraction(cpu, has->milli_cpu),
        .memory = fraction(memory, has->memory),
        .disk = fraction(used->ephemeral + pod->requests.ephemeral, has->ephemeral),
    };
}

static const struct sched_status *score_balance(struct sched_plugin *p, struct sched_cycle *cycle,
                                                const struct sched_node_info *const *nodes,
                                                size_t n, int64_t *ret)
{
    enum place_break_reading reading = container_of(p, struct use, plugin)->reading;
    double max = place_break_max(PLACE_BREAK_BALANCE, reading);
    for (size_t i = 0; i < n; i++)
        ret[i] = break_points(place_break_balance(reading, use_of(cycle->pod, nodes[i], false)),
                              max, false);
    return NULL;
}

static const struct sched_status *score_least(struct sched_plugin *p, struct sched_cycle *cycle,
                                              const struct sched_node_info *const *nodes, size_t n,
                                              int64_t *ret)
{
    enum place_break_reading reading = container_of(p, struct use, plugin)->reading;
    double max = place_break_max(PLACE_BREAK_LEAST, reading);
    for (size_t i = 0; i < n; i++)
        ret[i] = break_points(place_break_least(reading, use_of(cycle->pod, nodes[i], true)), max,
                              false);
    return NULL;
}

static int create(const struct sched_plugin_env *env, bool has_intended, struct sched_plugin **ret,
                  struct err *err)
{
    enum place_break_reading reading;
    int r = break_reading(env->args, has_intended, &reading, err);
    if (r < 0)
        return r;
    struct use *u = xnew(struct use);
    u->reading = reading;
    *ret = &u->plugin;
    return 0;
}

static int create_balance(const struct sched_plugin_env *env, struct sched_plugin **ret,
                          struct err *err)
{
    return create(env, true, ret, err);
}

static int create_least(const struct sched_plugin_env *env, struct sched_plugin **ret,
                        struct err *err)
{
    return create(env, false, ret, err);
}

const struct sched_plugin_ops sched_break_balance_ops = {
    .name = "BreakBalance",
    .create = create_balance,
    .score = score_balance,
};

const struct sched_plugin_ops sched_break_least_requested_ops = {
    .name = "BreakLeastRequested",
    .create = create_least,
    .score = score_least,
};
