/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/job/plan.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "kube/model/meta.h"
#include "workload/frame/condition.h"
#include "workload/job/policy.h"
#include "workload/replicas/plan.h"

/* ---------------------------------------------------------------- reading */

static int64_t time_of(const struct json *v)
{
    int64_t us = 0;
    return rfc3339_parse(json_str(v), &us) < 0 ? 0 : us / 1000000;
}

static bool is_true(const struct json *status, const char *type)
{
    const struct json *c = workload_condition_find(status, type);
    return c && str_is(json_get_str(c, "status"), "True");
}

bool job_is_finished(const struct json *object)
{
    const struct json *status = json_getc(object, "status");
    return is_true(status, "Complete") || is_true(status, "Failed");
}

static void read_spec(struct job_plan *j)
{
    const struct json *spec = json_getc(j->object, "spec");
    j->parallelism = json_int_or(json_getc(spec, "parallelism"), 1);
    j->completions = json_int_or(json_getc(spec, "completions"), -1);
    j->backoff_limit = json_int_or(json_getc(spec, "backoffLimit"), 6);
    j->deadline_s = json_int_or(json_getc(spec, "activeDeadlineSeconds"), -1);
    j->max_failed = json_int_or(json_getc(spec, "maxFailedIndexes"), -1);
    j->is_indexed = str_is(json_get_str(spec, "completionMode"), "Indexed");
    j->per_index = j->is_indexed ? json_int_or(json_getc(spec, "backoffLimitPerIndex"), -1) : -1;
    j->is_suspended = json_bool(json_getc(spec, "suspend"));
    j->is_deleting = meta_is_deleting(j->object);
    j->awaits_failed = str_is(json_get_str(spec, "podReplacementPolicy"), "Failed");
    j->restarts_on_failure =
        str_is(json_str(json_path(spec, "template", "spec", "restartPolicy", NULL)), "OnFailure");
}

static bool has_uid(const struct json *list, struct str uid)
{
    json_each (v, list)
        if (str_eq(json_str(v), uid))
            return true;
    return false;
}

/* A pod without a node has no kubelet that would end it. */
static enum job_pod_state state_of(const struct workload_claim *claim, bool awaits_failed)
{
    const struct workload_pod *pod = workload_pod_of(claim);
    if (pod->phase == WORKLOAD_SUCCEEDED)
        return JOB_POD_SUCCEEDED;
    if (pod->phase == WORKLOAD_FAILED)
        return JOB_POD_FAILED;
    if (!claim->is_deleting)
        return JOB_POD_ACTIVE;
    return awaits_failed && pod->node ? JOB_POD_ENDING : JOB_POD_FAILED;
}

static int64_t length_of(const struct json *list)
{
    return list ? list->n : 0;
}

static bool is_listed(const struct json *object, struct str uid)
{
    const struct json *lists = json_path(object, "status", "uncountedTerminatedPods", NULL);
    return has_uid(json_getc(lists, "succeeded"), uid) || has_uid(json_getc(lists, "failed"), uid);
}

bool job_has_new_failure(const struct json *object, const struct workload_claim *pod)
{
    return workload_pod_of(pod)->is_tracked && workload_pod_of(pod)->phase == WORKLOAD_FAILED &&
           !is_listed(object, pod->uid);
}

static bool is_new(const struct job_pod *p)
{
    return p->facts->is_tracked && !p->is_listed;
}

static bool has_index(const struct job_plan *j, const struct job_pod *p)
{
    return p->facts->index >= 0 && p->facts->index < j->completions;
}

static bool fails_index(const struct job_plan *j, const struct job_pod *p)
{
    return p->action == JOB_FAIL_INDEX || p->facts->index_failures >= j->per_index;
}

static void count_pod(struct job_plan *j, const struct job_pod *p)
{
    bool is_ending = p->claim->is_deleting && p->facts->phase < WORKLOAD_SUCCEEDED;
    j->n_active += p->state == JOB_POD_ACTIVE;
    j->n_ready += p->state == JOB_POD_ACTIVE && p->facts->is_ready;
    j->n_ending += is_ending;
    if (!is_new(p))
        return;
    j->n_succeeded += p->state == JOB_POD_SUCCEEDED;
    j->n_failed += p->state == JOB_POD_FAILED && p->action != JOB_IGNORE;
    if (!j->is_indexed || !has_index(j, p))
        return;
    if (p->state == JOB_POD_SUCCEEDED)
        job_indexes_add(&j->succeeded, p->facts->index);
    else if (p->state == JOB_POD_FAILED && j->per_index >= 0 && p->action != JOB_IGNORE &&
             fails_index(j, p))
        job_indexes_add(&j->failed, p->facts->index);
}

