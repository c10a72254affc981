/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of admission; see admit.h. */
#include "api/admit/admit.h"

#include "kube/model/quantity.h"
#include "kube/rules/kinds/references.h"

#include <stdio.h>

static struct json *list_of(struct arena *a, struct json *obj, const char *name)
{
    struct json *list = json_getc(obj, name);
    if (!json_is(list, JSON_ARRAY)) {
        list = json_new_array(a);
        json_setc(a, obj, name, list);
    }
    return list;
}

static struct json *parsed(struct arena *a, const char *text)
{
    struct json *v = NULL;
    (void)json_parse(a, str_of(text), NULL, &v, NULL);
    return v;
}

/* ------------------------------------------------------------------ ServiceAccount */

#define TOKEN_DIR    "/var/run/secrets/kubernetes.io/serviceaccount"
#define TOKEN_PREFIX "kube-api-access-"

static bool wants_token(const struct json *spec, const struct json *account)
{
    const struct json *own = json_getc(spec, "automountServiceAccountToken");
    const struct json *general = json_getc(account, "automountServiceAccountToken");
    if (own)
        return json_bool(own);
    return !general || json_bool(general);
}

static bool mounts_at(const struct json *container, const char *path)
{
    json_each (m, json_getc(container, "volumeMounts"))
        if (str_is(json_get_str(m, "mountPath"), path))
            return true;
    return false;
}

/* The name of an existing token volume, or a generated one. */
static struct str token_volume(struct arena *a, const struct json *spec, uint64_t random,
                               bool *ret_there)
{
    *ret_there = true;
    json_each (v, json_getc(spec, "volumes"))
        if (str_has_prefix(json_get_str(v, "name"), STR(TOKEN_PREFIX)) && json_getc(v, "projected"))
            return json_get_str(v, "name");
    *ret_there = false;
    return meta_generate_name(a, STR(TOKEN_PREFIX), random);
}

static void mount_token(struct arena *a, struct json *spec, uint64_t random)
{
    static const char *const lists[] = { "initContainers", "containers" };
    bool there, used = false;
    struct str name = token_volume(a, spec, random, &there);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        json_each (c, json_getc(spec, lists[i])) {
            if (mounts_at(c, TOKEN_DIR))
                continue;
            struct json *mount = json_new_object(a);
            json_set_str(a, mount, "name", name);
            json_set_bool(a, mount, "readOnly", true);
            json_set_str(a, mount, "mountPath", STR(TOKEN_DIR));
            json_add(list_of(a, c, "volumeMounts"), mount);
            used = true;
        }
    }
    if (there || !used)
        return;
    struct json *volume = json_new_object(a);
    json_set_str(a, volume, "name", name);
    json_setc(a, volume, "projected",
              parsed(a, "{\"sources\":[{\"serviceAccountToken\":{\"expirationSeconds\":3607,"
                        "\"path\":\"token\"}},{\"configMap\":{\"name\":\"kube-root-ca.crt\","
                        "\"items\":[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]}},{\"downwardAPI\":{"
                        "\"items\":[{\"path\":\"namespace\",\"fieldRef\":{\"apiVersion\":\"v1\","
                        "\"fieldPath\":\"metadata.namespace\"}}]}}],\"defaultMode\":420}"));
    json_add(list_of(a, spec, "volumes"), volume);
}

static void note_secret(void *arg, enum pod_reference what, struct str name)
{
    bool *found = arg;
    (void)name;
    *found = *found || what == POD_SECRET;
}

/* Why a mirror pod is refused, or NULL. */
static const char *check_mirror(struct arena *a, const struct json *pod)
{
    const struct json *spec = json_getc(pod, "spec");
    bool secrets = false;
    if (json_get_str(spec, "serviceAccountName").n)
        return "a mirror pod may not reference service accounts";
    kind_pod_references(a, pod, note_secret, &secrets);
    if (secrets)
        return "a mirror pod may not reference secrets";
    json_each (volume, json_getc(spec, "volumes"))
        json_each (source, json_path(volume, "projected", "sources", NULL))
            if (json_is(json_getc(source, "serviceAccountToken"), JSON_OBJECT))
                return "a mirror pod may not use ServiceAccountToken volume projections";
    return NULL;
}

