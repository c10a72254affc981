/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON of a node's objects: the Node, its status, the patch that takes over a Node that exists, and
 * the Lease. Pure; everything is allocated in the arena.
 */
#pragma once

#include "agent/registration/machine.h"
#include "agent/registration/registration.h"
#include "codec/json.h"

#define NODE_OBJECT_LEASES "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
#define NODE_OBJECT_NODES  "/api/v1/nodes"

/* In the order in which they are reported; older clients expect Ready last. */
enum node_object_condition {
    NODE_OBJECT_MEMORY_PRESSURE,
    NODE_OBJECT_DISK_PRESSURE,
    NODE_OBJECT_PID_PRESSURE,
    NODE_OBJECT_READY,
    NODE_OBJECT_CONDITIONS
};

struct node_object_state { /* of a condition; since_s 0: it was never reported */
    bool is_true;
    int64_t since_s; /* wall clock: lastTransitionTime */
};

/* What is reported. Borrowed. */
struct node_object {
    const struct registration_opts *opts; /* of the registration */
    const struct machine *machine;
    const char *const *addresses; /* InternalIP */
    size_t n_addresses;
    uint64_t storage_bytes;           /* of nodefs */
    struct node_object_state *states; /* NODE_OBJECT_CONDITIONS of them */
    const char *not_ready;            /* NULL: ready */
    const struct registration_image *images;
    size_t n_images;
};

/* Set a condition; a change moves since_s. Whether it has changed. */
bool node_object_set(struct node_object_state *state, bool is_true, int64_t now_s);
/* Take the conditions of a Node that exists, so that their times stay. */
void node_object_take_states(const struct json *node, struct node_object_state *states);

/* The reason of kubelet's Event about a condition that has become this: "NodeReady". */
const char *node_object_event(enum node_object_condition c, bool is_true);
/* Whether the Node shows one of the conditions with another status. */
bool node_object_differs(const struct json *node, const struct node_object_state *states);

/* The version of kubelet that this node is like: "v1.36.3+dormouse-0.1.0". */
const char *node_object_version(struct arena *a);
/* The status without the times of heartbeats: equal ones need no report. */
struct json *node_object_status(struct arena *a, const struct node_object *n);
/* A whole Node, to create. */
struct json *node_object_new(struct arena *a, const struct node_object *n, int64_t now_s);
/* A strategic merge patch of the status, with heartbeats; the status becomes part of it. */
struct json *node_object_patch(struct arena *a, struct json *status, int64_t now_s);
/*
 * A strategic merge patch that makes a Node that exists ours, as kubelet does: labels that describe
 * the machine. NULL: it needs none. Other labels and taints stay as they are.
 */
struct json *node_object_adopt(struct arena *a, const struct node_object *n,
                               const struct json *node);
/* The same for its status: extended resources are 0 until a plug-in reports them. NULL: none. */
struct json *node_object_adopt_status(struct arena *a, const struct json *node);

/* A Lease to create; uid: of the Node that owns it. */
struct json *node_object_lease(struct arena *a, const char *name, struct str uid, uint32_t lease_s,
                               int64_t now_us);
/* A merge patch that renews it. */
struct json *node_object_renewal(struct arena *a, const char *name, uint32_t lease_s,
                                 int64_t now_us);
