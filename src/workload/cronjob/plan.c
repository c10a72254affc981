/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/cronjob/plan.h"

#include "base/clock.h"
#include "base/cron.h"
#include "kube/model/meta.h"
#include "workload/frame/condition.h"

#include <stdarg.h>
#include <stdio.h>

#define SCHEDULED_AT "batch.kubernetes.io/cronjob-scheduled-timestamp"

static int64_t time_of(const struct json *v)
{
    int64_t us = 0;
    return rfc3339_parse(json_str(v), &us) < 0 ? 0 : us / 1000000;
}

static struct str time_text(struct arena *a, int64_t s)
{
    char text[RFC3339_MAX];
    rfc3339_format(s, text);
    return str_copy_arena(a, str_of(text));
}

/* Room was made for two events for each Job and reference, and for four more. */
__attribute__((format(printf, 5, 6))) static void add_event(struct arena *a, struct cronjob_plan *p,
                                                            bool is_warning, const char *reason,
                                                            const char *fmt, ...)
{
    char note[512];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(note, sizeof note, fmt, ap);
    va_end(ap);
    p->events[p->n_events++] =
        (struct cronjob_event){ is_warning, reason, str_copy_arena(a, str_of(note)) };
}

/* ---------------------------------------------------------------- Jobs */

static bool is_true(const struct json *job, const char *type)
{
    const struct json *c = workload_condition_find(json_getc(job, "status"), type);
    return c && str_is(json_get_str(c, "status"), "True");
}

static void read_jobs(struct arena *a, struct cronjob_plan *p, const struct workload_claims *jobs)
{
    p->jobs = arena_new_n(a, struct cronjob_child, jobs->n + 1);
    for (size_t i = 0; i < jobs->n; i++) {
        const struct json *body = jobs->at[i].body;
        int64_t started_s = time_of(json_path(body, "status", "startTime", NULL));
        p->jobs[p->n++] = (struct cronjob_child){
            .claim = &jobs->at[i],
            .started_s = started_s
                             ? started_s
                             : time_of(json_path(body, "metadata", "creationTimestamp", NULL)),
            .is_complete = is_true(body, "Complete"),
            .has_failed = is_true(body, "Failed"),
        };
    }
}

static bool is_finished(const struct cronjob_child *c)
{
    return c->is_complete || c->has_failed;
}

static struct json *active_ref(const struct json *status, struct str uid)
{
    json_each (ref, json_getc(status, "active"))
        if (str_eq(json_get_str(ref, "uid"), uid))
            return ref;
    return NULL;
}

static void drop_ref(struct json *status, struct json *ref)
{
    struct json *active = json_getc(status, "active");
    (void)json_remove(active, ref);
    if (active->n == 0)
        (void)json_del(status, STR("active"));
}

static bool has_job(const struct cronjob_plan *p, struct str uid)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_eq(p->jobs[i].claim->uid, uid))
            return true;
    return false;
}

/* The list of active Jobs, and the last success. */
static void update_active(struct arena *a, struct cronjob_plan *p)
{
    struct json *next;
    for (size_t i = 0; i < p->n; i++) {
        const struct cronjob_child *c = &p->jobs[i];
        struct json *ref = active_ref(p->status, c->claim->uid);
        int64_t done_s = time_of(json_path(c->claim->body, "status", "completionTime", NULL));
        if (!ref && !is_finished(c))
            add_event(a, p, true, "UnexpectedJob",
                      "Saw a job that the controller did not create or forgot: " STR_FMT,
                      STR_ARG(c->claim->name));
        if (ref && is_finished(c)) {
            drop_ref(p->status, ref);
            add_event(a, p, false, "SawCompletedJob",
                      "Saw completed job: " STR_FMT ", condition: %s", STR_ARG(c->claim->name),
                      c->is_complete ? "Complete" : "Failed");
        }
        if (c->is_complete && done_s > time_of(json_getc(p->status, "lastSuccessfulTime")))
            json_set_str(a, p->status, "lastSuccessfulTime", time_text(a, done_s));
    }
    for (struct json *ref = json_first(json_getc(p->status, "active")); ref; ref = next) {
        next = ref->next;
        if (has_job(p, json_get_str(ref, "uid")))
            continue;
        add_event(a, p, false, "MissingJob", "Active job went missing: " STR_FMT,
                  STR_ARG(json_get_str(ref, "name")));
        drop_ref(p->status, ref);
    }
}

