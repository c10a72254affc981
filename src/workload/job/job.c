/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of the controller of Jobs:
 *
 *     READ --> CHANGE --> LIST --> RELEASE --> COUNT --> DONE
 *
 *   READ     the pods that failed, if there is a podFailurePolicy
 *   CHANGE   delete and make pods
 *   LIST     write the status, with the uids of the pods that have ended
 *   RELEASE  take their finalizer away
 *   COUNT    write the status, with these pods in the counters
 *
 * A process that ends in between leaves uids that the next one counts.
 */
#include "workload/job/job.h"

#include "kube/model/meta.h"
#include "workload/job/status.h"

enum job_stage { JOB_READ, JOB_CHANGE, JOB_LIST, JOB_RELEASE, JOB_COUNT_PODS, JOB_DONE };

struct job_call {
    enum job_stage stage;
    struct json **bodies; /* of claims; NULL: not read */
    struct job_plan *j;
    struct json *status;
    size_t n_made_not; /* pods that could not be made */
    bool has_written;  /* LIST has written the status */
};

static struct workload_claims *pods_of(struct workload_call *call)
{
    return &call->claims[0];
}

/* Strategic merge patch: without the finalizer; only if it is the pod of this uid. */
static struct workload_effect *release_pod(struct workload_call *call,
                                           const struct workload_claim *pod)
{
    struct arena *a = &call->arena;
    struct json *patch = json_new_object(a), *meta = json_obj(a, patch, "metadata"),
                *gone = json_new_array(a);
    json_set_str(a, meta, "uid", pod->uid);
    json_add(gone, json_new_cstr(a, JOB_FINALIZER));
    json_setc(a, meta, "$deleteFromPrimitiveList/finalizers", gone);
    return workload_patch(call, &workload_pods, pod->name, patch);
}

/* ---------------------------------------------------------------- read, change */

static void read_failed(struct workload_call *call, struct job_call *s)
{
    struct workload_claims *pods = pods_of(call);
    if (!json_path(call->object, "spec", "podFailurePolicy", NULL))
        return;
    s->bodies = arena_new_n(&call->arena, struct json *, pods->n + 1);
    for (size_t i = 0; i < pods->n; i++)
        if (job_has_new_failure(call->object, &pods->at[i]))
            (void)workload_get(call, &workload_pods, pods->at[i].name);
}

static void take_bodies(struct workload_call *call, struct job_call *s)
{
    struct workload_claims *pods = pods_of(call);
    struct workload_effect *e;
    for (size_t i = 0; s->bodies && (e = workload_effect_at(call, i)); i++) {
        e->is_settled = e->status == 404;
        for (size_t k = 0; workload_effect_ok(e) && k < pods->n; k++)
            if (str_eq(pods->at[k].uid, meta_uid(e->answer)))
                s->bodies[k] = e->answer;
    }
}

static void add_index_variable(struct arena *a, struct json *containers)
{
    json_each (c, containers) {
        struct json *env = json_getc(c, "env"), *v = json_new_object(a);
        bool has = false;
        json_each (e, env)
            has |= str_is(json_get_str(e, "name"), "JOB_COMPLETION_INDEX");
        if (has)
            continue;
        if (!json_is(env, JSON_ARRAY)) {
            env = json_new_array(a);
            json_setc(a, c, "env", env);
        }
        json_set_str(a, v, "name", STR("JOB_COMPLETION_INDEX"));
        json_set_str(a, json_obj(a, json_obj(a, v, "valueFrom"), "fieldRef"), "fieldPath",
                     STR("metadata.labels['" JOB_INDEX_KEY "']"));
        json_add(env, v);
    }
}

static void set_index(struct workload_call *call, const struct job_plan *j, struct json *pod,
                      int32_t index, int32_t failures)
{
    struct arena *a = &call->arena;
    struct json *meta = json_obj(a, pod, "metadata"), *spec = json_obj(a, pod, "spec");
    struct json *notes = json_obj(a, meta, "annotations"), *labels = json_obj(a, meta, "labels");
    struct str text = str_of(arena_printf(a, "%d", index));
    struct str name = str_of(arena_printf(a, STR_FMT "-%d", STR_ARG(call->name), index));
    json_set_str(a, notes, JOB_INDEX_KEY, text);
    json_set_str(a, labels, JOB_INDEX_KEY, text);
    if (j->per_index >= 0)
        json_set_str(a, notes, JOB_FAILURES_KEY, str_of(arena_printf(a, "%d", failures)));
    json_set_str(a, meta, "generateName", str_of(arena_printf(a, STR_FMT "-", STR_ARG(name))));
    json_set_str(a, spec, "hostname", name);
    add_index_variable(a, json_getc(spec, "containers"));
    add_index_variable(a, json_getc(spec, "initContainers"));
}

