/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A NodeImageState (dormouse.dev/v1alpha1): what a node reports about its network and the layers of
 * its images. Each node has one with the node's name. The schema is node_image_state_crd.json.
 *
 * The set of layers, `spec.layers.prefixes`, is a string of bytes (base64 in JSON): the first six
 * bytes of the DiffID of every layer that the node holds, ascending, without duplicates. Six bytes
 * are exact enough for a score: with 1,000 layers, one question in 280 thousand million finds a
 * layer that the node does not hold. `spec.layers.generation` grows with every change of the set
 * and of `spec.layers.unsendablePrefixes`, the layers that other nodes cannot fetch from this one.
 * `spec.layers.arrivingPrefixes` are layers that the node is fetching from a registry; they are not
 * part of the set.
 */
#pragma once

#include "sched/object/object.h"

enum {
    SCHED_LAYER_PREFIX_BYTES = 6,
    SCHED_NODE_LAYERS_MAX = 32768,
    SCHED_NODE_STATE_SKEW_MS = 30000, /* a report from further in the future is ignored */
};

/* Values that are not reported or not positive are 0. */
struct sched_node_image_state {
    struct sched_object o;
    int64_t measured_ms;                            /* wall clock, of the network; 0: never */
    int64_t rtt_us, registry_rtt_us;                /* to other nodes, to the registry */
    int64_t uplink_bps, downlink_bps, registry_bps; /* bits per second; registry: from it */
    int64_t reported_ms;                            /* of the fields below */
    int64_t cache_capacity, cache_used, cache_pinned;
    int64_t disk_capacity, disk_used; /* where images are */
    int64_t unpack_bytes_per_second;
    uint32_t upload_slots; /* free ones */
    uint64_t layers_generation;
    uint64_t *layers;     /* prefixes as numbers, ascending */
    uint64_t *unsendable; /* of them, likewise */
    uint64_t *arriving;   /* likewise */
    uint32_t n_layers, n_unsendable, n_arriving;
};
static inline const struct sched_node_image_state *sched_node_image_state_of(
    const struct sched_object *o)
{
    return (const struct sched_node_image_state *)o;
}
/* The round trip by which nodes are ranked: the mean of the measured ones; 0: none was measured. */
int64_t sched_node_image_state_way_us(const struct sched_node_image_state *s);
bool sched_node_image_state_has(const struct sched_node_image_state *s, uint64_t prefix);
/* The node has the layer, and other nodes can fetch it from there. */
bool sched_node_image_state_sends(const struct sched_node_image_state *s, uint64_t prefix);
/* The node is fetching the layer and does not have it yet. */
bool sched_node_image_state_awaits(const struct sched_node_image_state *s, uint64_t prefix);
/* The prefix of "sha256:HEX...", of which 12 digits are enough. Errors: E_INVALID. */
int sched_layer_prefix(struct str diff_id, uint64_t *ret, struct err *err);

/* The CustomResourceDefinition, as JSON. */
struct str sched_crd(void);
