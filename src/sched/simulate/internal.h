/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a simulation: simulate.c runs it, store.c is its API, volumes.c its controller of
 * volumes, workloads.c its controllers of workloads. */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "kube/model/resource.h"
#include "sched/explain/explain.h"
#include "sched/simulate/simulate.h"

struct simulation_object {
    enum sched_kind kind;
    struct arena arena; /* of the tree; another one after each write */
    struct json *json;
    char *key; /* "plural/namespace/name" */
    bool is_gone;
    size_t pod; /* 1 + its row, 0: it has none */
};

struct simulation_call { /* a request that waits for its answer */
    char *method, *target, *body, *patch_type;
    size_t body_n;
    sched_api_done done;
    void *arg;
};

struct simulation {
    struct sched_api api;
    struct sched *sched;
    const struct sched_config *config;
    struct registry registry;
    struct arena arena; /* of results */
    uint64_t now_ms, rv;
    VEC(struct simulation_object *) objects;
    struct map by_key;
    VEC(struct simulation_pod) pods;
    VEC(struct simulation_call) calls;
    size_t n_answered;                         /* of calls */
    VEC(const struct json *) priority_classes; /* in the arena */
    bool is_running, explains;
    struct explain *explain;
    struct buf notes;
    size_t n_notes;
    uint64_t n_attempts;
};

/* ---- store.c ---- */

struct simulation_object *simulation_get(const struct simulation *s, enum sched_kind kind,
                                         struct str namespace, struct str name);
/* json: copied. Errors: -EEXIST, E_LIMIT. */
int simulation_store(struct simulation *s, enum sched_kind kind, const struct json *json,
                     struct simulation_object **ret, struct err *err);
/* Takes `tree` and the arena that it lies in: a new resourceVersion, and, once it runs, the
 * scheduler hears of it. */
void simulation_replace(struct simulation *s, struct simulation_object *o, struct arena *fresh,
                        struct json *tree);
void simulation_delete(struct simulation *s, struct simulation_object *o);
void simulation_store_fini(struct simulation *s);
void simulation_api_call(struct sched_api *api, const struct sched_api_request *rq,
                         sched_api_done done, void *arg);
/* Answers what is waiting; false: nothing was. */
bool simulation_answer(struct simulation *s);

/* ---- volumes.c ---- */

/* What controllers of volumes do about a claim or volume that has just changed. */
void simulation_volumes(struct simulation *s, struct simulation_object *o);

/* ---- workloads.c ---- */

bool simulation_is_workload(const struct json *o);
/* What controllers make of it, added; it has all its defaults and a uid. */
int simulation_expand(struct simulation *s, const struct json *workload, struct err *err);

/* The row of a pod, made if it has none. */
struct simulation_pod *simulation_row(struct simulation *s, struct simulation_object *pod);
