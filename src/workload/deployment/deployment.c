/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call changes ReplicaSets in its first round and writes the status in its second one. plan.h
 * decides how large they are, status.h what the status says.
 *
 *     CHANGE --> REPORT --> WRITTEN
 *                  |  ^
 *                  v  |  the name of the new set is taken
 *               COLLISION
 */
#include "workload/deployment/deployment.h"

#include "kube/model/meta.h"
#include "workload/deployment/names.h"
#include "workload/deployment/sets.h"
#include "workload/deployment/status.h"

enum deployment_stage { STAGE_CHANGE, STAGE_REPORT, STAGE_COLLISION, STAGE_WRITTEN };

struct deployment_state {
    enum deployment_stage stage;
    struct deployment *d;
    struct json *status;            /* as it shall be */
    struct workload_effect *create; /* of the new set; NULL: it is not made */
    bool is_rollout;                /* else paused, scaled or being deleted: only counters change */
};

static const struct json *spec_of(const struct workload_call *call)
{
    return json_getc(call->object, "spec");
}

/* ---------------------------------------------------------------- change */

static bool has_old_pods(struct workload_call *call, const struct deployment *d)
{
    for (size_t i = 0; i < d->n_old; i++) {
        struct workload_claims pods =
            workload_owned_by(call, &workload_pods, meta_uid(d->old[i]->object));
        if (d->old[i]->actual > 0)
            return true;
        for (size_t j = 0; j < pods.n; j++)
            if (workload_pod_of(&pods.at[j])->phase < WORKLOAD_SUCCEEDED)
                return true;
    }
    return false;
}

static void make_new_set(struct workload_call *call, struct deployment_state *s)
{
    struct arena *a = &call->arena;
    struct json *refs = json_new_array(a);
    deployment_make_set(a, call->object, s->d);
    json_add(refs, workload_owner_reference(call));
    json_setc(a, json_obj(a, s->d->new->object, "metadata"), "ownerReferences", refs);
    s->create = workload_create(call, &workload_replica_sets, s->d->new->object);
}

/* First all pods of old templates end, then the new set gets its pods. */
static void recreate(struct workload_call *call, struct deployment_state *s)
{
    struct deployment *d = s->d;
    bool is_scaled = false;
    for (size_t i = 0; i < d->n_old; i++) {
        if (d->old[i]->replicas == 0)
            continue;
        d->old[i]->replicas = 0;
        d->old[i]->is_scaled = is_scaled = true;
    }
    if (is_scaled || has_old_pods(call, d))
        return;
    if (!d->new)
        make_new_set(call, s);
    else if (d->new->replicas != d->replicas) {
        d->new->replicas = d->replicas;
        d->new->is_scaled = true;
    }
}

static void roll(struct workload_call *call, struct deployment_state *s)
{
    if (s->d->new)
        (void)deployment_roll(s->d);
    else
        make_new_set(call, s);
}

static void clean_up(struct workload_call *call, struct deployment *d)
{
    int64_t limit = json_int_or(json_getc(spec_of(call), "revisionHistoryLimit"), INT32_MAX);
    size_t n = limit == INT32_MAX ? 0 : deployment_excess(d, limit);
    for (size_t i = 0; i < n; i++) {
        const struct workload_claim claim = { .name = d->old[i]->name,
                                              .uid = meta_uid(d->old[i]->object) };
        (void)workload_delete(call, &workload_replica_sets, &claim);
    }
}

static void write_set(struct workload_call *call, struct deployment_state *s,
                      struct deployment_set *set, bool is_adjusted)
{
    bool changes = deployment_write_size(&call->arena, s->d, set);
    if (changes || is_adjusted)
        (void)workload_update(call, &workload_replica_sets, STR(""), set->object);
}

static void write_sets(struct workload_call *call, struct deployment_state *s)
{
    struct deployment *d = s->d;
    for (size_t i = 0; i < d->n_old; i++)
        write_set(call, s, d->old[i], false);
    if (d->new && !s->create)
        write_set(call, s, d->new, deployment_adjust_set(&call->arena, call->object, d));
}

