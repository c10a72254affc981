/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that clients expect in every cluster: the two system PriorityClasses, upstream's initial
 * FlowSchemas and PriorityLevelConfigurations, and an APIService for each group and version that is
 * served, those of definitions included.
 *
 * A round reads the names of the existing objects, creates the missing ones, and removes
 * APIServices that were created here and whose group and version are no longer served. It runs
 * before the server is ready, and after one of these objects was deleted or a definition was
 * written. An object that exists is left as it is.
 */
#include "api/controllers/controllers.h"
#include "api/controllers/retry.h"
#include "api/inner.h"
#include "base/log.h"
#include "kube/rules/kinds/services.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

enum {
    DEFAULTS_PAGE_ROWS = 500,
    DEFAULTS_PARALLEL = 64 /* a round continues when these have been answered */
};

#define AUTOMANAGED "kube-aggregator.kubernetes.io/automanaged"

/* ------------------------------------------------------------------ wanted objects */

static const struct defaults_kind {
    const char *group, *plural;
} kinds[] = { { "scheduling.k8s.io", "priorityclasses" },
              { "flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations" },
              { "flowcontrol.apiserver.k8s.io", "flowschemas" },
              { "networking.k8s.io", "servicecidrs" },
              { "apiregistration.k8s.io", "apiservices" } };

enum { KIND_PRIORITY, KIND_LEVEL, KIND_SCHEMA, KIND_CIDR, KIND_SERVICE, N_KINDS };
_Static_assert(ARRAY_LEN(kinds) == N_KINDS, "one for each");

#define ANY  "\"verbs\":[\"*\"],"
#define AUTO "\"metadata\":{\"annotations\":{\"apf.kubernetes.io/autoupdate-spec\":\"true\"}},"
#define ALL_RULES                                                                                  \
    "\"resourceRules\":[{" ANY                                                                     \
    "\"apiGroups\":[\"*\"],\"resources\":[\"*\"],\"clusterScope\":true,"                           \
    "\"namespaces\":[\"*\"]}],\"nonResourceRules\":[{" ANY "\"nonResourceURLs\":[\"*\"]}]"
#define GROUP(name) "{\"kind\":\"Group\",\"group\":{\"name\":\"" name "\"}}"
#define USER(name)  "{\"kind\":\"User\",\"user\":{\"name\":\"" name "\"}}"
#define EVERYBODY   GROUP("system:unauthenticated") "," GROUP("system:authenticated")
#define SYSTEM_ACCOUNTS                                                                            \
    "{\"kind\":\"ServiceAccount\",\"serviceAccount\":{\"namespace\":\"kube-system\",\"name\":\"*"  \
    "\"}}"
#define BY(method) "\"distinguisherMethod\":{\"type\":\"" method "\"},"
#define SCHEMA(level, precedence, method, subjects, rules)                                         \
    "{" AUTO "\"spec\":{\"priorityLevelConfiguration\":{\"name\":\"" level                         \
    "\"},\"matchingPrecedence\":" precedence "," method "\"rules\":[{\"subjects\":[" subjects      \
    "]," rules "}]}}"
#define LEASES                                                                                     \
    "\"apiGroups\":[\"coordination.k8s.io\"],\"resources\":[\"leases\"],\"namespaces\":[\"*\"]}"
#define LEVEL(shares, lendable, response)                                                          \
    "{" AUTO "\"spec\":{\"type\":\"Limited\",\"limited\":{\"nominalConcurrencyShares\":" shares    \
    ",\"lendablePercent\":" lendable ",\"limitResponse\":" response "}}}"
#define QUEUE(queues, hand)                                                                        \
    "{\"type\":\"Queue\",\"queuing\":{\"queues\":" queues ",\"handSize\":" hand                    \
    ",\"queueLengthLimit\":50}}"
#define CLASS(value, text) "{\"value\":" value ",\"description\":\"" text "\"}"

