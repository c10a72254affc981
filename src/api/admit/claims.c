/* SPDX-License-Identifier: Apache-2.0 */
/* Claims; see claims.h. */
#include "api/admit/claims.h"

#include "base/sys.h"
#include "kube/rules/kinds/services.h"

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

static struct str key_of(struct arena *a, struct str claim)
{
    return str_of(arena_printf(a, PREFIX STR_FMT, STR_ARG(claim)));
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
            .kind = STORE_PUT, .key = key_of(a, has[i].key), .value = holder, .cmp = STORE_ABSENT
        };
    }
    for (size_t i = 0; i < n_had; i++) {
        if (has_claim(has, n_has, had[i].key))
            continue;
        keys[c->n++] = had[i].key;
        ops[(*n)++] = (struct store_op){ .kind = STORE_DELETE, .key = key_of(a, had[i].key) };
    }
    c->keys = keys;
    return 0;
}

bool claims_lost(const struct claims *c, size_t failed_op)
{
    return failed_op >= c->first && failed_op < c->first + c->n;
}

/* ------------------------------------------------------------------ claims without a holder */

struct reclaim {
    struct request *rq;
    struct str claim; /* as service_claim.key */
    uint64_t rev;     /* when it was written */
    void (*done)(void *arg, bool is_free);
    void *arg;
};

/* Lost to another write: that one may have removed it. */
static void on_claim_removed(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct reclaim *rc = arg;
    (void)err;
    if (!request_idle(rc->rq))
        rc->done(rc->arg, res->r >= 0 || res->r == E_CONFLICT);
}

/* One that cannot be read may hold it. */
static bool is_holder(struct arena *a, const struct store_kv *kv, struct str claim)
{
    struct json *svc;
    size_t n;
    if (json_parse(a, str_copy_arena(a, kv->value), NULL, &svc, NULL) < 0)
        return true;
    const struct service_claim *list = claims_of(a, svc, &n);
    return has_claim(list, n, claim);
}

/* No Service can take the claim before it is removed: it is there, and as it was. */
static void on_holder(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    struct reclaim *rc = arg;
    struct request *rq = rc->rq;
    (void)rev;
    (void)err;
    if (request_idle(rq))
        return;
    if (r < 0 || (kv && is_holder(&rq->arena, kv, rc->claim))) {
        rc->done(rc->arg, false);
        return;
    }
    const struct store_op op = { .kind = STORE_DELETE,
                                 .key = key_of(&rq->arena, rc->claim),
                                 .cmp = STORE_MOD_REV,
                                 .cmp_rev = rc->rev };
    request_busy(rq);
    r = store_txn(rq->api->store, &op, 1, on_claim_removed, rc, NULL);
    if (r < 0 && !request_idle(rq))
        rc->done(rc->arg, false);
}

static void on_claim(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                     const struct err *err)
{
    struct reclaim *rc = arg;
    struct request *rq = rc->rq;
    struct str ns, name;
    (void)rev;
    (void)err;
    if (request_idle(rq))
        return;
    if (r < 0 || !kv || !str_cut(kv->value, '/', &ns, &name)) {
        rc->done(rc->arg, r >= 0 && !kv);
        return;
    }
    rc->rev = kv->mod_rev;
    request_busy(rq);
    r = store_get(rq->api->store, key_object(&rq->arena, rq->res, ns, name), 0, on_holder, rc,
                  NULL);
    if (r < 0 && !request_idle(rq))
        rc->done(rc->arg, false);
}

int claims_reclaim(struct request *rq, const struct claims *c, size_t failed_op,
                   void (*done)(void *arg, bool is_free), void *arg)
{
    struct reclaim *rc = arena_new(&rq->arena, struct reclaim);
    *rc = (struct reclaim){
        .rq = rq, .claim = c->keys[failed_op - c->first], .done = done, .arg = arg
    };
    request_busy(rq);
    int r = store_get(rq->api->store, key_of(&rq->arena, rc->claim), 0, on_claim, rc, NULL);
    return r < 0 && !request_idle(rq) ? r : 0;
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
