/* SPDX-License-Identifier: Apache-2.0 */
/* A call has two rounds: the first reads the slices, the second changes them. */
#include "workload/endpoints/endpoints.h"

#include "kube/model/meta.h"
#include "workload/endpoints/plan.h"

struct endpoints_state {
    struct workload_claims slices;
    bool is_changed; /* the effects of the round before are changes of slices */
};

static void map(struct workload *w, const struct workload_controller *c,
                const struct workload_object *slice, enum workload_change change)
{
    const struct workload_object *service = workload_controller_of(w, slice, &workload_services);
    if (service)
        workload_enqueue(w, c, workload_object_namespace(service), workload_object_name(service));
}

static void change_slices(struct workload_call *call, struct endpoints_state *s)
{
    struct arena *a = &call->arena;
    struct json **bodies = arena_new_n(a, struct json *, s->slices.n + 1);
    const struct workload_effect *read;
    size_t n = 0;
    for (size_t i = 0; i < s->slices.n && (read = workload_effect_at(call, i)); i++)
        if (workload_effect_ok(read) && str_eq(meta_uid(read->answer), s->slices.at[i].uid))
            bodies[n++] = read->answer;
    struct endpoints_slices changes = endpoints_plan(a, call->object, &call->claims[0], bodies, n,
                                                     workload_owner_reference(call));
    s->is_changed = true;
    for (size_t i = 0; i < changes.n; i++) {
        const struct endpoints_slice *c = &changes.at[i];
        struct workload_claim gone = { .name = meta_name(c->is), .uid = meta_uid(c->is) };
        if (!c->is)
            (void)workload_create(call, &workload_endpoint_slices, c->wanted);
        else if (c->wanted)
            (void)workload_update(call, &workload_endpoint_slices, STR(""), c->wanted);
        else
            (void)workload_delete(call, &workload_endpoint_slices, &gone);
    }
}

/* A slice that was removed since the call began is none. */
static void settle_reads(struct workload_call *call)
{
    struct workload_effect *e;
    for (size_t i = 0; (e = workload_effect_at(call, i)); i++)
        e->is_settled = e->status == 404;
}

static void reconcile(struct workload_call *call)
{
    struct endpoints_state *s = call->state;
    if (meta_is_deleting(call->object) || !endpoints_are_managed(call->object))
        return;
    if (!s) {
        call->state = s = arena_new(&call->arena, struct endpoints_state);
        s->slices = workload_owned_by(call, &workload_endpoint_slices, call->uid);
        for (size_t i = 0; i < s->slices.n; i++)
            (void)workload_get(call, &workload_endpoint_slices, s->slices.at[i].name);
        if (s->slices.n)
            return;
    } else if (!s->is_changed) {
        settle_reads(call);
        if (workload_failure(call))
            return;
    }
    if (!s->is_changed) {
        change_slices(call, s);
        return;
    }
    const struct workload_effect *failed = workload_failure(call);
    if (failed && !workload_effect_namespace_ends(failed))
        workload_event(call, true, "FailedToUpdateEndpointSlices",
                       "Error updating Endpoint Slices for Service " STR_FMT "/" STR_FMT
                       ": " STR_FMT,
                       STR_ARG(call->namespace), STR_ARG(call->name),
                       STR_ARG(workload_effect_message(failed)));
}

const struct workload_controller endpoints_controller = {
    .name = "endpointslice-controller",
    .kind = &workload_services,
    .watches = { { .kind = &workload_pods, .how = WORKLOAD_SELECTED, .reads_bodies = true },
                 { .kind = &workload_endpoint_slices, .how = WORKLOAD_MAPPED } },
    .map = map,
    .reconcile = reconcile
};