/* kind, name, the object without its name. Like upstream's, except the texts. */
static const struct preset {
    int kind;
    const char *name, *body;
} presets[] = {
    { KIND_PRIORITY, "system-node-critical",
      CLASS("2000001000", "For pods without which their node does not work.") },
    { KIND_PRIORITY, "system-cluster-critical",
      CLASS("2000000000", "For pods without which the cluster does not work, on whichever node.") },
    { KIND_LEVEL, "exempt",
      "{" AUTO "\"spec\":{\"type\":\"Exempt\",\"exempt\":{\"nominalConcurrencyShares\":0,"
      "\"lendablePercent\":0}}}" },
    { KIND_LEVEL, "catch-all", LEVEL("5", "0", "{\"type\":\"Reject\"}") },
    { KIND_LEVEL, "system", LEVEL("30", "33", QUEUE("64", "6")) },
    { KIND_LEVEL, "node-high", LEVEL("40", "25", QUEUE("64", "6")) },
    { KIND_LEVEL, "leader-election", LEVEL("10", "0", QUEUE("16", "4")) },
    { KIND_LEVEL, "workload-high", LEVEL("40", "50", QUEUE("128", "6")) },
    { KIND_LEVEL, "workload-low", LEVEL("100", "90", QUEUE("128", "6")) },
    { KIND_LEVEL, "global-default", LEVEL("20", "50", QUEUE("128", "6")) },
    { KIND_SCHEMA, "exempt", SCHEMA("exempt", "1", "", GROUP("system:masters"), ALL_RULES) },
    { KIND_SCHEMA, "probes",
      SCHEMA("exempt", "2", "", EVERYBODY,
             "\"nonResourceRules\":[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/healthz\","
             "\"/readyz\",\"/livez\"]}]") },
    { KIND_SCHEMA, "system-leader-election",
      SCHEMA("leader-election", "100", BY("ByUser"),
             USER("system:kube-controller-manager") "," USER(
                 "system:kube-scheduler") "," SYSTEM_ACCOUNTS,
             "\"resourceRules\":[{\"verbs\":[\"get\",\"create\",\"update\"]," LEASES "]") },
    { KIND_SCHEMA, "system-node-high",
      SCHEMA("node-high", "400", BY("ByUser"), GROUP("system:nodes"),
             "\"resourceRules\":[{" ANY "\"apiGroups\":[\"\"],\"resources\":[\"nodes\","
             "\"nodes/status\"],\"clusterScope\":true,\"namespaces\":[\"*\"]},{" ANY LEASES "]") },
    { KIND_SCHEMA, "system-nodes",
      SCHEMA("system", "500", BY("ByUser"), GROUP("system:nodes"), ALL_RULES) },
    { KIND_SCHEMA, "kube-controller-manager",
      SCHEMA("workload-high", "800", BY("ByNamespace"), USER("system:kube-controller-manager"),
             ALL_RULES) },
    { KIND_SCHEMA, "kube-scheduler",
      SCHEMA("workload-high", "800", BY("ByNamespace"), USER("system:kube-scheduler"), ALL_RULES) },
    { KIND_SCHEMA, "kube-system-service-accounts",
      SCHEMA("workload-high", "900", BY("ByNamespace"), SYSTEM_ACCOUNTS, ALL_RULES) },
    { KIND_SCHEMA, "service-accounts",
      SCHEMA("workload-low", "9000", BY("ByUser"), GROUP("system:serviceaccounts"), ALL_RULES) },
    { KIND_SCHEMA, "global-default",
      SCHEMA("global-default", "9900", BY("ByUser"), EVERYBODY, ALL_RULES) },
    { KIND_SCHEMA, "catch-all", SCHEMA("catch-all", "10000", BY("ByUser"), EVERYBODY, ALL_RULES) },
    { KIND_CIDR, "kubernetes", "{\"spec\":{\"cidrs\":[\"" SERVICES_CIDR "\"]}}" },
};

