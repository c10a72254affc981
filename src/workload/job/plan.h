/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Job does: pure functions of its object and its pods. The rules are upstream's
 * (pkg/controller/job). A pod is counted once: it has a finalizer until its uid is in
 * status.uncountedTerminatedPods, and the uid moves into the counters when the finalizer is gone.
 */
#pragma once

#include "workload/frame/controller.h"
#include "workload/job/indexes.h"

#define JOB_FINALIZER    "batch.kubernetes.io/job-tracking"
#define JOB_INDEX_KEY    "batch.kubernetes.io/job-completion-index"
#define JOB_FAILURES_KEY "batch.kubernetes.io/job-index-failure-count"

enum {
    JOB_BURST = 500,        /* pods that one call makes, deletes or counts */
    JOB_BACKOFF_MS = 10000, /* after a pod failed; doubles */
    JOB_BACKOFF_MAX_MS = 600000
};

enum job_pod_state { JOB_POD_ACTIVE, JOB_POD_ENDING, JOB_POD_SUCCEEDED, JOB_POD_FAILED };
enum job_pod_action { JOB_COUNT, JOB_IGNORE, JOB_FAIL_INDEX, JOB_FAIL }; /* of podFailurePolicy */

struct job_pod {
    const struct workload_claim *claim;
    const struct workload_pod *facts;
    enum job_pod_state state;
    enum job_pod_action action; /* of one that failed; with JOB_FAIL: */
    struct str why;
    bool is_listed;  /* its uid is in uncountedTerminatedPods */
    bool is_removed; /* to be deleted; its finalizer goes first, so that it is not counted */
};

/* How it ends: a condition that is set at once, and later Complete or Failed with the same words.
 */
struct job_finish {
    const char *type; /* "SuccessCriteriaMet", "FailureTarget"; NULL: it goes on */
    struct str reason, message;
};

struct job_plan {
    const struct json *object;
    int64_t now_ms;
    /* the spec; -1: not set */
    int64_t parallelism, completions, backoff_limit, deadline_s, per_index, max_failed;
    bool is_indexed, is_suspended, is_deleting;
    bool awaits_failed;       /* podReplacementPolicy Failed */
    bool restarts_on_failure; /* restartPolicy OnFailure */
    int64_t started_s;        /* status.startTime; 0: none */
    struct job_pod *pods;
    size_t n;
    /* what there is */
    int64_t n_active, n_ready, n_ending, n_succeeded, n_failed;
    struct job_indexes succeeded, failed;
    /* the decision */
    struct job_finish finish;
    size_t n_create;
    int32_t *create_index; /* of an indexed Job: for each pod to create; with the next member */
    int32_t *create_failures;
    uint64_t again_ms; /* 0: not by time */
};

/*
 * Everything is in the arena. bodies: of the pods that failed and are not counted, for
 * podFailurePolicy; others NULL; in the order of `pods`. NULL: there is no policy.
 */
struct job_plan *job_read(struct arena *a, const struct json *object,
                          const struct workload_claims *pods, struct json *const *bodies,
                          int64_t now_ms);
/* "Complete" or "Failed" is True. */
bool job_is_finished(const struct json *object);
/* Whether a pod has failed, and is not counted yet. */
bool job_has_new_failure(const struct json *object, const struct workload_claim *pod);
/* Which pods to delete (is_removed), or how many to make; whether and how the Job ends. */
void job_decide(struct arena *a, struct job_plan *j);
/* When the deletion of the finished Job is due, in milliseconds from now; -1: it has no TTL. */
int64_t job_ttl_ms(const struct json *object, int64_t now_ms);