bool admit_account(struct arena *a, struct json *pod, const struct json *account, uint64_t random,
                   const char **why)
{
    struct json *spec = json_obj(a, pod, "spec");
    struct str name = json_get_str(spec, "serviceAccountName");
    if (kind_pod_is_mirror(pod)) { /* it represents a pod that a node runs on its own */
        *why = check_mirror(a, pod);
        return !*why;
    }
    if (name.n == 0)
        name = STR("default");
    json_set_str(a, spec, "serviceAccountName", name);
    json_set_str(a, spec, "serviceAccount", name);
    if (wants_token(spec, account))
        mount_token(a, spec, random);
    const struct json *own = json_getc(spec, "imagePullSecrets");
    const struct json *general = json_getc(account, "imagePullSecrets");
    if ((!own || own->n == 0) && general && general->n)
        json_setc(a, spec, "imagePullSecrets", json_clone(a, general));
    return true;
}

/* ------------------------------------------------------------------ Priority */

static bool is_default_class(const struct json *c)
{
    return json_bool(json_getc(c, "globalDefault"));
}

/* The class that the pod names, or the default class with the lowest value. NULL: none. */
static const struct json *class_of(const struct json *classes, struct str name)
{
    const struct json *best = NULL;
    json_each (c, classes) {
        bool fits = name.n ? str_eq(meta_name(c), name) : is_default_class(c);
        if (fits && (!best || json_int_or(json_getc(c, "value"), 0) <
                                  json_int_or(json_getc(best, "value"), 0)))
            best = c;
    }
    return best;
}

/* Two classes that exist even before their objects are created. */
static bool system_priority(struct str name, int64_t *ret)
{
    if (str_is(name, "system-cluster-critical"))
        *ret = 2000000000;
    else if (str_is(name, "system-node-critical"))
        *ret = 2000001000;
    else
        return false;
    return true;
}

bool admit_priority(struct arena *a, struct json *pod, const struct json *classes, const char **why)
{
    struct json *spec = json_obj(a, pod, "spec");
    struct str name = json_get_str(spec, "priorityClassName");
    const struct json *class = class_of(classes, name);
    int64_t value = json_int_or(json_getc(class, "value"), 0);
    struct str policy = json_get_str(class, "preemptionPolicy");
    if (!class && name.n && !system_priority(name, &value)) {
        *why = arena_printf(a, "no PriorityClass with name " STR_FMT " was found", STR_ARG(name));
        return false;
    }
    if (policy.n == 0)
        policy = STR("PreemptLowerPriority");
    const struct json *own = json_getc(spec, "priority");
    struct str own_policy = json_get_str(spec, "preemptionPolicy");
    if (own && json_int_or(own, 0) != value) {
        *why =
            arena_printf(a,
                         "the integer value of priority (%lld) must not be provided in pod spec; "
                         "priority admission controller computed %lld from the given "
                         "PriorityClass name",
                         (long long)json_int_or(own, 0), (long long)value);
        return false;
    }
    if (own_policy.n && !str_eq(own_policy, policy)) {
        *why = arena_printf(a,
                            "the string value of PreemptionPolicy (" STR_FMT
                            ") must not be provided in pod spec; priority admission controller "
                            "computed " STR_FMT " from the given PriorityClass name",
                            STR_ARG(own_policy), STR_ARG(policy));
        return false;
    }
    if (class && name.n == 0)
        json_set_str(a, spec, "priorityClassName", meta_name(class));
    json_set_int(a, spec, "priority", value);
    json_set_str(a, spec, "preemptionPolicy", policy);
    return true;
}

