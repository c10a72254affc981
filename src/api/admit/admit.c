/* SPDX-License-Identifier: Apache-2.0 */
/* Admission: reading what the rules need, and their order; see admit.h. */
#include "api/admit/admit.h"

#include "api/admit/node_restriction.h"
#include "api/auth/tokens.h"
#include "api/controllers/controllers.h"
#include "api/encode.h"
#include "base/log.h"
#include "base/sys.h"
#include "kube/rules/kinds/quotas.h"

#include <errno.h>

/* What is read, in this order. */
enum fact {
    FACT_NODE,
    FACT_ACCOUNT,
    FACT_RUNTIME,
    FACT_CLASSES,
    FACT_LIMITS,
    FACT_STORAGE,
    FACT_QUOTAS,
    FACT_DONE
};

struct quota {
    struct str key;
    uint64_t rev;
    const struct json *stored;
    struct json *taken; /* with the new object counted; NULL: it changes nothing */
};

struct admission {
    struct request *rq;
    enum fact at;
    bool is_pod, is_claim, is_token; /* token: a Secret that holds one of a ServiceAccount */
    struct str node_name, account_name, class_name, runtime_name;
    const struct json *node, *account, *runtime; /* or NULL */
    struct json *classes, *limits, *storage;     /* arrays */
    struct quota *quotas;
    size_t n_quotas, first_op, n_ops;
    bool has_more_quotas; /* than can be counted in one transaction */
    struct str after;     /* the key at which a list goes on; "" at its first page */
    bool uncounted;       /* a quota has not been counted yet, so the object cannot be added */
    void (*done)(void *arg, int r, struct admission *admission);
    void *arg;
};

static bool is_core(const struct kube_resource *res, const char *plural)
{
    return res->group.n == 0 && str_is(res->plural, plural);
}

bool admit_wanted(const struct request *rq)
{
    const struct kube_resource *res = rq->res;
    return is_core(res, "pods") || is_core(res, "persistentvolumeclaims") ||
           is_core(res, "secrets") || (res->namespaced && quotas_in(rq->api->quotas, rq->route.ns));
}

/* ------------------------------------------------------------------ reading */

static void advance(struct admission *ad);

static const struct kube_resource *resource_of(const struct admission *ad, const char *group,
                                               const char *plural)
{
    return registry_find(&ad->rq->api->reg, str_of(group), STR("v1"), str_of(plural));
}

/* What was read is too much for one request, or not what was stored. */
static void refuse_unread(struct admission *ad, struct str key)
{
    struct request *rq = ad->rq;
    struct err err = { 0 };
    bool full = arena_is_full(&rq->arena);
    int r = err_set(&err, full ? E_LIMIT : E_CORRUPT, "'" STR_FMT "' %s", STR_ARG(key),
                    full ? "and others like it are too much to look at for one request"
                         : "cannot be read");
    reply_err(rq, r, &err);
    ad->done(ad->arg, r, ad);
}

/* true: the request is over. */
static bool read_failed(struct admission *ad, int r, const struct err *err)
{
    if (request_idle(ad->rq))
        return true;
    if (r >= 0)
        return false;
    reply_store_err(ad->rq, r, 0, err);
    ad->done(ad->arg, r, ad);
    return true;
}

static struct json *parse_kv(struct admission *ad, const struct store_kv *kv)
{
    struct arena *a = &ad->rq->arena;
    struct json *v;
    return json_parse(a, str_copy_arena(a, kv->value), NULL, &v, NULL) < 0 ? NULL : v;
}

static void on_object(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    struct admission *ad = arg;
    (void)rev;
    if (read_failed(ad, r, err))
        return;
    struct json *v = kv ? parse_kv(ad, kv) : NULL;
    if (ad->at == FACT_NODE)
        ad->node = v;
    else if (ad->at == FACT_ACCOUNT)
        ad->account = v;
    else if (ad->at == FACT_RUNTIME)
        ad->runtime = v;
    else if (v)
        json_add(ad->classes, v);
    ad->at++;
    advance(ad);
}

