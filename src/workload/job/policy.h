/* SPDX-License-Identifier: Apache-2.0 */
/* podFailurePolicy and successPolicy of a Job. Pure. */
#pragma once

#include "workload/job/plan.h"

/* What the first rule that matches a failed pod says; why: set for JOB_FAIL, in the arena. */
enum job_pod_action job_policy_action(struct arena *a, const struct json *job,
                                      const struct json *pod, struct str *ret_why);
/* Sets j->finish if a rule of the success policy matches the indexes that succeeded. */
void job_policy_success(struct arena *a, struct job_plan *j);