/* ---------------------------------------------------------------- history */

static int oldest_first(const void *va, const void *vb)
{
    const struct cronjob_child *a = *(struct cronjob_child *const *)va;
    const struct cronjob_child *b = *(struct cronjob_child *const *)vb;
    return a->started_s != b->started_s ? (a->started_s < b->started_s ? -1 : 1)
                                        : str_cmp(a->claim->name, b->claim->name);
}

static void keep_latest(struct arena *a, struct cronjob_plan *p, bool complete, int64_t limit)
{
    struct cronjob_child **all = arena_new_n(a, struct cronjob_child *, p->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        if (complete ? p->jobs[i].is_complete : p->jobs[i].has_failed)
            all[n++] = &p->jobs[i];
    qsort(all, n, sizeof *all, oldest_first);
    for (size_t i = 0; limit >= 0 && (int64_t)(n - i) > limit; i++)
        all[i]->is_removed = true;
}

/* ---------------------------------------------------------------- schedule */

/* The Job's name has the minute of its time, so that none is made twice. */
static struct json *make_job(struct arena *a, const struct json *object, int64_t scheduled_s)
{
    const struct json *template = json_path(object, "spec", "jobTemplate", NULL);
    const struct json *meta = json_getc(template, "metadata"), *spec = json_getc(template, "spec");
    struct json *job = json_new_object(a), *own;
    json_set_str(a, job, "apiVersion", STR("batch/v1"));
    json_set_str(a, job, "kind", STR("Job"));
    own = json_obj(a, job, "metadata");
    json_set_str(a, own, "name",
                 str_of(arena_printf(a, STR_FMT "-%lld", STR_ARG(meta_name(object)),
                                     (long long)(scheduled_s / 60))));
    json_set_str(a, own, "namespace", meta_namespace(object));
    if (json_getc(meta, "labels"))
        json_setc(a, own, "labels", json_copy(a, json_getc(meta, "labels")));
    if (json_getc(meta, "annotations"))
        json_setc(a, own, "annotations", json_copy(a, json_getc(meta, "annotations")));
    json_set_str(a, json_obj(a, own, "annotations"), SCHEDULED_AT, time_text(a, scheduled_s));
    if (spec)
        json_setc(a, job, "spec", json_copy(a, spec));
    return job;
}

/* The latest time that has come since the last start; 0: none. */
static int64_t due_time(struct arena *a, struct cronjob_plan *p, const struct json *object,
                        const struct cron *cron, const struct zone *zone, int64_t now_s)
{
    const struct json *deadline = json_path(object, "spec", "startingDeadlineSeconds", NULL);
    int64_t since_s = time_of(json_getc(p->status, "lastScheduleTime"));
    uint64_t n_missed = 0;
    if (!since_s)
        since_s = time_of(json_path(object, "metadata", "creationTimestamp", NULL));
    if (deadline)
        since_s = MAX(since_s, now_s - json_int_or(deadline, 0));
    int64_t due_s = since_s < now_s ? cron_last(cron, zone, since_s, now_s, &n_missed) : 0;
    if (due_s && n_missed > CRONJOB_MISSED_MANY)
        add_event(a, p, true, "TooManyMissedTimes",
                  "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or "
                  "check clock skew");
    return due_s;
}

/* Whether the concurrency policy lets another Job start; with Replace the running ones go. */
static bool may_start(struct arena *a, struct cronjob_plan *p, const struct json *object)
{
    struct str policy = json_str(json_path(object, "spec", "concurrencyPolicy", NULL));
    const struct json *active = json_getc(p->status, "active");
    if (str_is(policy, "Forbid") && json_first(active)) {
        add_event(a, p, false, "JobAlreadyActive",
                  "Not starting job because prior execution is running and concurrency policy is "
                  "Forbid");
        return false;
    }
    for (size_t i = 0; str_is(policy, "Replace") && i < p->n; i++) {
        struct json *ref = active_ref(p->status, p->jobs[i].claim->uid);
        if (!ref)
            continue;
        p->jobs[i].is_removed = true;
        drop_ref(p->status, ref);
    }
    return true;
}

static bool is_too_late(const struct json *object, int64_t due_s, int64_t now_s)
{
    const struct json *deadline = json_path(object, "spec", "startingDeadlineSeconds", NULL);
    return deadline && due_s + json_int_or(deadline, 0) < now_s;
}

static void schedule(struct arena *a, struct cronjob_plan *p, const struct json *object,
                     const struct zone *zone, int64_t now_ms)
{
    struct str text = json_str(json_path(object, "spec", "schedule", NULL));
    struct cron cron;
    struct err err = { 0 };
    int64_t now_s = now_ms / 1000;
    if (cron_parse(text, &cron, &err) < 0) {
        add_event(a, p, true, "UnparseableCronJobSchedule",
                  "unparseable schedule \"" STR_FMT "\": %s", STR_ARG(text), err_text(&err));
        return;
    }
    int64_t next_s = cron_next(&cron, zone, now_s);
    if (next_s)
        p->again_ms = (uint64_t)(next_s * 1000 - now_ms) + CRONJOB_SLACK_MS;
    int64_t due_s = due_time(a, p, object, &cron, zone, now_s);
    if (!due_s)
        return;
    if (is_too_late(object, due_s, now_s)) {
        add_event(a, p, true, "MissSchedule", "Missed scheduled time to start a job: " STR_FMT,
                  STR_ARG(time_text(a, due_s)));
        return;
    }
    if (!may_start(a, p, object))
        return;
    p->scheduled_s = due_s;
    p->create = make_job(a, object, due_s);
}

struct cronjob_plan *cronjob_decide(struct arena *a, const struct json *object,
                                    const struct workload_claims *jobs, const struct zone *zone,
                                    const char *zone_error, int64_t now_ms)
{
    const struct json *spec = json_getc(object, "spec"), *status = json_getc(object, "status");
    const struct json *active = json_getc(status, "active");
    struct cronjob_plan *p = arena_new(a, struct cronjob_plan);
    p->events = arena_new_n(a, struct cronjob_event, 2 * jobs->n + (active ? active->n : 0) + 4);
    p->status = status ? json_clone(a, status) : json_new_object(a);
    read_jobs(a, p, jobs);
    update_active(a, p);
    keep_latest(a, p, true, json_int_or(json_getc(spec, "successfulJobsHistoryLimit"), -1));
    keep_latest(a, p, false, json_int_or(json_getc(spec, "failedJobsHistoryLimit"), -1));
    if (meta_is_deleting(object) || json_bool(json_getc(spec, "suspend")))
        return p;
    if (*zone_error)
        add_event(a, p, true, "UnknownTimeZone", "invalid timeZone: \"" STR_FMT "\": %s",
                  STR_ARG(json_get_str(spec, "timeZone")), zone_error);
    else
        schedule(a, p, object, zone, now_ms);
    return p;
}

void cronjob_started(struct arena *a, struct json *status, const struct json *job,
                     int64_t scheduled_s)
{
    struct json *active = json_getc(status, "active"), *ref = json_new_object(a);
    json_set_str(a, status, "lastScheduleTime", time_text(a, scheduled_s));
    if (!job || active_ref(status, meta_uid(job)))
        return;
    if (!json_is(active, JSON_ARRAY)) {
        active = json_new_array(a);
        json_setc(a, status, "active", active);
    }
    json_set_str(a, ref, "kind", STR("Job"));
    json_set_str(a, ref, "namespace", meta_namespace(job));
    json_set_str(a, ref, "name", meta_name(job));
    json_set_str(a, ref, "uid", meta_uid(job));
    json_set_str(a, ref, "apiVersion", STR("batch/v1"));
    json_set_str(a, ref, "resourceVersion", meta_resource_version(job));
    json_add(active, ref);
}
