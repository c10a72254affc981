/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods and nodes as plugins get them: protobuf messages as upstream's code writes them, encoded
 * once per version and shared. Main thread; any thread may read a finished message.
 */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json.h"

enum wobject_kind { WOBJECT_POD, WOBJECT_NODE };

#define WOBJECT_MAX_BYTES ((size_t)4 << 20) /* one object */

/* Counted. */
struct wobject {
    unsigned refs;
    struct wobjects *cache; /* the cache that has it, or NULL */
    char *uid, *version;    /* NULL: never in a cache */
    struct str bytes;
};

/* Objects in use, by uid. Zeroed: empty. */
struct wobjects {
    struct map by_uid;
};
/* Objects that are still referenced stay valid. */
void wobjects_fini(struct wobjects *cache);

/*
 * The message of a Pod or Node; `obj` is normalized in place. An object that the cache (or NULL)
 * has with this uid and resource version is not encoded again. Errors: E_INVALID with Go's text if
 * a field has the wrong type, E_LIMIT. ret: given, wobject_unref().
 */
int wobject_get(struct wobjects *cache, enum wobject_kind kind, struct arena *a, struct json *obj,
                struct wobject **ret, struct err *err);
/* The message of a pod with `node` as its spec.nodeName, unless it has one. Given. */
struct wobject *wobject_on_node(const struct wobject *pod, struct str node);
struct wobject *wobject_ref(struct wobject *o);
void wobject_unref(struct wobject *o);
DEFINE_SCOPED(wobject, wobject_unref)

/* A Kubernetes list (NodeList, PodList), item by item. */
void wlist_begin(struct buf *to);
void wlist_add(struct buf *to, struct str item);

/*
 * The nodes of a snapshot in their order, with their images. Answers are made at the first request.
 */
struct wnodes;
struct wnodes *wnodes_new(void);
void wnodes_free(struct wnodes *nodes);
DEFINE_SCOPED(wnodes, wnodes_free)
/* Errors: as wobject_get(). For lookups, a second node with the same name replaces the first. */
int wnodes_add(struct wnodes *nodes, struct wobjects *cache, struct arena *a, struct json *node,
               struct err *err);
/* A pod on a node, by its spec.nodeName; left out if the node is unknown. */
int wnodes_add_pod(struct wnodes *nodes, struct wobjects *cache, struct arena *a, struct json *pod,
                   struct err *err);
/* false: unknown. Borrowed. */
bool wnodes_get(const struct wnodes *nodes, struct str name, struct str *ret);
/* A NodeList; borrowed until the next wnodes_add(). */
struct str wnodes_list(struct wnodes *nodes);
/*
 * A PodList of the pods on a node; borrowed until the next wnodes_add_pod(). Returns false for an
 * unknown node.
 */
bool wnodes_pods(struct wnodes *nodes, struct str name, struct str *ret);
/* See wplugin_handle.image_states; borrowed until the next wnodes_add(). */
bool wnodes_image_states(struct wnodes *nodes, struct str name, struct str *ret);
