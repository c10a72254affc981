/* SPDX-License-Identifier: Apache-2.0 */
/* ResourceQuotas; see quotas.h. */
#include "kube/rules/kinds/quotas.h"

#include "kube/model/meta.h"
#include "kube/rules/kinds/pods.h"

#include <stdio.h>

/* ------------------------------------------------------------------ uses */

struct uses {
    struct arena *a;
    const struct json *hard;
    struct quota_use *list;
    size_t n;
};

enum { STEPS_PER_CONTAINER = 16 };

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

/* Spends budget for one counted resource: steps for each container of the pod. */
static bool spend(struct arena *a, const struct json *pod)
{
    const struct json *spec = json_getc(pod, "spec"), *some = json_getc(spec, "containers"),
                      *init = json_getc(spec, "initContainers");
    size_t n = 1 + (some ? some->n : 0) + (init ? init->n : 0);
    return arena_spend(a, n * STEPS_PER_CONTAINER, "counting what the pod uses of quotas");
}

/* The sum of the containers, or the largest init container with the sidecars before it. */
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

static bool is_shown_plain(struct str name)
{
    return str_is(name, "cpu") || str_is(name, "memory") || str_is(name, "ephemeral-storage") ||
           str_has_prefix(name, STR("hugepages-"));
}

/* Adds the names in this list, without duplicates, up to the number that can be counted. */
static void collect(struct arena *a, struct json *names, const struct json *list)
{
    json_each (v, list)
        if (names->n < QUOTA_MAX_USES && !json_get(names, v->key))
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

/* Counts all resources that the pod names. */
static void use_named(struct uses *u, const struct json *pod)
{
    json_each (name, names_in_pod(u->a, pod, "requests")) {
        if (u->n == QUOTA_MAX_USES || !spend(u->a, pod))
            return;
        struct quantity q = of_pod(pod, "requests", name->key);
        const char *plain = str_dup_arena(u->a, name->key);
        if (is_shown_plain(name->key))
            use(u, plain, q);
        use(u, arena_printf(u->a, "requests.%s", plain), q);
    }
    json_each (name, names_in_pod(u->a, pod, "limits")) {
        if (u->n == QUOTA_MAX_USES || !spend(u->a, pod))
            return;
        use(u, arena_printf(u->a, "limits." STR_FMT, STR_ARG(name->key)),
            of_pod(pod, "limits", name->key));
    }
}

/* Counts only limited resources: a pod may name so many that the rest would not be counted. */
static void use_limited(struct uses *u, const struct json *pod)
{
    const struct str requests = STR("requests."), limits = STR("limits.");
    json_each (h, u->hard) {
        bool is_limit = str_has_prefix(h->key, limits);
        bool is_request = str_has_prefix(h->key, requests);
        struct str name = is_limit     ? str_slice(h->key, limits.n, h->key.n)
                          : is_request ? str_slice(h->key, requests.n, h->key.n)
                                       : h->key;
        if (!is_limit && !is_request && !is_shown_plain(name))
            continue;
        if (!spend(u->a, pod))
            return;
        struct quantity q = of_pod(pod, is_limit ? "limits" : "requests", name);
        if (q.nano > 0)
            use(u, str_dup_arena(u->a, h->key), q);
    }
}

static void use_pod(struct uses *u, const struct json *pod)
{
    struct str phase = json_str(json_path(pod, "status", "phase", NULL));
    if (str_is(phase, "Succeeded") || str_is(phase, "Failed"))
        return;
    use_count(u, "pods", 1);
    if (u->hard)
        use_limited(u, pod);
    else
        use_named(u, pod);
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
                  const struct json *hard, struct quota_use *ret)
{
    static const char *const counted[] = { "configmaps", "secrets", "replicationcontrollers",
                                           "resourcequotas" };
    struct uses u = { .a = a, .hard = hard, .list = ret };
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

/*
 * Match the operator and values against the object's names for the scope, like labels: an object
 * without a name matches no list.
 */
static bool has_class(const struct str *names, size_t n, struct str operator,
                      const struct json * values)
{
    bool in = false, out = n == 0;
    for (size_t i = 0; i < n; i++) {
        bool listed = has_value(values, names[i]);
        in = in || listed;
        out = out || !listed;
    }
    if (str_is(operator, "In"))
        return in;
    if (str_is(operator, "NotIn"))
        return out;
    return str_is(operator, "DoesNotExist") ? n == 0 : n > 0;
}

static bool is_across(const struct json *term)
{
    const struct json *namespaces = json_getc(term, "namespaces"),
                      *selector = json_getc(term, "namespaceSelector");
    return (namespaces && namespaces->n) || json_is(selector, JSON_OBJECT);
}

/* A term of affinity selects pods of other namespaces. */
static bool looks_across(const struct json *pod)
{
    static const char *const kinds[] = { "podAffinity", "podAntiAffinity" };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct json *affinity = json_path(pod, "spec", "affinity", kinds[i], NULL);
        json_each (t, json_getc(affinity, "requiredDuringSchedulingIgnoredDuringExecution"))
            if (is_across(t))
                return true;
        json_each (t, json_getc(affinity, "preferredDuringSchedulingIgnoredDuringExecution"))
            if (is_across(json_getc(t, "podAffinityTerm")))
                return true;
    }
    return false;
}

static bool pod_ends(const struct json *pod)
{
    const struct json *deadline = json_path(pod, "spec", "activeDeadlineSeconds", NULL);
    return deadline && deadline->type != JSON_NULL;
}

static bool pod_in_scope(const struct json *pod, struct str scope, struct str operator,
                         const struct json * values)
{
    struct str class = json_str(json_path(pod, "spec", "priorityClassName", NULL));
    if (str_is(scope, "Terminating"))
        return pod_ends(pod);
    if (str_is(scope, "NotTerminating"))
        return !pod_ends(pod);
    if (str_is(scope, "BestEffort"))
        return str_is(str_of(kind_pod_qos_class(pod)), "BestEffort");
    if (str_is(scope, "NotBestEffort"))
        return !str_is(str_of(kind_pod_qos_class(pod)), "BestEffort");
    if (str_is(scope, "CrossNamespacePodAffinity"))
        return looks_across(pod);
    return str_is(scope, "PriorityClass") && has_class(&class, class.n > 0, operator, values);
}

/* The current, the pending and the wanted class of a claim, without duplicates. */
enum { CLAIM_CLASSES = 3 };
static size_t claim_classes(const struct json *pvc, struct str ret[CLAIM_CLASSES])
{
    const struct str all[CLAIM_CLASSES] = {
        json_str(json_path(pvc, "spec", "volumeAttributesClassName", NULL)),
        json_str(json_path(pvc, "status", "currentVolumeAttributesClassName", NULL)),
        json_str(
            json_path(pvc, "status", "modifyVolumeStatus", "targetVolumeAttributesClassName", NULL))
    };
    size_t n = 0;
    for (size_t i = 0; i < CLAIM_CLASSES; i++) {
        bool known = all[i].n == 0;
        for (size_t k = 0; k < n; k++)
            known = known || str_eq(ret[k], all[i]);
        if (!known)
            ret[n++] = all[i];
    }
    return n;
}

static bool in_scope(const struct kube_resource *res, const struct json *obj, struct str scope,
                     struct str operator, const struct json * values)
{
    struct str classes[CLAIM_CLASSES];
    if (is_core(res, "pods"))
        return pod_in_scope(obj, scope, operator, values);
    return is_core(res, "persistentvolumeclaims") && str_is(scope, "VolumeAttributesClass") &&
           has_class(classes, claim_classes(obj, classes), operator, values);
}

bool quota_covers(const struct json *quota, const struct kube_resource *res, const struct json *obj)
{
    const struct json *spec = json_getc(quota, "spec");
    json_each (s, json_getc(spec, "scopes"))
        if (!in_scope(res, obj, json_str(s), STR("Exists"), NULL))
            return false;
    json_each (t, json_path(spec, "scopeSelector", "matchExpressions", NULL))
        if (!in_scope(res, obj, json_get_str(t, "scopeName"), json_get_str(t, "operator"),
                      json_getc(t, "values")))
            return false;
    return true;
}

bool quota_same_scopes(const struct kube_resource *res, const struct json *x, const struct json *y)
{
    struct str cx[CLAIM_CLASSES], cy[CLAIM_CLASSES];
    if (is_core(res, "pods"))
        return pod_ends(x) == pod_ends(y) &&
               strcmp(kind_pod_qos_class(x), kind_pod_qos_class(y)) == 0;
    if (!is_core(res, "persistentvolumeclaims"))
        return true;
    size_t nx = claim_classes(x, cx), ny = claim_classes(y, cy);
    bool same = nx == ny;
    for (size_t i = 0; same && i < nx; i++)
        same = str_eq(cx[i], cy[i]);
    return same;
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

/* "cpu=1,memory=1Gi", for the uses that exceed the quota. */
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

static int by_str(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Appends the names of containers without this resource in `list`, sorted, without duplicates. */
static void list_silent(const struct json *pod, const char *list, struct str name, struct buf *who)
{
    static const char *const lists[] = { "containers", "initContainers" };
    size_t n = 0, max = 0;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct json *containers = json_path(pod, "spec", lists[i], NULL);
        max += containers ? containers->n : 0;
    }
    scoped(free_scoped) struct str *names = xnew_n(struct str, max + 1);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        json_each (c, json_path(pod, "spec", lists[i], NULL))
            if (!json_get(json_path(c, "resources", list, NULL), name))
                names[n++] = json_get_str(c, "name");
    qsort(names, n, sizeof *names, by_str);
    for (size_t i = 0; i < n && buf_ok(who); i++)
        if (names[i].n && (i == 0 || !str_eq(names[i - 1], names[i])))
            (void)buf_printf(who, "%s" STR_FMT, who->n ? "," : "", STR_ARG(names[i]));
}

static bool says_for_all(const struct json *pod)
{
    static const char *const lists[] = { "requests", "limits" };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct json *own = json_path(pod, "spec", "resources", lists[i], NULL);
        if (own && own->n)
            return true;
    }
    return false;
}

/* With limits on cpu or memory, a pod must set these amounts, for itself or for each container. */
static const char *what_is_missing(struct arena *a, const struct json *quota,
                                   const struct json *pod)
{
    static const char *const asked[] = { "cpu",    "limits.cpu",   "limits.memory",
                                         "memory", "requests.cpu", "requests.memory" };
    struct buf b = BUF_INIT(64 << 10);
    for (size_t i = 0; i < ARRAY_LEN(asked) && !says_for_all(pod); i++) {
        struct buf who = BUF_INIT(16 << 10);
        const char *dot = strchr(asked[i], '.');
        if (!find_hard(quota, str_of(asked[i])))
            continue;
        list_silent(pod, asked[i][0] == 'l' ? "limits" : "requests",
                    str_of(dot ? dot + 1 : asked[i]), &who);
        if (who.n)
            (void)buf_printf(&b, "%s%s for: %s", b.n ? "; " : "", asked[i], buf_cstr(&who));
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

/* Leaves the increase over the object's earlier use. */
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
    const struct json *limits = json_path(quota, "status", "hard", NULL);
    size_t n = quota_uses(a, res, obj, limits, uses);
    if (n == QUOTA_MAX_USES) {
        *why = arena_printf(a,
                            "failed quota: " STR_FMT ": it limits too many resources of one "
                            "object",
                            STR_ARG(name));
        return false;
    }
    if (old && quota_covers(quota, res, old)) {
        struct quota_use *before = arena_new_n(a, struct quota_use, QUOTA_MAX_USES);
        subtract(uses, n, before, quota_uses(a, res, old, limits, before));
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

void quota_status_add(struct arena *a, struct arena *scratch, struct json *status,
                      const struct json *quota, const struct kube_resource *res,
                      const struct json *obj)
{
    struct quota_use uses[QUOTA_MAX_USES];
    struct json *used = json_getc(status, "used");
    if (!quota_covers(quota, res, obj))
        return;
    size_t n = quota_uses(scratch, res, obj, json_getc(status, "hard"), uses);
    for (size_t i = 0; i < n; i++) {
        struct quantity q;
        if (!json_get(used, uses[i].name) || uses[i].amount.nano <= 0)
            continue;
        (void)amount_of(used, uses[i].name, &q);
        add(&q, uses[i].amount);
        json_set(a, used, uses[i].name, json_new_str(a, quantity_text(scratch, q)));
    }
}
