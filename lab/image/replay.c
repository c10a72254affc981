/* SPDX-License-Identifier: Apache-2.0 */
/* Replaying a trace of requests for images; see replay.h. */
#include "lab/image/replay_impl.h"

void image_replay_options_default(struct image_replay_options *o)
{
    *o = (struct image_replay_options){ .cache.capacity = UINT64_C(1000) << 20,
                                        .n_nodes = 10,
                                        .hold_ms = 60000,
                                        .run_ms = 60000,
                                        .files = { .read = 0.064,
                                                   .common = 0.55,
                                                   .file_bytes = 14500,
                                                   .index_bytes = 52,
                                                   .batch = 16 },
                                        .seed = 42,
                                        .registry_bps = 100000000,
                                        .peer_bps = 500000000 };
}

/* ---- nodes ---- */

static unsigned holders(void *arg, const uint8_t *key)
{
    const struct image_replay *r = arg;
    unsigned n = 0;
    for (uint32_t i = 0; i < r->o->n_nodes; i++)
        n += image_cache_has(r->nodes[i].cache, key);
    return n - 1; /* the requesting node has it */
}

/* In each pair of nodes, one gets what the other lacks, so the sum is that of equal capacities. */
static uint64_t draw_capacity(struct image_replay *r, uint32_t node, uint64_t *owed)
{
    uint64_t mean = r->o->cache.capacity, half = mean / 2;
    if (!r->o->drawn_sizes || (node % 2 == 0 && node + 1 == r->o->n_nodes))
        return mean;
    if (node % 2)
        return mean * 2 - *owed;
    *owed = mean - half + (uint64_t)(rng_unit(&r->rng) * (double)(2 * half));
    return *owed;
}

static void add_nodes(struct image_replay *r)
{
    uint64_t owed = 0;
    r->nodes = xnew_n(struct image_replay_node, r->o->n_nodes);
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

static void hold(struct image_replay_holds *h, uint64_t until_ms, uint32_t node, uint32_t layer)
{
    struct image_replay_hold at = { until_ms, node, layer };
    vec_push(&h->all, at);
}

/* The next expired element, or NULL; valid until the next call. */
static const struct image_replay_hold *next_over(struct image_replay_holds *h, uint64_t now_ms)
{
    if (h->n_over < h->all.n && h->all.p[h->n_over].until_ms <= now_ms)
        return &h->all.p[h->n_over++];
    if (h->n_over > 4096 && h->n_over > h->all.n / 2) {
        h->all.n -= h->n_over;
        memmove(h->all.p, h->all.p + h->n_over, h->all.n * sizeof *h->all.p);
        h->n_over = 0;
    }
    return NULL;
}

static void release(struct image_replay *r, uint64_t now_ms)
{
    const struct image_replay_hold *h;
    while ((h = next_over(&r->pins, now_ms)))
        image_cache_unpin(r->nodes[h->node].cache, image_replay_key(r, h->layer));
    while ((h = next_over(&r->running, now_ms)))
        r->nodes[h->node].n_running--;
}

/* ---- a deployment ---- */

static bool deploy_layer(struct image_replay *r, uint32_t node, uint32_t layer, uint64_t deploy,
                         struct image_replay_wait *wait)
{
    struct image_cache *cache = r->nodes[node].cache;
    const struct image_trace_layer *l = &r->t->layers.p[layer];
    bool here = image_cache_has(cache, l->key);
    int64_t peer = here ? -1 : image_replay_peer(r, node, layer);
    if (peer >= 0)
        (void)image_cache_touch(r->nodes[peer].cache, l->key);
    struct image_cache_request q = { .key = l->key,
                                     .size = l->size,
                                     .deploy = deploy,
                                     .at_peer = peer >= 0,
                                     .refetch_s = image_replay_send_s(r, node, peer, l->size) };
    (void)image_cache_access(cache, &q);
    if (r->demand)
        image_demand_add(r->demand, r->nodes[node].zone, layer, r->now_ms);
    if (!here)
        image_replay_wait_for(r, node, peer, layer, wait);
    if (!here && peer < 0)
        r->result.wan_bytes += l->size;
    if (image_cache_pin(cache, l->key))
        hold(&r->pins, r->now_ms + r->o->hold_ms, node, layer);
    return here;
}

static void deploy(struct image_replay *r, const struct image_trace_request *q)
{
    const struct image_trace_image *image = &r->t->images.p[q->image];
    uint32_t node = image_replay_place(r, q);
    struct image_replay_wait wait = { 0 };
    bool all = true;
    for (uint32_t i = 0; i < image->n; i++)
        all &=
            deploy_layer(r, node, r->t->refs.p[image->first + i], r->result.deployments + 1, &wait);
    r->nodes[node].busy_until_ms = r->now_ms + r->o->hold_ms;
    r->nodes[node].n_running++;
    hold(&r->running, r->now_ms + r->o->run_ms, node, 0);
    r->fetch_s[r->result.deployments++] = image_replay_wait_s(r, &wait);
    r->result.all_local += all;
}

/* ---- prefetch ---- */

struct replay_visit { /* for comparing a candidate */
    const struct image_replay *r;
    uint32_t node;
    double density;
};

static double refetch_s(const struct image_replay *r, uint32_t node, uint32_t layer)
{
    return image_replay_send_s(r, node, image_replay_peer(r, node, layer),
                               r->t->layers.p[layer].size);
}

static double density_of(const struct image_replay *r, uint32_t node, uint32_t layer)
{
    const struct image_trace_layer *l = &r->t->layers.p[layer];
    double rate = image_demand_rate(r->demand, r->nodes[node].zone, layer, r->now_ms);
    struct image_prefetch_layer p = { layer, l->size, rate * refetch_s(r, node, layer) };
    return image_prefetch_density(&p);
}

static bool is_worth_less(void *arg, const uint8_t *key, uint64_t size)
{
    const struct replay_visit *v = arg;
    uintptr_t id = (uintptr_t)map_get(&v->r->layer_ids, str_n(key, SHA256_BYTES));
    return density_of(v->r, v->node, (uint32_t)(id - 1)) < v->density;
}

static uint64_t budget_of(const struct image_replay *r, const struct image_replay_node *n)
{
    const struct image_cache_stats *s = image_cache_stats(n->cache);
    uint64_t waiting = s->prefetched.bytes - s->prefetch_used.bytes - s->prefetch_wasted.bytes;
    uint64_t most = image_cache_capacity(n->cache) / 100 * IMAGE_PREFETCH_BUDGET_PERCENT;
    uint64_t link =
        r->o->registry_bps / 8 / IMAGE_PREFETCH_LINK_PART * (IMAGE_PREFETCH_PERIOD_MS / 1000);
    return waiting >= most ? 0 : MIN(most - waiting, link);
}

static void prefetch_node(struct image_replay *r, uint32_t node)
{
    struct image_replay_node *n = &r->nodes[node];
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
            r->wanted[k++] =
                (struct image_prefetch_layer){ i, l->size, rate * refetch_s(r, node, i) };
    }
    k = image_prefetch_choose(r->wanted, k, budget);
    for (size_t i = 0; i < k; i++) {
        struct image_prefetch_layer *w = &r->wanted[i];
        struct replay_visit v = { r, node, image_prefetch_density(w) };
        const uint8_t *key = image_replay_key(r, w->layer);
        bool at_peer = image_replay_peer(r, node, w->layer) >= 0;
        if (image_cache_prefetch(n->cache, key, w->size, is_worth_less, &v) && !at_peer)
            r->result.prefetch_wan_bytes += w->size;
    }
}

