/* SPDX-License-Identifier: Apache-2.0 */
/* Where the missing layers of an image come from; see orchestrate.h. */
#include "image/orchestrate.h"

#include <assert.h>
#include <math.h>

struct orchestrate_work {
    const struct image_orchestrate *o;
    struct place_break_set settled; /* on the node, or by a task that exists */
    struct place_break_peer peers[PLACE_BREAK_PEERS_MAX];
    int peer_nodes[PLACE_BREAK_PEERS_MAX];
    size_t n_peers;
    struct image_tasks tasks;
};

const char *image_task_kind_name(enum image_task_kind k)
{
    static const char *const names[] = { "registry", "peer", "after", "join" };
    return names[k];
}

void image_tasks_fini(struct image_tasks *t)
{
    vec_fini(&t->all);
}

/* ---- sources ---- */

static bool is_alive(const struct image_orchestrate *o, uint32_t node)
{
    const struct image_orchestrate_node *n = &o->nodes[node];
    return node != o->node && n->silent_ms <= IMAGE_ORCHESTRATE_FRESH_MS && n->uplink_bps > 0;
}

static bool is_source(const struct image_orchestrate *o, uint32_t node)
{
    return is_alive(o, node) && o->nodes[node].slots > 0;
}

static bool can_send(const struct image_orchestrate_node *n, size_t layer)
{
    return place_break_in(&n->holds, layer) && !place_break_in(&n->unsendable, layer);
}

static struct place_break_set sendable(const struct image_orchestrate *o,
                                       const struct image_orchestrate_node *n)
{
    struct place_break_set s = { 0 };
    for (size_t i = 0; i < o->n_layers; i++)
        if (can_send(n, i))
            place_break_put(&s, i);
    return s;
}

static bool holds_something(const struct orchestrate_work *w,
                            const struct image_orchestrate_node *n)
{
    for (size_t i = 0; i < w->o->n_layers; i++)
        if (!place_break_in(&w->settled, i) && can_send(n, i))
            return true;
    return false;
}

/* Nodes that have a missing layer; if there are too many, the fastest. */
static void list_peers(struct orchestrate_work *w)
{
    for (uint32_t i = 0; i < w->o->n_nodes; i++) {
        const struct image_orchestrate_node *n = &w->o->nodes[i];
        if (!is_source(w->o, i) || !holds_something(w, n))
            continue;
        size_t at = w->n_peers;
        while (at > 0 && w->peers[at - 1].uplink_bps < n->uplink_bps)
            at--;
        if (at == PLACE_BREAK_PEERS_MAX)
            continue;
        size_t moved = MIN(w->n_peers, (size_t)PLACE_BREAK_PEERS_MAX - 1) - at;
        memmove(&w->peers[at + 1], &w->peers[at], moved * sizeof *w->peers);
        memmove(&w->peer_nodes[at + 1], &w->peer_nodes[at], moved * sizeof *w->peer_nodes);
        w->peers[at] =
            (struct place_break_peer){ sendable(w->o, n), n->uplink_bps, n->queued_bytes };
        w->peer_nodes[at] = (int)i;
        w->n_peers = MIN(w->n_peers + 1, (size_t)PLACE_BREAK_PEERS_MAX);
    }
}

static int node_of(const struct orchestrate_work *w, int peer)
{
    return peer == PLACE_BREAK_REGISTRY ? peer : w->peer_nodes[peer];
}

/* ---- running transfers ---- */

static struct image_task *add_task(struct orchestrate_work *w, enum image_task_kind kind,
                                   uint32_t layer)
{
    struct image_task t = { .kind = kind, .layer = layer, .to = w->o->layers[layer].size };
    vec_push(&w->tasks.all, t);
    place_break_put(&w->settled, layer);
    return &w->tasks.all.p[w->tasks.all.n - 1];
}

static const struct image_orchestrate_flight *flight_to_us(const struct image_orchestrate *o,
                                                           uint32_t layer)
{
    for (size_t i = 0; i < o->n_flights; i++)
        if (o->flights[i].layer == layer && o->flights[i].to == o->node &&
            !o->flights[i].is_reported)
            return &o->flights[i];
    return NULL;
}

static bool any_source_holds(const struct image_orchestrate *o, uint32_t layer)
{
    for (uint32_t i = 0; i < o->n_nodes; i++)
        if (is_source(o, i) && can_send(&o->nodes[i], layer))
            return true;
    return false;
}

/* How many fetch the layer from each node. Given, free(). */
static uint32_t *count_fetchers(const struct image_orchestrate *o, uint32_t layer)
{
    uint32_t *n = xnew_n(uint32_t, o->n_nodes);
    for (size_t i = 0; i < o->n_flights; i++) {
        const struct image_orchestrate_flight *f = &o->flights[i];
        if (f->layer == layer && f->from >= 0 && (uint32_t)f->from < o->n_nodes)
            n[f->from]++;
    }
    return n;
}

/*
 * The node that is going to have the layer first and may still serve one more; NULL: every node
 * that waits for it is one of enough, so this one asks the registry.
 */
