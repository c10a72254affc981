/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What BREAK's scorers work from: what nodes tell of themselves (NodeImageState), and which layers
 * a pod's images have. The formulas are in place/break.h.
 *
 * A pod's layers stand in its annotation image.dormouse.dev/layers:
 *
 *     sha256:HEX=SIZE[/UNPACKED], ...
 *
 * with DiffIDs (12 digits are enough) and bytes, of all its containers; a layer that is mentioned
 * twice counts once. Without the annotation the registries of its images are asked (struct
 * sched_image_ops), and a pod with an image that was never asked for waits a while for that
 * (PreEnqueue). Where they do not tell, each image counts as one layer, of which nodes tell in
 * status.images; images that no node has are not known.
 */
#pragma once

#include "place/break.h"
#include "sched/object/node_image_state.h"
#include "sched/plugins/native.h"

enum {
    BREAK_OLD_MS = 60000,      /* what is older counts half */
    BREAK_PEER_OLD_MS = 30000, /* who is silent for longer is no source */
};

/* ---- arguments ---- */

/* "reading": norm (also where it is absent), paper, and for the balance intended. E_INVALID. */
int break_reading(const struct json *args, bool has_intended, enum place_break_reading *ret,
                  struct err *err);
/* As 0 to SCHED_SCORE_MAX, half of it where the input is old. */
int64_t break_points(double p, double max, bool is_old);
/* Or told by a clock that is far ahead (SCHED_NODE_STATE_SKEW_MS): then it never ages. */
bool break_is_old(const struct sched_framework *f, int64_t told_ms, int64_t limit_ms);

/* Where layers of pods without the annotation come from. */
struct break_images {
    bool asks;        /* "layers": registry (also where it is absent), or annotation */
    uint64_t wait_ms; /* "waitMilliseconds": how long a pod waits for that at most */
};
enum { BREAK_WAIT_MS = 2000, BREAK_WAIT_MAX_MS = 10000 };
/* E_INVALID. */
int break_images_read(const struct json *args, struct break_images *ret, struct err *err);
/* PreEnqueue: Pending while the pod waits. */
const struct sched_status *break_images_gate(const struct break_images *im, struct sched_plugin *p,
                                             const struct sched_pod *pod);
/* The hint for SCHED_ON_IMAGE_LAYERS. */
enum sched_hint break_images_hint(const struct break_images *im, struct sched_plugin *p,
                                  const struct sched_pod *pod);

/* ---- nodes ---- */

/*
 * What a plugin remembers of nodes: which NodeImageState each has, as long as none of them changes;
 * and which layers of a pod's it holds, for the last few sets of layers (pods of one workload have
 * the same), as long as the node's generation of layers stays. Empty is zeroed but for `words`.
 */
enum { BREAK_KEPT_SETS = 4 };
/* A set of layers, as far as one plugin has to tell it from others. */
struct break_set_id {
    uint64_t hash; /* seeded */
    uint32_t n;
    int64_t total;
};
struct break_states {
    struct intern_table *words; /* kept */
    uint64_t seed;              /* of hashes of sets of layers */
    struct break_state_slot {
        struct intern *node; /* a reference, as below, so that no other name gets its address */
        const struct sched_node_image_state *state;
        uint64_t generation;
    } * slots; /* by index of the node */
    uint32_t cap;
    struct break_kept {
        struct break_set_id set;
        uint64_t used; /* the larger, the later; 0: it is free */
        struct break_kept_slot {
            struct intern *node;
            uint64_t generation;
            struct place_break_set present;
        } * slots; /* as above */
        uint32_t cap;
    } kept[BREAK_KEPT_SETS];
    uint64_t n_used;
};
void break_states_init(struct break_states *s, struct intern_table *words);
void break_states_fini(struct break_states *s);
/* NULL: it tells nothing. Borrowed until objects change. */
const struct sched_node_image_state *break_state(struct break_states *s,
                                                 const struct sched_cache *cache,
                                                 const struct sched_node_info *node);

/* ---- layers ---- */

struct break_layers {
    uint32_t n;             /* at most PLACE_BREAK_LAYERS_MAX */
    const uint64_t *prefix; /* NULL: these are whole images */
    const struct intern *const *image;
    int64_t *size, *unpacked;
    int64_t total; /* of sizes */
    uint64_t hash; /* of their text, by the plugin's seed */
};
/* In the cycle's arena. */
const struct break_layers *break_layers_of(const struct break_states *s,
                                           const struct break_images *im,
                                           const struct sched_cycle *cycle);
struct break_set_id break_set_id(const struct break_layers *l);
bool break_set_is(const struct break_set_id *a, const struct break_set_id *b);
/* Those that the node holds. state: the node's, may be NULL. */
void break_present(struct break_states *s, const struct sched_cycle *cycle,
                   const struct break_layers *l, const struct sched_node_info *node,
                   const struct sched_node_image_state *state, struct place_break_set *ret);