static void prefetch_until(struct image_replay *r, uint64_t now_ms)
{
    for (; r->prefetch_at_ms <= now_ms; r->prefetch_at_ms += IMAGE_PREFETCH_PERIOD_MS) {
        r->now_ms = r->prefetch_at_ms;
        release(r, r->now_ms);
        for (uint32_t i = 0; i < r->o->n_nodes; i++)
            prefetch_node(r, i);
    }
}

static void prefetch_init(struct image_replay *r)
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

/* ---- a run ---- */

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

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(struct image_replay *r)
{
    size_t n = r->result.deployments;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += r->fetch_s[i];
    qsort(r->fetch_s, n, sizeof *r->fetch_s, by_value);
    r->result.fetch_s = sum / (double)n;
    r->result.fetch_median_s = r->fetch_s[n / 2];
    r->result.fetch_p95_s = r->fetch_s[n * 95 / 100];
}

static void replay_fini(struct image_replay *r)
{
    for (uint32_t i = 0; i < r->o->n_nodes; i++)
        image_cache_free(r->nodes[i].cache);
    free(r->nodes);
    vec_fini(&r->pins.all);
    vec_fini(&r->running.all);
    free(r->fetch_s);
    free(r->parts);
    image_demand_free(r->demand);
    map_fini(&r->layer_ids);
    free(r->wanted);
}

static bool is_part(double v)
{
    return v >= 0 && v <= 1;
}

static int check(const struct image_trace *t, const struct image_replay_options *o, struct err *err)
{
    const struct image_replay_files *f = &o->files;
    if (o->n_nodes < 1 || o->n_nodes > IMAGE_REPLAY_NODES_MAX || o->registry_bps == 0 ||
        o->peer_bps == 0 || o->place >= IMAGE_REPLAY_PLACES ||
        o->registry_rtt_ms > IMAGE_REPLAY_RTT_MAX_MS || o->peer_rtt_ms > IMAGE_REPLAY_RTT_MAX_MS ||
        o->cache.capacity > IMAGE_CACHE_SIZE_MAX / 2 || t->requests.n == 0)
        return err_set(err, E_INVALID,
                       "no nodes or too many, no rate, a round trip of more than a minute, or no "
                       "request");
    if (o->start >= IMAGE_REPLAY_STARTS || !is_part(f->read) || !is_part(f->common) ||
        f->file_bytes < 1 || f->index_bytes > IMAGE_REPLAY_INDEX_MAX_BYTES)
        return err_set(err, E_INVALID, "what a start reads is a part, of files with a size");
    return 0;
}

int image_replay_run(const struct image_trace *t, const struct image_replay_options *o,
                     struct image_replay_result *ret, struct err *err)
{
    struct image_replay r = { .o = o, .rng = { o->seed } };
    struct image_trace of_files = { 0 };
    int done = check(t, o, err);
    if (done < 0)
        return done;
    r.parts = image_replay_parts(t, o, &of_files);
    r.t = t = o->start == IMAGE_REPLAY_FILES ? &of_files : t;
    r.n_zones = MIN(t->n_sites, o->n_nodes);
    r.fetch_s = xnew_n(double, t->requests.n);
    add_nodes(&r);
    image_replay_draw_rates(&r);
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
    summarise(&r);
    *ret = r.result;
    replay_fini(&r);
    image_trace_fini(&of_files);
    return 0;
}
