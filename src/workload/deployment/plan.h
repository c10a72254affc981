/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a Deployment divides its replicas among its ReplicaSets: pure functions that change the
 * member `replicas` of sets. The rules are upstream's (pkg/controller/deployment).
 */
#pragma once

#include "workload/frame/controller.h"

struct deployment_set {
    struct str name;
    struct json *object;   /* NULL: it is to be made */
    int64_t replicas, was; /* spec.replicas: as it shall be, and as the object has it */
    int64_t actual;        /* status.replicas; so are the next ones */
    int64_t ready, available, terminating;
    int64_t desired, max; /* its annotations desired-replicas and max-replicas; -1: none */
    int64_t created_s, revision;
    bool is_deleting;
    bool is_observed; /* its controller has seen its newest generation */
    bool is_scaled;   /* its annotations have to be those of the Deployment */
};

struct deployment {
    int64_t replicas;
    int64_t surge, unavailable;  /* maxSurge and maxUnavailable as numbers of pods */
    int64_t status_replicas;     /* status.replicas */
    bool is_rolling;             /* else Recreate */
    struct deployment_set *new;  /* the one with the template of now; NULL: there is none yet */
    struct deployment_set **old; /* the others, oldest first */
    size_t n_old;
};

/*
 * maxSurge rounds up, maxUnavailable down; if both are 0, one pod may be unavailable. surge,
 * unavailable: a number, or a percentage as text.
 */
void deployment_fenceposts(const struct json *surge, const struct json *unavailable,
                           int64_t replicas, int64_t *ret_surge, int64_t *ret_unavailable);
/* How many pods may be missing: 0 unless it is rolling. */
int64_t deployment_max_unavailable(const struct deployment *d);
/* How many pods it may have beyond its replicas: 0 unless it is rolling. */
int64_t deployment_max_surge(const struct deployment *d);

/* How large the new set may be now (upstream's NewRSNewReplicas()). */
int64_t deployment_new_replicas(const struct deployment *d);
/*
 * A step of a rolling update: the new set grows; once it cannot, old ones shrink, those first whose
 * pods are not available. Whether a set has another size now.
 */
bool deployment_roll(struct deployment *d);
/* Scale what is active after the Deployment was scaled, in proportion during a rolling update. */
void deployment_scale(struct deployment *d);
/* spec.replicas has changed since the active sets were last scaled. */
bool deployment_is_scaling(const struct deployment *d);
/* The new set is as large as the Deployment, and all its pods are available. */
bool deployment_is_saturated(const struct deployment *d);

/* Old sets to delete for spec.revisionHistoryLimit, moved to the front of d->old; their number. */
size_t deployment_excess(struct deployment *d, int64_t limit);

/* The label pod-template-hash: FNV-1a of the template and of the count of collisions, encoded. */
struct str deployment_hash(struct arena *a, const struct json *template, int64_t collisions);
/* Equal except for the label pod-template-hash. */
bool deployment_same_template(const struct json *a, const struct json *b);
