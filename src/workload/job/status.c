/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/job/status.h"

#include "base/clock.h"
#include "workload/frame/condition.h"

static void set_condition(struct arena *a, const struct job_plan *j, struct json *status,
                          const char *type, const char *value, struct str reason,
                          struct str message)
{
    workload_condition_set(a, status,
                           &(struct workload_condition){ .type = type,
                                                         .status = value,
                                                         .reason = str_dup_arena(a, reason),
                                                         .message = message,
                                                         .at_s = j->now_ms / 1000,
                                                         .other_time = "lastProbeTime" });
}

static void set_now(struct arena *a, const struct job_plan *j, struct json *status,
                    const char *name)
{
    char now[RFC3339_MAX];
    rfc3339_format(j->now_ms / 1000, now);
    json_set_str(a, status, name, str_of(now));
}

static struct json *list_of(struct arena *a, struct json *parent, const char *name)
{
    struct json *list = json_getc(parent, name);
    if (!json_is(list, JSON_ARRAY)) {
        list = json_new_array(a);
        json_setc(a, parent, name, list);
    }
    return list;
}

/* ---------------------------------------------------------------- begin */

static int note_suspension(struct arena *a, const struct job_plan *j, struct json *status)
{
    const struct json *c = workload_condition_find(status, "Suspended");
    bool was = c && str_is(json_get_str(c, "status"), "True");
    if (j->finish.type || was == j->is_suspended || (!c && !j->is_suspended))
        return 0;
    if (j->is_suspended) {
        set_condition(a, j, status, "Suspended", "True", STR("JobSuspended"), STR("Job suspended"));
        return 1;
    }
    set_condition(a, j, status, "Suspended", "False", STR("JobResumed"), STR("Job resumed"));
    set_now(a, j, status, "startTime");
    return -1;
}

/* In an indexed Job the indexes say which pods have succeeded. */
static void list_ended(struct arena *a, const struct job_plan *j, struct json *status)
{
    struct json *lists = json_obj(a, status, "uncountedTerminatedPods");
    size_t n = 0;
    for (size_t i = 0; i < j->n && n < JOB_BURST; i++) {
        const struct job_pod *p = &j->pods[i];
        bool has_succeeded = p->state == JOB_POD_SUCCEEDED;
        if (!p->facts->is_tracked || p->is_listed || (has_succeeded && j->is_indexed) ||
            (!has_succeeded && (p->state != JOB_POD_FAILED || p->action == JOB_IGNORE)))
            continue;
        json_add(list_of(a, lists, has_succeeded ? "succeeded" : "failed"),
                 json_new_str(a, p->claim->uid));
        n++;
    }
}

static void write_indexes(struct arena *a, const struct job_indexes *s, struct json *status,
                          const char *name)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    job_indexes_write(s, &text);
    if (text.n)
        json_set_str(a, status, name, buf_str(&text));
    else
        (void)json_del(status, str_of(name));
}

void job_status_begin(struct arena *a, const struct job_plan *j, struct json *status,
                      int *ret_suspended)
{
    *ret_suspended = note_suspension(a, j, status);
    if (!json_getc(status, "startTime") && !j->is_suspended)
        set_now(a, j, status, "startTime");
    workload_status_count(a, status, "active", j->n_active + (int64_t)j->n_create);
    json_set_int(a, status, "ready", j->n_ready);
    json_set_int(a, status, "terminating", j->n_ending);
    if (j->is_indexed) {
        write_indexes(a, &j->succeeded, status, "completedIndexes");
        workload_status_count(a, status, "succeeded", j->n_succeeded);
    }
    if (j->per_index >= 0)
        write_indexes(a, &j->failed, status, "failedIndexes");
    list_ended(a, j, status);
    if (j->finish.type)
        set_condition(a, j, status, j->finish.type, "True", j->finish.reason, j->finish.message);
}

/* ---------------------------------------------------------------- count */

static void count_list(struct arena *a, struct json *status, const char *name,
                       bool (*is_tracked)(void *arg, struct str uid), void *arg)
{
    struct json *lists = json_getc(status, "uncountedTerminatedPods");
    struct json *list = json_getc(lists, name), *next;
    int64_t n = json_int_or(json_getc(status, name), 0);
    for (struct json *v = json_first(list); v; v = next) {
        next = v->next;
        if (is_tracked(arg, json_str(v)))
            continue;
        (void)json_remove(list, v);
        n++;
    }
    if (list && list->n == 0)
        (void)json_del(lists, str_of(name));
    workload_status_count(a, status, name, n);
}

void job_status_count(struct arena *a, struct json *status,
                      bool (*is_tracked)(void *arg, struct str uid), void *arg)
{
    count_list(a, status, "succeeded", is_tracked, arg);
    count_list(a, status, "failed", is_tracked, arg);
}

/* ---------------------------------------------------------------- end */

const char *job_status_end(struct arena *a, const struct job_plan *j, struct json *status)
{
    const struct json *lists = json_getc(status, "uncountedTerminatedPods");
    if (!j->finish.type || json_first(lists) || j->n_active > 0 || j->n_ending > 0)
        return NULL;
    bool is_complete = strcmp(j->finish.type, "SuccessCriteriaMet") == 0;
    const char *type = is_complete ? "Complete" : "Failed";
    set_condition(a, j, status, type, "True", j->finish.reason, j->finish.message);
    if (is_complete)
        set_now(a, j, status, "completionTime");
    return type;
}