static void change(struct workload_call *call, struct deployment_state *s)
{
    bool is_paused = json_bool(json_getc(spec_of(call), "paused"));
    if (meta_is_deleting(call->object))
        return;
    deployment_note_pause(&call->arena, call->object, s->status, call->now_ms);
    s->is_rollout = !is_paused && !deployment_is_scaling(s->d);
    if (!s->is_rollout)
        deployment_scale(s->d);
    else if (s->d->is_rolling)
        roll(call, s);
    else
        recreate(call, s);
    write_sets(call, s);
    if (is_paused || (s->is_rollout && deployment_is_complete(call->object, s->d,
                                                              json_getc(call->object, "status"))))
        clean_up(call, s->d);
}

/* ---------------------------------------------------------------- report */

static void report_size(struct workload_call *call, const struct deployment_set *s)
{
    if (s->replicas != s->was)
        workload_event(call, false, "ScalingReplicaSet",
                       "Scaled %s replica set " STR_FMT " from %lld to %lld",
                       s->replicas > s->was ? "up" : "down", STR_ARG(s->name), (long long)s->was,
                       (long long)s->replicas);
}

static void report_sizes(struct workload_call *call, const struct deployment_state *s)
{
    const struct deployment *d = s->d;
    for (size_t i = 0; i < d->n_old; i++)
        report_size(call, d->old[i]);
    if (d->new)
        report_size(call, d->new);
}

static void note_created(struct workload_call *call, struct deployment_state *s)
{
    struct str name = s->d->new->name, why = workload_effect_message(s->create);
    struct arena *a = &call->arena;
    bool has_deadline = deployment_deadline_s(call->object) >= 0,
         is_ok = workload_effect_ok(s->create);
    if (has_deadline && is_ok)
        deployment_set_progressing(
            a, s->status, "True", DEPLOYMENT_SET_CREATED,
            str_of(arena_printf(a, "Created new replica set \"" STR_FMT "\"", STR_ARG(name))),
            call->now_ms);
    if (is_ok)
        return;
    struct str message =
        str_of(arena_printf(a, "Failed to create new replica set \"" STR_FMT "\": " STR_FMT,
                            STR_ARG(name), STR_ARG(why)));
    if (has_deadline)
        deployment_set_progressing(a, s->status, "False", DEPLOYMENT_SET_FAILED, message,
                                   call->now_ms);
    workload_event(call, true, DEPLOYMENT_SET_FAILED, STR_FMT, STR_ARG(message));
}

static void note_found(struct workload_call *call, struct deployment_state *s)
{
    struct arena *a = &call->arena;
    if (deployment_deadline_s(call->object) >= 0 && !deployment_condition(s->status, "Progressing"))
        deployment_set_progressing(a, s->status, "True", DEPLOYMENT_SET_FOUND,
                                   str_of(arena_printf(a, "Found new replica set \"" STR_FMT "\"",
                                                       STR_ARG(s->d->new->name))),
                                   call->now_ms);
}

static void write_status(struct workload_call *call, struct deployment_state *s)
{
    struct str was = deployment_annotation(call->object, DEPLOYMENT_REVISION);
    struct str revision =
        s->d->new ? deployment_annotation(s->d->new->object, DEPLOYMENT_REVISION) : STR("");
    bool is_other_revision = revision.n && !str_eq(revision, was);
    s->stage = STAGE_WRITTEN;
    if (!is_other_revision && json_equal(s->status, json_getc(call->object, "status")))
        return;
    if (is_other_revision)
        deployment_annotate(&call->arena, call->object, DEPLOYMENT_REVISION, revision);
    json_setc(&call->arena, call->object, "status", s->status);
    (void)workload_update(call, &workload_deployments, STR("status"), call->object);
}

/* The set was not made: only the conditions say so, as nothing else has changed. */
static void report_failure(struct workload_call *call, struct deployment_state *s)
{
    s->d->new = NULL;
    s->stage = STAGE_WRITTEN;
    if (!s->create->is_settled)
        write_status(call, s);
}