/* Positions of groups in the order of upstream's APIServices. */
static const struct {
    const char *group;
    int64_t minimum;
} group_priorities[] = {
    { "", 18000 },
    { "apps", 17800 },
    { "events.k8s.io", 17750 },
    { "authentication.k8s.io", 17700 },
    { "authorization.k8s.io", 17600 },
    { "autoscaling", 17500 },
    { "batch", 17400 },
    { "certificates.k8s.io", 17300 },
    { "networking.k8s.io", 17200 },
    { "policy", 17100 },
    { "rbac.authorization.k8s.io", 17000 },
    { "storage.k8s.io", 16800 },
    { "apiextensions.k8s.io", 16700 },
    { "admissionregistration.k8s.io", 16700 },
    { "scheduling.k8s.io", 16600 },
    { "coordination.k8s.io", 16500 },
    { "node.k8s.io", 16300 },
    { "discovery.k8s.io", 16200 },
    { "flowcontrol.apiserver.k8s.io", 16100 },
    { "resource.k8s.io", 15900 },
    { "storagemigration.k8s.io", 15800 },
};

enum { CRD_GROUP_MINIMUM = 1000, CRD_VERSION_PRIORITY = 100, VERSION_PRIORITY = 15 };

/* ------------------------------------------------------------------ rounds */

enum { FAILED_LOG_MS = 60000 }; /* a full disk fails all of them */

struct defaults {
    struct api *api;
    int at;          /* kind being processed; N_KINDS: none */
    struct map have; /* existing names of that kind */
    struct buf after;
    struct list missing; /* struct errand */
    size_t n_calls;
    bool busy, dirty, failed, stopped;
    struct retry retry;
    struct defer turn;
    controller_ready_cb ready; /* NULL once it was called */
    void *ready_arg;
    struct log_rate failed_log;
};

/* An object to create, or an APIService that may have to be removed (body empty). */
struct errand {
    struct list node;
    struct defaults *d;
    int kind;
    char *name;
    struct buf body;
};

static void kick(struct defaults *d);
static void read_page(struct defaults *d);

static void errand_add(struct defaults *d, struct str name, const struct json *body)
{
    struct errand *j = xnew(struct errand);
    *j = (struct errand){
        .d = d, .kind = d->at, .name = str_dup(name), .body = BUF_INIT(API_BODY_MAX_BYTES)
    };
    if (body)
        (void)json_write(&j->body, body);
    list_push_back(&d->missing, &j->node);
}

static void errand_free(struct errand *j)
{
    free(j->name);
    buf_fini(&j->body);
    free(j);
}

static void errand_done(struct errand *j, bool ok)
{
    struct defaults *d = j->d;
    uint64_t skipped;
    if (!ok && !d->stopped) {
        if (log_rate_ok(&d->failed_log, FAILED_LOG_MS, &skipped))
            log_warn("cannot make what every cluster has", "resource=%s name=%s skipped=%" PRIu64,
                     kinds[j->kind].plural, j->name, skipped);
        d->failed = true;
    }
    errand_free(j);
    assert(d->n_calls > 0);
    d->n_calls--;
    kick(d);
    api_part_idle(d->api);
}

static void on_written(void *arg, int r, struct str body)
{
    (void)body;
    errand_done(arg, r == 200 || r == 201 || r == 404 || r == 409);
}

static int errand_call(struct errand *j, const char *method, struct str body, inner_cb cb)
{
    struct arena a = { 0 };
    const struct defaults_kind *k = &kinds[j->kind];
    bool named = strcmp(method, "POST") != 0;
    const struct inner_request req = { .method = method,
                                       .target = str_of(arena_printf(
                                           &a, "/apis/%s/v1/%s%s%s", k->group, k->plural,
                                           named ? "/" : "", named ? j->name : "")),
                                       .content_type = body.n ? "application/json" : NULL,
                                       .body = body };
    int r = inner_call(j->d->api, &req, cb, j);
    arena_fini(&a);
    return r;
}

/* Remove the APIService only if it was created here. */
static void on_candidate(void *arg, int r, struct str body)
{
    struct errand *j = arg;
    struct arena a = { 0 };
    struct json *service;
    bool ours = r == 200 && json_parse(&a, body, NULL, &service, NULL) >= 0 &&
                json_path(service, "metadata", "labels", AUTOMANAGED, NULL);
    arena_fini(&a);
    if (!ours || j->d->stopped)
        errand_done(j, r == 200 || r == 404);
    else if (errand_call(j, "DELETE", STR(""), on_written) < 0)
        errand_done(j, false);
}

