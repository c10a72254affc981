/* SPDX-License-Identifier: Apache-2.0 */
/* Links of nodes, the time that a deployment waits, and its node; see replay.h. */
#include "lab/image/replay_impl.h"

const char *image_replay_place_name(enum image_replay_place p)
{
    static const char *const names[IMAGE_REPLAY_PLACES] = { "random", "turn", "locality",
                                                            "netmarks", "predicted" };
    return names[p];
}

enum image_replay_place image_replay_place_of(struct str name)
{
    int p = 0;
    while (p < IMAGE_REPLAY_PLACES &&
           !str_is(name, image_replay_place_name((enum image_replay_place)p)))
        p++;
    return (enum image_replay_place)p;
}

const uint8_t *image_replay_key(const struct image_replay *r, uint32_t layer)
{
    return r->t->layers.p[layer].key;
}

/* ---- links ---- */

/*
 * In each pair of nodes, one link gets what the other lacks. The rates have a random sequence of
 * their own, so the nodes of requests are the same with and without them.
 */
void image_replay_draw_rates(struct image_replay *r)
{
    enum { PART_RATES = 1 };
    struct rng rng = rng_fork(r->o->seed, PART_RATES, 0);
    double more = 0;
    r->result.rate_min = 2;
    for (uint32_t i = 0; i < r->o->n_nodes; i++) {
        bool is_last = i % 2 == 0 && i + 1 == r->o->n_nodes;
        more = i % 2 ? -more : rng_unit(&rng) - 0.5;
        r->nodes[i].rate = r->o->drawn_rates && !is_last ? 1 + more : 1;
        r->result.rate_min = MIN(r->result.rate_min, r->nodes[i].rate);
        r->result.rate_max = MAX(r->result.rate_max, r->nodes[i].rate);
    }
}

int64_t image_replay_peer(const struct image_replay *r, uint32_t node, uint32_t layer)
{
    bool none = r->o->no_peers || r->parts[layer].is_index;
    int64_t best = -1;
    for (uint32_t i = 1; i < r->o->n_nodes && !none; i++) {
        uint32_t peer = (node + i) % r->o->n_nodes;
        if (image_cache_has(r->nodes[peer].cache, image_replay_key(r, layer)) &&
            (best < 0 || r->nodes[peer].rate > r->nodes[best].rate))
            best = peer;
    }
    return best;
}

double image_replay_send_s(const struct image_replay *r, uint32_t node, int64_t peer,
                           uint64_t bytes)
{
    double rate = r->nodes[node].rate;
    if (peer >= 0)
        rate = MIN(rate, r->nodes[peer].rate);
    return (double)bytes * 8 / (rate * (double)(peer >= 0 ? r->o->peer_bps : r->o->registry_bps));
}

void image_replay_wait_for(const struct image_replay *r, uint32_t node, int64_t peer,
                           uint32_t layer, struct image_replay_wait *w)
{
    const struct image_replay_part *p = &r->parts[layer];
    w->sending_s += image_replay_send_s(r, node, peer, p->bytes);
    w->of_index |= p->is_index;
    w->of_registry |= peer < 0;
    w->of_peer |= peer >= 0;
    *(peer < 0 ? &w->files_of_registry : &w->files_of_peers) += p->n_files;
}

static uint64_t batches(const struct image_replay *r, uint64_t n_files)
{
    uint64_t batch = r->o->files.batch;
    return batch == 0 ? n_files > 0 : n_files / batch + (n_files % batch != 0);
}

/* Each source takes a connection, and the index one more request. */
static double files_ms(const struct image_replay *r, const struct image_replay_wait *w)
{
    uint64_t registry = w->of_registry + w->of_index + batches(r, w->files_of_registry);
    uint64_t peers = w->of_peer + batches(r, w->files_of_peers);
    return (double)registry * (double)r->o->registry_rtt_ms +
           (double)peers * (double)r->o->peer_rtt_ms;
}

