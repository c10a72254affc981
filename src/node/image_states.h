/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the nodes of a cluster tell about their images (NodeImageState), kept by name, and put
 * together with an image for planning where its layers come from (image/orchestrate.h). Pure. One
 * thread.
 */
#pragma once

#include "image/cluster_file.h"
#include "oci/lookup.h"

enum {
    IMAGE_STATES_ARRIVALS_MAX = 16, /* of a layer: nodes that fetch it, and may be followed */
};

/* Of a node that has measured nothing yet; BreakDeployTime assumes it of registries, too. */
#define IMAGE_STATES_BPS_DEFAULT ((int64_t)100000000)

struct image_states;
struct image_states *image_states_new(void);
void image_states_free(struct image_states *s);
DEFINE_SCOPED(image_states, image_states_free)

/* A NodeImageState; borrowed. Errors: those of sched_object_read(), after which what was known of
 * the node stays; E_LIMIT, more than IMAGE_CLUSTER_NODES_MAX. */
int image_states_put(struct image_states *s, const struct json *object, struct err *err);
void image_states_del(struct image_states *s, struct str name);
size_t image_states_count(const struct image_states *s);

/*
 * Of what the node tells nothing counts for others until it names another url: it is no place to
 * send anything to. true: for the first time, so that it can be told once.
 */
bool image_states_refuse(struct image_states *s, struct str name);

bool image_states_is_refused(const struct image_states *s, struct str name);

/* Told in the last IMAGE_ORCHESTRATE_FRESH_MS, or by a clock that is not far ahead
 * (SCHED_NODE_STATE_SKEW_MS). */
bool image_states_is_fresh(int64_t reported_ms, int64_t wall_ms);

/* When the node told something last, by the wall clock; 0: never. *ret_url: borrowed, empty: it
 * does not say where it is, or is refused. */
int64_t image_states_reported_ms(const struct image_states *s, struct str name,
                                 struct str *ret_url);

struct sched_node_image_state;
/* NULL: it tells nothing. Borrowed until it tells something else. */
const struct sched_node_image_state *image_states_get(const struct image_states *s,
                                                      struct str name);
/* Those whose report is fresh and who are not refused, in any order. */
void image_states_each_fresh(const struct image_states *s, int64_t wall_ms,
                             void (*visit)(void *arg, const struct sched_node_image_state *s),
                             void *arg);

/*
 * The image and all nodes, by name; all of it in the arena. `o.node` is 0: choose one with
 * image_cluster_file_deploy_on(). Under way is what nodes fetch from registries as they tell
 * (`is_told`), for as long as the whole layer takes from their last report on. Errors: E_LIMIT, too
 * many layers; E_INVALID, it has none.
 */
int image_states_describe(const struct image_states *s, struct str reference,
                          const struct oci_lookup_image *image, int64_t wall_ms, struct arena *a,
                          struct image_cluster_file *ret, struct err *err);
