/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/job/policy.h"

#include "kube/model/meta.h"

#include <inttypes.h>

static enum job_pod_action action_of(const struct json *rule)
{
    struct str action = json_get_str(rule, "action");
    return str_is(action, "FailJob")     ? JOB_FAIL
           : str_is(action, "Ignore")    ? JOB_IGNORE
           : str_is(action, "FailIndex") ? JOB_FAIL_INDEX
                                         : JOB_COUNT;
}

/* ---------------------------------------------------------------- exit codes */

static bool has_code(const struct json *values, int64_t code)
{
    json_each (v, values)
        if (json_int_or(v, 0) == code)
            return true;
    return false;
}

/* The container whose exit code matches; NULL: none does. */
static const struct json *matching_container(const struct json *codes, const struct json *statuses,
                                             int64_t *ret_code)
{
    bool is_in = str_is(json_get_str(codes, "operator"), "In");
    struct str only = json_get_str(codes, "containerName");
    json_each (c, statuses) {
        const struct json *ended = json_path(c, "state", "terminated", NULL);
        int64_t code = json_int_or(json_getc(ended, "exitCode"), 0);
        if (!ended || code == 0 || (only.n && !str_eq(only, json_get_str(c, "name"))))
            continue;
        if (has_code(json_getc(codes, "values"), code) != is_in)
            continue;
        *ret_code = code;
        return c;
    }
    return NULL;
}

static const struct json *matching_code(const struct json *codes, const struct json *status,
                                        int64_t *ret_code)
{
    const struct json *c =
        matching_container(codes, json_getc(status, "containerStatuses"), ret_code);
    return c ? c : matching_container(codes, json_getc(status, "initContainerStatuses"), ret_code);
}

static const struct json *matching_condition(const struct json *patterns,
                                             const struct json *conditions)
{
    json_each (p, patterns)
        json_each (c, conditions)
            if (str_eq(json_get_str(p, "type"), json_get_str(c, "type")) &&
                str_eq(json_get_str(p, "status"), json_get_str(c, "status")))
                return c;
    return NULL;
}

/* "": the rule does not match. */
static struct str match_rule(struct arena *a, const struct json *rule, const struct json *pod,
                             int index)
{
    const struct json *status = json_getc(pod, "status"), *codes = json_getc(rule, "onExitCodes");
    struct str action = json_get_str(rule, "action");
    int64_t code = 0;
    const struct json *c = codes ? matching_code(codes, status, &code) : NULL;
    const struct json *condition =
        matching_condition(json_getc(rule, "onPodConditions"), json_getc(status, "conditions"));
    const char *what = c ? arena_printf(a,
                                        "Container " STR_FMT " for pod " STR_FMT "/" STR_FMT
                                        " failed with exit code %" PRId64,
                                        STR_ARG(json_get_str(c, "name")),
                                        STR_ARG(meta_namespace(pod)), STR_ARG(meta_name(pod)), code)
                       : condition
                           ? arena_printf(a, "Pod " STR_FMT "/" STR_FMT " has condition " STR_FMT,
                                          STR_ARG(meta_namespace(pod)), STR_ARG(meta_name(pod)),
                                          STR_ARG(json_get_str(condition, "type")))
                           : NULL;
    return what ? str_of(arena_printf(a, "%s matching " STR_FMT " rule at index %d", what,
                                      STR_ARG(action), index))
                : STR("");
}

enum job_pod_action job_policy_action(struct arena *a, const struct json *job,
                                      const struct json *pod, struct str *ret_why)
{
    int index = 0;
    json_each (rule, json_path(job, "spec", "podFailurePolicy", "rules", NULL)) {
        struct str why = match_rule(a, rule, pod, index++);
        if (!why.n)
            continue;
        *ret_why = why;
        return action_of(rule);
    }
    return JOB_COUNT;
}

/* ---------------------------------------------------------------- success */

static int64_t count_common(const struct job_indexes *wanted, const struct job_indexes *have)
{
    int64_t n = 0;
    for (const struct job_range *w = wanted->p; w < wanted->p + wanted->n; w++)
        for (const struct job_range *h = have->p; h < have->p + have->n; h++)
            n += MAX((int64_t)MIN(w->last, h->last) - MAX(w->first, h->first) + 1, 0);
    return n;
}

static bool is_met(struct arena *a, const struct job_plan *j, const struct json *rule)
{
    const struct json *indexes = json_getc(rule, "succeededIndexes");
    const struct json *count = json_getc(rule, "succeededCount");
    struct job_indexes wanted = { .arena = a };
    int64_t n = j->n_succeeded, least = json_int_or(count, 0);
    if (indexes) {
        job_indexes_parse(&wanted, json_str(indexes), (int32_t)MIN(j->completions, INT32_MAX));
        n = count_common(&wanted, &j->succeeded);
        least = count ? least : job_indexes_count(&wanted);
    }
    return n >= least;
}

void job_policy_success(struct arena *a, struct job_plan *j)
{
    int index = 0;
    json_each (rule, json_path(j->object, "spec", "successPolicy", "rules", NULL)) {
        if (is_met(a, j, rule)) {
            j->finish =
                (struct job_finish){ "SuccessCriteriaMet", STR("SuccessPolicy"),
                                     str_of(arena_printf(a, "Matched rules at index %d", index)) };
            return;
        }
        index++;
    }
}