/* ------------------------------------------------------------------ RuntimeClass */

/* Add the labels that a node needs for the runtime to the pod's nodeSelector. */
static bool add_node_labels(struct arena *a, struct json *spec, const struct json *runtime,
                            const char **why)
{
    json_each (label, json_path(runtime, "scheduling", "nodeSelector", NULL)) {
        const struct json *own = json_get(json_getc(spec, "nodeSelector"), label->key);
        if (own && !json_equal(own, label)) {
            *why =
                arena_printf(a,
                             "pod rejected: conflict: runtimeClass.scheduling.nodeSelector[" STR_FMT
                             "] = " STR_FMT "; pod.spec.nodeSelector[" STR_FMT "] = " STR_FMT,
                             STR_ARG(label->key), STR_ARG(json_str(label)), STR_ARG(label->key),
                             STR_ARG(json_str(own)));
            return false;
        }
        json_set(a, json_obj(a, spec, "nodeSelector"), label->key, json_clone(a, label));
    }
    return true;
}

static void add_runtime_tolerations(struct arena *a, struct json *spec, const struct json *runtime)
{
    json_each (t, json_path(runtime, "scheduling", "tolerations", NULL)) {
        bool there = false;
        json_each (own, json_getc(spec, "tolerations"))
            there = there || json_equal(own, t);
        if (!there)
            json_add(list_of(a, spec, "tolerations"), json_clone(a, t));
    }
}

bool admit_runtime(struct arena *a, struct json *pod, const struct json *runtime, const char **why)
{
    struct json *spec = json_obj(a, pod, "spec");
    struct str name = json_get_str(spec, "runtimeClassName");
    const struct json *fixed = json_path(runtime, "overhead", "podFixed", NULL);
    const struct json *own = json_getc(spec, "overhead");
    if (name.n && !runtime) {
        *why =
            arena_printf(a, "pod rejected: RuntimeClass \"" STR_FMT "\" not found", STR_ARG(name));
        return false;
    }
    if (own && own->n && !fixed) {
        *why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
        return false;
    }
    if (own && own->n && !json_equal(own, fixed)) {
        *why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
        return false;
    }
    if (fixed && !(own && own->n))
        json_setc(a, spec, "overhead", json_clone(a, fixed));
    if (!add_node_labels(a, spec, runtime, why))
        return false;
    add_runtime_tolerations(a, spec, runtime);
    return true;
}

/* ------------------------------------------------------------------ DefaultTolerationSeconds */

static bool tolerates(const struct json *list, const char *key)
{
    json_each (t, list) {
        struct str k = json_get_str(t, "key"), effect = json_get_str(t, "effect");
        if ((k.n == 0 || str_is(k, key)) && (effect.n == 0 || str_is(effect, "NoExecute")))
            return true;
    }
    return false;
}

void admit_tolerations(struct arena *a, struct json *pod)
{
    static const char *const keys[] = { "node.kubernetes.io/not-ready",
                                        "node.kubernetes.io/unreachable" };
    enum { DEFAULT_S = 300 };
    struct json *spec = json_obj(a, pod, "spec");
    bool missing[ARRAY_LEN(keys)];
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        missing[i] = !tolerates(json_getc(spec, "tolerations"), keys[i]);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (!missing[i])
            continue;
        struct json *t = json_new_object(a);
        json_set_str(a, t, "key", str_of(keys[i]));
        json_set_str(a, t, "operator", STR("Exists"));
        json_set_str(a, t, "effect", STR("NoExecute"));
        json_set_int(a, t, "tolerationSeconds", DEFAULT_S);
        json_add(list_of(a, spec, "tolerations"), t);
    }
}

/* ------------------------------------------------------------------ LimitRanger */

/* Violations, joined as upstream joins them. */
struct complaints {
    struct buf text;
    size_t n;
};

