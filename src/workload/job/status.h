/* SPDX-License-Identifier: Apache-2.0 */
/* The status of a Job. Pure; statuses are changed in place. */
#pragma once

#include "workload/job/plan.h"

/*
 * What the decision changes: counters, startTime, conditions, and the pods that have ended, in
 * uncountedTerminatedPods. *ret_suspended: 1: it was suspended now; -1: it was resumed now; 0.
 */
void job_status_begin(struct arena *a, const struct job_plan *j, struct json *status,
                      int *ret_suspended);
/*
 * Move the uids whose pods have no finalizer any more into the counters. is_tracked says whether a
 * pod of this uid still has it.
 */
void job_status_count(struct arena *a, struct json *status,
                      bool (*is_tracked)(void *arg, struct str uid), void *arg);
/*
 * Complete or Failed, once nothing is left to be counted. Returns the condition's type; NULL: it
 * has not ended.
 */
const char *job_status_end(struct arena *a, const struct job_plan *j, struct json *status);
