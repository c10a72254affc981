/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call has two rounds: the first makes or deletes pods (plan.h decides which), the second writes
 * the status, with the reason if that failed.
 */
#include "workload/replicas/replicas.h"

#include "kube/model/meta.h"
#include "workload/replicas/plan.h"

struct replicas_state {
    struct replicas_need need;
    bool has_status; /* it was compared, and written if it differs */
};

static const struct json *template_of(const struct workload_call *call)
{
    return json_path(call->object, "spec", "template", NULL);
}

static int64_t spec_int(const struct workload_call *call, const char *name, int64_t otherwise)
{
    return json_int_or(json_path(call->object, "spec", name, NULL), otherwise);
}

/* ---------------------------------------------------------------- pods */

static struct workload_claims active_of(struct workload_call *call,
                                        const struct workload_claims *pods)
{
    struct workload_claims active = { .at = arena_new_n(&call->arena, struct workload_claim,
                                                        pods->n + 1) };
    for (size_t i = 0; i < pods->n; i++)
        if (workload_pod_is_active(&pods->at[i]))
            active.at[active.n++] = pods->at[i];
    return active;
}

/* Pods that it would be good to have on different nodes: those of all sets of its controller. */
static struct workload_claims related_pods(struct workload_call *call,
                                           const struct workload_claims *own)
{
    struct workload_claims all = *own, sets = { 0 };
    json_each (ref, json_path(call->object, "metadata", "ownerReferences", NULL))
        if (json_bool(json_getc(ref, "controller")))
            sets = workload_owned_by(call, call->controller->kind, json_get_str(ref, "uid"));
    for (size_t i = 0; i < sets.n; i++) {
        if (str_eq(sets.at[i].uid, call->uid))
            continue;
        struct workload_claims of = workload_owned_by(call, &workload_pods, sets.at[i].uid);
        struct workload_claims both = { .at = arena_new_n(&call->arena, struct workload_claim,
                                                          all.n + of.n + 1) };
        for (size_t j = 0; j < all.n + of.n; j++)
            both.at[both.n++] = j < all.n ? all.at[j] : of.at[j - all.n];
        all = both;
    }
    return all;
}

static void delete_pods(struct workload_call *call, struct workload_claims *active, size_t n)
{
    struct workload_claims related = related_pods(call, &call->claims[0]);
    replicas_rank(&call->arena, active->at, active->n, n, &related, call->now_ms);
    for (size_t i = 0; i < n; i++)
        (void)workload_delete(call, &workload_pods, &active->at[i]);
}

static void change_pods(struct workload_call *call, struct replicas_state *s)
{
    struct workload_claims active = active_of(call, &call->claims[0]);
    if (meta_is_deleting(call->object))
        return;
    s->need = replicas_need(spec_int(call, "replicas", 1), active.n);
    for (size_t i = 0; i < s->need.n_create; i++)
        (void)workload_create(call, &workload_pods,
                              workload_pod_from_template(call, template_of(call)));
    if (s->need.n_delete)
        delete_pods(call, &active, s->need.n_delete);
}

static void report_pod(struct workload_call *call, const struct workload_effect *e)
{
    bool makes = e->kind == WORKLOAD_CREATE, is_ok = workload_effect_ok(e);
    struct str name = makes ? meta_name(e->answer) : e->name, why = workload_effect_message(e);
    if (!e->is_done || e->is_settled)
        return;
    if (is_ok)
        workload_event(call, false, makes ? "SuccessfulCreate" : "SuccessfulDelete",
                       makes ? "Created pod: " STR_FMT : "Deleted pod: " STR_FMT, STR_ARG(name));
    else
        workload_event(call, true, makes ? "FailedCreate" : "FailedDelete",
                       makes ? "Error creating: " STR_FMT : "Error deleting: " STR_FMT,
                       STR_ARG(why));
}

/* ---------------------------------------------------------------- status */

static void write_status(struct workload_call *call, const struct replicas_state *s)
{
    const struct workload_effect *failed = workload_failure(call);
    struct arena *a = &call->arena;
    struct replicas_counts counts =
        replicas_count(&call->claims[0], json_path(template_of(call), "metadata", "labels", NULL),
                       spec_int(call, "minReadySeconds", 0), call->now_ms);
    struct json *status = replicas_status(
        a, call->object, &counts, s->need.n_create ? "FailedCreate" : "FailedDelete",
        failed ? workload_effect_message(failed) : STR(""), call->now_ms);
    if (counts.again_ms)
        workload_again_after(call, counts.again_ms);
    if (json_equal(status, json_getc(call->object, "status")))
        return;
    json_setc(a, call->object, "status", status);
    (void)workload_update(call, call->controller->kind, STR("status"), call->object);
}

static void report_pods(struct workload_call *call)
{
    const struct workload_effect *e;
    for (size_t i = 0; (e = workload_effect_at(call, i)); i++)
        report_pod(call, e);
}

static void reconcile(struct workload_call *call)
{
    struct replicas_state *s = call->state;
    if (!s) {
        call->state = s = arena_new(&call->arena, struct replicas_state);
        change_pods(call, s);
        if (s->need.n_create || s->need.n_delete)
            return;
    } else if (!s->has_status) {
        report_pods(call);
    }
    if (!s->has_status)
        write_status(call, s);
    s->has_status = true;
}

#define REPLICAS_CONTROLLER(controller_name, of_kind)                                              \
    {                                                                                              \
        .name = (controller_name), .kind = &(of_kind),                                             \
        .watches = { { .kind = &workload_pods, .how = WORKLOAD_OWNED } }, .reconcile = reconcile   \
    }

const struct workload_controller replicas_set_controller =
    REPLICAS_CONTROLLER("replicaset-controller", workload_replica_sets);
const struct workload_controller replicas_replication_controller =
    REPLICAS_CONTROLLER("replication-controller", workload_replication_controllers);
