/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call makes sure that there is a ControllerRevision of the template, then makes and deletes
 * pods, then writes the status and removes revisions beyond the limit.
 */
#include "workload/daemonset/daemonset.h"

#include "kube/model/meta.h"
#include "workload/daemonset/plan.h"
#include "workload/deployment/plan.h"
#include "workload/frame/condition.h"

#define TEMPLATE_GENERATION "deprecated.daemonset.template.generation"

enum daemonset_stage { DAEMON_REVISION, DAEMON_PODS, DAEMON_REPORT, DAEMON_DONE };
enum { CLAIM_PODS, CLAIM_REVISIONS };

struct daemonset_state {
    enum daemonset_stage stage;
    const struct workload_claim *current; /* the revision; NULL: it is made in this call */
    struct workload_effect *create;       /* of the revision */
    struct str hash;
    struct json *spec; /* of pods, with the tolerations of daemons */
    struct daemon_plan *plan;
};

static const struct json *template_of(const struct workload_call *call)
{
    return json_path(call->object, "spec", "template", NULL);
}

/* ---------------------------------------------------------------- revisions */

/* The patch that brings the template back. */
static struct json *revision_data(struct arena *a, const struct json *template)
{
    struct json *data = json_new_object(a), *copy = json_copy(a, template);
    json_set_str(a, copy, "$patch", STR("replace"));
    json_setc(a, json_obj(a, data, "spec"), "template", copy);
    return data;
}

static int64_t number_of(const struct workload_claim *revision)
{
    return json_int_or(json_getc(revision->body, "revision"), 0);
}

static int64_t last_number(const struct workload_claims *revisions)
{
    int64_t last = 0;
    for (size_t i = 0; i < revisions->n; i++)
        last = MAX(last, number_of(&revisions->at[i]));
    return last;
}

static void make_revision(struct workload_call *call, struct daemonset_state *s, struct json *data,
                          int64_t number)
{
    struct arena *a = &call->arena;
    const struct json *status = json_getc(call->object, "status");
    const struct json *labels = json_path(template_of(call), "metadata", "labels", NULL);
    struct json *rev = json_new_object(a), *meta, *refs = json_new_array(a);
    s->hash =
        deployment_hash(a, template_of(call), json_int_or(json_getc(status, "collisionCount"), 0));
    json_set_str(a, rev, "apiVersion", STR("apps/v1"));
    json_set_str(a, rev, "kind", STR("ControllerRevision"));
    meta = json_obj(a, rev, "metadata");
    json_set_str(
        a, meta, "name",
        str_of(arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(call->name), STR_ARG(s->hash))));
    json_set_str(a, meta, "namespace", call->namespace);
    json_setc(a, meta, "labels", labels ? json_copy(a, labels) : json_new_object(a));
    json_set_str(a, json_obj(a, meta, "labels"), DAEMON_HASH_LABEL, s->hash);
    if (json_path(call->object, "metadata", "annotations", NULL))
        json_setc(a, meta, "annotations",
                  json_copy(a, json_path(call->object, "metadata", "annotations", NULL)));
    json_add(refs, workload_owner_reference(call));
    json_setc(a, meta, "ownerReferences", refs);
    json_setc(a, rev, "data", data);
    json_set_int(a, rev, "revision", number);
    s->create = workload_create(call, &workload_controller_revisions, rev);
}

static void find_revision(struct workload_call *call, struct daemonset_state *s)
{
    const struct workload_claims *all = &call->claims[CLAIM_REVISIONS];
    struct json *data = revision_data(&call->arena, template_of(call));
    int64_t last = last_number(all);
    for (size_t i = 0; i < all->n; i++)
        if (json_equal(json_getc(all->at[i].body, "data"), data) &&
            (!s->current || number_of(s->current) < number_of(&all->at[i])))
            s->current = &all->at[i];
    if (!s->current) {
        make_revision(call, s, data, last + 1);
        return;
    }
    s->hash = json_get_str(s->current->labels, DAEMON_HASH_LABEL);
    if (number_of(s->current) == last)
        return;
    json_set_int(&call->arena, s->current->body, "revision", last + 1);
    (void)workload_update(call, &workload_controller_revisions, STR(""), s->current->body);
}

