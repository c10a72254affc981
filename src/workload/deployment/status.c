/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/deployment/status.h"

#include "base/clock.h"
#include "kube/model/meta.h"
#include "workload/frame/condition.h"

#define PROGRESSING   "Progressing"
#define TIMED_OUT     "ProgressDeadlineExceeded"
#define SET_AVAILABLE "NewReplicaSetAvailable"
#define SET_UPDATED   "ReplicaSetUpdated"
#define PAUSED        "DeploymentPaused"
#define RESUMED       "DeploymentResumed"
#define REPLICA_FAIL  "ReplicaFailure"

int64_t deployment_deadline_s(const struct json *object)
{
    int64_t s = json_int_or(json_path(object, "spec", "progressDeadlineSeconds", NULL), -1);
    return s == INT32_MAX ? -1 : s;
}

struct json *deployment_condition(const struct json *status, const char *type)
{
    return workload_condition_find(status, type);
}

static void set_condition(struct arena *a, struct json *status, const char *type,
                          const char *condition, const char *reason, struct str message,
                          int64_t now_ms, bool is_renewed)
{
    workload_condition_set(a, status,
                           &(struct workload_condition){ .type = type,
                                                         .status = condition,
                                                         .reason = reason,
                                                         .message = message,
                                                         .at_s = now_ms / 1000,
                                                         .other_time = "lastUpdateTime",
                                                         .is_renewed = is_renewed });
}

void deployment_set_progressing(struct arena *a, struct json *status, const char *condition,
                                const char *reason, struct str message, int64_t now_ms)
{
    set_condition(a, status, PROGRESSING, condition, reason, message, now_ms, false);
}

static bool has_reason(const struct json *condition, const char *reason)
{
    return condition && str_is(json_get_str(condition, "reason"), reason);
}

void deployment_note_pause(struct arena *a, const struct json *object, struct json *status,
                           int64_t now_ms)
{
    const struct json *c = deployment_condition(status, PROGRESSING);
    bool is_paused = json_bool(json_path(object, "spec", "paused", NULL));
    if (deployment_deadline_s(object) < 0 || has_reason(c, TIMED_OUT) ||
        is_paused == has_reason(c, PAUSED))
        return;
    deployment_set_progressing(
        a, status, "Unknown", is_paused ? PAUSED : RESUMED,
        is_paused ? STR("Deployment is paused") : STR("Deployment is resumed"), now_ms);
}

/* ---------------------------------------------------------------- counters */

static void add_set(struct deployment_set *sum, const struct deployment_set *s)
{
    sum->replicas += s->replicas;
    sum->actual += s->actual;
    sum->ready += s->ready;
    sum->available += s->available;
    sum->terminating += s->terminating;
}

void deployment_count(struct arena *a, const struct json *object, const struct deployment *d,
                      struct json *status, int64_t now_ms)
{
    struct deployment_set sum = { 0 };
    for (size_t i = 0; i < d->n_old; i++)
        add_set(&sum, d->old[i]);
    if (d->new)
        add_set(&sum, d->new);
    workload_status_count(a, status, "observedGeneration",
                          json_int_or(json_path(object, "metadata", "generation", NULL), 0));
    workload_status_count(a, status, "replicas", sum.actual);
    workload_status_count(a, status, "updatedReplicas", d->new ? d->new->actual : 0);
    workload_status_count(a, status, "readyReplicas", sum.ready);
    workload_status_count(a, status, "availableReplicas", sum.available);
    workload_status_count(a, status, "unavailableReplicas", MAX(sum.replicas - sum.available, 0));
    json_set_int(a, status, "terminatingReplicas", sum.terminating);
    if (sum.available >= d->replicas - deployment_max_unavailable(d))
        set_condition(a, status, "Available", "True", "MinimumReplicasAvailable",
                      STR("Deployment has minimum availability."), now_ms, false);
    else
        set_condition(a, status, "Available", "False", "MinimumReplicasUnavailable",
                      STR("Deployment does not have minimum availability."), now_ms, false);
}

static int64_t counter(const struct json *status, const char *name)
{
    return json_int_or(json_getc(status, name), 0);
}

bool deployment_is_complete(const struct json *object, const struct deployment *d,
                            const struct json *status)
{
    return counter(status, "updatedReplicas") == d->replicas &&
           counter(status, "replicas") == d->replicas &&
           counter(status, "availableReplicas") == d->replicas &&
           counter(status, "observedGeneration") >=
               json_int_or(json_path(object, "metadata", "generation", NULL), 0);
}

