/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the missing layers of an image come from when it is deployed on a node: what the BDMs say.
 * Around place_break_assign(), which also predicts deploy times for the scheduler: which peers are
 * sources at all, which transfers that are under way already serve this deployment, in which order
 * layers are unpacked, and how many of many nodes may ask the registry at once. Pure.
 *
 * Layers and nodes are positions in the arrays of the caller.
 */
#pragma once

#include "base/vec.h"
#include "place/break.h"

enum {
    IMAGE_ORCHESTRATE_FRESH_MS = 30000, /* a peer that was silent for longer is no source */
    IMAGE_ORCHESTRATE_SLOTS = 3,        /* uploads of a node at a time */
    /*
     * Of many nodes that need a layer that no node has, every fourth fetches it from the registry;
     * each then serves as many nodes as it has slots.
     */
    IMAGE_ORCHESTRATE_STORM = 4,
};

struct image_orchestrate_layer {
    int64_t size;   /* compressed */
    bool is_urgent; /* needed before the others: a boot list names it */
};

struct image_orchestrate_node {
    struct place_break_set holds;
    struct place_break_set unsendable; /* of them, those that others cannot have from it */
    uint64_t silent_ms;                /* since its last report */
    unsigned slots;                    /* free for uploads */
    int64_t uplink_bps;                /* to the node of the deployment; 0: unknown, no source */
    int64_t queued_bytes;              /* that it has to send for others */
};

/* A transfer of a layer of this image that is under way or waits, to any node. */
struct image_orchestrate_flight {
    uint32_t layer;
    uint32_t to;      /* node */
    int from;         /* node, or PLACE_BREAK_REGISTRY */
    int64_t left_ms;  /* predicted */
    bool is_reported; /* by the node, a while ago: not joined, and only followed */
};

struct image_orchestrate {
    const struct image_orchestrate_layer *layers;
    size_t n_layers; /* at most PLACE_BREAK_LAYERS_MAX */
    const struct image_orchestrate_node *nodes;
    size_t n_nodes;
    uint32_t node; /* of the deployment; what it holds is not fetched */
    const struct image_orchestrate_flight *flights;
    size_t n_flights;
    int64_t registry_bps, downlink_bps;
    int64_t registry_rtt_us, peer_rtt_us; /* as in struct place_break_deploy */
    int64_t unpack_bytes_per_second;      /* 0: takes no time */
};

enum image_task_kind {
    IMAGE_TASK_REGISTRY, /* from the registry */
    IMAGE_TASK_PEER,     /* from `source`, which has it */
    IMAGE_TASK_AFTER,    /* from `source`, once it has it itself */
    IMAGE_TASK_JOIN      /* is on its way to this node already: nothing to send */
};
/* "registry", "peer", "after", "join"; static storage. */
const char *image_task_kind_name(enum image_task_kind k);

struct image_task {
    enum image_task_kind kind;
    uint32_t layer;
    int64_t from, to;                           /* bytes */
    int source;                                 /* node, or PLACE_BREAK_REGISTRY */
    int alternatives[PLACE_BREAK_ALTERNATIVES]; /* likewise, in order */
    uint32_t n_alternatives;
    uint32_t priority; /* 0 first; ranges of one layer share it */
    int64_t expect_ms; /* until it is there */
};
struct image_tasks {
    VEC(struct image_task) all; /* by priority, then by range */
    double seconds;             /* predicted, until all is there and unpacked */
};

/* false: a layer can come from nowhere; `ret` is untouched. Given: image_tasks_fini(). */
bool image_orchestrate(const struct image_orchestrate *o, struct image_tasks *ret);
void image_tasks_fini(struct image_tasks *t);
