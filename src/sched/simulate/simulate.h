/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placing without a cluster: the scheduler's core on virtual time, with an API that keeps objects
 * in memory and answers by itself. The same objects, configuration and seed give the same result.
 *
 * Beside the API it stands in for what else a cluster does and a pod's place depends on: defaults
 * and priority classes as admission sets them, volumes that are provisioned and bound, evicted pods
 * that are gone at once. Nodes are taken as they are; nothing runs, so nothing ends.
 */
#pragma once

#include "sched/core/scheduler.h"

enum {
    SIMULATION_OBJECTS_MAX = 1000000,
    SIMULATION_ERRORS_MAX = 5,            /* in a row: the pod stays without a node */
    SIMULATION_ATTEMPTS_PER_POD = 100,    /* on average; then it has failed to come to rest */
    SIMULATION_VIRTUAL_MS_MAX = 86400000, /* a day of back-offs and time-outs */
    SIMULATION_NOTES_MAX = 100, /* lines of simulation_notes(); further ones are counted */
};

struct simulation;
struct simulation_opts {
    const struct sched_config *config;   /* kept */
    const struct sched_foreign *foreign; /* kept; NULL: native plugins alone */
    const struct sched_extender_ops *extenders;
    void *extenders_arg;
    uint64_t seed;
    bool explains;   /* simulation_pod.explain is wanted: memory for each node that refuses */
    bool keeps_json; /* of pods and nodes, for Wasm plugins and extenders */
};
/* Errors: as sched_new(). ret: given, simulation_free(). */
int simulation_new(const struct simulation_opts *opts, struct simulation **ret, struct err *err);
void simulation_free(struct simulation *s);
DEFINE_SCOPED(simulation, simulation_free)

/*
 * An object as `kubectl` would apply it, or a list of such, before simulation_run(). A new
 * Deployment, ReplicaSet, StatefulSet or Job (one without a uid) brings its pods. Kinds that do not
 * matter are noted and left out. Errors: E_INVALID (what it is and what is wrong), -EEXIST,
 * E_LIMIT.
 */
int simulation_add(struct simulation *s, const struct json *object, struct err *err);
/*
 * Until every pod is placed or waits for something that does not come. Errors: E_LIMIT: it does not
 * come to rest.
 */
int simulation_run(struct simulation *s, struct err *err);

/* A pod that had no node at first. All borrowed until simulation_free(). */
struct simulation_pod {
    struct str namespace, name;
    struct str node;           /* "": none */
    struct str reason;         /* why it has none, else "" */
    struct str nominated;      /* it waits for this node, whose pods it has evicted */
    struct str evicted_for;    /* it had to go; the pod as NAMESPACE/NAME, or "" if not */
    unsigned attempts, errors; /* errors: the last so many attempts ended in one */
    bool has_score;
    int64_t score;              /* of its node, when it was chosen */
    const struct json *scores;  /* {PLUGIN: POINTS}; NULL: there was no choice */
    const struct json *explain; /* of an attempt without a node, as explain.h writes it, or NULL */
};
/* In the order of the files; pods that had a node and were evicted come behind. */
size_t simulation_pods(const struct simulation *s, const struct simulation_pod **ret);
/* Lines about what was left out. */
struct str simulation_notes(const struct simulation *s);