static void take_quota(struct admission *ad, const struct store_kv *kv, struct json *v)
{
    struct arena *a = &ad->rq->arena;
    if (!ad->quotas)
        ad->quotas = arena_new_n(a, struct quota, QUOTA_MAX_PER_NAMESPACE);
    if (ad->n_quotas < QUOTA_MAX_PER_NAMESPACE)
        ad->quotas[ad->n_quotas++] =
            (struct quota){ .key = str_copy_arena(a, kv->key), .rev = kv->mod_rev, .stored = v };
    else
        ad->has_more_quotas = true;
}

/* One object of the list that is being read. False: it cannot be taken into account. */
static bool take(struct admission *ad, const struct store_kv *kv)
{
    struct json *v = parse_kv(ad, kv);
    if (!v)
        return false;
    if (ad->at == FACT_QUOTAS)
        take_quota(ad, kv, v);
    else
        json_add(ad->at == FACT_CLASSES  ? ad->classes
                 : ad->at == FACT_LIMITS ? ad->limits
                                         : ad->storage,
                 v);
    return true;
}

static void on_list(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct admission *ad = arg;
    struct arena *a = &ad->rq->arena;
    size_t i = 0;
    if (read_failed(ad, r, err))
        return;
    while (i < page->n && !ad->has_more_quotas && take(ad, &page->kv[i]))
        i++;
    if (i < page->n && !ad->has_more_quotas) {
        refuse_unread(ad, page->kv[i].key);
        return;
    }
    bool more = page->more && !ad->has_more_quotas;
    ad->after = more ? str_copy_arena(a, page->kv[page->n - 1].key) : STR("");
    ad->at += more ? 0 : 1;
    advance(ad);
}

static void started(struct admission *ad, int r, const struct err *err)
{
    if (r < 0)
        (void)read_failed(ad, r, err);
}

static void get(struct admission *ad, const struct kube_resource *res, struct str ns,
                struct str name)
{
    struct request *rq = ad->rq;
    struct err err = { 0 };
    request_busy(rq);
    started(
        ad,
        store_get(rq->api->store, key_object(&rq->arena, res, ns, name), 0, on_object, ad, &err),
        &err);
}

/* All pages, one after the other. */
static void list(struct admission *ad, const struct kube_resource *res, struct str ns)
{
    struct request *rq = ad->rq;
    struct err err = { 0 };
    const struct store_range range = { .prefix = key_prefix_ns(&rq->arena, res, ns),
                                       .after = ad->after };
    request_busy(rq);
    started(ad, store_range(rq->api->store, &range, on_list, ad, &err), &err);
}

/* Start the next read that this kind needs. */
static void advance(struct admission *ad)
{
    struct request *rq = ad->rq;
    const struct kube_resource *res;
    switch (ad->at) {
    case FACT_NODE:
        if (ad->is_pod && ad->node_name.n) {
            get(ad, resource_of(ad, "", "nodes"), STR(""), ad->node_name);
            return;
        }
        ad->at++;
        __attribute__((fallthrough));
    case FACT_ACCOUNT:
        if (ad->is_pod || ad->is_token) {
            get(ad, resource_of(ad, "", "serviceaccounts"), rq->route.ns, ad->account_name);
            return;
        }
        ad->at++;
        __attribute__((fallthrough));
    case FACT_RUNTIME:
        res = ad->runtime_name.n ? resource_of(ad, "node.k8s.io", "runtimeclasses") : NULL;
        if (res) {
            get(ad, res, STR(""), ad->runtime_name);
            return;
        }
        ad->at++;
        __attribute__((fallthrough));
    case FACT_CLASSES:
        res = ad->is_pod ? resource_of(ad, "scheduling.k8s.io", "priorityclasses") : NULL;
        if (res && ad->class_name.n) {
            get(ad, res, STR(""), ad->class_name);
            return;
        }
        if (res) {
            list(ad, res, STR(""));
            return;
        }
        ad->at++;
        __attribute__((fallthrough));
    case FACT_LIMITS:
        if (ad->is_pod || ad->is_claim) {
            list(ad, resource_of(ad, "", "limitranges"), rq->route.ns);
            return;
        }
        ad->at++;
        __attribute__((fallthrough));
    case FACT_STORAGE:
        res = ad->is_claim ? resource_of(ad, "storage.k8s.io", "storageclasses") : NULL;
        if (res) {
            list(ad, res, STR(""));
            return;
        }
        ad->at++;
        __attribute__((fallthrough));
    case FACT_QUOTAS:
        if (quotas_in(rq->api->quotas, rq->route.ns)) {
            list(ad, resource_of(ad, "", "resourcequotas"), rq->route.ns);
            return;
        }
        ad->at++;
        __attribute__((fallthrough));
    case FACT_DONE:
        ad->done(ad->arg, 0, ad);
        return;
    }
}