/* ---------------------------------------------------------------- progress */

static bool has_progressed(const struct json *old, const struct json *now)
{
    int64_t old_before = counter(old, "replicas") - counter(old, "updatedReplicas");
    int64_t old_now = counter(now, "replicas") - counter(now, "updatedReplicas");
    return counter(now, "updatedReplicas") > counter(old, "updatedReplicas") ||
           old_now < old_before || counter(now, "readyReplicas") > counter(old, "readyReplicas") ||
           counter(now, "availableReplicas") > counter(old, "availableReplicas");
}

/* When the deadline passes; -1: it has no beginning. */
static int64_t deadline_ms(const struct json *object, const struct json *status)
{
    const struct json *c = deployment_condition(status, PROGRESSING);
    int64_t us = 0;
    if (!c || rfc3339_parse(json_get_str(c, "lastUpdateTime"), &us) < 0)
        return -1;
    return us / 1000 + deployment_deadline_s(object) * 1000;
}

static bool has_timed_out(const struct json *object, const struct json *status, int64_t now_ms)
{
    const struct json *c = deployment_condition(status, PROGRESSING);
    if (!c || has_reason(c, SET_AVAILABLE))
        return false;
    int64_t at_ms = deadline_ms(object, status);
    return has_reason(c, TIMED_OUT) || (at_ms >= 0 && at_ms < now_ms);
}

static struct str subject_message(struct arena *a, const struct json *object,
                                  const struct deployment *d, const char *what)
{
    struct str name = d->new ? d->new->name : meta_name(object);
    return str_of(arena_printf(a, "%s \"" STR_FMT "\" %s", d->new ? "ReplicaSet" : "Deployment",
                               STR_ARG(name), what));
}

static void note_progress(struct arena *a, const struct json *object, const struct deployment *d,
                          const struct json *old, struct json *status, int64_t now_ms)
{
    if (deployment_is_complete(object, d, status))
        deployment_set_progressing(a, status, "True", SET_AVAILABLE,
                                   subject_message(a, object, d, "has successfully progressed."),
                                   now_ms);
    else if (has_progressed(old, status))
        set_condition(a, status, PROGRESSING, "True", SET_UPDATED,
                      subject_message(a, object, d, "is progressing."), now_ms, true);
    else if (has_timed_out(object, status, now_ms))
        deployment_set_progressing(a, status, "False", TIMED_OUT,
                                   subject_message(a, object, d, "has timed out progressing."),
                                   now_ms);
}

static const struct json *failure_of(const struct deployment_set *s)
{
    return s ? workload_condition_find(json_getc(s->object, "status"), REPLICA_FAIL) : NULL;
}

/* That of the new set, else that of any other. */
static void note_failure(struct arena *a, const struct deployment *d, struct json *status,
                         int64_t now_ms)
{
    const struct json *failure = failure_of(d->new);
    for (size_t i = 0; !failure && i < d->n_old; i++)
        failure = failure_of(d->old[i]);
    if (failure)
        set_condition(a, status, REPLICA_FAIL, str_dup_arena(a, json_get_str(failure, "status")),
                      str_dup_arena(a, json_get_str(failure, "reason")),
                      json_get_str(failure, "message"), now_ms, false);
    else
        workload_condition_remove(status, REPLICA_FAIL);
}

static uint64_t deadline_in_ms(const struct json *object, const struct deployment *d,
                               const struct json *status, int64_t now_ms)
{
    const struct json *c = deployment_condition(status, PROGRESSING);
    if (!c || deployment_is_complete(object, d, status) || has_reason(c, TIMED_OUT) ||
        has_reason(c, SET_AVAILABLE))
        return 0;
    int64_t left_ms = deadline_ms(object, status) - now_ms;
    return (uint64_t)MAX(left_ms, 0) + 1000;
}

uint64_t deployment_progress(struct arena *a, const struct json *object, const struct deployment *d,
                             const struct json *old, struct json *status, int64_t now_ms)
{
    bool has_deadline = deployment_deadline_s(object) >= 0;
    if (!has_deadline)
        workload_condition_remove(status, PROGRESSING);
    bool was_complete = counter(status, "replicas") == counter(status, "updatedReplicas") &&
                        has_reason(deployment_condition(status, PROGRESSING), SET_AVAILABLE);
    if (has_deadline && !was_complete)
        note_progress(a, object, d, old, status, now_ms);
    note_failure(a, d, status, now_ms);
    return has_deadline ? deadline_in_ms(object, d, status, now_ms) : 0;
}
