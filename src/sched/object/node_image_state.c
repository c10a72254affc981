/* SPDX-License-Identifier: Apache-2.0 */
/* NodeImageStates; see node_image_state.h. */
#include "sched/object/node_image_state.h"

#include "base/clock.h"
#include "codec/base64.h"
#include "codec/digest.h"

extern const struct str node_image_state_crd_json;

struct str sched_crd(void)
{
    return node_image_state_crd_json;
}

static uint64_t prefix_of(const uint8_t bytes[SCHED_LAYER_PREFIX_BYTES])
{
    uint64_t v = 0;
    for (size_t i = 0; i < SCHED_LAYER_PREFIX_BYTES; i++)
        v = v << 8 | bytes[i];
    return v;
}

int sched_layer_prefix(struct str diff_id, uint64_t *ret, struct err *err)
{
    static const struct str algorithm = { "sha256:", 7 };
    uint8_t bytes[SCHED_LAYER_PREFIX_BYTES];
    struct str hex = str_slice(diff_id, algorithm.n, diff_id.n);
    if (!str_has_prefix(diff_id, algorithm) || hex.n > (size_t)2 * SHA256_BYTES ||
        hex.n < 2 * sizeof bytes ||
        !hex_parse(str_slice(hex, 0, 2 * sizeof bytes), bytes, sizeof bytes))
        return err_set(err, E_INVALID, "'" STR_FMT "' is no layer: sha256: and 12 to 64 digits",
                       STR_ARG(diff_id));
    *ret = prefix_of(bytes);
    return 0;
}

static int64_t amount(const struct json *at, const char *key)
{
    return MAX(json_int_or(json_getc(at, key), 0), 0);
}

static int read_time(const struct json *at, const char *key, int64_t *ret_ms, struct err *err)
{
    struct str text = json_get_str(at, key);
    int64_t us = 0;
    if (text.n > 0 && rfc3339_parse(text, &us) < 0)
        return err_set(err, E_INVALID, "spec.%s: '" STR_FMT "' is no time", key, STR_ARG(text));
    *ret_ms = us / 1000;
    return 0;
}

/* *ret: given, free(), also on error. */
static int read_prefixes(const struct json *layers, const char *key, uint64_t **ret,
                         uint32_t *ret_n, struct err *err)
{
    scoped(buf_fini_scoped) struct buf bytes =
        BUF_INIT((size_t)SCHED_NODE_LAYERS_MAX * SCHED_LAYER_PREFIX_BYTES);
    int r = base64_decode(&bytes, json_get_str(layers, key), BASE64_LENIENT);
    if (r < 0)
        return err_set(err, E_INVALID, "spec.layers.%s: not base64, or more than %d layers", key,
                       SCHED_NODE_LAYERS_MAX);
    if (bytes.n % SCHED_LAYER_PREFIX_BYTES != 0)
        return err_set(err, E_INVALID, "spec.layers.%s: %zu bytes are no whole number of %d", key,
                       bytes.n, SCHED_LAYER_PREFIX_BYTES);
    size_t n = bytes.n / SCHED_LAYER_PREFIX_BYTES;
    uint64_t *p = *ret = xnew_n(uint64_t, n);
    for (size_t i = 0; i < n; i++) {
        p[i] = prefix_of((const uint8_t *)bytes.p + i * SCHED_LAYER_PREFIX_BYTES);
        if (i > 0 && p[i] <= p[i - 1])
            return err_set(err, E_INVALID, "spec.layers.%s: not ascending at layer %zu", key, i);
    }
    *ret_n = (uint32_t)n;
    return 0;
}

static int read_layers(struct sched_node_image_state *s, const struct json *layers, struct err *err)
{
    s->layers_generation = (uint64_t)amount(layers, "generation");
    int r = read_prefixes(layers, "prefixes", &s->layers, &s->n_layers, err);
    if (r >= 0 && json_getc(layers, "unsendablePrefixes"))
        r = read_prefixes(layers, "unsendablePrefixes", &s->unsendable, &s->n_unsendable, err);
    if (r >= 0 && json_getc(layers, "arrivingPrefixes"))
        r = read_prefixes(layers, "arrivingPrefixes", &s->arriving, &s->n_arriving, err);
    return r;
}

