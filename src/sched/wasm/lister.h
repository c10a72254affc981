/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lister of Wasm plugins: pods and nodes of their scheduler as messages. A message is encoded
 * from the tree of the object's event and kept at the object for all plugins; it takes the place of
 * the object's text, which is larger. Used by the thread that runs the scheduler.
 */
#pragma once

#include "sched/framework/framework.h"
#include "sched/wasm/objects.h"

struct wlister {
    struct sched_framework *framework; /* kept; NULL: no cluster yet */
    /* the node of the hook under way, which it asks for most; or NULL */
    const struct sched_node *at;
    struct buf node_list, answer; /* answer: the last result of the functions below */
    uint64_t node_list_at;        /* generation of the nodes in node_list; 0: none */
    uint16_t n_nodes_gone; /* removed nodes, modulo 65,536: a guest with another count gets the full
                              list */
};
void wlister_init(struct wlister *s);
void wlister_fini(struct wlister *s);
void wlister_changed(struct wlister *s, const struct sched_event *event);

/* For struct sched_foreign. An object that cannot be encoded has an error as its message. */
struct sched_encoded *wlister_encode(enum sched_kind kind, const struct json *json);
/* A pending or bound pod, for a cycle. Errors: as wobject_get(). Given. */
int wlister_pod(const struct sched_pod *pod, struct wobject **ret, struct err *err);
/* A pod or node. */
int wlister_object(const struct sched_object *o, struct wobject **ret, struct err *err);
/* The results of these are borrowed until an object changes. false, "": unknown. */
bool wlister_node(struct wlister *s, struct str name, struct str *ret);
struct str wlister_node_list(struct wlister *s);
/*
 * The results of these are borrowed until the next of these calls: guests may call them thousands
 * of times in a cycle.
 */
bool wlister_image_states(struct wlister *s, struct str node, struct str *ret);
bool wlister_node_pods(struct wlister *s, struct str node, struct str *ret);
/* See wplugin_handle.node_changes. */
struct str wlister_node_changes(struct wlister *s, uint64_t since);