static const struct image_orchestrate_flight *flight_to_follow(const struct image_orchestrate *o,
                                                               uint32_t layer)
{
    const struct image_orchestrate_flight *best = NULL;
    scoped(free_scoped) uint32_t *fetchers = count_fetchers(o, layer);
    for (size_t i = 0; i < o->n_flights; i++) {
        const struct image_orchestrate_flight *f = &o->flights[i];
        if (f->layer != layer || f->from != PLACE_BREAK_REGISTRY || f->to >= o->n_nodes ||
            !is_alive(o, f->to) || fetchers[f->to] >= IMAGE_ORCHESTRATE_STORM - 1)
            continue;
        if (!best || f->left_ms < best->left_ms)
            best = f;
    }
    return best;
}

static void use_flights(struct orchestrate_work *w)
{
    const struct image_orchestrate *o = w->o;
    for (uint32_t i = 0; i < o->n_layers; i++) {
        const struct image_orchestrate_flight *f;
        if (place_break_in(&w->settled, i))
            continue;
        if ((f = flight_to_us(o, i)) != NULL) {
            struct image_task *t = add_task(w, IMAGE_TASK_JOIN, i);
            t->source = f->from;
            t->expect_ms = f->left_ms;
        } else if (!any_source_holds(o, i) && (f = flight_to_follow(o, i)) != NULL) {
            struct image_task *t = add_task(w, IMAGE_TASK_AFTER, i);
            double rate = (double)o->nodes[f->to].uplink_bps;
            if (o->downlink_bps > 0)
                rate = fmin(rate, (double)o->downlink_bps);
            t->source = (int)f->to;
            t->expect_ms = f->left_ms + (int64_t)((double)o->layers[i].size * 8000 / rate);
            if (o->registry_bps > 0)
                t->alternatives[t->n_alternatives++] = PLACE_BREAK_REGISTRY;
        }
    }
}

/* ---- the rest ---- */

static bool assign_rest(struct orchestrate_work *w)
{
    int64_t sizes[PLACE_BREAK_LAYERS_MAX];
    struct place_break_plan *plan = xnew(struct place_break_plan);
    for (size_t i = 0; i < w->o->n_layers; i++)
        sizes[i] = w->o->layers[i].size;
    struct place_break_deploy d = { .sizes = sizes,
                                    .n_layers = w->o->n_layers,
                                    .present = w->settled,
                                    .peers = w->peers,
                                    .n_peers = w->n_peers,
                                    .registry_bps = w->o->registry_bps,
                                    .downlink_bps = w->o->downlink_bps,
                                    .registry_rtt_us = w->o->registry_rtt_us,
                                    .peer_rtt_us = w->o->peer_rtt_us,
                                    .unpack_bytes_per_second = w->o->unpack_bytes_per_second };
    bool ok = place_break_assign(&d, plan);
    for (size_t i = 0; ok && i < plan->n; i++) {
        const struct place_break_part *p = &plan->parts[i];
        bool at_peer = p->source != PLACE_BREAK_REGISTRY;
        struct image_task t = { .kind = at_peer ? IMAGE_TASK_PEER : IMAGE_TASK_REGISTRY,
                                .layer = p->layer,
                                .from = p->from,
                                .to = p->to,
                                .source = node_of(w, p->source),
                                .n_alternatives = p->n_alternatives,
                                .expect_ms = (int64_t)ceil(p->finish_s * 1000) };
        for (uint32_t k = 0; k < p->n_alternatives; k++)
            t.alternatives[k] = node_of(w, p->alternatives[k]);
        vec_push(&w->tasks.all, t);
    }
    w->tasks.seconds = plan->seconds;
    free(plan);
    return ok;
}

/* Urgent layers, then by size; of one layer, its ranges in order. */
static int by_priority(const void *a, const void *b, void *arg)
{
    const struct image_orchestrate_layer *layers = arg;
    const struct image_task *x = a, *y = b;
    const struct image_orchestrate_layer *l = &layers[x->layer], *m = &layers[y->layer];
    if (l->is_urgent != m->is_urgent)
        return l->is_urgent ? -1 : 1;
    if (l->size != m->size)
        return l->size > m->size ? -1 : 1;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static void put_in_order(struct orchestrate_work *w)
{
    struct image_tasks *t = &w->tasks;
    if (t->all.n)
        qsort_r(t->all.p, t->all.n, sizeof *t->all.p, by_priority, (void *)w->o->layers);
    for (size_t i = 1; i < t->all.n; i++)
        t->all.p[i].priority =
            t->all.p[i - 1].priority + (t->all.p[i].layer != t->all.p[i - 1].layer);
}

bool image_orchestrate(const struct image_orchestrate *o, struct image_tasks *ret)
{
    struct orchestrate_work *w = xnew(struct orchestrate_work);
    assert(o->n_layers <= PLACE_BREAK_LAYERS_MAX && o->node < o->n_nodes);
    w->o = o;
    w->settled = o->nodes[o->node].holds;
    use_flights(w);
    list_peers(w);
    bool ok = assign_rest(w);
    for (size_t i = 0; ok && i < w->tasks.all.n; i++) {
        const struct image_task *t = &w->tasks.all.p[i];
        if (t->kind >= IMAGE_TASK_AFTER)
            w->tasks.seconds = fmax(w->tasks.seconds, (double)t->expect_ms / 1000);
    }
    put_in_order(w);
    if (ok)
        *ret = w->tasks;
    else
        image_tasks_fini(&w->tasks);
    free(w);
    return ok;
}