void admit_read(struct request *rq, const struct json *input,
                void (*done)(void *arg, int r, struct admission *admission), void *arg)
{
    struct arena *a = &rq->arena;
    struct admission *ad = arena_new(a, struct admission);
    const struct json *spec = json_getc(input, "spec");
    struct str account = json_get_str(spec, "serviceAccountName");
    if (account.n == 0)
        account = json_get_str(spec, "serviceAccount");
    *ad = (struct admission){ .rq = rq,
                              .is_pod = is_core(rq->res, "pods"),
                              .is_claim = is_core(rq->res, "persistentvolumeclaims"),
                              .account_name = account.n ? account : STR("default"),
                              .class_name = json_get_str(spec, "priorityClassName"),
                              .runtime_name = is_core(rq->res, "pods")
                                                  ? json_get_str(spec, "runtimeClassName")
                                                  : STR(""),
                              .classes = json_new_array(a),
                              .limits = json_new_array(a),
                              .storage = json_new_array(a),
                              .done = done,
                              .arg = arg };
    (void)node_restricts(rq, &ad->node_name);
    if (is_core(rq->res, "secrets")) {
        ad->account_name = token_secret_account(input);
        ad->is_token = ad->account_name.n > 0;
    }
    advance(ad);
}

bool admit_update_wanted(const struct request *rq)
{
    return rq->res->namespaced && quota_may_grow(rq->res, rq->sub ? rq->sub->name : STR("")) &&
           quotas_in(rq->api->quotas, rq->route.ns);
}

void admit_read_quotas(struct request *rq,
                       void (*done)(void *arg, int r, struct admission *admission), void *arg)
{
    struct admission *ad = arena_new(&rq->arena, struct admission);
    *ad = (struct admission){ .rq = rq, .at = FACT_QUOTAS, .done = done, .arg = arg };
    advance(ad);
}

/* ------------------------------------------------------------------ applying */

static struct json *refuse(struct request *rq, const struct json *obj, const char *why)
{
    struct str name = meta_name(obj);
    if (name.n == 0)
        name = json_str(json_path(obj, "metadata", "generateName", NULL));
    return status_forbidden(&rq->arena, rq->route.group, rq->route.resource,
                            name.n ? name : STR("Unknown"), str_of(why));
}

struct json *admit_new(struct request *rq, const struct admission *ad, struct json *obj)
{
    struct arena *a = &rq->arena;
    const char *why = NULL;
    if (!ad || !(ad->is_pod || ad->is_claim))
        return NULL;
    if (ad->is_claim) {
        if (!admit_claim_limits(a, obj, ad->limits, &why))
            return refuse(rq, obj, why);
        admit_storage_class(a, obj, ad->storage);
        return NULL;
    }
    bool account_needed = !ad->account && !str_is(ad->account_name, "default");
    if (account_needed)
        why = arena_printf(a,
                           "error looking up service account " STR_FMT "/" STR_FMT
                           ": serviceaccount \"" STR_FMT "\" not found",
                           STR_ARG(rq->route.ns), STR_ARG(ad->account_name),
                           STR_ARG(ad->account_name));
    if (!admit_limits(a, obj, ad->limits, &why) || account_needed ||
        !admit_account(a, obj, ad->account, sys_random_u64(), &why) ||
        !admit_priority(a, obj, ad->classes, &why))
        return refuse(rq, obj, why);
    admit_tolerations(a, obj);
    if (!admit_runtime(a, obj, ad->runtime, &why))
        return refuse(rq, obj, why);
    return NULL;
}