static void errand_start(struct errand *j)
{
    list_remove(&j->node);
    j->d->n_calls++;
    int r = j->body.n ? errand_call(j, "POST", buf_str(&j->body), on_written)
                      : errand_call(j, "GET", STR(""), on_candidate);
    if (r < 0)
        errand_done(j, false);
}

/* ---- missing objects ---- */

static void want_presets(struct defaults *d)
{
    for (size_t i = 0; i < ARRAY_LEN(presets); i++) {
        struct arena a = { 0 };
        struct json *obj;
        if (presets[i].kind != d->at || map_has(&d->have, str_of(presets[i].name)))
            continue;
        int r = json_parse(&a, str_of(presets[i].body), NULL, &obj, NULL);
        assert(r == 0);
        json_set_str(&a, json_obj(&a, obj, "metadata"), "name", str_of(presets[i].name));
        errand_add(d, str_of(presets[i].name), obj);
        arena_fini(&a);
    }
}

static int64_t group_minimum(struct str group)
{
    for (size_t i = 0; i < ARRAY_LEN(group_priorities); i++)
        if (str_is(group, group_priorities[i].group))
            return group_priorities[i].minimum;
    return CRD_GROUP_MINIMUM;
}

static struct json *new_service(struct arena *a, const struct kube_resource *res, struct str name)
{
    struct json *obj = json_new_object(a), *meta = json_obj(a, obj, "metadata");
    struct json *spec = json_obj(a, obj, "spec");
    bool newer = str_is(res->group, "autoscaling") && str_is(res->version, "v2");
    json_set_str(a, meta, "name", name);
    json_set_str(a, json_obj(a, meta, "labels"), AUTOMANAGED,
                 res->crd ? STR("true") : STR("onstart"));
    json_set_str(a, spec, "group", res->group);
    json_set_str(a, spec, "version", res->version);
    json_set_int(a, spec, "groupPriorityMinimum", group_minimum(res->group));
    json_set_int(a, spec, "versionPriority",
                 res->crd ? CRD_VERSION_PRIORITY
                 : newer  ? 2 * VERSION_PRIORITY
                          : VERSION_PRIORITY);
    return obj;
}

/* Remove every served name from d->have; the rest is obsolete. */
static void want_services(struct defaults *d)
{
    const struct kube_resource *last = NULL;
    kube_registry_each(r, &d->api->reg)
    {
        struct arena a = { 0 };
        const struct kube_resource *res = *r;
        bool same = last && str_eq(last->group, res->group) && str_eq(last->version, res->version);
        last = res;
        if (same || str_is(res->group, "apiregistration.k8s.io"))
            continue;
        struct str name = str_of(
            arena_printf(&a, STR_FMT "." STR_FMT, STR_ARG(res->version), STR_ARG(res->group)));
        if (!map_del(&d->have, name))
            errand_add(d, name, new_service(&a, res, name));
        arena_fini(&a);
    }
    map_each (e, &d->have)
        errand_add(d, e->key, NULL);
}

/* ---- a round over the kinds ---- */

static void on_retry(struct timer *t)
{
    struct defaults *d = container_of(t, struct defaults, retry.timer);
    d->dirty = true;
    kick(d);
}

static void round_end(struct defaults *d)
{
    controller_ready_cb ready = d->ready;
    d->busy = false;
    d->ready = NULL;
    map_fini(&d->have);
    if (!d->failed)
        retry_settle(&d->retry);
    else if (!d->stopped)
        retry_arm(d->api->loop, &d->retry, on_retry);
    if (d->dirty && !d->stopped)
        kick(d);
    if (ready)
        ready(d->ready_arg, d->stopped ? -ECANCELED : 0, NULL);
    api_part_idle(d->api);
}

