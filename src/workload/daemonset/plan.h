/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pods a DaemonSet makes and deletes: pure; the rules are upstream's (pkg/controller/daemon).
 */
#pragma once

#include "workload/daemonset/node_fit.h"

enum {
    DAEMON_BURST = 250,            /* pods that one call makes or deletes */
    DAEMON_FAILED_WAIT_MS = 10000, /* before a pod that has failed is replaced */
};

#define DAEMON_HASH_LABEL "controller-revision-hash"

struct daemon_pod {
    const struct workload_claim *claim;
    const struct workload_pod *facts;
    bool is_updated, is_available;
    bool has_node; /* its node exists */
    bool is_removed;
};

struct daemon_node {
    const struct workload_claim *claim;
    struct daemon_fit fit;
    struct daemon_pod **pods; /* oldest first, those that are being deleted included */
    size_t n;
    bool needs_pod; /* one is to be made */
};

struct daemon_plan {
    struct daemon_node *nodes;
    size_t n;
    struct daemon_pod *pods;
    size_t n_pods;
    int64_t surge, unavailable; /* of a rolling update */
    bool is_rolling;
    size_t n_create, n_delete;
    uint64_t again_ms; /* 0: not by time */
};

/*
 * Everything is in the arena. hash: of the template of now. template_spec: with the tolerations of
 * daemons. Then manage, then roll.
 */
struct daemon_plan *daemonset_read(struct arena *a, const struct json *object,
                                   const struct json *template_spec,
                                   const struct workload_claims *nodes,
                                   const struct workload_claims *pods, struct str hash,
                                   int64_t now_ms);
/* Pods for nodes that lack one; without those that are too many, have ended or must not be there.
 */
void daemonset_manage(struct daemon_plan *p, int64_t now_ms);
/* A step of a rolling update. */
void daemonset_roll(struct arena *a, struct daemon_plan *p);
/* A copy of the object's status with the counters. */
struct json *daemonset_status(struct arena *a, const struct json *object,
                              const struct daemon_plan *p);
