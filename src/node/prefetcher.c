/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses layers for idle nodes; see prefetcher.h. */
#include "node/prefetcher.h"

#include "base/list.h"
#include "base/map.h"
#include "image/prefetch.h"
#include "sched/object/node_image_state.h"

#include <stdlib.h>

/* A layer of a requested image; `at` is its index in the demand. */
struct demanded {
    struct list node; /* on by_use, the most recently needed last */
    uint32_t at;
    struct oci_lookup_layer layer;
    struct oci_digest manifest, config;
    char *reference; /* of the last image that contained it */
    uint64_t prefix;
};

struct prefetcher_candidate {
    const struct demanded *d;
    double rate;        /* in the zone with the highest rate, per hour */
    int64_t uplink_bps; /* of the fastest node that can send it; 0: none can */
};

struct prefetcher {
    struct image_demand *demand;
    struct map by_diff; /* struct demanded */
    struct list by_use;
    struct demanded *all[PREFETCHER_LAYERS_MAX]; /* by index */
    uint32_t n;
    struct map zones; /* name -> index + 1 */
    struct map nodes; /* name -> index of its zone + 1 */
    struct prefetcher_candidate candidates[PREFETCHER_CANDIDATES];
    size_t n_candidates;
    uint64_t looked_ms;
};

struct prefetcher *prefetcher_new(void)
{
    struct prefetcher *p = xnew(struct prefetcher);
    p->demand = image_demand_new(PREFETCHER_LAYERS_MAX, PREFETCHER_ZONES_MAX);
    p->by_diff.borrows_keys = true;
    list_init(&p->by_use);
    return p;
}

void prefetcher_free(struct prefetcher *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->n; i++) {
        free(p->all[i]->reference);
        free(p->all[i]);
    }
    image_demand_free(p->demand);
    map_fini(&p->by_diff);
    map_fini(&p->zones);
    map_fini(&p->nodes);
    free(p);
}

/* ---- demand ---- */

static uint32_t zone_of(struct prefetcher *p, struct str zone)
{
    uintptr_t at = (uintptr_t)map_get(&p->zones, zone);
    if (at)
        return (uint32_t)at - 1;
    if (p->zones.n == PREFETCHER_ZONES_MAX)
        return PREFETCHER_ZONES_MAX - 1;
    at = p->zones.n + 1;
    (void)map_put(&p->zones, zone, (void *)at);
    return (uint32_t)at - 1;
}

static struct str diff_key(const struct demanded *d)
{
    return str_n(d->layer.diff_id.bytes, sizeof d->layer.diff_id.bytes);
}

static struct demanded *demanded_get(struct prefetcher *p, const struct oci_digest *diff)
{
    struct demanded *d = map_get(&p->by_diff, str_n(diff->bytes, sizeof diff->bytes));
    if (d) {
        list_remove(&d->node);
    } else if (p->n < PREFETCHER_LAYERS_MAX) {
        d = xnew(struct demanded);
        d->at = p->n;
        p->all[p->n++] = d;
    } else {
        d = list_entry(list_pop_front(&p->by_use), struct demanded, node);
        map_del(&p->by_diff, diff_key(d));
        for (uint32_t z = 0; z < PREFETCHER_ZONES_MAX; z++)
            image_demand_forget(p->demand, z, d->at);
    }
    list_push_back(&p->by_use, &d->node);
    return d;
}

static void note_layer(struct prefetcher *p, const struct oci_lookup_layer *l, struct str reference,
                       const struct oci_lookup_image *image)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    struct demanded *d = demanded_get(p, &l->diff_id);
    d->layer = *l;
    d->manifest = image->manifest;
    d->config = image->config;
    if (!d->reference || !str_is(reference, d->reference)) {
        free(d->reference);
        d->reference = str_dup(reference);
    }
    oci_digest_format(&l->diff_id, text);
    (void)sched_layer_prefix(str_of(text), &d->prefix, NULL);
    (void)map_put(&p->by_diff, diff_key(d), d);
}

void prefetcher_note(struct prefetcher *p, struct str zone, struct str node, struct str reference,
                     const struct oci_lookup_image *image, uint64_t now_ms)
{
    uint32_t z = zone_of(p, zone);
    p->n_candidates = 0;
    if (map_get(&p->nodes, node) || p->nodes.n < PREFETCHER_NODES_MAX)
        (void)map_put(&p->nodes, node, (void *)((uintptr_t)z + 1));
    for (size_t i = 0; i < image->n; i++) {
        const struct oci_lookup_layer *l = &image->layers[i];
        note_layer(p, l, reference, image);
        const struct demanded *d =
            map_get(&p->by_diff, str_n(l->diff_id.bytes, sizeof l->diff_id.bytes));
        image_demand_add(p->demand, z, d->at, now_ms);
    }
}

