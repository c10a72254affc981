/* SPDX-License-Identifier: Apache-2.0 */
/* BreakNetwork: nodes with a fast uplink and a short way to the registry and to other nodes. */
#include "sched/plugins/break_inputs.h"

struct network {
    struct sched_plugin plugin;
    enum place_break_reading reading;
    struct break_states states;
};

static const struct sched_status *score(struct sched_plugin *p, struct sched_cycle *cycle,
                                        const struct sched_node_info *const *nodes, size_t n,
                                        int64_t *ret)
{
    struct network *net = container_of(p, struct network, plugin);
    struct arena *a = cycle->arena;
    int64_t *bandwidth = arena_new_n(a, int64_t, n), *rtt = arena_new_n(a, int64_t, n);
    int64_t *scratch = arena_new_n(a, int64_t, n);
    uint32_t *bandwidth_rank = arena_new_n(a, uint32_t, n);
    uint32_t *rtt_rank = arena_new_n(a, uint32_t, n);
    bool *is_old = arena_new_n(a, bool, n);
    for (size_t i = 0; i < n; i++) {
        const struct sched_node_image_state *s =
            break_state(&net->states, cycle->framework->cache, nodes[i]);
        bandwidth[i] = s ? s->uplink_bps : 0;
        rtt[i] = s ? s->rtt_us : 0;
        /* Who has never measured stands in the middle, and that does not age. */
        is_old[i] = (bandwidth[i] || rtt[i]) &&
                    break_is_old(cycle->framework, s->measured_ms, BREAK_OLD_MS);
    }
    place_break_ranks(bandwidth, n, true, scratch, bandwidth_rank);
    place_break_ranks(rtt, n, false, scratch, rtt_rank);
    double max = place_break_max(PLACE_BREAK_NETWORK, net->reading);
    for (size_t i = 0; i < n; i++)
        ret[i] = break_points(place_break_network(net->reading, n, bandwidth_rank[i], rtt_rank[i]),
                              max, is_old[i]);
    return NULL;
}

static int create(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err)
{
    enum place_break_reading reading;
    int r = break_reading(env->args, false, &reading, err);
    if (r < 0)
        return r;
    struct network *net = xnew(struct network);
    net->reading = reading;
    break_states_init(&net->states, env->framework->words);
    *ret = &net->plugin;
    return 0;
}

static void destroy(struct sched_plugin *p)
{
    struct network *net = container_of(p, struct network, plugin);
    break_states_fini(&net->states);
    free(net);
}

const struct sched_plugin_ops sched_break_network_ops = {
    .name = "BreakNetwork",
    .create = create,
    .destroy = destroy,
    .score = score,
};
