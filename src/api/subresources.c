/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch of subresources with code of their own, and Bindings; see subresources.h. */
#include "api/subresources.h"

#include "api/write.h"
#include "base/clock.h"
#include "kube/rules/kinds/pods.h"
#include "kube/rules/validate/validate.h"

#define BINDING "io.k8s.api.core.v1.Binding"

/* ------------------------------------------------------------------ bindings */

static struct json *check_binding(struct request *rq, const struct json *binding)
{
    struct arena *a = &rq->arena;
    struct field_errors errs = field_errors_init(a);
    if (!str_eq(meta_name(binding), rq->route.name))
        return status_bad_request(a, STR("name in URL does not match name in Binding object"));
    validate_pod_binding(binding, &errs);
    return errs.n ? status_new(a, 500, "", field_errors_text(&errs)) : NULL; /* as upstream */
}

/* A pod can be bound only once. */
static const char *why_not_bound(struct arena *a, const struct json *pod)
{
    struct str name = meta_name(pod), node = json_str(json_path(pod, "spec", "nodeName", NULL));
    const struct json *gates = json_path(pod, "spec", "schedulingGates", NULL);
    if (meta_is_deleting(pod))
        return arena_printf(a, "pod " STR_FMT " is being deleted, cannot be assigned to a host",
                            STR_ARG(name));
    if (node.n)
        return arena_printf(a, "pod " STR_FMT " is already assigned to node \"" STR_FMT "\"",
                            STR_ARG(name), STR_ARG(node));
    if (gates && gates->n)
        return arena_printf(a, "pod " STR_FMT " has non-empty .spec.schedulingGates",
                            STR_ARG(name));
    return NULL;
}

static void merge(struct arena *a, struct json *meta, const struct json *from, const char *map)
{
    json_each (v, json_getc(from, map))
        json_set(a, json_obj(a, meta, map), v->key, json_clone(a, v));
}

static struct json *shape_binding(struct request *rq, const struct json *binding,
                                  const struct json *old, struct json **ret)
{
    struct arena *a = &rq->arena;
    struct str name = rq->route.name, uid = meta_uid(binding);
    struct json *no = check_binding(rq, binding);
    if (no)
        return no;
    if (uid.n && !str_eq(uid, meta_uid(old)))
        return status_conflict(a, STR(""), STR("pods"), name,
                               arena_printf(a,
                                            "Precondition failed: UID in precondition: " STR_FMT
                                            ", UID in object meta: " STR_FMT,
                                            STR_ARG(uid), STR_ARG(meta_uid(old))));
    const char *why = why_not_bound(a, old);
    if (why)
        return status_conflict(a, STR(""), STR("pods/binding"), name, why);
    struct json *pod = json_clone(a, old);
    json_setc(a, json_obj(a, pod, "spec"), "nodeName",
              json_clone(a, json_path(binding, "target", "name", NULL)));
    merge(a, meta_of(a, pod), json_getc(binding, "metadata"), "annotations");
    merge(a, meta_of(a, pod), json_getc(binding, "metadata"), "labels");
    (void)json_del(json_getc(pod, "status"), STR("nominatedNodeName")); /* the pod has a node now */
    kind_pod_add_condition(a, pod, "PodScheduled", "True", "", "", clock_wall_ms() / 1000);
    *ret = pod;
    return NULL;
}

static const struct write_action binding_action = { .type = BINDING, .shape = shape_binding };

/* The older form: Bindings are posted to a collection. */
static void legacy_binding_create(struct request *rq)
{
    rq->res = kube_registry_find(&rq->api->reg, STR(""), STR("v1"), STR("pods"));
    rq->route.resource = STR("pods");
    write_action(rq, &binding_action);
}

/* ------------------------------------------------------------------ dispatch */

bool subresource_serve(struct request *rq)
{
    const struct kube_resource *res = rq->res;
    if (res->crd || res->group.n)
        return false;
    if (str_is(res->plural, "bindings")) {
        legacy_binding_create(rq);
        return true;
    }
    if (!rq->sub)
        return false;
    static const char *const streams[] = { "attach", "exec", "log", "portforward" };
    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        if (str_is(rq->sub->name, streams[i])) {
            streams_serve(rq);
            return true;
        }
    }
    if (str_is(rq->sub->name, "binding"))
        write_action(rq, &binding_action);
    else if (str_is(rq->sub->name, "proxy"))
        proxy_serve(rq);
    else if (str_is(rq->sub->name, "eviction"))
        eviction_create(rq);
    else
        return false;
    return true;
}