const struct json *admission_node(const struct admission *ad)
{
    return ad ? ad->node : NULL;
}

void admit_named(struct request *rq, const struct admission *ad, struct json *obj)
{
    struct err err = { 0 };
    if (!ad || !ad->is_token || !ad->account)
        return; /* upstream takes such a Secret, and makes no token for it */
    int r = token_secret_fill(rq->api, &rq->arena, obj, ad->account, &err);
    if (r < 0)
        log_error("no token was made for a secret", "error=\"%s\"", err_text(&err));
}

/* Upstream looks at an update of a pod itself only when that changes the quotas it belongs to. */
static bool is_same_pod(const struct request *rq, const struct json *obj, const struct json *old)
{
    return old && is_core(rq->res, "pods") && !rq->sub &&
           !json_path(obj, "spec", "activeDeadlineSeconds", NULL) ==
               !json_path(old, "spec", "activeDeadlineSeconds", NULL);
}

/* Why the object cannot be there beside the quotas of its namespace; NULL: it can. */
static const char *crowd_of_quotas(struct request *rq, const struct admission *ad,
                                   const struct json *old)
{
    if (ad && ad->has_more_quotas)
        return arena_printf(&rq->arena,
                            "the namespace has more than %d resource quotas, which is more than "
                            "can be enforced: delete some",
                            QUOTA_MAX_PER_NAMESPACE);
    if (ad && !old && ad->n_quotas == QUOTA_MAX_PER_NAMESPACE && is_core(rq->res, "resourcequotas"))
        return arena_printf(&rq->arena, "a namespace can have at most %d resource quotas",
                            QUOTA_MAX_PER_NAMESPACE);
    return NULL;
}

struct json *admit_quota(struct request *rq, struct admission *ad, const struct json *obj,
                         const struct json *old)
{
    struct arena *a = &rq->arena;
    if (is_same_pod(rq, obj, old))
        return NULL;
    const char *crowd = crowd_of_quotas(rq, ad, old);
    if (crowd)
        return refuse(rq, obj, crowd);
    for (size_t i = 0; ad && i < ad->n_quotas; i++) {
        struct quota *q = &ad->quotas[i];
        struct json *quota = json_clone(a, q->stored);
        const char *why;
        bool changed;
        ad->uncounted = ad->uncounted || !json_path(quota, "status", "hard", NULL);
        if (!quota_take(a, quota, rq->res, obj, old, &changed, &why))
            return refuse(rq, obj, why);
        q->taken = changed ? quota : NULL;
    }
    return NULL;
}

int admit_ops(struct request *rq, struct admission *ad, struct store_op *ops, size_t *n,
              struct err *err)
{
    struct arena *a = &rq->arena;
    if (!ad)
        return 0;
    ad->first_op = *n;
    ad->n_ops = 0;
    for (size_t i = 0; i < ad->n_quotas; i++) {
        struct quota *q = &ad->quotas[i];
        struct buf b = BUF_INIT(STORE_VALUE_MAX_BYTES);
        if (!q->taken)
            continue;
        if (*n >= STORE_TXN_MAX_OPS)
            return err_set(err, E_LIMIT, "too many quotas");
        int r = encode_for_storage(a, resource_of(ad, "", "resourcequotas"), q->taken, &b);
        if (r >= 0)
            ops[(*n)++] = (struct store_op){ .kind = STORE_PUT,
                                             .key = q->key,
                                             .value = str_copy_arena(a, buf_str(&b)),
                                             .cmp = STORE_MOD_REV,
                                             .cmp_rev = q->rev };
        buf_fini(&b);
        if (r < 0)
            return err_set(err, E_LIMIT, "a quota is too large");
        ad->n_ops++;
    }
    return 0;
}

bool admit_counted(const struct admission *ad)
{
    return ad && !ad->uncounted;
}

bool admit_lost(const struct admission *ad, size_t failed_op)
{
    return ad && failed_op >= ad->first_op && failed_op < ad->first_op + ad->n_ops;
}
