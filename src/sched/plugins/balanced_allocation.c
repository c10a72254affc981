/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeResourcesBalancedAllocation: prefers nodes whose resource use is more balanced with the pod
 * than without it.
 *
 * Since 1.36 the score is the change that the pod makes, between 50 and 100. A pod without requests
 * changes nothing and is not scored, since otherwise the emptiest node would get all such pods.
 */
#include "sched/plugins/resource_shares.h"

#define NAME "NodeResourcesBalancedAllocation"

struct balanced {
    struct sched_plugin plugin;
    struct sched_specs specs;
};
static const struct balanced *balanced_of(const struct sched_plugin *p)
{
    return container_of(p, struct balanced, plugin);
}

static bool asks_for_nothing(const int64_t *requests, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (requests[i] != 0)
            return false;
    return true;
}

static const struct sched_status *pre_score(struct sched_plugin *p, struct sched_cycle *cycle,
                                            const struct sched_node_info *const *nodes, size_t n)
{
    const struct sched_specs *specs = &balanced_of(p)->specs;
    const int64_t *requests = sched_specs_requests(specs, cycle->arena, cycle->pod, false);
    if (asks_for_nothing(requests, specs->n))
        return &sched_skip;
    sched_cycle_set_state(cycle, p, (void *)requests);
    return NULL;
}

static int score_node(const struct sched_specs *specs, const int64_t *requests,
                      const struct sched_node_info *node)
{
    struct place_share shares[SCHED_SPECS_MAX];
    sched_specs_shares(specs, requests, node, false, shares);
    int without = place_score_balanced(shares, specs->n);
    for (uint32_t i = 0; i < specs->n; i++)
        shares[i].used += requests[i];
    return place_score_balance_change(place_score_balanced(shares, specs->n), without);
}

static const struct sched_status *score(struct sched_plugin *p, struct sched_cycle *cycle,
                                        const struct sched_node_info *const *nodes, size_t n,
                                        int64_t *ret)
{
    const struct sched_specs *specs = &balanced_of(p)->specs;
    const int64_t *requests = sched_cycle_state(cycle, p);
    if (!requests) /* PreScore is disabled */
        requests = sched_specs_requests(specs, cycle->arena, cycle->pod, false);
    bool nothing = asks_for_nothing(requests, specs->n);
    for (size_t i = 0; i < n; i++)
        ret[i] = nothing ? 0 : score_node(specs, requests, nodes[i]);
    return NULL;
}

static int create(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err)
{
    struct sched_specs specs;
    int r = sched_specs_read(env->framework->words, json_getc(env->args, "resources"), &specs, err);
    if (r < 0)
        return err_ctx(err, r, "resources");
    struct balanced *b = xnew(struct balanced);
    b->plugin.framework = env->framework;
    b->specs = specs;
    *ret = &b->plugin;
    return 0;
}

static void destroy(struct sched_plugin *p)
{
    struct balanced *b = container_of(p, struct balanced, plugin);
    sched_specs_fini(p->framework->words, &b->specs);
    free(b);
}

const struct sched_plugin_ops sched_balanced_allocation_ops = {
    .name = NAME,
    .create = create,
    .destroy = destroy,
    .pre_score = pre_score,
    .score = score,
};
