/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Wasm plugins of a scheduler see of its cluster: pods and nodes as messages, encoded when a
 * guest asks for them first, and kept at the object for all plugins. By the thread that runs the
 * scheduler.
 */
#pragma once

#include "sched/framework/framework.h"
#include "sched/wasm/objects.h"

struct wsight {
    struct sched_framework *framework; /* kept; NULL: there is no cluster yet */
    const struct sched_node *at;  /* of the hook under way, which it asks about most; or NULL */
    struct buf node_list, answer; /* answer: to the last question of those below */
    uint64_t node_list_at;        /* generation of the nodes that it shows; 0: none */
    uint16_t
        n_nodes_gone; /* counted, modulo 65,536: who asks with another count is told everything */
};
void wsight_init(struct wsight *s);
void wsight_fini(struct wsight *s);
void wsight_changed(struct wsight *s, const struct sched_event *event);

/* A pending or bound pod, for a cycle. Errors: as wobject_get(). Given. */
int wsight_pod(const struct sched_pod *pod, struct wobject **ret, struct err *err);
/* A pod or node. */
int wsight_object(const struct sched_object *o, struct wobject **ret, struct err *err);
/* These are borrowed until an object changes. false, "": unknown. */
bool wsight_node(struct wsight *s, struct str name, struct str *ret);
struct str wsight_node_list(struct wsight *s);
/* And these until the next of them: guests may ask thousands of times in a cycle. */
bool wsight_image_states(struct wsight *s, struct str node, struct str *ret);
bool wsight_node_pods(struct wsight *s, struct str node, struct str *ret);
/* See wplugin_handle.node_changes. */
struct str wsight_node_changes(struct wsight *s, uint64_t since);
