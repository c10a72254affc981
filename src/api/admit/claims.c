/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exclusive claims of objects: addresses and node ports of Services. Each claim is a key in the
 * store, written and removed in the transaction that writes the object, so that no allocator state
 * exists and no claim can leak. Claims of an object that was removed because it could not be read
 * stay until another Service needs them: then they are reclaimed.
 *
 *     /claims/services/ips/10.96.0.1  ->  default/kubernetes
 */
#include "api/admit/admit.h"

#include "base/sys.h"
#include "kube/rules/kinds/services.h"

#include <assert.h>

#define PREFIX "/claims/services/"

enum { CLAIMS_MAX_ATTEMPTS = 64 }; /* attempts to find a free address or port */

/* The claims of one write, in the request's arena. */
struct claims {
    const struct service_claim *asked; /* chosen by the client */
    size_t n_asked;
    const struct str *keys; /* of the operations */
};

static bool holds_claims(void *self, const struct admission *ad)
{
    (void)self;
    return admission_is_core(ad, "services");
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

/* Choose values that the object leaves open. */
static struct json *claims_apply(void *self, struct admission *ad, void *state)
{
    struct claims *c = state;
    struct arena *a = &ad->rq->arena;
    struct field_errors errs = field_errors_init(a);
    (void)self;
    if (ad->part != OBJECT_WHOLE)
        return NULL;
    c->asked = claims_of(a, ad->obj, &c->n_asked);
    service_allocate(a, ad->obj, ad->old, sys_random_u64(), &errs);
    return errs.n == 0 ? NULL
                       : status_invalid(a, STR(""), STR("Service"), meta_name(ad->obj), &errs);
}

static struct str key_of(struct arena *a, struct str claim)
{
    return str_of(arena_printf(a, PREFIX STR_FMT, STR_ARG(claim)));
}

/* Release what only `old` holds, claim what only `obj` holds. */
static int claims_writes(void *self, struct admission *ad, void *state, struct store_op *ops,
                         size_t *n, struct err *err)
{
    struct claims *c = state;
    struct arena *a = &ad->rq->arena;
    const struct json *obj = ad->removes ? NULL : ad->obj;
    size_t n_had, n_has, at = 0;
    (void)self;
    const struct service_claim *had = claims_of(a, ad->old, &n_had),
                               *has = claims_of(a, obj, &n_has);
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
        keys[at++] = has[i].key;
        ops[(*n)++] = (struct store_op){
            .kind = STORE_PUT, .key = key_of(a, has[i].key), .value = holder, .cmp = STORE_ABSENT
        };
    }
    for (size_t i = 0; i < n_had; i++) {
        if (has_claim(has, n_has, had[i].key))
            continue;
        keys[at++] = had[i].key;
        ops[(*n)++] = (struct store_op){ .kind = STORE_DELETE, .key = key_of(a, had[i].key) };
    }
    assert(at <= n_had + n_has && *n <= STORE_TXN_MAX_OPS);
    c->keys = keys;
    return 0;
}

/* ------------------------------------------------------------------ stale claims */

struct reclaim {
    struct admission *ad;
    const struct claims *claims;
    struct str claim; /* as service_claim.key */
    uint64_t rev;     /* revision of its last write */
};

/* The Status if the client asked for this very claim; NULL: another choice may do. */
static struct json *refuse_asked(const struct reclaim *rc)
{
    struct admission *ad = rc->ad;
    const struct claims *c = rc->claims;
    struct arena *a = &ad->rq->arena;
    struct field_errors errs = field_errors_init(a);
    for (size_t i = 0; i < c->n_asked; i++)
        if (str_eq(c->asked[i].key, rc->claim))
            service_claim_taken(&c->asked[i], ad->obj, &errs);
    return errs.n == 0 ? NULL
                       : status_invalid(a, STR(""), STR("Service"), meta_name(ad->obj), &errs);
}

/* NULL: retry the write. */
static struct json *verdict(const struct reclaim *rc, bool is_free)
{
    struct json *no = is_free ? NULL : refuse_asked(rc);
    if (!no && rc->ad->attempt >= CLAIMS_MAX_ATTEMPTS)
        no = status_internal(&rc->ad->rq->arena,
                             STR("failed to allocate a serviceIP: range is full"));
    return no;
}