/* ---- choice ---- */

static int by_rate(const void *a, const void *b)
{
    const struct prefetcher_candidate *x = a, *y = b;
    if (x->rate != y->rate)
        return x->rate < y->rate ? 1 : -1;
    return (x->d->at > y->d->at) - (x->d->at < y->d->at);
}

static void find_holder(void *arg, const struct sched_node_image_state *s)
{
    struct prefetcher *p = arg;
    int64_t uplink = s->uplink_bps ? s->uplink_bps : IMAGE_STATES_BPS_DEFAULT;
    for (size_t i = 0; i < p->n_candidates; i++) {
        struct prefetcher_candidate *c = &p->candidates[i];
        if (uplink > c->uplink_bps && sched_node_image_state_sends(s, c->d->prefix))
            c->uplink_bps = uplink;
    }
}

bool prefetcher_look(struct prefetcher *p, const struct image_states *states, uint64_t now_ms,
                     int64_t wall_ms)
{
    struct prefetcher_candidate *all = xnew_n(struct prefetcher_candidate, p->n + 1);
    size_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        double most = 0;
        for (uint32_t z = 0; z < p->zones.n; z++)
            most = MAX(most, image_demand_rate(p->demand, z, i, now_ms));
        if (most >= IMAGE_PREFETCH_RATE_MIN)
            all[n++] = (struct prefetcher_candidate){ .d = p->all[i], .rate = most };
    }
    if (n)
        qsort(all, n, sizeof *all, by_rate);
    p->n_candidates = MIN(n, (size_t)PREFETCHER_CANDIDATES);
    memcpy(p->candidates, all, p->n_candidates * sizeof *all);
    free(all);
    p->looked_ms = now_ms;
    if (p->n_candidates)
        image_states_each_fresh(states, wall_ms, find_holder, p);
    return p->n_candidates > 0;
}

/* Keep only the layers of the first one's image, since a BDM is for one image. */
static size_t keep_one_image(const struct prefetcher *p, const struct image_prefetch_layer *chosen,
                             size_t n, const struct demanded **ret)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct demanded *d = p->candidates[chosen[i].layer].d;
        if (kept == 0 || (oci_digest_equal(&d->manifest, &ret[0]->manifest) &&
                          strcmp(d->reference, ret[0]->reference) == 0))
            ret[kept++] = d;
        if (kept == PLACE_BREAK_LAYERS_MAX)
            break;
    }
    return kept;
}

bool prefetcher_choose(struct prefetcher *p, const struct image_states *states, struct str node,
                       struct arena *a, struct str *ret_reference, struct oci_lookup_image *ret)
{
    const struct sched_node_image_state *s = image_states_get(states, node);
    struct image_prefetch_layer wanted[PREFETCHER_CANDIDATES];
    const struct demanded *kept[PLACE_BREAK_LAYERS_MAX];
    uintptr_t zone = (uintptr_t)map_get(&p->nodes, node);
    size_t n = 0;
    if (!s || s->cache_capacity <= s->cache_used)
        return false;
    uint64_t budget = MIN((uint64_t)s->cache_capacity / 100 * IMAGE_PREFETCH_BUDGET_PERCENT,
                          (uint64_t)(s->cache_capacity - s->cache_used));
    int64_t registry = s->registry_bps ? s->registry_bps : IMAGE_STATES_BPS_DEFAULT;
    for (size_t i = 0; i < p->n_candidates; i++) {
        const struct prefetcher_candidate *c = &p->candidates[i];
        double rate =
            image_demand_rate(p->demand, zone ? (uint32_t)zone - 1 : 0, c->d->at, p->looked_ms);
        if (rate < IMAGE_PREFETCH_RATE_MIN || sched_node_image_state_has(s, c->d->prefix))
            continue;
        double seconds = (double)c->d->layer.size * 8 / (double)MAX(c->uplink_bps, registry);
        wanted[n++] = (struct image_prefetch_layer){ .layer = (uint32_t)i,
                                                     .size = c->d->layer.size,
                                                     .saving = rate * seconds };
    }
    n = image_prefetch_choose(wanted, n, budget);
    n = keep_one_image(p, wanted, n, kept);
    if (n == 0)
        return false;
    struct oci_lookup_layer *layers = arena_new_n(a, struct oci_lookup_layer, n);
    for (size_t i = 0; i < n; i++)
        layers[i] = kept[i]->layer;
    *ret = (struct oci_lookup_image){
        .layers = layers, .n = n, .manifest = kept[0]->manifest, .config = kept[0]->config
    };
    *ret_reference = str_of(kept[0]->reference);
    return true;
}
