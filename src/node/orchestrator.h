/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans and sends image deployments: for each pod that the scheduler has bound, it plans from where
 * the node fetches the layers that it lacks of the pod's images (image/orchestrate.h), and sends
 * the plan to the node as a BDM. Nodes report what they hold, how fast they are and at which URL
 * they are reached in NodeImageStates; a node without one, or without a report for 30 s, gets no
 * plan and pulls as usual.
 *
 *     pod bound -> image asked for -> waits -> planned, sent -> the node has ended -> remembered
 *                                       ^          |
 *                                       '--- pause-'  the node was busy or away
 *
 * Everything that is deployed by a plan is available to every user of the node. So registries are
 * asked without the pods' pull secrets, and an image that needs credentials gets no plan.
 *
 * Plans under way count for later plans: a node that is fetching a layer is a source of that layer
 * for others, and the bytes that a node has to send delay its later requests.
 *
 * The scheduler that binds a pod sends the plan; so of several schedulers the leader does. Loop
 * thread only.
 */
#pragma once

#include "client/watch_hub.h"
#include "node/node_networks.h"
#include "sched/driver/driver.h"

enum {
    ORCHESTRATOR_PLANS_MAX = 1024,    /* one per image and node; beyond it pods get no plan */
    ORCHESTRATOR_RUNNING_MAX = 32,    /* sent at a time; further ones wait */
    ORCHESTRATOR_PREFETCHES_MAX = 16, /* of them prefetches, for which no pod waits */
    ORCHESTRATOR_NODE_MAX = 4,        /* of them to one node, which may be slow or unreachable */
    ORCHESTRATOR_TRIES = 3,           /* attempts for a node that is busy or unreachable */
    ORCHESTRATOR_PAUSE_MS = 500,      /* before the second attempt; doubles for the third */
    ORCHESTRATOR_POLL_MS = 1000,      /* interval of asking a node for its progress */
    ORCHESTRATOR_RECENT_MS = 10000, /* an image that was deployed to a node is not sent again within
                                       this time; by then the node has reported what it holds */
    ORCHESTRATOR_STATES_MS = 30000, /* longest wait of a plan for the nodes' states */
    ORCHESTRATOR_DEADLINE_MS = 60000, /* of a deployment without a deadline of its own */
    ORCHESTRATOR_PREFETCH_NODES = 16, /* per round; further ones follow in the next rounds */
};

struct orchestrator;

struct orchestrator_opts {
    struct loop *loop;
    struct transport *transport; /* kept, as the next three */
    struct watch_hub *hub;
    const struct kube_identity *identity; /* NULL: the transport's own */
    struct str key;                       /* of the cluster, signs plans; copied */
    struct str ca_pem;                    /* CA of nodes with https; empty: the system's; copied */
    struct node_networks networks;        /* where nodes may be; other nodes get no plan; kept */
    uint64_t deadline_ms;                 /* 0: ORCHESTRATOR_DEADLINE_MS */
    bool is_push; /* nodes push layers to the target instead of waiting for its requests */
    /*
     * Interval in which idle nodes are sent layers that pods often need (node/prefetcher.h); 0:
     * never.
     */
    uint64_t prefetch_ms;
    /*
     * Returns the layers of an image, as sched_driver_ask_image(); every callback must have run
     * before the orchestrator is closed.
     */
    int (*ask)(void *arg, struct str image, sched_image_cb cb, void *cb_arg, struct err *err);
    /* The number of nodes with a NodeImageState, each time that it has changed. NULL: not wanted.
     */
    void (*on_nodes)(void *arg, size_t n);
    void *arg;
};
struct orchestrator *orchestrator_new(const struct orchestrator_opts *opts);
/* Deployments that nodes have begun continue. NULL is fine. */
void orchestrator_close(struct orchestrator *o);

/* Watch the nodes' states before the first pod is bound. */
void orchestrator_watch(struct orchestrator *o);

/* A pod was bound to its node. Failures are logged and written as an Event of the pod. */
void orchestrator_bound(struct orchestrator *o, const struct sched_bound *b);

/*
 * A JSON array of the plans that were sent for the pod: members "image", "node" and those of
 * image_plan_json(). The newest PLAN_BOOK_MAX plans of all pods are kept.
 */
void orchestrator_explain(const struct orchestrator *o, struct str namespace, struct str pod,
                          struct buf *to);

struct orchestrator_stats {
    size_t waiting, running;
    uint64_t done, failed, present, skipped, joined, dropped;
    uint64_t prefetched, unwanted; /* prefetches that succeeded; that failed */
};
void orchestrator_stats(const struct orchestrator *o, struct orchestrator_stats *ret);
void orchestrator_metrics(const struct orchestrator *o, struct buf *to);