static int node_image_state_read(struct intern_table *w, struct sched_object *o,
                                 const struct json *json, struct err *err)
{
    struct sched_node_image_state *s = (struct sched_node_image_state *)o;
    const struct json *spec = json_getc(json, "spec"), *network = json_getc(spec, "network");
    const struct json *cache = json_getc(spec, "cache"), *disk = json_getc(spec, "disk");
    s->rtt_us = amount(network, "rttMicroseconds");
    s->registry_rtt_us = amount(network, "registryRttMicroseconds");
    s->uplink_bps = amount(network, "uplinkBitsPerSecond");
    s->downlink_bps = amount(network, "downlinkBitsPerSecond");
    s->registry_bps = amount(network, "registryBitsPerSecond");
    s->cache_capacity = amount(cache, "capacityBytes");
    s->cache_used = amount(cache, "usedBytes");
    s->cache_pinned = amount(cache, "pinnedBytes");
    s->disk_capacity = amount(disk, "capacityBytes");
    s->disk_used = amount(disk, "usedBytes");
    s->unpack_bytes_per_second = amount(spec, "unpackBytesPerSecond");
    s->upload_slots = (uint32_t)MIN(amount(spec, "freeUploadSlots"), (int64_t)UINT32_MAX);
    int r = read_time(spec, "reportedAt", &s->reported_ms, err);
    if (r < 0)
        return r;
    r = read_time(network, "measuredAt", &s->measured_ms, err);
    return r < 0 ? r : read_layers(s, json_getc(spec, "layers"), err);
}

static void node_image_state_fini(struct intern_table *w, struct sched_object *o)
{
    struct sched_node_image_state *s = (struct sched_node_image_state *)o;
    free(s->layers);
    free(s->unsendable);
    free(s->arriving);
}

const struct sched_kind_ops sched_node_image_state_ops = {
    .size = sizeof(struct sched_node_image_state),
    .read = node_image_state_read,
    .fini = node_image_state_fini,
};

/*
 * Binary search close to the position that the value suggests, since prefixes of hashes are
 * uniformly distributed; over more of the set if it has another distribution.
 */
static bool is_in(const uint64_t *set, uint32_t n, uint64_t prefix)
{
    enum { NEAR = 32 };
    uint32_t from = 0, to = n;
    uint32_t guess = (uint32_t)(prefix * (unsigned __int128)to >> 8 * SCHED_LAYER_PREFIX_BYTES);
    if (guess > NEAR && set[guess - NEAR] <= prefix)
        from = guess - NEAR;
    if (to - guess > NEAR && set[guess + NEAR] > prefix)
        to = guess + NEAR;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (set[middle] == prefix)
            return true;
        if (set[middle] < prefix)
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

int64_t sched_node_image_state_way_us(const struct sched_node_image_state *s)
{
    if (s->rtt_us == 0 || s->registry_rtt_us == 0)
        return MAX(s->rtt_us, s->registry_rtt_us);
    return s->rtt_us / 2 + s->registry_rtt_us / 2 + (s->rtt_us & s->registry_rtt_us & 1);
}

bool sched_node_image_state_has(const struct sched_node_image_state *s, uint64_t prefix)
{
    return is_in(s->layers, s->n_layers, prefix);
}

bool sched_node_image_state_sends(const struct sched_node_image_state *s, uint64_t prefix)
{
    return sched_node_image_state_has(s, prefix) && !is_in(s->unsendable, s->n_unsendable, prefix);
}

bool sched_node_image_state_awaits(const struct sched_node_image_state *s, uint64_t prefix)
{
    return is_in(s->arriving, s->n_arriving, prefix) && !sched_node_image_state_has(s, prefix);
}