static double round_trips_ms(const struct image_replay *r, const struct image_replay_wait *w)
{
    enum { WHOLE_TRIPS = 2 /* connection, layers */, REST_TRIPS = 4 };
    uint64_t farthest_ms =
        MAX(w->of_registry ? r->o->registry_rtt_ms : 0, w->of_peer ? r->o->peer_rtt_ms : 0);
    switch (r->o->start) {
    case IMAGE_REPLAY_WHOLE:
    case IMAGE_REPLAY_STARTS:
        break;
    case IMAGE_REPLAY_REST:
        return (double)(REST_TRIPS * farthest_ms);
    case IMAGE_REPLAY_FILES:
        return files_ms(r, w);
    }
    return (double)(WHOLE_TRIPS * farthest_ms);
}

double image_replay_wait_s(const struct image_replay *r, const struct image_replay_wait *w)
{
    return w->sending_s + round_trips_ms(r, w) / 1000;
}

/* ---- placement ---- */

static bool is_there(const struct image_replay *r, uint32_t node, uint32_t layer)
{
    return image_cache_has(r->nodes[node].cache, image_replay_key(r, layer));
}

static double bytes_there(const struct image_replay *r, uint32_t node,
                          const struct image_trace_image *image)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < image->n; i++) {
        uint32_t layer = r->t->refs.p[image->first + i];
        if (is_there(r, node, layer))
            sum += r->t->layers.p[layer].size;
    }
    return (double)sum;
}

static double predicted_s(const struct image_replay *r, uint32_t node,
                          const struct image_trace_image *image)
{
    struct image_replay_wait w = { 0 };
    for (uint32_t i = 0; i < image->n; i++) {
        uint32_t layer = r->t->refs.p[image->first + i];
        if (!is_there(r, node, layer))
            image_replay_wait_for(r, node, image_replay_peer(r, node, layer), layer, &w);
    }
    return image_replay_wait_s(r, &w);
}

/* The node with the highest score is chosen. */
static double score_of(const struct image_replay *r, uint32_t node,
                       const struct image_trace_image *image)
{
    switch (r->o->place) {
    case IMAGE_REPLAY_RANDOM:
    case IMAGE_REPLAY_TURN:
    case IMAGE_REPLAY_PLACES:
        return 0;
    case IMAGE_REPLAY_LOCALITY:
        return bytes_there(r, node, image);
    case IMAGE_REPLAY_NETMARKS:
        return r->nodes[node].rate;
    case IMAGE_REPLAY_PREDICTED:
        return -predicted_s(r, node, image);
    }
    return 0;
}

/* The best node of a site; -1: no node has a slot. all: include nodes without a slot. */
static int64_t best_of(const struct image_replay *r, const struct image_trace_request *q,
                       uint32_t first, uint32_t n, bool all)
{
    uint32_t zone = q->site % r->n_zones;
    int64_t best = -1;
    double most = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t node = zone + (first + k) % n * r->n_zones;
        if (!all && r->o->slots && r->nodes[node].n_running >= r->o->slots)
            continue;
        double score = score_of(r, node, &r->t->images.p[q->image]);
        if (best < 0 || score > most) {
            best = node;
            most = score;
        }
    }
    return best;
}

uint32_t image_replay_place(struct image_replay *r, const struct image_trace_request *q)
{
    uint32_t zone = q->site % r->n_zones;
    uint32_t n = (r->o->n_nodes - zone + r->n_zones - 1) / r->n_zones; /* nodes of the zone */
    uint32_t first = r->o->place == IMAGE_REPLAY_RANDOM ? rng_below(&r->rng, n) : r->turn++ % n;
    int64_t best = best_of(r, q, first, n, false);
    if (best < 0) {
        r->result.crowded++;
        best = best_of(r, q, first, n, true);
    }
    return (uint32_t)best;
}
