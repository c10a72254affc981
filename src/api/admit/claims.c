/* SPDX-License-Identifier: Apache-2.0 */
/* Claims; see claims.h. */
#include "api/admit/claims.h"

#include "base/sys.h"
#include "kube/kinds/services.h"

#define PREFIX "/claims/services/"

static bool holds_claims(const struct kube_resource *res)
{
    return res->group.n == 0 && str_is(res->plural, "services");
}

static struct service_claim *claims_of(struct arena *a, const struct json *obj, size_t *ret_n)
{
    struct service_claim *list = arena_new_n(a, struct service_claim, SERVICE_MAX_CLAIMS);
    *ret_n = obj ? service_claims(a, obj, list) : 0;
    return list;
}

static bool has_claim(const struct service_claim *list, size_t n, struct str key)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i].key, key))
            return true;
    return false;
}

struct json *claims_choose(struct request *rq, struct claims *c, struct json *obj,
                           const struct json *old)
{
    struct field_errors errs = field_errors_init(&rq->arena);
    if (!holds_claims(rq->res))
        return NULL;
    c->asked = claims_of(&rq->arena, obj, &c->n_asked);
    service_allocate(&rq->arena, obj, old, sys_random_u64(), &errs);
    return errs.n == 0 ? NULL
                       : status_invalid(&rq->arena, STR(""), STR("Service"), meta_name(obj), &errs);
}

static struct str key_of(struct arena *a, const struct service_claim *c)
{
    return str_of(arena_printf(a, PREFIX STR_FMT, STR_ARG(c->key)));
}

int claims_ops(struct arena *a, struct claims *c, const struct kube_resource *res,
               const struct json *old, const struct json *obj, struct store_op *ops, size_t *n,
               struct err *err)
{
    size_t n_had, n_has;
    c->first = *n;
    c->n = 0;
    if (!holds_claims(res))
        return 0;
    const struct service_claim *had = claims_of(a, old, &n_had), *has = claims_of(a, obj, &n_has);
    if (*n + n_had + n_has > STORE_TXN_MAX_OPS)
        return err_set(err, E_LIMIT, "a Service with more than %d ports of the node",
                       SERVICE_MAX_CLAIMS / 2);
    struct str *keys = arena_new_n(a, struct str, n_had + n_has + 1);
    struct str holder =
        obj ? str_of(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(meta_namespace(obj)),
                                  STR_ARG(meta_name(obj))))
            : STR("");
    for (size_t i = 0; i < n_has; i++) {
        if (has_claim(had, n_had, has[i].key))
            continue;
        keys[c->n++] = has[i].key;
        ops[(*n)++] = (struct store_op){
            .kind = STORE_PUT, .key = key_of(a, &has[i]), .value = holder, .cmp = STORE_ABSENT
        };
    }
    for (size_t i = 0; i < n_had; i++) {
        if (has_claim(has, n_has, had[i].key))
            continue;
        keys[c->n++] = had[i].key;
        ops[(*n)++] = (struct store_op){ .kind = STORE_DELETE, .key = key_of(a, &had[i]) };
    }
    c->keys = keys;
    return 0;
}

bool claims_lost(const struct claims *c, size_t failed_op)
{
    return failed_op >= c->first && failed_op < c->first + c->n;
}

struct json *claims_refuse(struct request *rq, const struct claims *c, const struct json *obj,
                           size_t failed_op)
{
    struct field_errors errs = field_errors_init(&rq->arena);
    for (size_t i = 0; i < c->n_asked; i++)
        if (str_eq(c->asked[i].key, c->keys[failed_op - c->first]))
            service_claim_taken(&c->asked[i], obj, &errs);
    return errs.n == 0 ? NULL
                       : status_invalid(&rq->arena, STR(""), STR("Service"), meta_name(obj), &errs);
}