static void report(struct workload_call *call, struct deployment_state *s)
{
    struct json *old = json_getc(call->object, "status");
    struct arena *a = &call->arena;
    const struct workload_effect *failed = workload_failure(call);
    if (failed && failed != s->create) {
        s->stage = STAGE_WRITTEN; /* again from the beginning, after a back-off */
        return;
    }
    if (s->create && !s->create->is_settled)
        note_created(call, s);
    if (s->create && !workload_effect_ok(s->create)) {
        report_failure(call, s);
        return;
    }
    report_sizes(call, s);
    if (s->d->new && !s->create)
        note_found(call, s);
    deployment_count(a, call->object, s->d, s->status, call->now_ms);
    if (s->is_rollout) {
        uint64_t again_ms =
            deployment_progress(a, call->object, s->d, old, s->status, call->now_ms);
        if (again_ms)
            workload_again_after(call, again_ms);
    }
    write_status(call, s);
}

/* ---------------------------------------------------------------- collision */

static bool is_collision(const struct deployment_state *s)
{
    return s->create && str_is(workload_effect_reason(s->create), "AlreadyExists");
}

/*
 * Another object has the name of the new set. If it is a set of this Deployment with the same
 * template, the next call finds it; else the next one makes another name.
 */
static void resolve_collision(struct workload_call *call, struct deployment_state *s)
{
    const struct workload_effect *e = workload_effect_at(call, 0);
    const struct json *found = e && workload_effect_ok(e) ? e->answer : NULL;
    bool is_own = false;
    json_each (ref, json_path(found, "metadata", "ownerReferences", NULL))
        is_own |=
            json_bool(json_getc(ref, "controller")) && str_eq(json_get_str(ref, "uid"), call->uid);
    is_own = is_own && deployment_same_template(json_path(found, "spec", "template", NULL),
                                                json_getc(spec_of(call), "template"));
    s->d->new = NULL;
    s->stage = STAGE_WRITTEN;
    workload_fail(call);
    if (is_own)
        return;
    json_set_int(&call->arena, s->status, "collisionCount",
                 json_int_or(json_getc(s->status, "collisionCount"), 0) + 1);
    write_status(call, s);
}

static void reconcile(struct workload_call *call)
{
    struct deployment_state *s = call->state;
    const struct json *status = json_getc(call->object, "status");
    if (!s) {
        call->state = s = arena_new(&call->arena, struct deployment_state);
        s->d = deployment_read(&call->arena, call->object, &call->claims[0]);
        s->status = status ? json_clone(&call->arena, status) : json_new_object(&call->arena);
    }
    switch (s->stage) {
    case STAGE_CHANGE:
        change(call, s);
        s->stage = STAGE_REPORT;
        if (!workload_adds(call))
            report(call, s);
        break;
    case STAGE_REPORT:
        if (!is_collision(s)) {
            report(call, s);
            break;
        }
        s->create->is_settled = true;
        (void)workload_get(call, &workload_replica_sets, s->d->new->name);
        s->stage = STAGE_COLLISION;
        break;
    case STAGE_COLLISION:
        resolve_collision(call, s);
        break;
    case STAGE_WRITTEN:
        break;
    }
}

/* A Deployment that recreates its pods waits for the end of the old ones. */
static void map_pod(struct workload *w, const struct workload_controller *c,
                    const struct workload_object *pod, enum workload_change change)
{
    const struct workload_object *set =
        change == WORKLOAD_LEAVES ? workload_controller_of(w, pod, &workload_replica_sets) : NULL;
    const struct workload_object *owner =
        set ? workload_controller_of(w, set, &workload_deployments) : NULL;
    if (owner)
        workload_enqueue(w, c, workload_object_namespace(owner), workload_object_name(owner));
}

const struct workload_controller deployment_controller = {
    .name = "deployment-controller",
    .kind = &workload_deployments,
    .watches = { { .kind = &workload_replica_sets, .how = WORKLOAD_OWNED, .reads_bodies = true },
                 { .kind = &workload_pods, .how = WORKLOAD_MAPPED } },
    .map = map_pod,
    .reconcile = reconcile,
};
