/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs of BREAK's scorers: what nodes report about themselves (NodeImageState), and the
 * layers of a pod's images. The formulas are in place/break.h.
 *
 * The annotation image.dormouse.dev/layers lists a pod's layers:
 *
 *     sha256:HEX=SIZE[/UNPACKED], ...
 *
 * with DiffIDs (12 digits are enough) and bytes, for all its containers; a layer that is listed
 * twice counts once. Without the annotation the registries of its images are asked (struct
 * sched_image_ops), and a pod with an image that was never looked up waits a while for that
 * (PreEnqueue). If a registry does not answer, each image counts as one layer with the size that
 * nodes report in status.images; images that no node has are unknown.
 */
#pragma once

#include "place/break.h"
#include "sched/object/node_image_state.h"
#include "sched/plugins/native.h"

enum {
    BREAK_OLD_MS = 60000,      /* older reports count half */
    BREAK_PEER_OLD_MS = 30000, /* a node silent for longer is not used as a source */
};

/* ---- arguments ---- */

/* "reading": norm (the default), paper, and for the balance also intended. Errors: E_INVALID. */
int break_reading(const struct json *args, bool has_intended, enum place_break_reading *ret,
                  struct err *err);
/* Scaled to 0 to SCHED_SCORE_MAX, halved if the input is old. */
int64_t break_points(double p, double max, bool is_old);
/*
 * Older than limit_ms; or from a clock that is far ahead (SCHED_NODE_STATE_SKEW_MS), since such a
 * report would never age.
 */
bool break_is_old(const struct sched_framework *f, int64_t told_ms, int64_t limit_ms);

/* How layers of pods without the annotation are found. */
struct break_images {
    bool asks;        /* "layers": registry (the default) or annotation */
    uint64_t wait_ms; /* "waitMilliseconds": the longest wait of a pod for the lookup */
};
enum { BREAK_WAIT_MS = 2000, BREAK_WAIT_MAX_MS = 10000 };
/* Errors: E_INVALID. */
int break_images_read(const struct json *args, struct break_images *ret, struct err *err);
/* PreEnqueue: Pending while the pod waits. */
const struct sched_status *break_images_gate(const struct break_images *im, struct sched_plugin *p,
                                             const struct sched_pod *pod);
/* The hint for SCHED_ON_IMAGE_LAYERS. */
enum sched_hint break_images_hint(const struct break_images *im, struct sched_plugin *p,
                                  const struct sched_pod *pod);

/* ---- nodes ---- */

/*
 * What a plugin caches about nodes: the NodeImageState of each, until one of them changes; and
 * which of a pod's layers each node holds, for the last few sets of layers (pods of one workload
 * have the same set), until the node's generation of layers changes. Empty is zeroed except for
 * `words`.
 */
enum { BREAK_KEPT_SETS = 4 };
/* Identifies a set of layers within one plugin. */
struct break_set_id {
    uint64_t hash; /* seeded */
    uint32_t n;
    int64_t total;
};
struct break_states {
    struct intern_table *words; /* kept */
    uint64_t seed;              /* of hashes of sets of layers */
    struct break_state_slot {
        struct intern *node; /* a reference, as below, so that no other name can get its address */
        const struct sched_node_image_state *state;
        uint64_t generation;
    } * slots; /* by index of the node */
    uint32_t cap;
    struct break_kept {
        struct break_set_id set;
        uint64_t used; /* the larger, the more recent; 0: free */
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
/* NULL: the node has no NodeImageState. Borrowed until objects change. */
const struct sched_node_image_state *break_state(struct break_states *s,
                                                 const struct sched_cache *cache,
                                                 const struct sched_node_info *node);

/* ---- layers ---- */

struct break_layers {
    uint32_t n;             /* at most PLACE_BREAK_LAYERS_MAX */
    const uint64_t *prefix; /* NULL: each entry is a whole image */
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
/* The layers that the node holds. state: the node's, may be NULL. */
void break_present(struct break_states *s, const struct sched_cycle *cycle,
                   const struct break_layers *l, const struct sched_node_info *node,
                   const struct sched_node_image_state *state, struct place_break_set *ret);
