/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ResourceQuota: the transaction that writes an object also counts it in the quotas of its
 * namespace, so they cannot be exceeded. Requests that create counted objects write the same
 * quotas, so they queue in one line; a quota that another writer has changed meanwhile is read
 * again.
 */
#include "api/admit/admit.h"

#include "api/encode.h"
#include "api/write.h"
#include "kube/rules/kinds/quotas.h"

enum { QUOTA_MAX_ATTEMPTS = 64 };

struct quota {
    struct str key;
    uint64_t rev;
    const struct json *stored;
    struct json *taken; /* with the new object counted; NULL: no change */
};

struct quotas_read {
    struct admission *ad;
    struct quota *quotas;
    size_t n;
    bool has_more; /* more quotas than one transaction can count */
};

static const struct kube_resource *resource(const struct admission *ad)
{
    return kube_registry_find(&ad->rq->api->reg, STR(""), STR("v1"), STR("resourcequotas"));
}

static bool quota_wanted(void *self, const struct admission *ad)
{
    const struct admit *admit = self;
    const struct request *rq = ad->rq;
    return rq->res->namespaced &&
           (ad->op == ADMISSION_CREATE ||
            quota_may_grow(rq->res, rq->sub ? rq->sub->name : STR(""))) &&
           admit->needs.has_quota(admit->needs.arg, rq->route.ns);
}

static bool take_quota(void *arg, const struct store_kv *kv, struct json *v)
{
    struct quotas_read *q = arg;
    struct arena *a = &q->ad->rq->arena;
    if (!q->quotas)
        q->quotas = arena_new_n(a, struct quota, QUOTA_MAX_PER_NAMESPACE);
    q->has_more = q->n == QUOTA_MAX_PER_NAMESPACE;
    if (q->has_more)
        return false;
    q->quotas[q->n++] =
        (struct quota){ .key = str_copy_arena(a, kv->key), .rev = kv->mod_rev, .stored = v };
    return true;
}

static struct json *read_quotas(struct quotas_read *q)
{
    struct request *rq = q->ad->rq;
    return admission_list(q->ad, key_prefix_ns(&rq->arena, resource(q->ad), rq->route.ns),
                          take_quota, q);
}

static void on_turn(void *arg)
{
    struct quotas_read *q = arg;
    struct json *no = read_quotas(q);
    if (no)
        admission_continue(q->ad, no);
}

static struct json *quota_read(void *self, struct admission *ad, void *state)
{
    struct quotas_read *q = state;
    struct request *rq = ad->rq;
    (void)self;
    q->ad = ad;
    if (ad->op != ADMISSION_CREATE || rq->line.line)
        return read_quotas(q);
    struct str key = key_prefix_ns(&rq->arena, resource(ad), rq->route.ns);
    switch (write_queue(rq, key, on_turn, q)) {
    case LINE_RUN:
        return read_quotas(q);
    case LINE_WAIT:
        admission_wait(ad);
        return NULL;
    case LINE_FULL:
        break;
    }
    return status_too_many_requests(&rq->arena, 1);
}

/*
 * As upstream: an update of a pod itself is checked only if it changes the quotas that match the
 * pod.
 */
static bool is_same_pod(const struct admission *ad)
{
    return ad->old && admission_is_core(ad, "pods") && !ad->rq->sub &&
           !json_path(ad->obj, "spec", "activeDeadlineSeconds", NULL) ==
               !json_path(ad->old, "spec", "activeDeadlineSeconds", NULL);
}

/* Why the quotas of the namespace do not admit the object; NULL: they do. */
static const char *crowd_of_quotas(const struct admission *ad, const struct quotas_read *q)
{
    if (q->has_more)
        return arena_printf(&ad->rq->arena,
                            "the namespace has more than %d resource quotas, which is more than "
                            "can be enforced: delete some",
                            QUOTA_MAX_PER_NAMESPACE);
    if (!ad->old && q->n == QUOTA_MAX_PER_NAMESPACE && admission_is_core(ad, "resourcequotas"))
        return arena_printf(&ad->rq->arena, "a namespace can have at most %d resource quotas",
                            QUOTA_MAX_PER_NAMESPACE);
    return NULL;
}

static struct json *quota_apply(void *self, struct admission *ad, void *state)
{
    struct quotas_read *qs = state;
    struct arena *a = &ad->rq->arena;
    bool counted = true;
    (void)self;
    if (ad->removes)
        return NULL;
    if (is_same_pod(ad)) {
        ad->counted = true;
        return NULL;
    }
    const char *crowd = crowd_of_quotas(ad, qs);
    if (crowd)
        return admission_forbid(ad, crowd);
    for (size_t i = 0; i < qs->n; i++) {
        struct quota *q = &qs->quotas[i];
        struct json *quota = json_clone(a, q->stored);
        const char *why;
        bool changed;
        counted = counted && json_path(quota, "status", "hard", NULL);
        if (!quota_take(a, quota, ad->rq->res, ad->obj, ad->old, &changed, &why))
            return admission_forbid(ad, why);
        q->taken = changed ? quota : NULL;
    }
    ad->counted = counted;
    return NULL;
}

static int quota_writes(void *self, struct admission *ad, void *state, struct store_op *ops,
                        size_t *n, struct err *err)
{
    const struct quotas_read *qs = state;
    struct arena *a = &ad->rq->arena;
    (void)self;
    for (size_t i = 0; i < qs->n; i++) {
        const struct quota *q = &qs->quotas[i];
        struct buf b = BUF_INIT(STORE_VALUE_MAX_BYTES);
        if (!q->taken)
            continue;
        if (*n >= STORE_TXN_MAX_OPS)
            return err_set(err, E_LIMIT, "too many quotas");
        int r = encode_for_storage(a, resource(ad), q->taken, &b);
        if (r >= 0)
            ops[(*n)++] = (struct store_op){ .kind = STORE_PUT,
                                             .key = q->key,
                                             .value = str_copy_arena(a, buf_str(&b)),
                                             .cmp = STORE_MOD_REV,
                                             .cmp_rev = q->rev };
        buf_fini(&b);
        if (r < 0)
            return err_set(err, E_LIMIT, "a quota is too large");
    }
    return 0;
}

/* A quota was written meanwhile: read again what is left of it. */
static struct json *quota_lost(void *self, struct admission *ad, void *state, size_t failed_op)
{
    struct request *rq = ad->rq;
    (void)self;
    (void)state;
    (void)failed_op;
    return ad->attempt < QUOTA_MAX_ATTEMPTS
               ? NULL
               : status_modified(&rq->arena, rq->route.group, rq->route.resource,
                                 meta_name(ad->obj));
}

static const struct admission_stage quota = { .name = "ResourceQuota",
                                              .point = ADMISSION_VALIDATED,
                                              .ops = ADMISSION_ON(ADMISSION_CREATE) |
                                                     ADMISSION_ON(ADMISSION_UPDATE),
                                              .state_bytes = sizeof(struct quotas_read),
                                              .wanted = quota_wanted,
                                              .read = quota_read,
                                              .apply = quota_apply,
                                              .writes = quota_writes,
                                              .lost = quota_lost };

void quota_register(struct admit *ad, struct admission_chain *c)
{
    admission_register(c, &quota, ad);
}