static void make_pod(struct workload_call *call, const struct job_plan *j, size_t i)
{
    struct arena *a = &call->arena;
    struct json *pod =
        workload_pod_from_template(call, json_path(call->object, "spec", "template", NULL));
    struct json *meta = json_obj(a, pod, "metadata"), *finalizers = json_getc(meta, "finalizers");
    if (!json_is(finalizers, JSON_ARRAY)) {
        finalizers = json_new_array(a);
        json_setc(a, meta, "finalizers", finalizers);
    }
    json_add(finalizers, json_new_cstr(a, JOB_FINALIZER));
    if (j->is_indexed)
        set_index(call, j, pod, j->create_index[i], j->create_failures[i]);
    (void)workload_create(call, &workload_pods, pod);
}

/* A pod that the Job does not want any more is not one that failed. */
static void remove_pods(struct workload_call *call, const struct job_plan *j)
{
    for (size_t i = 0; i < j->n; i++) {
        if (!j->pods[i].is_removed)
            continue;
        if (!j->finish.type && j->pods[i].facts->is_tracked)
            (void)release_pod(call, j->pods[i].claim);
        (void)workload_delete(call, &workload_pods, j->pods[i].claim);
    }
}

static void change(struct workload_call *call, struct job_call *s)
{
    take_bodies(call, s);
    s->j = job_read(&call->arena, call->object, pods_of(call), s->bodies, call->now_ms);
    job_decide(&call->arena, s->j);
    remove_pods(call, s->j);
    for (size_t i = 0; i < s->j->n_create; i++)
        make_pod(call, s->j, i);
    if (s->j->again_ms)
        workload_again_after(call, s->j->again_ms);
}

/* ---------------------------------------------------------------- list */

static void report_pod(struct workload_call *call, struct job_call *s, struct workload_effect *e)
{
    bool makes = e->kind == WORKLOAD_CREATE;
    struct str why = workload_effect_message(e);
    if (e->kind == WORKLOAD_PATCH)
        e->is_settled |= e->status == 404 || e->status == 422;
    if (makes && !(e->is_done && workload_effect_ok(e)))
        s->n_made_not++;
    if (!e->is_done || e->is_settled || (!makes && e->kind != WORKLOAD_DELETE))
        return;
    if (!workload_effect_ok(e))
        workload_event(call, true, makes ? "FailedCreate" : "FailedDelete", "Error %s: " STR_FMT,
                       makes ? "creating" : "deleting", STR_ARG(why));
    else if (makes)
        workload_event(call, false, "SuccessfulCreate", "Created pod: " STR_FMT,
                       STR_ARG(meta_name(e->answer)));
    else
        workload_event(call, false, "SuccessfulDelete", "Deleted pod: " STR_FMT, STR_ARG(e->name));
}

/* Whether the status is other than the object's; then it is written. */
static bool write_status(struct workload_call *call, const struct job_call *s)
{
    if (json_equal(s->status, json_getc(call->object, "status")))
        return false;
    json_setc(&call->arena, call->object, "status", s->status);
    (void)workload_update(call, &workload_jobs, STR("status"), call->object);
    return true;
}

static void list(struct workload_call *call, struct job_call *s)
{
    const struct json *status = json_getc(call->object, "status");
    struct workload_effect *e;
    int suspended;
    for (size_t i = 0; (e = workload_effect_at(call, i)); i++)
        report_pod(call, s, e);
    s->j->n_create -= MIN(s->n_made_not, s->j->n_create);
    s->status = status ? json_clone(&call->arena, status) : json_new_object(&call->arena);
    job_status_begin(&call->arena, s->j, s->status, &suspended);
    if (suspended)
        workload_event(call, false, suspended > 0 ? "Suspended" : "Resumed", "Job %s",
                       suspended > 0 ? "suspended" : "resumed");
    s->has_written = write_status(call, s);
}

/* ---------------------------------------------------------------- release, count */

static bool has_ended(const struct job_pod *p)
{
    return p->state == JOB_POD_SUCCEEDED || p->state == JOB_POD_FAILED;
}

/* Go on with what the API made of the status. */
static bool take_written(struct workload_call *call, struct job_call *s)
{
    if (!s->has_written)
        return true;
    const struct workload_effect *e = workload_effect_at(call, 0);
    if (!workload_effect_ok(e) || !e->answer)
        return false;
    call->object = e->answer;
    s->status = json_getc(call->object, "status");
    s->status = s->status ? json_clone(&call->arena, s->status) : json_new_object(&call->arena);
    return true;
}

static bool is_listed(const struct json *status, struct str uid)
{
    json_each (list_at, json_getc(status, "uncountedTerminatedPods"))
        json_each (v, list_at)
            if (str_eq(json_str(v), uid))
                return true;
    return false;
}

static void release(struct workload_call *call, struct job_call *s)
{
    for (size_t i = 0; i < s->j->n; i++) {
        const struct job_pod *p = &s->j->pods[i];
        bool needs_no_list =
            p->action == JOB_IGNORE || (p->state == JOB_POD_SUCCEEDED && s->j->is_indexed);
        if (p->facts->is_tracked && has_ended(p) &&
            (needs_no_list || is_listed(s->status, p->claim->uid)))
            (void)release_pod(call, p->claim);
    }
}

