/* SPDX-License-Identifier: Apache-2.0 */
/* A trace against the caches of a cluster; see replay.h. */
#include "image/replay.h"

#include "base/map.h"
#include "base/random.h"
#include "image/prefetch.h"

struct node {
    struct image_cache *cache;
    uint32_t zone;
    uint64_t busy_until_ms;
    struct image_prefetch_judge judge;
};

struct held { /* a deployment whose layers are pinned on a node */
    uint64_t until_ms;
    uint32_t node, layer;
};

struct replay {
    const struct image_trace *t;
    const struct image_replay_options *o;
    struct node *nodes;
    uint32_t n_zones, turn;
    struct rng rng;
    VEC(struct held) held; /* a queue: all are held equally long */
    size_t n_released;
    struct image_demand *demand;
    struct map layer_ids; /* key -> number + 1 */
    struct image_prefetch_layer *wanted;
    uint64_t prefetch_at_ms, now_ms;
    double fetched_s;
    struct image_replay_result result;
};

void image_replay_options_default(struct image_replay_options *o)
{
    *o = (struct image_replay_options){ .cache.capacity = UINT64_C(1000) << 20,
                                        .n_nodes = 10,
                                        .hold_ms = 60000,
                                        .seed = 42,
                                        .registry_bps = 100000000,
                                        .peer_bps = 500000000 };
}

static const uint8_t *key_of(const struct replay *r, uint32_t layer)
{
    return r->t->layers.p[layer].key;
}

/* ---- nodes ---- */

static unsigned holders(void *arg, const uint8_t *key)
{
    const struct replay *r = arg;
    unsigned n = 0;
    for (uint32_t i = 0; i < r->o->n_nodes; i++)
        n += image_cache_has(r->nodes[i].cache, key);
    return n - 1; /* the node that asks has it */
}

/* Capacities with the sum of equal ones: pairs of nodes give and take the same. */
static uint64_t draw_capacity(struct replay *r, uint32_t node, uint64_t *owed)
{
    uint64_t mean = r->o->cache.capacity, half = mean / 2;
    if (!r->o->drawn_sizes || (node % 2 == 0 && node + 1 == r->o->n_nodes))
        return mean;
    if (node % 2)
        return mean * 2 - *owed;
    *owed = mean - half + (uint64_t)(rng_unit(&r->rng) * (double)(2 * half));
    return *owed;
}

static void add_nodes(struct replay *r)
{
    uint64_t owed = 0;
    r->nodes = xnew_n(struct node, r->o->n_nodes);
    r->result.capacity_min = UINT64_MAX;
    for (uint32_t i = 0; i < r->o->n_nodes; i++) {
        struct image_cache_options c = r->o->cache;
        c.capacity = draw_capacity(r, i, &owed);
        c.holders = r->o->cluster_aware ? holders : NULL;
        c.on_event = NULL;
        c.arg = r;
        r->nodes[i].cache = image_cache_new(&c);
        r->nodes[i].zone = i % r->n_zones;
        r->result.capacity_min = MIN(r->result.capacity_min, c.capacity);
        r->result.capacity_max = MAX(r->result.capacity_max, c.capacity);
    }
}

static void release(struct replay *r, uint64_t now_ms)
{
    while (r->n_released < r->held.n && r->held.p[r->n_released].until_ms <= now_ms) {
        const struct held *h = &r->held.p[r->n_released++];
        image_cache_unpin(r->nodes[h->node].cache, key_of(r, h->layer));
    }
    if (r->n_released > 4096 && r->n_released > r->held.n / 2) {
        memmove(r->held.p, r->held.p + r->n_released,
                (r->held.n - r->n_released) * sizeof *r->held.p);
        r->held.n -= r->n_released;
        r->n_released = 0;
    }
}

static uint64_t bytes_there(const struct replay *r, uint32_t node,
                            const struct image_trace_image *image)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < image->n; i++) {
        uint32_t layer = r->t->refs.p[image->first + i];
        if (image_cache_has(r->nodes[node].cache, key_of(r, layer)))
            sum += r->t->layers.p[layer].size;
    }
    return sum;
}

static uint32_t place(struct replay *r, const struct image_trace_request *q)
{
    uint32_t zone = q->site % r->n_zones;
    uint32_t n = (r->o->n_nodes - zone + r->n_zones - 1) / r->n_zones; /* nodes of the zone */
    uint32_t first = r->o->place == IMAGE_REPLAY_RANDOM ? rng_below(&r->rng, n) : r->turn++ % n;
    uint32_t best = zone + first * r->n_zones;
    uint64_t most = 0;
    for (uint32_t k = 0; r->o->place == IMAGE_REPLAY_LOCALITY && k < n; k++) {
        uint32_t node = zone + (first + k) % n * r->n_zones;
        uint64_t bytes = bytes_there(r, node, &r->t->images.p[q->image]);
        if (bytes > most) {
            most = bytes;
            best = node;
        }
    }
    return best;
}

