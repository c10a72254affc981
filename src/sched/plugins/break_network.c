/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BreakNetwork: prefers nodes with a fast uplink and a short round trip to other nodes and the
 * registry. Ranks are among all nodes of the cluster, even if a filter has refused some of them for
 * this pod.
 */
#include "sched/plugins/break_inputs.h"

struct network {
    struct sched_plugin plugin;
    enum place_break_reading reading;
    struct break_states states;
    bool is_counted; /* the orders contain all nodes, and are kept up to date */
    struct place_break_order bandwidth, rtt;
};

static struct network *network_of(struct sched_plugin *p)
{
    return container_of(p, struct network, plugin);
}

/* ---- ranks among all nodes ---- */

static void count_state(struct network *net, const struct sched_object *o)
{
    const struct sched_node_image_state *s = sched_node_image_state_of(o);
    place_break_order_put(&net->bandwidth, s->uplink_bps);
    place_break_order_put(&net->rtt, sched_node_image_state_way_us(s));
}

static void uncount_state(struct network *net, const struct sched_object *o)
{
    const struct sched_node_image_state *s = sched_node_image_state_of(o);
    place_break_order_take(&net->bandwidth, s->uplink_bps);
    place_break_order_take(&net->rtt, sched_node_image_state_way_us(s));
}

static const struct sched_object *find_as(const struct sched_plugin *p, enum sched_kind kind,
                                          const struct sched_object *named)
{
    return sched_cache_get(p->framework->cache, kind, STR(""), named->name);
}

/* The NodeImageState of a node that does not exist does not count. */
static void changed(struct sched_plugin *p, const struct sched_event *event)
{
    struct network *net = network_of(p);
    const struct sched_object *any = event->after ? event->after : event->before;
    if (!net->is_counted)
        return;
    if (event->resource == SCHED_ON_NODE_IMAGE_STATE && find_as(p, SCHED_NODE, any)) {
        if (event->before)
            uncount_state(net, event->before);
        if (event->after)
            count_state(net, event->after);
    } else if (event->resource == SCHED_ON_NODE && !(event->before && event->after)) {
        const struct sched_object *state = find_as(p, SCHED_NODE_IMAGE_STATE, any);
        if (state)
            (event->after ? count_state : uncount_state)(net, state);
    }
}

static void count_all(struct network *net)
{
    struct sched_plugin *p = &net->plugin;
    map_each (e, sched_cache_all(p->framework->cache, SCHED_NODE_IMAGE_STATE))
        if (find_as(p, SCHED_NODE, e->value))
            count_state(net, e->value);
    net->is_counted = true;
}

static const struct sched_status *score(struct sched_plugin *p, struct sched_cycle *cycle,
                                        const struct sched_node_info *const *nodes, size_t n,
                                        int64_t *ret)
{
    struct network *net = network_of(p);
    const struct sched_cache *cache = p->framework->cache;
    size_t n_nodes, n_pods;
    if (!net->is_counted)
        count_all(net);
    sched_cache_count(cache, &n_nodes, &n_pods);
    double max = place_break_max(PLACE_BREAK_NETWORK, net->reading);
    for (size_t i = 0; i < n; i++) {
        const struct sched_node_image_state *s = break_state(&net->states, cache, nodes[i]);
        int64_t bandwidth = s ? s->uplink_bps : 0;
        int64_t rtt = s ? sched_node_image_state_way_us(s) : 0;
        /* A node without measurements has the median rank, which does not age. */
        bool is_old =
            (bandwidth || rtt) && break_is_old(p->framework, s->measured_ms, BREAK_OLD_MS);
        double points = place_break_network(net->reading, n_nodes,
                                            place_break_rank(&net->bandwidth, n_nodes, bandwidth),
                                            place_break_rank(&net->rtt, n_nodes, rtt));
        ret[i] = break_points(points, max, is_old);
    }
    return NULL;
}

/* ---- life ---- */

static int create(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err)
{
    enum place_break_reading reading;
    int r = break_reading(env->args, false, &reading, err);
    if (r < 0)
        return r;
    struct network *net = xnew(struct network);
    net->reading = reading;
    net->bandwidth.largest_is_best = true;
    break_states_init(&net->states, env->framework->words);
    *ret = &net->plugin;
    return 0;
}

static void destroy(struct sched_plugin *p)
{
    struct network *net = network_of(p);
    break_states_fini(&net->states);
    place_break_order_fini(&net->bandwidth);
    place_break_order_fini(&net->rtt);
    free(net);
}

const struct sched_plugin_ops sched_break_network_ops = {
    .name = "BreakNetwork",
    .create = create,
    .destroy = destroy,
    .changed = changed,
    .score = score,
};
