/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BreakDeployTime: the node where a pod's images would arrive first, predicted by assigning layers
 * to sources for each node (place_break_deploy_s()), without sending a plan.
 *
 * It scores the most promising nodes (those that hold most, then those that are fastest from the
 * registry) between the slowest and the fastest of them; all others get 0. Of nodes with equal
 * totals the one with the shorter time wins, then the lower name; so with this plugin in a profile
 * decisions are reproducible.
 */
#include "sched/plugins/break_inputs.h"

#include <math.h>

/* Nodes that can send layers of a pod, those with the best uplinks. */
struct peers {
    struct place_break_peer p[PLACE_BREAK_PEERS_MAX];
    const struct sched_node_image_state *of[PLACE_BREAK_PEERS_MAX];
    size_t n;
};

struct deploy_time {
    struct sched_plugin plugin;
    int64_t registry_bps; /* for nodes that do not report it */
    struct break_images images;
    struct break_states states;
    /* The last peers, for the next pod with the same layers, until a node's report changes. */
    struct peers peers;
    struct break_set_id peers_of;
    uint64_t peers_generation;
    int64_t peers_at_ms;
};
static struct deploy_time *deploy_time_of(struct sched_plugin *p)
{
    return container_of(p, struct deploy_time, plugin);
}

/* Computed once for a cycle. */
struct sources {
    const struct break_layers *layers;
    const struct peers *peers;
    /* The last two predictions: `tie` compares the best node with others. */
    struct {
        const struct sched_node_info *node;
        double seconds;
    } known[2];
};

/* ---- waiting for registries ---- */

static const struct sched_status *pre_enqueue(struct sched_plugin *p, struct arena *a,
                                              const struct sched_pod *pod)
{
    return break_images_gate(&deploy_time_of(p)->images, p, pod);
}

static enum sched_hint on_image(struct sched_plugin *p, const struct sched_pod *pod,
                                const struct sched_event *event)
{
    return break_images_hint(&deploy_time_of(p)->images, p, pod);
}

SCHED_EVENTS(events, { SCHED_ON_IMAGE_LAYERS, SCHED_UPDATE, on_image })

/* ---- sources ---- */

static bool is_better_peer(const struct sched_node_image_state *a,
                           const struct sched_node_image_state *b)
{
    return a->uplink_bps != b->uplink_bps ? a->uplink_bps > b->uplink_bps
                                          : str_cmp(a->o.name, b->o.name) < 0;
}

static void add_peer(struct peers *s, const struct sched_node_image_state *state,
                     const struct place_break_set *holds)
{
    size_t at = s->n;
    while (at > 0 && is_better_peer(state, s->of[at - 1]))
        at--;
    if (at == PLACE_BREAK_PEERS_MAX)
        return;
    size_t last = MIN(s->n, (size_t)PLACE_BREAK_PEERS_MAX - 1);
    memmove(s->of + at + 1, s->of + at, (last - at) * sizeof s->of[0]);
    memmove(s->p + at + 1, s->p + at, (last - at) * sizeof *s->p);
    s->of[at] = state;
    s->p[at] = (struct place_break_peer){ .holds = *holds, .uplink_bps = state->uplink_bps };
    s->n = last + 1;
}

/* Keeps those held layers that the node can send. */
static void keep_sendable(const struct break_layers *layers,
                          const struct sched_node_image_state *state, struct place_break_set *s)
{
    for (uint32_t i = 0; i < layers->n && state->n_unsendable; i++)
        if (place_break_in(s, i) && !sched_node_image_state_sends(state, layers->prefix[i]))
            place_break_take(s, i);
}

static bool holds_any(const struct place_break_set *s)
{
    for (size_t i = 0; i < ARRAY_LEN(s->bits); i++)
        if (s->bits[i])
            return true;
    return false;
}

static void find_peers(struct deploy_time *t, const struct sched_cycle *cycle,
                       const struct break_layers *layers)
{
    size_t n;
    const struct sched_framework *f = cycle->framework;
    const struct sched_node_info *const *nodes = sched_cache_nodes(f->cache, &n);
    t->peers.n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct sched_node_image_state *state = break_state(&t->states, f->cache, nodes[i]);
        struct place_break_set holds;
        if (!state || state->upload_slots == 0 || state->uplink_bps == 0 ||
            break_is_old(f, state->reported_ms, BREAK_PEER_OLD_MS))
            continue;
        break_present(&t->states, cycle, layers, nodes[i], state, &holds);
        keep_sendable(layers, state, &holds);
        if (holds_any(&holds))
            add_peer(&t->peers, state, &holds);
    }
}

