/* SPDX-License-Identifier: Apache-2.0 */
/* ResourceQuotas; see quotas.h. */
#include "kube/kinds/quotas.h"

#include "kube/kinds/pods.h"
#include "kube/meta.h"

#include <stdio.h>

/* ------------------------------------------------------------------ uses */

struct uses {
    struct arena *a;
    struct quota_use *list;
    size_t n;
};

static void use(struct uses *u, const char *name, struct quantity amount)
{
    if (u->n < QUOTA_MAX_USES)
        u->list[u->n++] = (struct quota_use){ str_of(name), amount };
}

static void use_count(struct uses *u, const char *name, int64_t n)
{
    use(u, name, (struct quantity){ .nano = (__int128)n * 1000000000 });
}

static bool is_core(const struct kube_resource *res, const char *plural)
{
    return res->group.n == 0 && str_is(res->plural, plural);
}

static bool amount_of(const struct json *list, struct str name, struct quantity *ret)
{
    *ret = (struct quantity){ 0 };
    return quantity_parse(json_str(json_get(list, name)), ret, NULL) >= 0;
}

static struct quantity of_container(const struct json *c, const char *what, struct str name)
{
    struct quantity q;
    (void)amount_of(json_path(c, "resources", what, NULL), name, &q);
    return q;
}

static void add(struct quantity *to, struct quantity q)
{
    if (to->nano == 0)
        to->format = q.format;
    to->nano += q.nano;
}

/* The containers together, or the largest init container with the sidecars before it. */
static struct quantity of_pod(const struct json *pod, const char *what, struct str name)
{
    const struct json *spec = json_getc(pod, "spec");
    struct quantity sum = { 0 }, sidecars = { 0 }, most = { 0 }, whole;
    json_each (c, json_getc(spec, "containers"))
        add(&sum, of_container(c, what, name));
    json_each (c, json_getc(spec, "initContainers")) {
        struct quantity q = of_container(c, what, name);
        if (str_is(json_get_str(c, "restartPolicy"), "Always")) {
            add(&sidecars, q);
            q = sidecars;
        } else {
            add(&q, sidecars);
        }
        if (q.nano > most.nano)
            most = q;
    }
    add(&sum, sidecars);
    if (most.nano > sum.nano)
        sum = most;
    if (amount_of(json_path(spec, "resources", what, NULL), name, &whole))
        sum = whole;
    if (amount_of(json_getc(spec, "overhead"), name, &whole))
        add(&sum, whole);
    return sum;
}

/* A name that some container has in this list; each once. */
static void collect(struct arena *a, struct json *names, const struct json *list)
{
    json_each (v, list)
        if (!json_get(names, v->key))
            json_set(a, names, v->key, json_new_null(a));
}

static struct json *names_in_pod(struct arena *a, const struct json *pod, const char *what)
{
    static const char *const lists[] = { "containers", "initContainers" };
    const struct json *spec = json_getc(pod, "spec");
    struct json *names = json_new_object(a);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        json_each (c, json_getc(spec, lists[i]))
            collect(a, names, json_path(c, "resources", what, NULL));
    collect(a, names, json_path(spec, "resources", what, NULL));
    return names;
}

static void use_pod(struct uses *u, const struct json *pod)
{
    struct str phase = json_str(json_path(pod, "status", "phase", NULL));
    if (str_is(phase, "Succeeded") || str_is(phase, "Failed"))
        return;
    use_count(u, "pods", 1);
    json_each (name, names_in_pod(u->a, pod, "requests")) {
        struct quantity q = of_pod(pod, "requests", name->key);
        const char *plain = str_dup_arena(u->a, name->key);
        bool shown_plain = str_is(name->key, "cpu") || str_is(name->key, "memory") ||
                           str_is(name->key, "ephemeral-storage") ||
                           str_has_prefix(name->key, STR("hugepages-"));
        if (shown_plain)
            use(u, plain, q);
        use(u, arena_printf(u->a, "requests.%s", plain), q);
    }
    json_each (name, names_in_pod(u->a, pod, "limits"))
        use(u, arena_printf(u->a, "limits." STR_FMT, STR_ARG(name->key)),
            of_pod(pod, "limits", name->key));
}