static void next_kind(struct defaults *d)
{
    d->at++;
    map_fini(&d->have);
    buf_reset(&d->after);
    if (d->at < N_KINDS && !d->stopped)
        read_page(d);
    else if (d->n_calls == 0 && list_is_empty(&d->missing))
        round_end(d);
    else
        kick(d);
}

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct defaults *d = arg;
    (void)err;
    if (r < 0 || d->stopped) {
        d->failed = true;
        d->at = N_KINDS;
        next_kind(d);
        return;
    }
    for (size_t i = 0; i < page->n; i++) {
        struct str key = page->kv[i].key;
        size_t slash = key.n;
        while (slash > 0 && key.p[slash - 1] != '/')
            slash--;
        (void)map_put(&d->have, str_slice(key, slash, key.n), d);
    }
    if (page->more) {
        buf_reset(&d->after);
        (void)buf_add_str(&d->after, page->kv[page->n - 1].key);
        read_page(d);
        return;
    }
    if (d->at == KIND_SERVICE)
        want_services(d);
    else
        want_presets(d);
    next_kind(d);
}

static void read_page(struct defaults *d)
{
    struct arena a = { 0 };
    const struct store_range range = {
        .prefix =
            str_of(arena_printf(&a, "/registry/%s/%s/", kinds[d->at].group, kinds[d->at].plural)),
        .after = buf_str(&d->after),
        .limit = DEFAULTS_PAGE_ROWS,
        .keys_only = true,
        .skip_damaged = true
    };
    if (store_range(d->api->store, &range, on_page, d, NULL) < 0) {
        d->failed = true;
        d->at = N_KINDS;
        next_kind(d);
    }
    arena_fini(&a);
}

static void on_turn(struct defer *turn)
{
    struct defaults *d = container_of(turn, struct defaults, turn);
    if (d->stopped)
        for (struct list *l; (l = list_pop_front(&d->missing));)
            errand_free(container_of(l, struct errand, node));
    while (d->n_calls < DEFAULTS_PARALLEL && !list_is_empty(&d->missing))
        errand_start(container_of(d->missing.next, struct errand, node));
    if (d->busy && d->at >= N_KINDS && d->n_calls == 0 && list_is_empty(&d->missing)) {
        round_end(d);
        return;
    }
    if (d->busy || d->stopped || !d->dirty)
        return;
    d->busy = true;
    d->dirty = d->failed = false;
    d->at = -1;
    next_kind(d);
}

static void kick(struct defaults *d)
{
    defer_start(d->api->loop, &d->turn, on_turn);
}

/* ------------------------------------------------------------------ lifecycle */

void defaults_written(struct defaults *d, const struct written *w)
{
    bool ours = str_is(w->res->kind, "CustomResourceDefinition") && !w->res->crd;
    if (!d || d->stopped)
        return;
    for (size_t i = 0; i < N_KINDS && !w->obj; i++)
        ours = ours ||
               (str_is(w->res->plural, kinds[i].plural) && str_is(w->res->group, kinds[i].group));
    if (!ours)
        return;
    d->dirty = true;
    kick(d);
}

struct defaults *defaults_start(struct api *api, controller_ready_cb ready, void *arg)
{
    struct defaults *d = xnew(struct defaults);
    *d = (struct defaults){ .api = api,
                            .at = N_KINDS,
                            .after = BUF_INIT(STORE_KEY_MAX_BYTES),
                            .dirty = true,
                            .ready = ready,
                            .ready_arg = arg };
    list_init(&d->missing);
    kick(d);
    return d;
}

void defaults_stop(struct defaults *d)
{
    if (!d)
        return;
    d->stopped = true;
    timer_stop(d->api->loop, &d->retry.timer);
    if (!d->busy && d->ready) { /* stopped before the first round */
        d->busy = true;
        d->at = N_KINDS;
    }
    kick(d);
}

bool defaults_is_busy(const struct defaults *d)
{
    return d && (d->busy || d->n_calls > 0 || (d->dirty && !d->stopped));
}

void defaults_free(struct defaults *d)
{
    if (!d)
        return;
    assert(!defaults_is_busy(d));
    defer_cancel(&d->turn);
    map_fini(&d->have);
    buf_fini(&d->after);
    free(d);
}