static int lower_revision_first(const void *va, const void *vb)
{
    int64_t a = number_of(va), b = number_of(vb);
    return a < b ? -1 : a > b;
}

static bool is_used(const struct workload_call *call, const struct workload_claim *revision)
{
    const struct workload_claims *pods = &call->claims[CLAIM_PODS];
    struct str hash = json_get_str(revision->labels, DAEMON_HASH_LABEL);
    for (size_t i = 0; i < pods->n; i++)
        if (str_eq(json_get_str(pods->at[i].labels, DAEMON_HASH_LABEL), hash))
            return true;
    return false;
}

static void clean_up(struct workload_call *call, const struct daemonset_state *s)
{
    const struct json *limit = json_path(call->object, "spec", "revisionHistoryLimit", NULL);
    const struct workload_claims *all = &call->claims[CLAIM_REVISIONS];
    struct workload_claim *old = arena_new_n(&call->arena, struct workload_claim, all->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (&all->at[i] != s->current)
            old[n++] = all->at[i];
    int64_t excess = (int64_t)n - json_int_or(limit, 10);
    qsort(old, n, sizeof *old, lower_revision_first);
    for (size_t i = 0; i < n && excess > 0; i++) {
        if (is_used(call, &old[i]))
            continue;
        (void)workload_delete(call, &workload_controller_revisions, &old[i]);
        excess--;
    }
}

/* ---------------------------------------------------------------- pods */

/* The only term of the affinity is the node, so that the scheduler binds the pod to it. */
static void bind_to_node(struct arena *a, struct json *spec, struct str node)
{
    struct json *term = json_new_object(a), *fields = json_new_array(a),
                *field = json_new_object(a), *values = json_new_array(a),
                *terms = json_new_array(a);
    struct json *required = json_obj(a, json_obj(a, json_obj(a, spec, "affinity"), "nodeAffinity"),
                                     "requiredDuringSchedulingIgnoredDuringExecution");
    json_set_str(a, field, "key", STR("metadata.name"));
    json_set_str(a, field, "operator", STR("In"));
    json_add(values, json_new_str(a, node));
    json_setc(a, field, "values", values);
    json_add(fields, field);
    json_setc(a, term, "matchFields", fields);
    json_add(terms, term);
    json_setc(a, required, "nodeSelectorTerms", terms);
}

static void make_pod(struct workload_call *call, const struct daemonset_state *s,
                     const struct workload_claim *node)
{
    struct arena *a = &call->arena;
    struct json *pod = workload_pod_from_template(call, template_of(call));
    struct json *labels = json_obj(a, json_obj(a, pod, "metadata"), "labels");
    struct str generation =
        json_get_str(json_path(call->object, "metadata", "annotations", NULL), TEMPLATE_GENERATION);
    json_setc(a, pod, "spec", json_copy(a, s->spec));
    bind_to_node(a, json_obj(a, pod, "spec"), node->name);
    json_set_str(a, labels, DAEMON_HASH_LABEL, s->hash);
    if (generation.n)
        json_set_str(a, labels, "pod-template-generation", generation);
    (void)workload_create(call, &workload_pods, pod);
}

static void change_pods(struct workload_call *call, struct daemonset_state *s)
{
    struct arena *a = &call->arena;
    struct workload_claims nodes = workload_all(call, &workload_nodes);
    const struct json *spec = json_getc(template_of(call), "spec");
    s->spec = spec ? json_copy(a, spec) : json_new_object(a);
    daemonset_add_tolerations(a, s->spec);
    struct daemon_plan *p = s->plan = daemonset_read(
        a, call->object, s->spec, &nodes, &call->claims[CLAIM_PODS], s->hash, call->now_ms);
    if (!meta_is_deleting(call->object)) {
        daemonset_manage(p, call->now_ms);
        daemonset_roll(a, p);
    }
    for (size_t i = 0; i < p->n_pods; i++)
        if (p->pods[i].is_removed)
            (void)workload_delete(call, &workload_pods, p->pods[i].claim);
    for (size_t i = 0; i < p->n; i++)
        if (p->nodes[i].needs_pod)
            make_pod(call, s, p->nodes[i].claim);
    if (p->again_ms)
        workload_again_after(call, p->again_ms);
}

static void report_pod(struct workload_call *call, const struct workload_effect *e)
{
    bool makes = e->kind == WORKLOAD_CREATE;
    if (!e->is_done || e->is_settled || e->of != &workload_pods)
        return;
    if (!workload_effect_ok(e))
        workload_event(call, true, makes ? "FailedCreate" : "FailedDelete", "Error %s: " STR_FMT,
                       makes ? "creating" : "deleting", STR_ARG(workload_effect_message(e)));
    else
        workload_event(call, false, makes ? "SuccessfulCreate" : "SuccessfulDelete",
                       "%s pod: " STR_FMT, makes ? "Created" : "Deleted",
                       STR_ARG(makes ? meta_name(e->answer) : e->name));
}

/* ---------------------------------------------------------------- the call */

static void write_status(struct workload_call *call, struct json *status)
{
    if (json_equal(status, json_getc(call->object, "status")))
        return;
    json_setc(&call->arena, call->object, "status", status);
    (void)workload_update(call, &workload_daemon_sets, STR("status"), call->object);
}

static void report(struct workload_call *call, struct daemonset_state *s)
{
    const struct workload_effect *e;
    for (size_t i = 0; (e = workload_effect_at(call, i)); i++)
        report_pod(call, e);
    write_status(call, daemonset_status(&call->arena, call->object, s->plan));
    if (!meta_is_deleting(call->object))
        clean_up(call, s);
}

/* The name of the revision is taken: the next call makes another one. */
static bool has_collided(struct workload_call *call, struct daemonset_state *s)
{
    struct json *status = json_getc(call->object, "status");
    if (!s->create || !str_is(workload_effect_reason(s->create), "AlreadyExists"))
        return false;
    s->create->is_settled = true;
    status = status ? json_clone(&call->arena, status) : json_new_object(&call->arena);
    json_set_int(&call->arena, status, "collisionCount",
                 json_int_or(json_getc(status, "collisionCount"), 0) + 1);
    write_status(call, status);
    workload_fail(call);
    return true;
}

static void run_stage(struct workload_call *call, struct daemonset_state *s)
{
    switch (s->stage) {
    case DAEMON_REVISION:
        find_revision(call, s);
        s->stage = DAEMON_PODS;
        break;
    case DAEMON_PODS:
        s->stage = DAEMON_DONE;
        if (has_collided(call, s) || (s->create && !workload_effect_ok(s->create)))
            break;
        change_pods(call, s);
        s->stage = DAEMON_REPORT;
        break;
    case DAEMON_REPORT:
        report(call, s);
        s->stage = DAEMON_DONE;
        break;
    case DAEMON_DONE:
        break;
    }
}

static void reconcile(struct workload_call *call)
{
    struct daemonset_state *s = call->state;
    if (meta_is_deleting(call->object)) /* its revisions and pods are the garbage collector's */
        return;
    if (!s)
        call->state = s = arena_new(&call->arena, struct daemonset_state);
    while (s->stage != DAEMON_DONE && !workload_adds(call))
        run_stage(call, s);
}

static void map_node(struct workload *w, const struct workload_controller *c,
                     const struct workload_object *node, enum workload_change change)
{
    workload_enqueue_all(w, c);
}

const struct workload_controller daemonset_controller = {
    .name = "daemon-set-controller",
    .kind = &workload_daemon_sets,
    .watches = { [CLAIM_PODS] = { .kind = &workload_pods, .how = WORKLOAD_OWNED },
                 [CLAIM_REVISIONS] = { .kind = &workload_controller_revisions,
                                       .how = WORKLOAD_OWNED,
                                       .reads_bodies = true },
                 { .kind = &workload_nodes, .how = WORKLOAD_MAPPED } },
    .map = map_node,
    .reconcile = reconcile,
};