/* A peer that holds it, touched as a peer's request touches it. */
static bool peer_gives(struct replay *r, uint32_t node, const uint8_t *key)
{
    for (uint32_t i = 1; i < r->o->n_nodes; i++)
        if (image_cache_touch(r->nodes[(node + i) % r->o->n_nodes].cache, key))
            return true;
    return false;
}

static bool peer_has(const struct replay *r, uint32_t node, const uint8_t *key)
{
    for (uint32_t i = 1; i < r->o->n_nodes; i++)
        if (image_cache_has(r->nodes[(node + i) % r->o->n_nodes].cache, key))
            return true;
    return false;
}

static double fetch_s(const struct replay *r, uint64_t bytes, bool at_peer)
{
    return (double)bytes * 8 / (double)(at_peer ? r->o->peer_bps : r->o->registry_bps);
}

/* ---- a deployment ---- */

static bool deploy_layer(struct replay *r, uint32_t node, uint32_t layer, uint64_t deploy)
{
    struct image_cache *cache = r->nodes[node].cache;
    const struct image_trace_layer *l = &r->t->layers.p[layer];
    bool here = image_cache_has(cache, l->key), at_peer = !here && peer_gives(r, node, l->key);
    struct image_cache_request q = { .key = l->key,
                                     .size = l->size,
                                     .deploy = deploy,
                                     .at_peer = at_peer,
                                     .refetch_s = fetch_s(r, l->size, at_peer) };
    (void)image_cache_access(cache, &q);
    if (r->demand)
        image_demand_add(r->demand, r->nodes[node].zone, layer, r->now_ms);
    if (!here)
        r->fetched_s += q.refetch_s;
    if (!here && !at_peer)
        r->result.wan_bytes += l->size;
    if (image_cache_pin(cache, l->key)) {
        struct held h = { r->now_ms + r->o->hold_ms, node, layer };
        vec_push(&r->held, h);
    }
    return here;
}

static void deploy(struct replay *r, const struct image_trace_request *q)
{
    const struct image_trace_image *image = &r->t->images.p[q->image];
    uint32_t node = place(r, q);
    bool all = true;
    for (uint32_t i = 0; i < image->n; i++)
        all &= deploy_layer(r, node, r->t->refs.p[image->first + i], r->result.deployments + 1);
    r->nodes[node].busy_until_ms = r->now_ms + r->o->hold_ms;
    r->result.deployments++;
    r->result.all_local += all;
}

/* ---- prefetch ---- */

struct visit { /* what a candidate is compared with */
    const struct replay *r;
    uint32_t node;
    double density;
};

static double density_of(const struct replay *r, uint32_t node, uint32_t layer)
{
    const struct image_trace_layer *l = &r->t->layers.p[layer];
    double rate = image_demand_rate(r->demand, r->nodes[node].zone, layer, r->now_ms);
    struct image_prefetch_layer p = { layer, l->size,
                                      rate * fetch_s(r, l->size, peer_has(r, node, l->key)) };
    return image_prefetch_density(&p);
}

static bool is_worth_less(void *arg, const uint8_t *key, uint64_t size)
{
    const struct visit *v = arg;
    uintptr_t id = (uintptr_t)map_get(&v->r->layer_ids, str_n(key, SHA256_BYTES));
    return density_of(v->r, v->node, (uint32_t)(id - 1)) < v->density;
}

static uint64_t budget_of(const struct replay *r, const struct node *n)
{
    const struct image_cache_stats *s = image_cache_stats(n->cache);
    uint64_t waiting = s->prefetched.bytes - s->prefetch_used.bytes - s->prefetch_wasted.bytes;
    uint64_t most = image_cache_capacity(n->cache) / 100 * IMAGE_PREFETCH_BUDGET_PERCENT;
    uint64_t link =
        r->o->registry_bps / 8 / IMAGE_PREFETCH_LINK_PART * (IMAGE_PREFETCH_PERIOD_MS / 1000);
    return waiting >= most ? 0 : MIN(most - waiting, link);
}