static void finish(const struct reclaim *rc, bool is_free)
{
    admission_continue(rc->ad, verdict(rc, is_free));
}

/* On a conflict another write may have removed the claim. */
static void on_claim_removed(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct reclaim *rc = arg;
    (void)err;
    if (!request_idle(rc->ad->rq))
        finish(rc, res->r >= 0 || res->r == E_CONFLICT);
}

/* A Service that cannot be read may hold the claim. */
static bool is_holder(struct arena *a, const struct store_kv *kv, struct str claim)
{
    struct json *svc;
    size_t n;
    if (json_parse(a, str_copy_arena(a, kv->value), NULL, &svc, NULL) < 0)
        return true;
    const struct service_claim *list = claims_of(a, svc, &n);
    return has_claim(list, n, claim);
}

/* The claim still exists unchanged, so no other Service can take it before it is removed. */
static void on_holder(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    struct reclaim *rc = arg;
    struct request *rq = rc->ad->rq;
    (void)rev;
    (void)err;
    if (request_idle(rq))
        return;
    if (r < 0 || (kv && is_holder(&rq->arena, kv, rc->claim))) {
        finish(rc, false);
        return;
    }
    const struct store_op op = { .kind = STORE_DELETE,
                                 .key = key_of(&rq->arena, rc->claim),
                                 .cmp = STORE_MOD_REV,
                                 .cmp_rev = rc->rev };
    request_busy(rq);
    r = store_txn(rq->api->store, &op, 1, on_claim_removed, rc, NULL);
    if (r < 0 && !request_idle(rq))
        finish(rc, false);
}

static void on_claim(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                     const struct err *err)
{
    struct reclaim *rc = arg;
    struct request *rq = rc->ad->rq;
    struct str ns, name;
    (void)rev;
    (void)err;
    if (request_idle(rq))
        return;
    if (r < 0 || !kv || !str_cut(kv->value, '/', &ns, &name)) {
        finish(rc, r >= 0 && !kv);
        return;
    }
    rc->rev = kv->mod_rev;
    request_busy(rq);
    r = store_get(rq->api->store, key_object(&rq->arena, rq->res, ns, name), 0, on_holder, rc,
                  NULL);
    if (r < 0 && !request_idle(rq))
        finish(rc, false);
}

/*
 * Another Service holds the chosen value: choose again, unless the client chose it. A claim whose
 * Service does not hold it is removed first.
 */
static struct json *claims_lost(void *self, struct admission *ad, void *state, size_t failed_op)
{
    struct request *rq = ad->rq;
    struct reclaim *rc = arena_new(&rq->arena, struct reclaim);
    const struct claims *c = state;
    (void)self;
    *rc = (struct reclaim){ .ad = ad, .claims = c, .claim = c->keys[failed_op] };
    int r = store_get(rq->api->store, key_of(&rq->arena, rc->claim), 0, on_claim, rc, NULL);
    if (r < 0)
        return verdict(rc, false);
    request_busy(rq);
    admission_wait(ad);
    return NULL;
}

static const struct admission_stage claims = { .name = "addresses and ports",
                                               .point = ADMISSION_PREPARED,
                                               .ops = ADMISSION_ON(ADMISSION_CREATE) |
                                                      ADMISSION_ON(ADMISSION_UPDATE),
                                               .state_bytes = sizeof(struct claims),
                                               .wanted = holds_claims,
                                               .apply = claims_apply,
                                               .writes = claims_writes,
                                               .lost = claims_lost };

/* A deletion releases what the object holds. */
static const struct admission_stage released = { .name = "addresses and ports (deletion)",
                                                 .point = ADMISSION_READ,
                                                 .ops = ADMISSION_ON(ADMISSION_DELETE),
                                                 .state_bytes = sizeof(struct claims),
                                                 .wanted = holds_claims,
                                                 .writes = claims_writes };

void claims_register(struct admit *ad, struct admission_chain *c)
{
    admission_register(c, &claims, ad);
    admission_register(c, &released, ad);
}
