/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes' reports about their images (NodeImageState), kept by name. Combined with an image they
 * are the input for planning from where its layers are fetched (image/orchestrate.h). Pure. One
 * thread.
 */
#pragma once

#include "image/cluster_file.h"
#include "oci/lookup.h"

enum {
    IMAGE_STATES_ARRIVALS_MAX = 16, /* nodes that fetch a layer and can serve as its source */
};

/* Rate of a node that has measured none yet; BreakDeployTime assumes the same of registries. */
#define IMAGE_STATES_BPS_DEFAULT ((int64_t)100000000)

struct image_states;
struct image_states *image_states_new(void);
void image_states_free(struct image_states *s);
DEFINE_SCOPED(image_states, image_states_free)

/*
 * Store a NodeImageState; borrowed. Errors: those of sched_object_read(), and the node's previous
 * report stays; E_LIMIT, more than IMAGE_CLUSTER_NODES_MAX nodes.
 */
int image_states_put(struct image_states *s, const struct json *object, struct err *err);
void image_states_del(struct image_states *s, struct str name);
size_t image_states_count(const struct image_states *s);

/*
 * Ignore the node's reports until it names another url: nothing may be sent to this one. Returns
 * true the first time, so that the caller reports it once.
 */
bool image_states_refuse(struct image_states *s, struct str name);

bool image_states_is_refused(const struct image_states *s, struct str name);

/*
 * Whether the report is at most IMAGE_ORCHESTRATE_FRESH_MS old, and at most
 * SCHED_NODE_STATE_SKEW_MS in the future.
 */
bool image_states_is_fresh(int64_t reported_ms, int64_t wall_ms);

/*
 * Wall-clock time of the node's last report; 0: none. *ret_url: borrowed; empty: the node names no
 * url, or is refused.
 */
int64_t image_states_reported_ms(const struct image_states *s, struct str name,
                                 struct str *ret_url);

struct sched_node_image_state;
/* NULL: no report. Borrowed until the node's next report. */
const struct sched_node_image_state *image_states_get(const struct image_states *s,
                                                      struct str name);
/* Visit the nodes with a fresh report that are not refused, in any order. */
void image_states_each_fresh(const struct image_states *s, int64_t wall_ms,
                             void (*visit)(void *arg, const struct sched_node_image_state *s),
                             void *arg);

/*
 * Describe the image and all nodes, by name, in the arena. `o.node` is 0: choose one with
 * image_cluster_file_deploy_on(). A layer counts as under way if a node reports that it fetches it
 * from a registry (`is_reported`), for the time that the whole layer takes, from the node's last
 * report on. Errors: E_LIMIT, too many layers; E_INVALID, no layers.
 */
int image_states_describe(const struct image_states *s, struct str reference,
                          const struct oci_lookup_image *image, int64_t wall_ms, struct arena *a,
                          struct image_cluster_file *ret, struct err *err);