static void complain(struct complaints *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void complain(struct complaints *c, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)buf_printf(&c->text, "%s%s", c->n++ ? ", " : "", text);
}

static bool complaints_done(struct arena *a, struct complaints *c, const char **why)
{
    bool fine = c->n == 0;
    if (!fine)
        *why = c->n == 1 ? str_dup_arena(a, buf_str(&c->text))
                         : arena_printf(a, "[%s]", buf_cstr(&c->text));
    buf_fini(&c->text);
    return fine;
}

static bool amount_of(const struct json *list, struct str name, struct quantity *ret)
{
    *ret = (struct quantity){ 0 };
    return quantity_parse(json_str(json_get(list, name)), ret, NULL) >= 0;
}

struct admit_rules_usage {
    const struct json *requests, *limits;
};

static void check_min(struct complaints *c, const char *type, const struct json *bound,
                      struct admit_rules_usage u)
{
    struct quantity min, request, limit;
    if (!amount_of(u.requests, bound->key, &request))
        request.nano = -1;
    if (quantity_parse(json_str(bound), &min, NULL) < 0)
        return;
    if (request.nano < 0)
        complain(c, "minimum " STR_FMT " usage per %s is " STR_FMT ". No request is specified",
                 STR_ARG(bound->key), type, STR_ARG(json_str(bound)));
    else if (quantity_cmp(request, min) < 0)
        complain(c, "minimum " STR_FMT " usage per %s is " STR_FMT ", but request is " STR_FMT,
                 STR_ARG(bound->key), type, STR_ARG(json_str(bound)),
                 STR_ARG(json_str(json_get(u.requests, bound->key))));
    else if (amount_of(u.limits, bound->key, &limit) && quantity_cmp(limit, min) < 0)
        complain(c, "minimum " STR_FMT " usage per %s is " STR_FMT ", but limit is " STR_FMT,
                 STR_ARG(bound->key), type, STR_ARG(json_str(bound)),
                 STR_ARG(json_str(json_get(u.limits, bound->key))));
}

static void check_max(struct complaints *c, const char *type, const struct json *bound,
                      struct admit_rules_usage u)
{
    struct quantity max, request, limit;
    if (quantity_parse(json_str(bound), &max, NULL) < 0)
        return;
    if (!amount_of(u.limits, bound->key, &limit))
        complain(c, "maximum " STR_FMT " usage per %s is " STR_FMT ". No limit is specified",
                 STR_ARG(bound->key), type, STR_ARG(json_str(bound)));
    else if (quantity_cmp(limit, max) > 0)
        complain(c, "maximum " STR_FMT " usage per %s is " STR_FMT ", but limit is " STR_FMT,
                 STR_ARG(bound->key), type, STR_ARG(json_str(bound)),
                 STR_ARG(json_str(json_get(u.limits, bound->key))));
    else if (amount_of(u.requests, bound->key, &request) && quantity_cmp(request, max) > 0)
        complain(c, "maximum " STR_FMT " usage per %s is " STR_FMT ", but request is " STR_FMT,
                 STR_ARG(bound->key), type, STR_ARG(json_str(bound)),
                 STR_ARG(json_str(json_get(u.requests, bound->key))));
}

static void check_ratio(struct complaints *c, const char *type, const struct json *bound,
                        struct admit_rules_usage u)
{
    struct quantity most, request, limit;
    if (quantity_parse(json_str(bound), &most, NULL) < 0)
        return;
    (void)amount_of(u.requests, bound->key, &request);
    (void)amount_of(u.limits, bound->key, &limit);
    if (request.nano == 0) {
        complain(c,
                 STR_FMT " max limit to request ratio per %s is " STR_FMT
                         ", but no request is specified or request is 0",
                 STR_ARG(bound->key), type, STR_ARG(json_str(bound)));
    } else if (limit.nano == 0) {
        complain(c,
                 STR_FMT " max limit to request ratio per %s is " STR_FMT
                         ", but no limit is specified or limit is 0",
                 STR_ARG(bound->key), type, STR_ARG(json_str(bound)));
    } else {
        double ratio = (double)limit.nano / (double)request.nano;
        if (ratio > (double)most.nano / 1e9)
            complain(c,
                     STR_FMT " max limit to request ratio per %s is " STR_FMT
                             ", but provided ratio is %f",
                     STR_ARG(bound->key), type, STR_ARG(json_str(bound)), ratio);
    }
}