static void use_service(struct uses *u, const struct json *svc)
{
    const struct json *spec = json_getc(svc, "spec");
    struct str type = json_get_str(spec, "type");
    int64_t ports = 0;
    json_each (p, json_getc(spec, "ports"))
        ports += json_int_or(json_getc(p, "nodePort"), 0) != 0 || str_is(type, "NodePort");
    bool balanced = str_is(type, "LoadBalancer"), node_port = str_is(type, "NodePort");
    use_count(u, "services", 1);
    use_count(u, "services.nodeports", balanced || node_port ? ports : 0);
    use_count(u, "services.loadbalancers", balanced);
}

static void use_claim(struct uses *u, const struct json *pvc)
{
    const struct json *spec = json_getc(pvc, "spec");
    struct str class = json_get_str(spec, "storageClassName");
    struct quantity storage;
    bool asks = amount_of(json_path(spec, "resources", "requests", NULL), STR("storage"), &storage);
    use_count(u, "persistentvolumeclaims", 1);
    if (asks)
        use(u, "requests.storage", storage);
    if (class.n == 0)
        return;
    const char *prefix = arena_printf(u->a, STR_FMT ".storageclass.storage.k8s.io", STR_ARG(class));
    use_count(u, arena_printf(u->a, "%s/persistentvolumeclaims", prefix), 1);
    if (asks)
        use(u, arena_printf(u->a, "%s/requests.storage", prefix), storage);
}

static const char *count_name(struct arena *a, const struct kube_resource *res)
{
    return res->group.n ? arena_printf(a, "count/" STR_FMT "." STR_FMT, STR_ARG(res->plural),
                                       STR_ARG(res->group))
                        : arena_printf(a, "count/" STR_FMT, STR_ARG(res->plural));
}

size_t quota_uses(struct arena *a, const struct kube_resource *res, const struct json *obj,
                  struct quota_use *ret)
{
    static const char *const counted[] = { "configmaps", "secrets", "replicationcontrollers",
                                           "resourcequotas" };
    struct uses u = { .a = a, .list = ret };
    use_count(&u, count_name(a, res), 1);
    for (size_t i = 0; i < ARRAY_LEN(counted); i++)
        if (is_core(res, counted[i]))
            use_count(&u, counted[i], 1);
    if (is_core(res, "pods"))
        use_pod(&u, obj);
    else if (is_core(res, "services"))
        use_service(&u, obj);
    else if (is_core(res, "persistentvolumeclaims"))
        use_claim(&u, obj);
    return u.n;
}

/* ------------------------------------------------------------------ scopes */

static bool has_value(const struct json *values, struct str v)
{
    json_each (x, values)
        if (str_eq(json_str(x), v))
            return true;
    return false;
}

static bool in_scope(const struct json *pod, struct str scope, struct str operator,
                     const struct json * values)
{
    const struct json *spec = json_getc(pod, "spec");
    bool ends = json_getc(spec, "activeDeadlineSeconds") != NULL;
    bool best_effort = str_is(str_of(pod_qos_class(pod)), "BestEffort");
    struct str class = json_get_str(spec, "priorityClassName");
    if (str_is(scope, "Terminating"))
        return ends;
    if (str_is(scope, "NotTerminating"))
        return !ends;
    if (str_is(scope, "BestEffort"))
        return best_effort;
    if (str_is(scope, "NotBestEffort"))
        return !best_effort;
    if (!str_is(scope, "PriorityClass"))
        return false;
    if (str_is(operator, "In"))
        return has_value(values, class);
    if (str_is(operator, "NotIn"))
        return !has_value(values, class);
    return str_is(operator, "DoesNotExist") ? class.n == 0 : class.n > 0;
}