/* An index that succeeded has not failed. */
static void read_indexes(struct job_plan *j, const struct json *status)
{
    int32_t limit = (int32_t)MIN(j->completions, (int64_t)INT32_MAX);
    if (!j->is_indexed)
        return;
    job_indexes_parse(&j->succeeded, json_get_str(status, "completedIndexes"), limit);
    job_indexes_parse(&j->failed, json_get_str(status, "failedIndexes"), limit);
}

struct job_plan *job_read(struct arena *a, const struct json *object,
                          const struct workload_claims *pods, struct json *const *bodies,
                          int64_t now_ms)
{
    struct job_plan *j = arena_new(a, struct job_plan);
    const struct json *status = json_getc(object, "status");
    const struct json *lists = json_getc(status, "uncountedTerminatedPods");
    *j = (struct job_plan){
        .object = object, .now_ms = now_ms, .succeeded.arena = a, .failed.arena = a
    };
    read_spec(j);
    j->started_s = time_of(json_getc(status, "startTime"));
    j->n_succeeded = json_int_or(json_getc(status, "succeeded"), 0);
    j->n_failed = json_int_or(json_getc(status, "failed"), 0);
    j->n_succeeded += length_of(json_getc(lists, "succeeded"));
    j->n_failed += length_of(json_getc(lists, "failed"));
    read_indexes(j, status);
    j->pods = arena_new_n(a, struct job_pod, pods->n + 1);
    for (size_t i = 0; i < pods->n; i++) {
        struct job_pod *p = &j->pods[j->n++];
        p->claim = &pods->at[i];
        p->facts = workload_pod_of(p->claim);
        p->state = state_of(p->claim, j->awaits_failed);
        p->is_listed = is_listed(object, p->claim->uid);
        if (p->state == JOB_POD_FAILED && bodies && bodies[i])
            p->action = job_policy_action(a, object, bodies[i], &p->why);
        count_pod(j, p);
    }
    if (j->is_indexed)
        j->n_succeeded = job_indexes_count(&j->succeeded);
    return j;
}

/* ---------------------------------------------------------------- the end */

static struct job_finish finish_of(const char *type, const char *reason, const char *message)
{
    return (struct job_finish){ type, str_of(reason), str_of(message) };
}

static bool take_condition(struct job_plan *j, const char *type)
{
    const struct json *status = json_getc(j->object, "status");
    const struct json *c = workload_condition_find(status, type);
    if (!is_true(status, type))
        return false;
    j->finish = (struct job_finish){ type, json_get_str(c, "reason"), json_get_str(c, "message") };
    return true;
}

/* With restartPolicy OnFailure containers fail, not pods. */
static bool has_restarted_too_often(const struct job_plan *j)
{
    int64_t n = 0;
    for (size_t i = 0; j->restarts_on_failure && i < j->n; i++)
        if (j->pods[i].facts->phase < WORKLOAD_SUCCEEDED)
            n += j->pods[i].facts->n_restarts_all;
    return j->restarts_on_failure && n > 0 && n >= j->backoff_limit;
}

static int64_t deadline_left_ms(const struct job_plan *j)
{
    return (j->started_s + j->deadline_s) * 1000 - j->now_ms;
}

static bool fails_by_indexes(struct job_plan *j)
{
    int64_t n = job_indexes_count(&j->failed);
    if (j->per_index < 0 || n == 0)
        return false;
    if (j->max_failed >= 0 && n > j->max_failed)
        j->finish = finish_of("FailureTarget", "MaxFailedIndexesExceeded",
                              "Job has exceeded the specified maximal number of failed indexes");
    else if (n + j->n_succeeded >= j->completions)
        j->finish = finish_of("FailureTarget", "FailedIndexes", "Job has failed indexes");
    return j->finish.type != NULL;
}

static void find_finish(struct arena *a, struct job_plan *j)
{
    if (take_condition(j, "FailureTarget") || take_condition(j, "SuccessCriteriaMet"))
        return;
    for (size_t i = 0; i < j->n; i++)
        if (is_new(&j->pods[i]) && j->pods[i].action == JOB_FAIL) {
            j->finish =
                (struct job_finish){ "FailureTarget", STR("PodFailurePolicy"), j->pods[i].why };
            return;
        }
    if (j->n_failed > j->backoff_limit || has_restarted_too_often(j))
        j->finish = finish_of("FailureTarget", "BackoffLimitExceeded",
                              "Job has reached the specified backoff limit");
    else if (j->deadline_s >= 0 && j->started_s && !j->is_suspended && deadline_left_ms(j) <= 0)
        j->finish = finish_of("FailureTarget", "DeadlineExceeded",
                              "Job was active longer than specified deadline");
    else if (!fails_by_indexes(j))
        job_policy_success(a, j);
}