/* Only layers come from peers: the layers of a whole image are unknown. */
static const struct peers *peers_of(struct deploy_time *t, const struct sched_cycle *cycle,
                                    const struct break_layers *layers)
{
    enum { FRESH_MS = 1000 };
    static const struct peers none;
    const struct sched_framework *f = cycle->framework;
    uint64_t generation = sched_cache_kind_generation(f->cache, SCHED_NODE_IMAGE_STATE) +
                          sched_cache_kind_generation(f->cache, SCHED_NODE);
    int64_t now = f->wall_ms(f->arg);
    if (!layers->prefix || layers->n == 0)
        return &none;
    const struct break_set_id set = break_set_id(layers);
    if (break_set_is(&t->peers_of, &set) && t->peers_generation == generation &&
        now >= t->peers_at_ms && now < t->peers_at_ms + FRESH_MS)
        return &t->peers;
    t->peers_of = set;
    t->peers_generation = generation;
    t->peers_at_ms = now;
    find_peers(t, cycle, layers);
    return &t->peers;
}

static struct sources *sources_of(struct sched_plugin *p, struct sched_cycle *cycle)
{
    struct sources *s = sched_cycle_state(cycle, p);
    if (s)
        return s;
    s = arena_new(cycle->arena, struct sources);
    s->layers = break_layers_of(&deploy_time_of(p)->states, &deploy_time_of(p)->images, cycle);
    s->peers = peers_of(deploy_time_of(p), cycle, s->layers);
    sched_cycle_set_state(cycle, p, s);
    return s;
}

/* ---- times ---- */

static double predict(struct sched_plugin *p, struct sched_cycle *cycle, struct sources *s,
                      const struct sched_node_info *node)
{
    struct deploy_time *t = deploy_time_of(p);
    const struct sched_node_image_state *state =
        break_state(&t->states, cycle->framework->cache, node);
    struct place_break_peer peers[PLACE_BREAK_PEERS_MAX];
    struct place_break_deploy d = { .sizes = s->layers->size,
                                    .n_layers = s->layers->n,
                                    .peers = peers,
                                    .registry_bps = t->registry_bps };
    break_present(&t->states, cycle, s->layers, node, state, &d.present);
    for (size_t i = 0; i < s->peers->n; i++)
        if (s->peers->of[i] != state)
            peers[d.n_peers++] = s->peers->p[i];
    if (state) {
        d.registry_bps = state->registry_bps ? state->registry_bps : t->registry_bps;
        d.downlink_bps = state->downlink_bps;
        d.unpack_bytes_per_second = state->unpack_bytes_per_second;
        d.registry_rtt_us = state->registry_rtt_us;
        d.peer_rtt_us = state->rtt_us;
    }
    return place_break_deploy_s(&d);
}

static double seconds_of(struct sched_plugin *p, struct sched_cycle *cycle,
                         const struct sched_node_info *node)
{
    struct sources *s = sources_of(p, cycle);
    for (size_t i = 0; i < ARRAY_LEN(s->known); i++)
        if (s->known[i].node == node)
            return s->known[i].seconds;
    s->known[1] = s->known[0];
    s->known[0].node = node;
    return s->known[0].seconds = predict(p, cycle, s, node);
}

/* ---- score ---- */

struct break_deploy_time_candidate {
    size_t at; /* of nodes */
    int64_t bytes, registry_bps;
    double seconds;
};

static bool is_better_candidate(const struct break_deploy_time_candidate *a,
                                const struct break_deploy_time_candidate *b,
                                const struct sched_node_info *const *nodes)
{
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes;
    if (a->registry_bps != b->registry_bps)
        return a->registry_bps > b->registry_bps;
    return str_cmp(intern_str(nodes[a->at]->node->name), intern_str(nodes[b->at]->node->name)) < 0;
}