bool quota_covers(const struct json *quota, const struct kube_resource *res, const struct json *obj)
{
    const struct json *spec = json_getc(quota, "spec"), *scopes = json_getc(spec, "scopes");
    const struct json *terms = json_path(spec, "scopeSelector", "matchExpressions", NULL);
    bool scoped = (scopes && scopes->n) || (terms && terms->n);
    if (!scoped)
        return true;
    if (!is_core(res, "pods"))
        return false;
    json_each (s, scopes)
        if (!in_scope(obj, json_str(s), STR("Exists"), NULL))
            return false;
    json_each (t, terms)
        if (!in_scope(obj, json_get_str(t, "scopeName"), json_get_str(t, "operator"),
                      json_getc(t, "values")))
            return false;
    return true;
}

/* ------------------------------------------------------------------ limits */

static bool is_compute(struct str name)
{
    return str_is(name, "cpu") || str_is(name, "memory") || str_is(name, "ephemeral-storage") ||
           str_has_prefix(name, STR("requests.")) || str_has_prefix(name, STR("limits.")) ||
           str_has_prefix(name, STR("hugepages-"));
}

bool quota_is_about(const struct json *quota, const struct kube_resource *res)
{
    char count[512];
    (void)snprintf(count, sizeof count, "count/" STR_FMT "%s" STR_FMT, STR_ARG(res->plural),
                   res->group.n ? "." : "", STR_ARG(res->group));
    json_each (h, json_path(quota, "spec", "hard", NULL)) {
        struct str name = h->key;
        bool storage = str_has_suffix(name, STR("requests.storage"));
        if (str_is(name, count) || (res->group.n == 0 && str_eq(name, res->plural)))
            return true;
        if (is_core(res, "pods") && is_compute(name) && !storage)
            return true;
        if (is_core(res, "services") && str_has_prefix(name, STR("services.")))
            return true;
        if (is_core(res, "persistentvolumeclaims") &&
            (storage || str_find(name, STR(".storageclass.storage.k8s.io/")) >= 0))
            return true;
    }
    return false;
}

/* "cpu=1,memory=1Gi", of the uses that go too far. */
struct excess {
    struct buf requested, used, limited;
};

static void tell(struct buf *b, struct str name, struct str amount)
{
    (void)buf_printf(b, "%s" STR_FMT "=" STR_FMT, b->n ? "," : "", STR_ARG(name), STR_ARG(amount));
}

static int by_name(const void *a, const void *b)
{
    const struct quota_use *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

static const struct json *find_hard(const struct json *quota, struct str name)
{
    return json_get(json_path(quota, "status", "hard", NULL), name);
}

/* A pod must say what it wants of everything that is limited. */
static const char *what_is_missing(struct arena *a, const struct json *quota,
                                   const struct json *pod)
{
    struct buf b = BUF_INIT(4096);
    json_each (h, json_path(quota, "status", "hard", NULL)) {
        struct str list, name = h->key;
        bool limits = str_has_prefix(name, STR("limits."));
        bool requests = str_has_prefix(name, STR("requests."));
        if (!is_compute(name) || str_has_suffix(name, STR("storage")))
            continue;
        if (limits || requests)
            (void)str_cut(name, '.', &list, &name);
        struct buf who = BUF_INIT(2048);
        json_each (c, json_path(pod, "spec", "containers", NULL))
            if (!json_get(json_path(c, "resources", limits ? "limits" : "requests", NULL), name))
                (void)buf_printf(&who, "%s" STR_FMT, who.n ? "," : "",
                                 STR_ARG(json_get_str(c, "name")));
        bool whole = json_get(
            json_path(pod, "spec", "resources", limits ? "limits" : "requests", NULL), name);
        if (who.n && !whole)
            (void)buf_printf(&b, "%s" STR_FMT " for: %s", b.n ? "; " : "", STR_ARG(h->key),
                             buf_cstr(&who));
        buf_fini(&who);
    }
    const char *text = b.n ? str_dup_arena(a, buf_str(&b)) : NULL;
    buf_fini(&b);
    return text;
}

bool quota_may_grow(const struct kube_resource *res, struct str subresource)
{
    if (is_core(res, "pods"))
        return subresource.n == 0 || str_is(subresource, "resize");
    return subresource.n == 0 &&
           (is_core(res, "services") || is_core(res, "persistentvolumeclaims"));
}

/* What is left is what the object uses more than before. */
static void subtract(struct quota_use *uses, size_t n, const struct quota_use *before,
                     size_t n_before)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_before; k++)
            if (str_eq(uses[i].name, before[k].name))
                uses[i].amount.nano -= before[k].amount.nano;
}