/* ---------------------------------------------------------------- pods to delete */

static void remove_pod(struct job_plan *j, struct job_pod *p)
{
    p->is_removed = true;
    j->n_active--;
    j->n_ready -= p->facts->is_ready;
    j->n_ending++;
}

static void remove_active(struct job_plan *j)
{
    for (size_t i = 0; i < j->n; i++)
        if (j->pods[i].state == JOB_POD_ACTIVE)
            remove_pod(j, &j->pods[i]);
}

static bool is_index_open(const struct job_plan *j, int32_t index)
{
    return index >= 0 && index < j->completions && !job_indexes_has(&j->succeeded, index) &&
           !job_indexes_has(&j->failed, index);
}

/* Pods whose index is done, does not exist, or has another pod. Returns how many. */
static int64_t remove_useless(struct arena *a, struct job_plan *j)
{
    struct job_indexes seen = { .arena = a };
    int64_t n = 0;
    for (size_t i = 0; j->is_indexed && i < j->n; i++) {
        struct job_pod *p = &j->pods[i];
        if (p->state != JOB_POD_ACTIVE)
            continue;
        if (is_index_open(j, p->facts->index) && !job_indexes_has(&seen, p->facts->index)) {
            job_indexes_add(&seen, p->facts->index);
            continue;
        }
        remove_pod(j, p);
        n++;
    }
    return n;
}

/* In the order in which a ReplicaSet deletes pods. */
static void remove_ranked(struct arena *a, struct job_plan *j, int64_t n)
{
    const struct workload_claims none = { 0 };
    struct workload_claim *active = arena_new_n(a, struct workload_claim, j->n + 1);
    size_t n_active = 0;
    for (size_t i = 0; i < j->n; i++)
        if (j->pods[i].state == JOB_POD_ACTIVE && !j->pods[i].is_removed)
            active[n_active++] = *j->pods[i].claim;
    size_t n_removed = MIN(MIN((size_t)n, n_active), (size_t)JOB_BURST);
    replicas_rank(a, active, n_active, n_removed, &none, j->now_ms);
    for (size_t k = 0; k < n_removed; k++)
        for (size_t i = 0; i < j->n; i++)
            if (str_eq(j->pods[i].claim->uid, active[k].uid))
                remove_pod(j, &j->pods[i]);
}

/* ---------------------------------------------------------------- pods to make */

/* Some of the pods. */
struct job_some {
    const struct job_pod **pods;
    size_t n;
};

static int by_index(const void *va, const void *vb)
{
    int32_t a = (*(const struct job_pod *const *)va)->facts->index;
    int32_t b = (*(const struct job_pod *const *)vb)->facts->index;
    return a < b ? -1 : a > b;
}

/* All, those of an index together. */
static struct job_some sort_pods(struct arena *a, const struct job_plan *j)
{
    struct job_some all = { .pods = arena_new_n(a, const struct job_pod *, j->n + 1), .n = j->n };
    for (size_t i = 0; i < j->n; i++)
        all.pods[i] = &j->pods[i];
    qsort(all.pods, all.n, sizeof *all.pods, by_index);
    return all;
}

/* Of the index, out of sorted ones. */
static struct job_some with_index(struct job_some all, int32_t index)
{
    size_t low = 0, high = all.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all.pods[middle]->facts->index < index)
            low = middle + 1;
        else
            high = middle;
    }
    struct job_some some = { .pods = all.pods + low };
    while (low + some.n < all.n && some.pods[some.n]->facts->index == index)
        some.n++;
    return some;
}

/* How long new pods still wait after failures of these. */
static uint64_t backoff_ms(const struct job_plan *j, struct job_some some)
{
    int64_t last_success_s = 0, last_failure_s = 0;
    unsigned n = 0;
    for (size_t i = 0; i < some.n; i++) {
        const struct workload_pod *f = some.pods[i]->facts;
        if (f->phase == WORKLOAD_SUCCEEDED)
            last_success_s = MAX(last_success_s, f->finished_s);
    }
    for (size_t i = 0; i < some.n; i++) {
        const struct workload_pod *f = some.pods[i]->facts;
        if (f->phase != WORKLOAD_FAILED || f->finished_s < last_success_s)
            continue;
        n++;
        last_failure_s = MAX(last_failure_s, f->finished_s);
    }
    if (n == 0)
        return 0;
    int64_t until_ms =
        last_failure_s * 1000 + (int64_t)backoff_wait(JOB_BACKOFF_MS, JOB_BACKOFF_MAX_MS, n - 1);
    return until_ms > j->now_ms ? (uint64_t)(until_ms - j->now_ms) : 0;
}

