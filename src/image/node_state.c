/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a NodeImageState; see node_state.h. */
#include "image/node_state.h"

#include "base/clock.h"
#include "codec/base64.h"

#include <stdlib.h>

enum { BASE64_MAX = NODE_STATE_LAYERS_MAX * NODE_STATE_PREFIX_BYTES * 2 };

#define EWMA_WEIGHT 0.2

void node_state_measure(struct node_state_rates *r, double *rate, uint64_t n_bytes, uint64_t ms,
                        int64_t wall_s)
{
    if (n_bytes < NODE_STATE_MEASURED_MIN_BYTES)
        return;
    double now = (double)n_bytes * 8000 / (double)MAX(ms, (uint64_t)1);
    *rate = *rate > 0 ? *rate + EWMA_WEIGHT * (now - *rate) : now;
    r->measured_wall_s = r->rates_wall_s = wall_s;
}

void node_state_round_trip(struct node_state_rates *r, double *rtt_us, uint64_t us, int64_t wall_s)
{
    double now = (double)MAX(us, (uint64_t)1);
    *rtt_us = *rtt_us > 0 ? *rtt_us + EWMA_WEIGHT * (now - *rtt_us) : now;
    r->measured_wall_s = wall_s;
}

static int by_prefix(const void *a, const void *b)
{
    return memcmp(a, b, NODE_STATE_PREFIX_BYTES);
}

/* The values added after `from`: ascending, distinct. */
static void put_in_order(struct buf *to, size_t from)
{
    size_t count = (to->n - from) / NODE_STATE_PREFIX_BYTES;
    if (!buf_ok(to) || count == 0)
        return;
    char *p = to->p + from;
    qsort(p, count, NODE_STATE_PREFIX_BYTES, by_prefix);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const char *at = p + i * NODE_STATE_PREFIX_BYTES;
        if (kept && by_prefix(p + (kept - 1) * NODE_STATE_PREFIX_BYTES, at) == 0)
            continue;
        memmove(p + kept++ * NODE_STATE_PREFIX_BYTES, at, NODE_STATE_PREFIX_BYTES);
    }
    to->n = from + kept * NODE_STATE_PREFIX_BYTES;
}

static void add_prefixes(const struct oci_store_layer *layers, size_t n, bool all, struct buf *to)
{
    size_t skip = n > NODE_STATE_LAYERS_MAX ? n - NODE_STATE_LAYERS_MAX : 0, from = to->n;
    for (size_t i = skip; i < n; i++)
        if (all || !layers[i].has_blob)
            (void)buf_add(to, layers[i].diff_id.bytes, NODE_STATE_PREFIX_BYTES);
    put_in_order(to, from);
}

void node_state_prefixes(const struct oci_store_layer *layers, size_t n, struct buf *to)
{
    add_prefixes(layers, n, true, to);
}

void node_state_unsendable(const struct oci_store_layer *layers, size_t n, struct buf *to)
{
    add_prefixes(layers, n, false, to);
}

void node_state_incoming(const struct oci_digest *diff_ids, size_t n, struct str prefixes,
                         struct buf *to)
{
    size_t from = to->n;
    for (size_t i = 0; i < MIN(n, (size_t)NODE_STATE_ARRIVING_MAX); i++)
        if (prefixes.n == 0 ||
            !bsearch(diff_ids[i].bytes, prefixes.p, prefixes.n / NODE_STATE_PREFIX_BYTES,
                     NODE_STATE_PREFIX_BYTES, by_prefix))
            (void)buf_add(to, diff_ids[i].bytes, NODE_STATE_PREFIX_BYTES);
    put_in_order(to, from);
}

static void set_time(struct arena *a, struct json *v, const char *key, int64_t wall_s)
{
    char text[RFC3339_MAX];
    rfc3339_format(wall_s, text);
    json_set_str(a, v, key, str_of(arena_printf(a, "%s", text)));
}

static void set_amount(struct arena *a, struct json *v, const char *key, uint64_t n)
{
    json_set_int(a, v, key, (int64_t)MIN(n, (uint64_t)INT64_MAX));
}

