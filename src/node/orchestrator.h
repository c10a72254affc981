/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends what it planned: for each pod that the scheduler has bound, where the layers come from
 * which the node lacks of the pod's images (image/orchestrate.h), as a BDM to that node. What the
 * nodes hold, how fast they are and where they can be asked, they say in NodeImageStates; a node
 * without one, or without a word for 30 s, gets no plan and pulls as it would anyway.
 *
 *     pod bound -> image asked for -> waits -> planned, sent -> the node has ended -> remembered
 *                                       ^          |
 *                                       '--- pause-'  the node was busy or away
 *
 * What comes with a plan is for everybody on the node. So registries are asked without the pods'
 * pull secrets, and an image that they do not show without gets no plan.
 *
 * Plans that are under way count for the next ones: a node that is fetching a layer is a source of
 * it for others, and the bytes that a node has to send delay what is asked of it next.
 *
 * Whoever binds sends; so of several schedulers the one that leads does. Loop thread only.
 */
#pragma once

#include "client/watch_hub.h"
#include "node/node_networks.h"
#include "sched/driver/driver.h"

enum {
    ORCHESTRATOR_PLANS_MAX = 1024,    /* of an image to a node; further pods get none */
    ORCHESTRATOR_RUNNING_MAX = 32,    /* sent at a time; others wait */
    ORCHESTRATOR_PREFETCHES_MAX = 16, /* of them those that no pod waits for */
    ORCHESTRATOR_NODE_MAX = 4,        /* of them to one node, which may be slow, or away */
    ORCHESTRATOR_TRIES = 3,           /* of a node that is busy or away */
    ORCHESTRATOR_PAUSE_MS = 500,      /* before the second, doubled for the third */
    ORCHESTRATOR_POLL_MS = 1000,      /* how far a node is */
    ORCHESTRATOR_RECENT_MS = 10000,   /* an image that came to a node is not sent again for so long:
                                         the node will have told what it holds */
    ORCHESTRATOR_STATES_MS = 30000,   /* a plan waits so long for the nodes' states */
    ORCHESTRATOR_DEADLINE_MS = 60000, /* of a deployment, where none is stated */
    ORCHESTRATOR_PREFETCH_NODES = 16, /* in a round; the others come in the next ones */
};

struct orchestrator;

struct orchestrator_opts {
    struct loop *loop;
    struct transport *transport; /* kept, as the next three */
    struct watch_hub *hub;
    const struct kube_identity *identity; /* NULL: the transport's own */
    struct str key;                       /* of the cluster; copied */
    struct str ca_pem;                    /* of nodes with https; empty: the system's; copied */
    struct node_networks networks;        /* where nodes may be, others get no plan; kept */
    uint64_t deadline_ms;                 /* 0: as above */
    bool is_push;                         /* nodes push what they have, unasked */
    /* Every so long idle nodes are sent what pods ask for often (node/prefetcher.h); 0: never. */
    uint64_t prefetch_ms;
    /* What an image is made of, as sched_driver_ask_image(); all callbacks have come when the
     * orchestrator is closed. */
    int (*ask)(void *arg, struct str image, sched_image_cb cb, void *cb_arg, struct err *err);
    void *arg;
};
struct orchestrator *orchestrator_new(const struct orchestrator_opts *opts);
/* Deployments that nodes have begun go on. NULL is fine. */
void orchestrator_close(struct orchestrator *o);

/* A pod has got its node. What fails is logged, and written as an Event of the pod. */
void orchestrator_bound(struct orchestrator *o, const struct sched_bound *b);

struct orchestrator_stats {
    size_t waiting, running;
    uint64_t done, failed, present, skipped, joined, dropped;
    uint64_t prefetched, unwanted; /* prefetches that ended well; that did not */
};
void orchestrator_stats(const struct orchestrator *o, struct orchestrator_stats *ret);
void orchestrator_metrics(const struct orchestrator *o, struct buf *to);