static void wait_ms(struct job_plan *j, uint64_t ms)
{
    if (ms && (!j->again_ms || ms < j->again_ms))
        j->again_ms = ms;
}

static int32_t failures_of(struct job_some some)
{
    int32_t n = 0;
    for (size_t i = 0; i < some.n; i++)
        if (some.pods[i]->state == JOB_POD_FAILED)
            n = MAX(n, some.pods[i]->facts->index_failures + (some.pods[i]->action != JOB_IGNORE));
    return n;
}

/* Indexes that have no pod, from the lowest on. */
static void choose_indexes(struct arena *a, struct job_plan *j, size_t most)
{
    struct job_indexes taken = { .arena = a };
    struct job_some all = sort_pods(a, j);
    j->create_index = arena_new_n(a, int32_t, most + 1);
    j->create_failures = arena_new_n(a, int32_t, most + 1);
    for (size_t i = 0; i < j->n; i++) {
        const struct job_pod *p = &j->pods[i];
        if (p->state == JOB_POD_ACTIVE || p->state == JOB_POD_ENDING)
            job_indexes_add(&taken, MAX(p->facts->index, 0));
    }
    for (int32_t index = 0; index < j->completions && j->n_create < most; index++) {
        if (!is_index_open(j, index) || job_indexes_has(&taken, index))
            continue;
        struct job_some some = j->per_index >= 0 ? with_index(all, index) : (struct job_some){ 0 };
        uint64_t ms = backoff_ms(j, some);
        wait_ms(j, ms);
        if (ms)
            continue;
        j->create_index[j->n_create] = index;
        j->create_failures[j->n_create++] = failures_of(some);
    }
}

static int64_t wanted_active(const struct job_plan *j)
{
    if (j->completions < 0)
        return j->n_succeeded > 0 ? j->n_active : j->parallelism;
    int64_t left = j->completions - j->n_succeeded - job_indexes_count(&j->failed);
    return MAX(MIN(left, j->parallelism), 0);
}

static void manage(struct arena *a, struct job_plan *j)
{
    int64_t useless = remove_useless(a, j), wanted = wanted_active(j);
    int64_t excess = j->n_active - wanted;
    if (excess > 0)
        remove_ranked(a, j, excess);
    int64_t missing = wanted - j->n_active - (j->awaits_failed ? j->n_ending : 0);
    if (useless > 0 || excess > 0 || missing <= 0)
        return;
    size_t most = (size_t)MIN(missing, (int64_t)JOB_BURST);
    uint64_t ms = j->per_index >= 0 ? 0 : backoff_ms(j, sort_pods(a, j));
    wait_ms(j, ms);
    if (ms)
        return;
    if (j->is_indexed)
        choose_indexes(a, j, most);
    else
        j->n_create = most;
}

void job_decide(struct arena *a, struct job_plan *j)
{
    find_finish(a, j);
    if (j->finish.type || j->is_suspended) {
        remove_active(j);
        return;
    }
    if (j->is_deleting)
        return;
    if (j->deadline_s >= 0)
        wait_ms(j, j->started_s ? (uint64_t)MAX(deadline_left_ms(j), (int64_t)1)
                                : (uint64_t)j->deadline_s * 1000);
    manage(a, j);
    bool is_complete = j->completions < 0 ? j->n_succeeded > 0 : j->n_succeeded >= j->completions;
    if (is_complete && j->n_active == 0 && j->n_create == 0)
        j->finish = finish_of("SuccessCriteriaMet", "CompletionsReached",
                              "Reached expected number of succeeded pods");
}

int64_t job_ttl_ms(const struct json *object, int64_t now_ms)
{
    const struct json *ttl = json_path(object, "spec", "ttlSecondsAfterFinished", NULL);
    const struct json *status = json_getc(object, "status");
    const struct json *c = workload_condition_find(status, "Complete");
    c = c ? c : workload_condition_find(status, "Failed");
    if (!ttl || !job_is_finished(object))
        return -1;
    int64_t due_ms =
        (time_of(json_getc(c, "lastTransitionTime")) + json_int_or(ttl, 0)) * 1000 - now_ms;
    return MAX(due_ms, 0);
}