static void check_usage(struct complaints *c, const char *type, const struct json *item,
                        struct admit_rules_usage u)
{
    json_each (bound, json_getc(item, "min"))
        check_min(c, type, bound, u);
    json_each (bound, json_getc(item, "max"))
        check_max(c, type, bound, u);
    json_each (bound, json_getc(item, "maxLimitRequestRatio"))
        check_ratio(c, type, bound, u);
}

/* Sum over the containers, of the resources that every container states. */
static struct json *sum(struct arena *a, const struct json *containers, const char *what)
{
    struct json *total = json_new_object(a);
    const struct json *first = json_path(json_first(containers), "resources", what, NULL);
    json_each (name, first) {
        struct quantity q = { 0 }, one;
        bool all = true;
        json_each (c, containers) {
            all = all && amount_of(json_path(c, "resources", what, NULL), name->key, &one);
            if (all) {
                q.nano += one.nano;
                q.format = one.format;
            }
        }
        if (all)
            json_set(a, total, name->key, json_new_str(a, quantity_text(a, q)));
    }
    return total;
}

/* Add the members that `to` lacks; their names are collected for the annotation. */
static void merge(struct arena *a, struct json *resources, const char *what,
                  const struct json *defaults, struct buf *set)
{
    json_each (d, defaults) {
        if (json_get(json_getc(resources, what), d->key))
            continue;
        json_set(a, json_obj(a, resources, what), d->key, json_clone(a, d));
        (void)buf_printf(set, "%s" STR_FMT, set->n ? ", " : "", STR_ARG(d->key));
    }
}

static void note(struct buf *notes, struct buf *set, const char *what, const char *list,
                 const struct json *container)
{
    if (set->n)
        (void)buf_printf(notes, "%s%s %s for %s " STR_FMT, notes->n ? "; " : "", buf_cstr(set),
                         what, list, STR_ARG(json_get_str(container, "name")));
    buf_reset(set);
}

static void apply_defaults(struct arena *a, struct json *spec, const struct json *item,
                           struct buf *notes)
{
    static const char *const lists[][2] = { { "containers", "container" },
                                            { "initContainers", "init container" } };
    struct buf set = BUF_INIT(4096);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        json_each (c, json_getc(spec, lists[i][0])) {
            struct json *resources = json_obj(a, c, "resources");
            merge(a, resources, "requests", json_getc(item, "defaultRequest"), &set);
            note(notes, &set, "request", lists[i][1], c);
            merge(a, resources, "limits", json_getc(item, "default"), &set);
            note(notes, &set, "limit", lists[i][1], c);
        }
    }
    buf_fini(&set);
}

#define EACH_LIMIT(item, ranges)                                                                   \
    json_each (range_, ranges)                                                                     \
        json_each (item, json_path(range_, "spec", "limits", NULL))

