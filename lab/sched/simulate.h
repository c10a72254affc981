/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placing pods without a cluster: the scheduler's core on virtual time, with an API that keeps
 * objects in memory and answers by itself. The same objects, configuration and seed give the same
 * result.
 *
 * It also does what else a cluster does that affects placement: it sets defaults and priority
 * classes as admission does, provisions and binds volumes, and deletes evicted pods at once. Nodes
 * are taken as given; no pod runs, so none ends.
 */
#pragma once

#include "sched/core/scheduler.h"

enum {
    SIMULATION_OBJECTS_MAX = 1000000,
    SIMULATION_ERRORS_MAX = 5, /* in a row; then the pod stays without a node */
    /* on average; then the simulation fails: it does not come to rest */
    SIMULATION_ATTEMPTS_PER_POD = 100,
    SIMULATION_VIRTUAL_MS_MAX = 86400000, /* one day */
    SIMULATION_NOTES_MAX = 100, /* lines of simulation_notes(); further ones are only counted */
};

struct simulation;
struct simulation_opts {
    const struct sched_config *config;   /* kept */
    const struct sched_foreign *foreign; /* kept; NULL: native plugins only */
    const struct sched_extender_ops *extenders;
    void *extenders_arg;
    uint64_t seed;
    bool explains;   /* fill in simulation_pod.explain; takes memory for each node that refuses */
    bool keeps_json; /* keep the JSON of pods and nodes, for extenders */
};
/* Errors: as sched_new(). ret: given, simulation_free(). */
int simulation_new(const struct simulation_opts *opts, struct simulation **ret, struct err *err);
void simulation_free(struct simulation *s);
DEFINE_SCOPED(simulation, simulation_free)

/*
 * Adds an object as `kubectl` would apply it, or a list of objects, before simulation_run(). A new
 * Deployment, ReplicaSet, StatefulSet or Job (one without a uid) adds its pods. Kinds that do not
 * matter are noted and left out. Errors: E_INVALID (what it is and what is wrong), -EEXIST,
 * E_LIMIT.
 */
int simulation_add(struct simulation *s, const struct json *object, struct err *err);
/*
 * Runs until every pod is placed or waits for something that will not happen. Errors: E_LIMIT: the
 * simulation does not come to rest.
 */
int simulation_run(struct simulation *s, struct err *err);

/* A pod that had no node at first, or was evicted. All borrowed until simulation_free(). */
struct simulation_pod {
    struct str namespace, name;
    struct str node;      /* "": none */
    struct str reason;    /* why it has no node, else "" */
    struct str nominated; /* the pod waits for this node, where it has evicted pods */
    /* the pod that it was evicted for, as NAMESPACE/NAME; "": not evicted */
    struct str evicted_for;
    unsigned attempts, errors; /* errors: how many attempts in a row ended in one, up to the last */
    bool has_score;
    int64_t score;             /* score of its node when it was chosen */
    const struct json *scores; /* {PLUGIN: SCORE}; NULL: there was no choice */
    /* the last attempt without a node, as explain.h writes it, or NULL */
    const struct json *explain;
};
/* In the order of the files; pods that had a node and were evicted come last. */
size_t simulation_pods(const struct simulation *s, const struct simulation_pod **ret);
/* Lines about what was left out. */
struct str simulation_notes(const struct simulation *s);
