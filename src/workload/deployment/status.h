/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a Deployment: pure functions; the rules are upstream's (progress.go, sync.go). */
#pragma once

#include "workload/deployment/plan.h"

#define DEPLOYMENT_SET_FOUND   "FoundNewReplicaSet"
#define DEPLOYMENT_SET_CREATED "NewReplicaSetCreated"
#define DEPLOYMENT_SET_FAILED  "ReplicaSetCreateError"

/* spec.progressDeadlineSeconds; -1: none. */
int64_t deployment_deadline_s(const struct json *object);
struct json *deployment_condition(const struct json *status, const char *type);
/* Sets the condition Progressing; message: about the set if it has a name, else the Deployment. */
void deployment_set_progressing(struct arena *a, struct json *status, const char *condition,
                                const char *reason, struct str message, int64_t now_ms);
/* The condition says whether it is paused, while there is a deadline (checkPausedConditions()). */
void deployment_note_pause(struct arena *a, const struct json *object, struct json *status,
                           int64_t now_ms);
/* Counters and the condition Available; d: with the replicas that the sets get. */
void deployment_count(struct arena *a, const struct json *object, const struct deployment *d,
                      struct json *status, int64_t now_ms);
/* All pods are of the new template and available, by these counters. */
bool deployment_is_complete(const struct json *object, const struct deployment *d,
                            const struct json *status);
/*
 * Conditions Progressing and ReplicaFailure of a rollout. old: the status before, counters and
 * conditions; status: with the counters of now. Returns in how many milliseconds the deadline may
 * have passed; 0: it cannot.
 */
uint64_t deployment_progress(struct arena *a, const struct json *object, const struct deployment *d,
                             const struct json *old, struct json *status, int64_t now_ms);