bool quota_take(struct arena *a, struct json *quota, const struct kube_resource *res,
                const struct json *obj, const struct json *old, bool *ret_changed, const char **why)
{
    struct quota_use uses[QUOTA_MAX_USES];
    struct str name = meta_name(quota);
    struct excess x = { BUF_INIT(4096), BUF_INIT(4096), BUF_INIT(4096) };
    *ret_changed = false;
    if (!quota_covers(quota, res, obj))
        return true;
    const char *missing = is_core(res, "pods") ? what_is_missing(a, quota, obj) : NULL;
    if (missing) {
        *why =
            arena_printf(a, "failed quota: " STR_FMT ": must specify %s", STR_ARG(name), missing);
        return false;
    }
    size_t n = quota_uses(a, res, obj, uses);
    if (old && quota_covers(quota, res, old)) {
        struct quota_use *before = arena_new_n(a, struct quota_use, QUOTA_MAX_USES);
        subtract(uses, n, before, quota_uses(a, res, old, before));
    }
    qsort(uses, n, sizeof uses[0], by_name);
    for (size_t i = 0; i < n; i++) {
        const struct json *hard = find_hard(quota, uses[i].name);
        struct quantity limit, used;
        if (!hard || uses[i].amount.nano <= 0 || quantity_parse(json_str(hard), &limit, NULL) < 0)
            continue;
        struct json *status = json_getc(quota, "status");
        (void)amount_of(json_getc(status, "used"), uses[i].name, &used);
        struct str was = quantity_text(a, used);
        add(&used, uses[i].amount);
        if (quantity_cmp(used, limit) > 0) {
            tell(&x.requested, uses[i].name, quantity_text(a, uses[i].amount));
            tell(&x.used, uses[i].name, was);
            tell(&x.limited, uses[i].name, json_str(hard));
            continue;
        }
        json_set(a, json_obj(a, status, "used"), uses[i].name,
                 json_new_str(a, quantity_text(a, used)));
        *ret_changed = true;
    }
    bool fits = x.requested.n == 0;
    if (!fits)
        *why = arena_printf(a, "exceeded quota: " STR_FMT ", requested: %s, used: %s, limited: %s",
                            STR_ARG(name), buf_cstr(&x.requested), buf_cstr(&x.used),
                            buf_cstr(&x.limited));
    buf_fini(&x.requested);
    buf_fini(&x.used);
    buf_fini(&x.limited);
    return fits;
}

struct json *quota_status_new(struct arena *a, const struct json *quota)
{
    struct json *status = json_new_object(a), *used = json_new_object(a);
    const struct json *hard = json_path(quota, "spec", "hard", NULL);
    json_setc(a, status, "hard", hard ? json_clone(a, hard) : json_new_object(a));
    json_each (h, hard)
        json_set(a, used, h->key, json_new_cstr(a, "0"));
    json_setc(a, status, "used", used);
    return status;
}

void quota_status_add(struct arena *a, struct json *status, const struct json *quota,
                      const struct kube_resource *res, const struct json *obj)
{
    struct quota_use uses[QUOTA_MAX_USES];
    struct json *used = json_getc(status, "used");
    if (!quota_covers(quota, res, obj))
        return;
    size_t n = quota_uses(a, res, obj, uses);
    for (size_t i = 0; i < n; i++) {
        struct quantity q;
        if (!json_get(used, uses[i].name) || uses[i].amount.nano <= 0)
            continue;
        (void)amount_of(used, uses[i].name, &q);
        add(&q, uses[i].amount);
        json_set(a, used, uses[i].name, json_new_str(a, quantity_text(a, q)));
    }
}