static size_t choose(struct sched_plugin *p, struct sched_cycle *cycle, const struct sources *s,
                     const struct sched_node_info *const *nodes, size_t n,
                     struct break_deploy_time_candidate best[PLACE_BREAK_CANDIDATES])
{
    struct deploy_time *t = deploy_time_of(p);
    size_t n_best = 0;
    for (size_t i = 0; i < n; i++) {
        const struct sched_node_image_state *state =
            break_state(&t->states, cycle->framework->cache, nodes[i]);
        struct place_break_set present;
        struct break_deploy_time_candidate c = { .at = i };
        break_present(&t->states, cycle, s->layers, nodes[i], state, &present);
        for (uint32_t k = 0; k < s->layers->n; k++)
            c.bytes += place_break_in(&present, k) ? s->layers->size[k] : 0;
        c.registry_bps = state && state->registry_bps ? state->registry_bps : t->registry_bps;
        size_t at = n_best;
        while (at > 0 && is_better_candidate(&c, &best[at - 1], nodes))
            at--;
        if (at == PLACE_BREAK_CANDIDATES)
            continue;
        size_t last = MIN(n_best, (size_t)PLACE_BREAK_CANDIDATES - 1);
        memmove(best + at + 1, best + at, (last - at) * sizeof *best);
        best[at] = c;
        n_best = last + 1;
    }
    return n_best;
}

/* Is the node's report of its layers, or of its speed, old? */
static bool is_old(const struct sched_framework *f, const struct sched_node_image_state *s)
{
    return s && (break_is_old(f, s->reported_ms, BREAK_OLD_MS) ||
                 (s->registry_bps && break_is_old(f, s->measured_ms, BREAK_OLD_MS)));
}

static const struct sched_status *score(struct sched_plugin *p, struct sched_cycle *cycle,
                                        const struct sched_node_info *const *nodes, size_t n,
                                        int64_t *ret)
{
    struct sources *s = sources_of(p, cycle);
    struct break_deploy_time_candidate best[PLACE_BREAK_CANDIDATES];
    size_t n_best = choose(p, cycle, s, nodes, n, best);
    double fastest = HUGE_VAL, slowest = 0;
    for (size_t i = 0; i < n_best; i++) {
        best[i].seconds = predict(p, cycle, s, nodes[best[i].at]);
        fastest = MIN(fastest, best[i].seconds);
        if (isfinite(best[i].seconds))
            slowest = MAX(slowest, best[i].seconds);
    }
    memset(ret, 0, n * sizeof *ret);
    for (size_t i = 0; i < n_best; i++) {
        const struct sched_node_image_state *state =
            break_state(&deploy_time_of(p)->states, cycle->framework->cache, nodes[best[i].at]);
        ret[best[i].at] = break_points(place_break_time(best[i].seconds, fastest, slowest),
                                       PLACE_BREAK_LAMBDA, is_old(cycle->framework, state));
    }
    return NULL;
}

static int tie(struct sched_plugin *p, struct sched_cycle *cycle, const struct sched_node_info *a,
               const struct sched_node_info *b)
{
    double x = seconds_of(p, cycle, a), y = seconds_of(p, cycle, b);
    if (x != y)
        return x < y ? -1 : 1;
    return str_cmp(intern_str(a->node->name), intern_str(b->node->name));
}

/* ---- life ---- */

enum { REGISTRY_BPS_DEFAULT = 100000000 };

static int create(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err)
{
    const struct json *bps = json_getc(env->args, "registryBitsPerSecond");
    int64_t registry_bps = REGISTRY_BPS_DEFAULT;
    if (bps && (json_int(bps, &registry_bps) < 0 || registry_bps < 1))
        return err_set(err, E_INVALID, "registryBitsPerSecond: Invalid value: must be positive");
    struct break_images images;
    int r = break_images_read(env->args, &images, err);
    if (r < 0)
        return r;
    struct deploy_time *t = xnew(struct deploy_time);
    t->registry_bps = registry_bps;
    t->images = images;
    break_states_init(&t->states, env->framework->words);
    *ret = &t->plugin;
    return 0;
}

static void destroy(struct sched_plugin *p)
{
    struct deploy_time *t = deploy_time_of(p);
    break_states_fini(&t->states);
    free(t);
}

const struct sched_plugin_ops sched_break_deploy_time_ops = {
    .name = "BreakDeployTime",
    .create = create,
    .destroy = destroy,
    .events = events,
    .pre_enqueue = pre_enqueue,
    .score = score,
    .tie = tie,
};