/* arg: the call. A pod that is not there any more was released, or removed by force. */
static bool is_tracked(void *arg, struct str uid)
{
    struct workload_call *call = arg;
    const struct workload_claims *pods = pods_of(call);
    struct workload_effect *e;
    for (size_t i = 0; i < pods->n; i++) {
        if (!str_eq(pods->at[i].uid, uid) || !workload_pod_of(&pods->at[i])->is_tracked)
            continue;
        for (size_t k = 0; (e = workload_effect_at(call, k)); k++)
            if (e->kind == WORKLOAD_PATCH && str_eq(e->name, pods->at[i].name))
                return !workload_effect_ok(e) && e->status != 404 && e->status != 422;
        return true;
    }
    return false;
}

static bool any_tracked(struct workload_call *call, const struct job_plan *j)
{
    for (size_t i = 0; i < j->n; i++)
        if (j->pods[i].state == JOB_POD_ACTIVE || j->pods[i].state == JOB_POD_ENDING ||
            (workload_pod_of(j->pods[i].claim)->is_tracked &&
             is_tracked(call, j->pods[i].claim->uid)))
            return true;
    return false;
}

static void count(struct workload_call *call, struct job_call *s)
{
    struct workload_effect *e;
    for (size_t i = 0; (e = workload_effect_at(call, i)); i++)
        e->is_settled |= e->status == 404 || e->status == 422;
    job_status_count(&call->arena, s->status, is_tracked, call);
    const char *end =
        any_tracked(call, s->j) ? NULL : job_status_end(&call->arena, s->j, s->status);
    if (write_status(call, s) && end) {
        bool is_complete = strcmp(end, "Complete") == 0;
        workload_event(call, !is_complete,
                       is_complete ? "Completed" : str_dup_arena(&call->arena, s->j->finish.reason),
                       STR_FMT, STR_ARG(is_complete ? STR("Job completed") : s->j->finish.message));
    }
}

/* ---------------------------------------------------------------- the call */

static void release_left_over(struct workload_call *call)
{
    struct workload_claims left = workload_left_over(call, &workload_pods);
    for (size_t i = 0; i < left.n; i++)
        if (workload_pod_of(&left.at[i])->is_tracked)
            (void)release_pod(call, &left.at[i]);
}

/* One stage after the other until one has to wait for answers. */
static void run_stages(struct workload_call *call, struct job_call *s)
{
    while (s->stage != JOB_DONE && !workload_adds(call)) {
        switch (s->stage) {
        case JOB_READ:
            read_failed(call, s);
            s->stage = JOB_CHANGE;
            break;
        case JOB_CHANGE:
            change(call, s);
            s->stage = JOB_LIST;
            break;
        case JOB_LIST:
            list(call, s);
            s->stage = JOB_RELEASE;
            break;
        case JOB_RELEASE:
            s->stage = JOB_DONE;
            if (!take_written(call, s))
                break;
            release(call, s);
            s->stage = JOB_COUNT_PODS;
            break;
        case JOB_COUNT_PODS:
            count(call, s);
            s->stage = JOB_DONE;
            break;
        case JOB_DONE:
            break;
        }
    }
}

static bool is_of_another(const struct json *object)
{
    struct str manager = json_str(json_path(object, "spec", "managedBy", NULL));
    return manager.n && !str_is(manager, "kubernetes.io/job-controller");
}

static void reconcile(struct workload_call *call)
{
    if (call->round == 0)
        release_left_over(call); /* of an earlier Job of this name */
    if (!call->state) {
        if (is_of_another(call->object) || job_is_finished(call->object))
            return;
        call->state = arena_new(&call->arena, struct job_call);
    }
    run_stages(call, call->state);
}

/* Pods of a Job that was deleted keep their finalizer until it is taken away. */
static void gone(struct workload_call *call)
{
    struct workload_effect *e;
    for (size_t i = 0; (e = workload_effect_at(call, i)); i++)
        e->is_settled |= e->status == 404 || e->status == 422;
    if (call->round == 0)
        release_left_over(call);
}

static void reconcile_ttl(struct workload_call *call)
{
    int64_t left_ms = job_ttl_ms(call->object, call->now_ms);
    if (call->round > 0 || left_ms < 0 || meta_is_deleting(call->object))
        return;
    if (left_ms > 0) {
        workload_again_after(call, (uint64_t)left_ms);
        return;
    }
    const struct workload_claim self = { .name = call->name, .uid = call->uid };
    workload_delete(call, &workload_jobs, &self)->propagation = "Foreground";
}

const struct workload_controller job_controller = {
    .name = "job-controller",
    .kind = &workload_jobs,
    .watches = { { .kind = &workload_pods, .how = WORKLOAD_OWNED } },
    .reconcile = reconcile,
    .gone = gone,
};

const struct workload_controller job_ttl_controller = {
    .name = "ttl-after-finished-controller",
    .kind = &workload_jobs,
    .reconcile = reconcile_ttl,
};