static void set_rate(struct arena *a, struct json *v, const char *key, double rate)
{
    if (rate > 0)
        json_set_int(a, v, key, (int64_t)rate);
}

/*
 * By an apply alone: measuredAt is required beside the rates, and a rate that a merge patch owned
 * would outlive it in the first apply after a restart, which has measured nothing yet.
 */
static void add_network(struct arena *a, struct json *spec, const struct node_state_rates *r)
{
    if (!r->measured_wall_s)
        return;
    struct json *network = json_obj(a, spec, "network");
    set_time(a, network, "measuredAt", r->measured_wall_s);
    set_rate(a, network, "rttMicroseconds", r->rtt_us);
    set_rate(a, network, "registryRttMicroseconds", r->registry_rtt_us);
    set_rate(a, network, "uplinkBitsPerSecond", r->uplink_bps);
    set_rate(a, network, "downlinkBitsPerSecond", r->downlink_bps);
    set_rate(a, network, "registryBitsPerSecond", r->registry_bps);
}

void node_state_disk(struct node_state *s, uint64_t n_blocks, uint64_t n_free, uint64_t n_available,
                     uint64_t block_bytes)
{
    uint64_t used = n_blocks > n_free ? n_blocks - n_free : 0;
    s->disk_used = used * block_bytes;
    s->disk_capacity = (used + n_available) * block_bytes;
}

uint64_t node_state_cache_capacity(const struct node_state *s, uint64_t quota)
{
    uint64_t room = s->cache_used + (s->disk_capacity - MIN(s->disk_used, s->disk_capacity));
    if (!s->disk_capacity)
        return quota;
    return quota ? MIN(quota, room) : room;
}

static void add_beat(struct arena *a, struct json *spec, const struct node_state *s)
{
    const struct node_state_rates *r = &s->rates;
    set_time(a, spec, "reportedAt", s->reported_wall_s);
    set_rate(a, spec, "unpackBytesPerSecond", r->unpack_bps / 8);
    set_amount(a, json_obj(a, spec, "cache"), "capacityBytes", s->cache_capacity);
    if (s->disk_capacity) {
        struct json *disk = json_obj(a, spec, "disk");
        set_amount(a, disk, "capacityBytes", s->disk_capacity);
        set_amount(a, disk, "usedBytes", s->disk_used);
    }
    json_set_int(a, spec, "freeUploadSlots", s->upload_slots);
}

struct json *node_state_beat(struct arena *a, const struct node_state *s)
{
    struct json *v = json_new_object(a);
    add_beat(a, json_obj(a, v, "spec"), s);
    return v;
}

static void set_prefixes(struct arena *a, struct json *layers, const char *key, struct str prefixes)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BASE64_MAX);
    (void)base64_encode(&text, prefixes, BASE64_STD);
    json_set_str(a, layers, key, str_copy_arena(a, buf_str(&text)));
}

struct json *node_state_object(struct arena *a, const struct node_state *s)
{
    struct json *v = json_new_object(a);
    json_set_str(a, v, "apiVersion", STR("dormouse.dev/v1alpha1"));
    json_set_str(a, v, "kind", STR("NodeImageState"));
    json_set_str(a, json_obj(a, v, "metadata"), "name", s->node);
    struct json *spec = json_obj(a, v, "spec");
    add_beat(a, spec, s);
    add_network(a, spec, &s->rates);
    if (s->url.n)
        json_set_str(a, spec, "url", s->url);
    struct json *cache = json_obj(a, spec, "cache");
    set_amount(a, cache, "usedBytes", s->cache_used);
    set_amount(a, cache, "pinnedBytes", MIN(s->cache_pinned, s->cache_capacity));
    struct json *layers = json_obj(a, spec, "layers");
    set_amount(a, layers, "generation", s->generation);
    set_prefixes(a, layers, "prefixes", s->prefixes);
    if (s->unsendable.n)
        set_prefixes(a, layers, "unsendablePrefixes", s->unsendable);
    if (s->arriving.n)
        set_prefixes(a, layers, "arrivingPrefixes", s->arriving);
    return v;
}