bool admit_limits(struct arena *a, struct json *pod, const struct json *ranges, const char **why)
{
    static const char *const lists[] = { "containers", "initContainers" };
    struct json *spec = json_obj(a, pod, "spec");
    struct complaints c = { .text = BUF_INIT(16 * 1024) };
    struct buf notes = BUF_INIT(16 * 1024);
    EACH_LIMIT(item, ranges)
    if (str_is(json_get_str(item, "type"), "Container"))
        apply_defaults(a, spec, item, &notes);
    if (notes.n)
        json_set_str(a, json_obj(a, meta_of(a, pod), "annotations"), "kubernetes.io/limit-ranger",
                     str_of(arena_printf(a, "LimitRanger plugin set: %s", buf_cstr(&notes))));
    buf_fini(&notes);
    EACH_LIMIT(item, ranges)
    {
        if (str_is(json_get_str(item, "type"), "Container"))
            for (size_t i = 0; i < ARRAY_LEN(lists); i++)
                json_each (container, json_getc(spec, lists[i])) {
                    const struct json *r = json_getc(container, "resources");
                    check_usage(&c, "Container", item,
                                (struct admit_rules_usage){ json_getc(r, "requests"),
                                                            json_getc(r, "limits") });
                }
        if (str_is(json_get_str(item, "type"), "Pod")) {
            const struct json *containers = json_getc(spec, "containers");
            check_usage(&c, "Pod", item,
                        (struct admit_rules_usage){ sum(a, containers, "requests"),
                                                    sum(a, containers, "limits") });
        }
    }
    return complaints_done(a, &c, why);
}

/* A claim has no limits: its requests are checked against the maximum. */
static void check_max_request(struct complaints *c, const struct json *bound,
                              const struct json *requests)
{
    struct quantity max, request;
    if (quantity_parse(json_str(bound), &max, NULL) < 0)
        return;
    if (!amount_of(requests, bound->key, &request))
        complain(c,
                 "maximum " STR_FMT " usage per PersistentVolumeClaim is " STR_FMT
                 ". No request is specified",
                 STR_ARG(bound->key), STR_ARG(json_str(bound)));
    else if (quantity_cmp(request, max) > 0)
        complain(c,
                 "maximum " STR_FMT " usage per PersistentVolumeClaim is " STR_FMT
                 ", but request is " STR_FMT,
                 STR_ARG(bound->key), STR_ARG(json_str(bound)),
                 STR_ARG(json_str(json_get(requests, bound->key))));
}

bool admit_claim_limits(struct arena *a, const struct json *claim, const struct json *ranges,
                        const char **why)
{
    const struct json *requests = json_path(claim, "spec", "resources", "requests", NULL);
    struct complaints c = { .text = BUF_INIT(16 * 1024) };
    EACH_LIMIT(item, ranges)
    {
        if (!str_is(json_get_str(item, "type"), "PersistentVolumeClaim"))
            continue;
        json_each (bound, json_getc(item, "min"))
            check_min(&c, "PersistentVolumeClaim", bound,
                      (struct admit_rules_usage){ requests, NULL });
        json_each (bound, json_getc(item, "max"))
            check_max_request(&c, bound, requests);
    }
    return complaints_done(a, &c, why);
}

/* ------------------------------------------------------------------ DefaultStorageClass */

static bool is_default_storage(const struct json *c)
{
    static const char *const notes[] = { "storageclass.kubernetes.io/is-default-class",
                                         "storageclass.beta.kubernetes.io/is-default-class" };
    for (size_t i = 0; i < ARRAY_LEN(notes); i++)
        if (str_is(json_str(json_path(c, "metadata", "annotations", notes[i], NULL)), "true"))
            return true;
    return false;
}

static struct str created_at(const struct json *c)
{
    return json_str(json_path(c, "metadata", "creationTimestamp", NULL));
}

/* If there are several defaults, the newest. */
void admit_storage_class(struct arena *a, struct json *claim, const struct json *classes)
{
    struct json *spec = json_obj(a, claim, "spec");
    const struct json *best = NULL;
    if (json_getc(spec, "storageClassName") ||
        json_path(claim, "metadata", "annotations", "volume.beta.kubernetes.io/storage-class",
                  NULL))
        return;
    json_each (c, classes)
        if (is_default_storage(c) && (!best || str_cmp(created_at(c), created_at(best)) > 0))
            best = c;
    if (best)
        json_set_str(a, spec, "storageClassName", meta_name(best));
}
