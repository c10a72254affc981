/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of a simulation share: simulate.c runs it, store.c is its API, volumes.c its
 * volume controllers, workloads.c its workload controllers.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "kube/model/resource.h"
#include "lab/sched/simulate.h"
#include "sched/explain/explain.h"

struct simulation_object {
    enum sched_kind kind;
    struct arena arena; /* of the tree; replaced by each write */
    struct json *json;
    char *key; /* "plural/namespace/name" */
    bool is_gone;
    size_t pod; /* 1 + its row; 0: none */
};

struct simulation_call { /* a request that has no answer yet */
    char *method, *target, *body, *patch_type;
    size_t body_n;
    sched_api_done done;
    void *arg;
};

struct simulation {
    struct sched_api api;
    struct sched *sched;
    const struct sched_config *config;
    struct kube_registry registry;
    struct arena arena; /* of results */
    uint64_t now_ms, rv;
    VEC(struct simulation_object *) objects;
    struct map by_key;
    VEC(struct simulation_pod) pods;
    VEC(struct simulation_call) calls;
    size_t n_answered;                         /* calls answered */
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
/* Takes `tree` and its arena: sets a new resourceVersion, and notifies the scheduler if it runs. */
void simulation_replace(struct simulation *s, struct simulation_object *o, struct arena *fresh,
                        struct json *tree);
void simulation_delete(struct simulation *s, struct simulation_object *o);
void simulation_store_fini(struct simulation *s);
void simulation_api_call(struct sched_api *api, const struct sched_api_request *rq,
                         sched_api_done done, void *arg);
/* Answers all waiting requests; returns false if there were none. */
bool simulation_answer(struct simulation *s);

/* ---- volumes.c ---- */

/* Does what volume controllers do about a claim or volume that has just changed. */
void simulation_volumes(struct simulation *s, struct simulation_object *o);

/* ---- workloads.c ---- */

bool simulation_is_workload(const struct json *o);
/* Adds the objects that controllers create for a workload, which has all its defaults and a uid. */
int simulation_expand(struct simulation *s, const struct json *workload, struct err *err);

/* The row of a pod, created if it has none. */
struct simulation_pod *simulation_row(struct simulation *s, struct simulation_object *pod);