static void prefetch_node(struct replay *r, uint32_t node)
{
    struct node *n = &r->nodes[node];
    const struct image_cache_stats *s = image_cache_stats(n->cache);
    bool on = image_prefetch_is_on(&n->judge, r->now_ms, s->prefetch_used.bytes,
                                   s->prefetch_wasted.bytes);
    uint64_t budget = budget_of(r, n);
    size_t k = 0;
    if (!on || n->busy_until_ms > r->now_ms || budget == 0)
        return;
    for (uint32_t i = 0; i < r->t->layers.n; i++) {
        const struct image_trace_layer *l = &r->t->layers.p[i];
        double rate = image_demand_rate(r->demand, n->zone, i, r->now_ms);
        if (rate >= IMAGE_PREFETCH_RATE_MIN && !image_cache_has(n->cache, l->key))
            r->wanted[k++] = (struct image_prefetch_layer){
                i, l->size, rate * fetch_s(r, l->size, peer_has(r, node, l->key))
            };
    }
    k = image_prefetch_choose(r->wanted, k, budget);
    for (size_t i = 0; i < k; i++) {
        struct image_prefetch_layer *w = &r->wanted[i];
        struct visit v = { r, node, image_prefetch_density(w) };
        const uint8_t *key = key_of(r, w->layer);
        bool at_peer = peer_has(r, node, key);
        if (image_cache_prefetch(n->cache, key, w->size, is_worth_less, &v) && !at_peer)
            r->result.prefetch_wan_bytes += w->size;
    }
}

static void prefetch_until(struct replay *r, uint64_t now_ms)
{
    for (; r->prefetch_at_ms <= now_ms; r->prefetch_at_ms += IMAGE_PREFETCH_PERIOD_MS) {
        r->now_ms = r->prefetch_at_ms;
        release(r, r->now_ms);
        for (uint32_t i = 0; i < r->o->n_nodes; i++)
            prefetch_node(r, i);
    }
}

static void prefetch_init(struct replay *r)
{
    if (!r->o->prefetch)
        return;
    r->demand = image_demand_new((uint32_t)r->t->layers.n, r->n_zones);
    r->wanted = xnew_n(struct image_prefetch_layer, r->t->layers.n);
    r->layer_ids.borrows_keys = true;
    for (size_t i = 0; i < r->t->layers.n; i++)
        (void)map_put(&r->layer_ids, str_n(r->t->layers.p[i].key, SHA256_BYTES),
                      (void *)(uintptr_t)(i + 1));
    r->prefetch_at_ms = r->t->requests.p[0].at_ms + IMAGE_PREFETCH_PERIOD_MS;
}

/* ---- all of it ---- */

static void add_count(struct image_cache_count *to, struct image_cache_count c)
{
    to->n += c.n;
    to->bytes += c.bytes;
}

static void add_stats(struct image_cache_stats *to, const struct image_cache_stats *s)
{
    add_count(&to->local, s->local);
    add_count(&to->edge, s->edge);
    add_count(&to->miss, s->miss);
    add_count(&to->evicted, s->evicted);
    add_count(&to->bypassed, s->bypassed);
    add_count(&to->refused, s->refused);
    add_count(&to->prefetched, s->prefetched);
    add_count(&to->prefetch_used, s->prefetch_used);
    add_count(&to->prefetch_wasted, s->prefetch_wasted);
}

static void replay_fini(struct replay *r)
{
    for (uint32_t i = 0; i < r->o->n_nodes; i++)
        image_cache_free(r->nodes[i].cache);
    free(r->nodes);
    vec_fini(&r->held);
    image_demand_free(r->demand);
    map_fini(&r->layer_ids);
    free(r->wanted);
}

int image_replay_run(const struct image_trace *t, const struct image_replay_options *o,
                     struct image_replay_result *ret, struct err *err)
{
    struct replay r = { .t = t, .o = o, .rng = { o->seed } };
    if (o->n_nodes < 1 || o->n_nodes > IMAGE_REPLAY_NODES_MAX || o->registry_bps == 0 ||
        o->peer_bps == 0 || o->cache.capacity > IMAGE_CACHE_SIZE_MAX / 2 || t->requests.n == 0)
        return err_set(err, E_INVALID, "no nodes or too many, or no rate, or no request");
    r.n_zones = MIN(t->n_sites, o->n_nodes);
    add_nodes(&r);
    prefetch_init(&r);
    for (size_t i = 0; i < t->requests.n; i++) {
        const struct image_trace_request *q = &t->requests.p[i];
        if (o->prefetch)
            prefetch_until(&r, q->at_ms);
        r.now_ms = q->at_ms;
        release(&r, r.now_ms);
        deploy(&r, q);
    }
    for (uint32_t i = 0; i < o->n_nodes; i++)
        add_stats(&r.result.sum, image_cache_stats(r.nodes[i].cache));
    r.result.wan_bytes += r.result.prefetch_wan_bytes;
    r.result.fetch_s = r.fetched_s / (double)r.result.deployments;
    *ret = r.result;
    replay_fini(&r);
    return 0;
}
