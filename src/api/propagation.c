/* SPDX-License-Identifier: Apache-2.0 */
/* Deletion options for dependents; see propagation.h. */
#include "api/propagation.h"

#include "api/core.h"
#include "api/owners.h"

/* "true" or "false"; NULL: not given. */
static const struct json *query_bool(struct request *rq, const char *name)
{
    struct str v = route_query(&rq->route, name);
    if (str_is(v, "true") || str_is(v, "1"))
        return json_new_bool(&rq->arena, true);
    return v.n ? json_new_bool(&rq->arena, false) : NULL;
}

struct json *propagation_parse(struct request *rq, const struct json *body, struct propagation *ret)
{
    static const struct str known[] = {
        { "Foreground", 10 }, { "Background", 10 }, { "Orphan", 6 }, { "nil", 3 }
    };
    struct arena *a = &rq->arena;
    struct field_errors errs = field_errors_init(a);
    struct fpath at = fpath_child(NULL, STR("propagationPolicy"));
    struct str policy = body ? json_get_str(body, "propagationPolicy")
                             : route_query(&rq->route, "propagationPolicy");
    const struct json *orphan =
        body ? json_getc(body, "orphanDependents") : query_bool(rq, "orphanDependents");
    bool has_policy =
        body ? json_is(json_getc(body, "propagationPolicy"), JSON_STRING) : policy.n > 0;
    bool has_orphan = json_is_bool(orphan);
    *ret = (struct propagation){ .not_orphaned = has_orphan && !json_bool(orphan) };
    if (has_policy && has_orphan)
        field_error_str(&errs, FIELD_INVALID, &at, policy,
                        "orphanDependents and deletionPropagation cannot be both set");
    if (str_eq(policy, known[0]))
        ret->policy = PROPAGATE_FOREGROUND;
    else if (str_eq(policy, known[1]))
        ret->policy = PROPAGATE_BACKGROUND;
    else if (str_eq(policy, known[2]))
        ret->policy = PROPAGATE_ORPHAN;
    else if (has_policy)
        field_error_enum(&errs, &at, json_new_str(a, policy), known, ARRAY_LEN(known));
    else if (has_orphan)
        ret->policy = json_bool(orphan) ? PROPAGATE_ORPHAN : PROPAGATE_BACKGROUND;
    if (errs.n == 0)
        return NULL;
    return status_invalid(a, STR("meta.k8s.io"), STR("DeleteOptions"), STR(""), &errs);
}

/* NULL: remove the object; its dependents follow. */
static const char *wanted(const struct kube_resource *res, const struct json *obj,
                          const struct propagation *p)
{
    if (res->strategy->gc_policy == KUBE_GC_NONE)
        return NULL;
    switch (p->policy) {
    case PROPAGATE_BACKGROUND:
        return NULL;
    case PROPAGATE_FOREGROUND:
        return FINALIZER_FOREGROUND;
    case PROPAGATE_ORPHAN:
        return FINALIZER_ORPHAN;
    case PROPAGATE_DEFAULT:
        break;
    }
    if (owners_has_finalizer(obj, FINALIZER_ORPHAN))
        return FINALIZER_ORPHAN;
    if (owners_has_finalizer(obj, FINALIZER_FOREGROUND))
        return FINALIZER_FOREGROUND;
    return res->strategy->gc_policy == KUBE_GC_ORPHAN ? FINALIZER_ORPHAN : NULL;
}

bool propagation_apply(struct arena *a, const struct kube_resource *res, struct json *obj,
                       const struct propagation *p)
{
    const char *finalizer = wanted(res, obj, p);
    bool has_orphan = owners_has_finalizer(obj, FINALIZER_ORPHAN);
    bool has_foreground = owners_has_finalizer(obj, FINALIZER_FOREGROUND);
    if (has_orphan == (finalizer && strcmp(finalizer, FINALIZER_ORPHAN) == 0) &&
        has_foreground == (finalizer && strcmp(finalizer, FINALIZER_FOREGROUND) == 0))
        return false;
    struct json *meta = meta_of(a, obj), *list = json_new_array(a);
    json_each (f, json_getc(meta, "finalizers")) {
        if (!str_is(json_str(f), FINALIZER_ORPHAN) && !str_is(json_str(f), FINALIZER_FOREGROUND))
            json_add(list, json_clone(a, f));
    }
    if (finalizer)
        json_add(list, json_new_cstr(a, finalizer));
    if (list->n)
        json_setc(a, meta, "finalizers", list);
    else
        (void)json_del(meta, STR("finalizers"));
    return true;
}

void propagation_warn(struct request *rq, const struct propagation *p)
{
    if (p->policy == PROPAGATE_DEFAULT && str_is(rq->res->group, "batch") &&
        str_is(rq->res->plural, "jobs"))
        reply_warn(rq, STR("child pods are preserved by default when jobs are deleted; set "
                           "propagationPolicy=Background to remove them or set "
                           "propagationPolicy=Orphan to suppress this warning"));
}
