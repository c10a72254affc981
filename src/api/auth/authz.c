/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authorization; see authz.h.
 *
 *     LOAD --all pages read--> DEFAULTS --all written--> FOLLOW
 *      ^                                                    |
 *      +------------------ the watch broke -----------------+
 *
 * While it loads again, the previous policy stays in force. A write is in the policy before its
 * client gets an answer: the store notifies watchers first.
 */
#include "api/auth/authz.h"

#include "api/auth/auth.h"
#include "api/auth/node_graph.h"
#include "api/auth/rbac_bootstrap.h"
#include "api/identity.h"
#include "api/inner.h"
#include "api/part.h"
#include "base/log.h"
#include "base/sm.h"
#include "kube/model/selector.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#define GROUP  "rbac.authorization.k8s.io"
#define PREFIX "/registry/" GROUP "/"

enum {
    DEFAULTS_IN_FLIGHT = 32, /* writes of defaults at a time; the store commits them together */
    AUTHZ_RETRY_MS = 1000,   /* after the store could not be read */
    UNWRITTEN_LOG_MS = 60000 /* a full disk fails all of them */
};

/* A default that has to be written, or to be updated. */
struct repair {
    struct list node;
    bool exists;
    struct str path, body;
};

enum authz_at { AUTHZ_LOAD, AUTHZ_DEFAULTS, AUTHZ_FOLLOW };

struct authz {
    struct api *api;
    struct sm sm;
    struct rbac *policy; /* in force */
    struct rbac *next;   /* being loaded; NULL otherwise */
    struct store_watch *watch;
    uint64_t loaded_rev;
    struct defer begin; /* the first read */
    struct buf after;
    bool reading, stopped;
    bool broken; /* the watch ended while the policy was being loaded */
    struct timer retry;
    struct log_rate unwritten_log;

    struct arena arena; /* holds the defaults and repairs until they are written */
    bool with_node_routes;
    struct buf node_rules; /* compiled, of the default role system:node */
    struct map defaults;   /* kind's digit and "ns/name" -> JSON text; trees would be large */
    struct list repairs;
    size_t n_in_flight;

    controller_ready_cb ready; /* NULL once called */
    void *ready_arg;
};

static const struct sm_state states[] = {
    [AUTHZ_LOAD] = { "load", EDGE(AUTHZ_DEFAULTS) | EDGE(AUTHZ_FOLLOW) },
    [AUTHZ_DEFAULTS] = { "defaults", EDGE(AUTHZ_FOLLOW) },
    [AUTHZ_FOLLOW] = { "follow", EDGE(AUTHZ_LOAD) },
};

static const struct {
    const char *plural;
    bool namespaced;
} kinds[] = {
    [RBAC_ROLE] = { "roles", true },
    [RBAC_ROLE_BINDING] = { "rolebindings", true },
    [RBAC_CLUSTER_ROLE] = { "clusterroles", false },
    [RBAC_CLUSTER_ROLE_BINDING] = { "clusterrolebindings", false },
};

/* ------------------------------------------------------------------ from the store to the policy
 */

/* "/registry/GROUP/PLURAL/[NS/]NAME" */
static bool parse_key(struct str key, enum rbac_kind *ret_kind, struct str *ret_ns,
                      struct str *ret_name)
{
    struct str rest = str_slice(key, strlen(PREFIX), key.n), plural;
    if (!str_cut(rest, '/', &plural, &rest))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!str_is(plural, kinds[i].plural))
            continue;
        *ret_kind = (enum rbac_kind)i;
        *ret_ns = STR("");
        *ret_name = rest;
        return !kinds[i].namespaced || str_cut(rest, '/', ret_ns, ret_name);
    }
    return false;
}

/* value "": deleted. Bytes that do not parse grant nothing. */
static struct json *apply(struct rbac *policy, struct arena *a, struct str key, struct str value)
{
    enum rbac_kind kind;
    struct str ns, name;
    struct json *obj = NULL;
    if (!parse_key(key, &kind, &ns, &name))
        return NULL;
    if (value.n && json_parse(a, value, NULL, &obj, NULL) < 0)
        log_error("a stored role or binding cannot be read", "key=" STR_FMT, STR_ARG(key));
    rbac_put(policy, kind, ns, name, obj);
    return obj;
}

static void load_start(struct authz *z);

static void on_events(void *arg, const struct store_event *ev, size_t n, uint64_t progress_rev)
{
    struct authz *z = arg;
    (void)progress_rev;
    if (z->api->on_policy)
        z->api->on_policy(z->api->on_policy_arg);
    for (size_t i = 0; i < n; i++) {
        struct arena a = { 0 };
        (void)apply(z->policy, &a, ev[i].kv.key,
                    ev[i].kind == STORE_EV_DELETE ? STR("") : ev[i].kv.value);
        arena_fini(&a);
    }
    watch_reauthorize(z->api);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct authz *z = arg;
    z->watch = NULL;
    if (z->stopped || r == -ECANCELED)
        return;
    log_error("watch of roles ended, reading them again", "error=\"%s\"", err_text(err));
    if (z->sm.at == AUTHZ_FOLLOW)
        load_start(z);
    else
        z->broken = true;
}

static const struct store_watch_ops watch_ops = { .on_events = on_events, .on_end = on_end };

/* ------------------------------------------------------------------ defaults */

static void tell_ready(struct authz *z, int r, const struct err *err)
{
    controller_ready_cb ready = z->ready;
    z->ready = NULL;
    if (ready)
        ready(z->ready_arg, r, err);
    api_part_idle(z->api);
}

static void follow(struct authz *z)
{
    sm_move(&z->sm, AUTHZ_FOLLOW);
    assert(z->n_in_flight == 0);
    map_fini(&z->defaults);
    list_init(&z->repairs);
    arena_fini(&z->arena);
    if (z->broken)
        load_start(z);
    tell_ready(z, 0, NULL);
}

static void write_defaults(struct authz *z);

static void on_written(void *arg, int r, struct str body)
{
    struct authz *z = arg;
    assert(z->sm.at == AUTHZ_DEFAULTS && z->n_in_flight > 0);
    z->n_in_flight--;
    uint64_t skipped;
    if (r != 200 && r != 201 && r != 409 && !z->stopped &&
        log_rate_ok(&z->unwritten_log, UNWRITTEN_LOG_MS, &skipped))
        log_error("a default role or binding was not written",
                  "answer=%d text=\"" STR_FMT "\" skipped=%" PRIu64, r,
                  STR_ARG(str_slice(body, 0, 256)), skipped);
    write_defaults(z);
}

static int write_default(struct authz *z, const struct repair *rp)
{
    const struct inner_request req = { .method = rp->exists ? "PUT" : "POST",
                                       .target = rp->path,
                                       .content_type = "application/json",
                                       .body = rp->body };
    return inner_call(z->api, &req, on_written, z);
}

static void write_defaults(struct authz *z)
{
    while (!z->stopped && z->n_in_flight < DEFAULTS_IN_FLIGHT && !list_is_empty(&z->repairs)) {
        struct repair *rp = list_entry(list_pop_front(&z->repairs), struct repair, node);
        if (write_default(z, rp) < 0)
            break;
        z->n_in_flight++;
    }
    if (z->n_in_flight == 0 && z->stopped)
        tell_ready(z, -ECANCELED, NULL);
    else if (z->n_in_flight == 0)
        follow(z);
}

static struct str default_key(struct arena *a, enum rbac_kind kind, struct str ns, struct str name)
{
    return str_of(arena_printf(a, "%d" STR_FMT "/" STR_FMT, (int)kind, STR_ARG(ns), STR_ARG(name)));
}

static void repair_later(struct authz *z, const struct rbac_default *d, const struct json *obj,
                         bool exists)
{
    struct arena *a = &z->arena;
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(API_BODY_MAX_BYTES);
    (void)json_write(&body, obj);
    const char *scope = d->ns.n ? arena_printf(a, "namespaces/" STR_FMT "/", STR_ARG(d->ns)) : "";
    struct repair *rp = arena_new(a, struct repair);
    *rp = (struct repair){ .exists = exists,
                           .path = str_of(arena_printf(
                               a, "/apis/" GROUP "/v1/%s%s%s" STR_FMT, scope, kinds[d->kind].plural,
                               exists ? "/" : "", STR_ARG(exists ? d->name : STR("")))),
                           .body = str_copy_arena(a, buf_str(&body)) };
    list_push_back(&z->repairs, &rp->node);
}

static void note_default(void *arg, const struct rbac_default *d)
{
    struct authz *z = arg;
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(API_BODY_MAX_BYTES);
    if (str_is(d->name, RBAC_NODE_ROUTES) && !z->with_node_routes)
        return;
    (void)json_write(&text, d->obj);
    if (d->kind == RBAC_CLUSTER_ROLE && str_is(d->name, "system:node"))
        (void)rbac_rules_compile(&z->node_rules, json_getc(d->obj, "rules"));
    (void)map_put(&z->defaults, default_key(&a, d->kind, d->ns, d->name),
                  str_dup_arena(&z->arena, buf_str(&text)));
    arena_fini(&a);
}

static void add_missing(void *arg, const struct rbac_default *d)
{
    struct authz *z = arg;
    struct arena a = { 0 };
    if (map_has(&z->defaults, default_key(&a, d->kind, d->ns, d->name)))
        repair_later(z, d, d->obj, false);
    arena_fini(&a);
}

/*
 * Compare a stored object with the default of its name, and queue a repair if it lacks something.
 */
static void compare(struct authz *z, struct arena *a, struct str key, struct json *obj,
                    uint64_t rev)
{
    enum rbac_kind kind;
    struct str ns, name;
    if (!z->defaults.n || !obj || !parse_key(key, &kind, &ns, &name))
        return;
    const char *text = map_del(&z->defaults, default_key(a, kind, ns, name));
    struct rbac_default d = { .kind = kind, .ns = ns, .name = name };
    if (!text || json_parse(a, str_of(text), NULL, &d.obj, NULL) < 0 || !rbac_reconcile(a, &d, obj))
        return;
    meta_set_resource_version(a, obj, rev);
    repair_later(z, &d, obj, true);
}

/* ------------------------------------------------------------------ loading */

static void on_retry(struct timer *t)
{
    load_start(container_of(t, struct authz, retry));
}

static void loaded(struct authz *z, int r, const struct err *err)
{
    struct err why = err ? *err : (struct err){ 0 };
    z->reading = false;
    if (r >= 0 && !z->stopped)
        r = store_watch_start(z->api->store, STR(PREFIX), z->loaded_rev + 1, &watch_ops, z,
                              &z->watch, &why);
    if (r < 0 || z->stopped) {
        if (!z->stopped)
            log_error("roles and bindings cannot be read", "error=\"%s\"", err_text(&why));
        rbac_free(take_ptr(&z->next));
        if (!z->ready && !z->stopped) /* the previous policy stays in force */
            timer_start(z->api->loop, &z->retry, AUTHZ_RETRY_MS, on_retry);
        tell_ready(z, z->stopped ? -ECANCELED : r, &why);
        return;
    }
    rbac_free(z->policy);
    z->policy = take_ptr(&z->next);
    watch_reauthorize(z->api);
    if (!z->ready) { /* a later load */
        sm_move(&z->sm, AUTHZ_FOLLOW);
        api_part_idle(z->api);
        return;
    }
    sm_move(&z->sm, AUTHZ_DEFAULTS);
    rbac_defaults(add_missing, z);
    write_defaults(z);
}

static void load_page(struct authz *z);

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct authz *z = arg;
    for (size_t i = 0; r >= 0 && i < page->n; i++) {
        const struct store_kv *kv = &page->kv[i];
        struct arena a = { 0 };
        compare(z, &a, kv->key, apply(z->next, &a, kv->key, kv->value), kv->mod_rev);
        arena_fini(&a);
    }
    if (r >= 0)
        z->loaded_rev = page->rev;
    if (r < 0 || !page->more || z->stopped) {
        loaded(z, r, err);
        return;
    }
    buf_reset(&z->after);
    (void)buf_add_str(&z->after, page->kv[page->n - 1].key);
    load_page(z);
}

static void load_page(struct authz *z)
{
    struct err err = { 0 };
    const struct store_range range = { .prefix = STR(PREFIX),
                                       .after = buf_str(&z->after),
                                       .at_rev = z->loaded_rev,
                                       .skip_damaged = true };
    int r = store_range(z->api->store, &range, on_page, z, &err);
    if (r < 0)
        loaded(z, r, &err);
}

static void load_start(struct authz *z)
{
    if (z->sm.at != AUTHZ_LOAD)
        sm_move(&z->sm, AUTHZ_LOAD);
    z->next = rbac_new();
    z->broken = false;
    z->loaded_rev = 0;
    z->reading = true;
    buf_reset(&z->after);
    load_page(z);
}

static void on_begin(struct defer *d)
{
    load_start(container_of(d, struct authz, begin));
}

struct authz *authz_start(struct api *api, bool with_node_routes, controller_ready_cb ready,
                          void *arg)
{
    struct authz *z = xnew(struct authz);
    *z = (struct authz){ .api = api,
                         .sm = { .table = states, .at = AUTHZ_LOAD },
                         .policy = rbac_new(),
                         .after = BUF_INIT(STORE_KEY_MAX_BYTES),
                         .node_rules = BUF_INIT(4096),
                         .with_node_routes = with_node_routes,
                         .ready = ready,
                         .ready_arg = arg };
    list_init(&z->repairs);
    rbac_defaults(note_default, z);
    defer_start(api->loop, &z->begin, on_begin);
    return z;
}

void authz_stop(struct authz *z)
{
    if (!z)
        return;
    z->stopped = true;
    timer_stop(z->api->loop, &z->retry);
    if (z->watch)
        store_watch_cancel(z->watch);
    z->watch = NULL;
}

bool authz_is_busy(const struct authz *z)
{
    return z && (list_is_linked(&z->begin.node) || z->reading || z->n_in_flight > 0);
}

void authz_free(struct authz *z)
{
    if (!z)
        return;
    assert(!authz_is_busy(z) && !z->watch);
    rbac_free(z->policy);
    rbac_free(z->next);
    map_fini(&z->defaults);
    arena_fini(&z->arena);
    buf_fini(&z->after);
    buf_fini(&z->node_rules);
    free(z);
}

struct rbac *authz_policy(struct authz *z)
{
    return z->policy;
}

/* NODE_SILENT for users that are not nodes. */
static enum node_answer ask_node_rules(const struct authz *z, const struct api_attributes *at,
                                       struct node_rules_question *ret, struct buf *reason)
{
    struct str node;
    const struct rbac_rules fixed = { (const uint8_t *)z->node_rules.p, z->node_rules.n };
    if (!identity_is_node(at->identity, &node) || rbac_is_master(at->identity))
        return NODE_SILENT;
    enum node_answer answer = node_decide(node, fixed, at, ret, reason);
    if (answer == NODE_ASKS && reason && !at->related)
        node_unrelated_text(reason, node);
    return answer;
}

bool authz_asks(const struct api *api, const struct api_attributes *at,
                struct node_rules_question *ret)
{
    return api->auth->authz && ask_node_rules(api->auth->authz, at, ret, NULL) == NODE_ASKS &&
           node_may_relate(ret);
}

bool authz_decide(void *authz, const struct api_attributes *at, struct buf *reason)
{
    const struct authz *z = authz;
    struct node_rules_question q;
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(BUF_MAX_DEFAULT);
    enum node_answer answer = ask_node_rules(z, at, &q, reason ? &why : NULL);
    if (answer == NODE_ALLOWS || (answer == NODE_ASKS && at->related))
        return true;
    if (why.n == 0)
        return rbac_authorize(z->policy, at, reason);
    /* As upstream, one line for each authorizer that gave a reason. */
    scoped(buf_fini_scoped) struct buf of_rbac = BUF_INIT(BUF_MAX_DEFAULT);
    bool allowed = rbac_authorize(z->policy, at, &of_rbac);
    if (!allowed)
        (void)buf_add_str(reason, buf_str(&why));
    if (!allowed && of_rbac.n)
        (void)buf_add_char(reason, '\n');
    (void)buf_add_str(reason, buf_str(&of_rbac));
    return allowed;
}

/* ------------------------------------------------------------------ the step of a request */

static struct json *decide(struct request *rq, const struct api_attributes *at)
{
    const struct api *api = rq->api;
    if (api->authorize(api->authorize_arg, at, NULL))
        return NULL;
    scoped(buf_fini_scoped) struct buf reason = BUF_INIT(BUF_MAX_DEFAULT);
    (void)api->authorize(api->authorize_arg, at, &reason);
    return permission_refuse(rq, at, buf_str(&reason));
}

struct authz_step {
    struct node_lookup lookup;
    struct request *rq;
};

static void on_looked_up(struct node_lookup *l)
{
    struct request *rq = container_of(l, struct authz_step, lookup)->rq;
    if (request_idle(rq))
        return;
    rq->related = l->related;
    const struct api_attributes at = permission_attributes(rq);
    request_continue(rq, l->r < 0 ? status_from_err(&rq->arena, l->r, &l->err) : decide(rq, &at));
}

struct json *authz_step(struct request *rq)
{
    const struct api *api = rq->api;
    struct node_rules_question question;
    if (!api->authorize)
        return NULL;
    const struct api_attributes at = permission_attributes(rq);
    bool allowed = api->authorize(api->authorize_arg, &at, NULL);
    if (allowed || !authz_asks(api, &at, &question))
        return allowed ? NULL : decide(rq, &at);
    struct authz_step *s = arena_new(&rq->arena, struct authz_step);
    *s = (struct authz_step){
        .lookup = { .api = rq->api, .a = &rq->arena, .ask = question, .done = on_looked_up },
        .rq = rq
    };
    int r = node_look_up(&s->lookup);
    if (r < 0)
        return status_from_err(&rq->arena, r, &s->lookup.err);
    request_busy(rq);
    request_wait(rq);
    return NULL;
}

/* ------------------------------------------------------------------ escalation */

struct owned {
    struct arena *a;
    struct rbac_rule *rules;
    size_t n, cap;
};

static void add_owned(void *arg, const struct rbac_rule *rule)
{
    struct owned *o = arg;
    if (o->n == o->cap) {
        size_t cap = o->cap ? o->cap * 2 : 32;
        struct rbac_rule *more = arena_new_n(o->a, struct rbac_rule, cap);
        if (o->n)
            memcpy(more, o->rules, o->n * sizeof *more);
        o->rules = more;
        o->cap = cap;
    }
    o->rules[o->n++] = *rule;
}

static struct owned owned_rules(struct request *rq)
{
    struct owned o = { .a = &rq->arena };
    rbac_each_rule(rq->api->auth->authz->policy, &rq->identity, rq->route.ns, add_owned, &o);
    return o;
}

static struct json *forbid(struct request *rq, const struct json *obj, struct str why)
{
    return status_forbidden(&rq->arena, rq->route.group, rq->route.resource, meta_name(obj), why);
}

/* NULL: the user has all rights in `wanted`. */
static struct json *check_covered(struct request *rq, const struct json *obj,
                                  struct rbac_rules wanted)
{
    struct arena *a = &rq->arena;
    struct owned o = owned_rules(rq);
    struct rbac_gaps gaps = { .a = a };
    if (rbac_rules_cover(o.rules, o.n, wanted, a->budget, rbac_gaps_add, &gaps))
        return NULL;
    if (gaps.n == 0)
        return status_too_much_work(a);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)buf_add_cstr(&b, "user ");
    field_go_quote(&b, rq->identity.user);
    (void)buf_add_cstr(&b, " (groups=[");
    for (size_t i = 0; i < rq->identity.n_groups; i++) {
        if (i)
            (void)buf_add_char(&b, ' ');
        field_go_quote(&b, rq->identity.groups[i]);
    }
    (void)buf_add_cstr(&b, "]) is attempting to grant RBAC permissions not currently held:\n");
    rbac_gaps_write(&gaps, &b);
    return forbid(rq, obj, str_copy_arena(a, buf_str(&b)));
}

static bool may(struct request *rq, const char *verb, const char *resource, struct str name)
{
    const struct api *api = rq->api;
    const struct api_attributes at = { .identity = &rq->identity,
                                       .is_resource = true,
                                       .verb = str_of(verb),
                                       .group = STR(GROUP),
                                       .version = STR("v1"),
                                       .resource = str_of(resource),
                                       .name = name,
                                       .ns = rq->route.ns };
    return api->authorize(api->authorize_arg, &at, NULL);
}

/* An aggregated role may collect any rules, so its author must have all rights. */
static bool has_everything(struct request *rq)
{
    static const char all[] = "[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]},"
                              "{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}]";
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    struct json *v;
    int r = json_parse(&rq->arena, str_of(all), NULL, &v, NULL);
    assert(r >= 0);
    (void)rbac_rules_compile(&b, v);
    struct owned o = owned_rules(rq);
    return rbac_rules_cover(o.rules, o.n, (struct rbac_rules){ (const uint8_t *)b.p, b.n },
                            rq->arena.budget, NULL, NULL);
}

static bool collects(const struct json *role)
{
    return json_first(json_path(role, "aggregationRule", "clusterRoleSelectors", NULL));
}

/* old: NULL for a new role. */
static struct json *check_role(struct request *rq, enum rbac_kind kind, const struct json *obj,
                               const struct json *old)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    if (may(rq, "escalate", kinds[kind].plural, rq->route.name))
        return NULL;
    if (rbac_rules_compile(&b, json_getc(obj, "rules")) < 0)
        return status_too_large(&rq->arena, API_BODY_MAX_BYTES);
    struct json *no = check_covered(rq, obj, (struct rbac_rules){ (const uint8_t *)b.p, b.n });
    if (!no && (collects(obj) || collects(old)) && !has_everything(rq))
        no = forbid(rq, obj, STR("must have cluster-admin privileges to use an aggregationRule"));
    return no;
}

static struct json *role_missing(struct request *rq, bool is_cluster, struct str name)
{
    struct arena *a = &rq->arena;
    return status_not_found(a, STR(GROUP), is_cluster ? STR("clusterrole") : STR("role"), name);
}

static struct json *check_binding(struct request *rq, const struct json *obj)
{
    const struct json *ref = json_getc(obj, "roleRef");
    struct str name = json_get_str(ref, "name");
    bool is_cluster = str_is(json_get_str(ref, "kind"), "ClusterRole");
    struct rbac_rules wanted;
    if (may(rq, "bind", is_cluster ? "clusterroles" : "roles", name))
        return NULL;
    if (!rbac_role_rules(rq->api->auth->authz->policy, is_cluster ? STR("") : rq->route.ns, name,
                         &wanted))
        return role_missing(rq, is_cluster, name);
    return check_covered(rq, obj, wanted);
}

/* Whether the write changes only fields that the garbage collector writes; they grant nothing. */
static bool only_collector_fields(struct arena *a, const struct json *obj, const struct json *old)
{
    static const char *const fields[] = { "ownerReferences", "finalizers", "managedFields",
                                          "resourceVersion", "generation" };
    struct json *x = json_clone(a, obj), *y = json_clone(a, old);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        (void)json_del(json_getc(x, "metadata"), str_of(fields[i]));
        (void)json_del(json_getc(y, "metadata"), str_of(fields[i]));
    }
    return json_equal(x, y);
}

static bool escalation_wanted(void *self, const struct admission *ad)
{
    const struct request *rq = ad->rq;
    (void)self;
    return rq->api->auth->authz && str_is(rq->route.group, GROUP) && !rbac_is_master(&rq->identity);
}

static struct json *escalation_apply(void *self, struct admission *ad, void *state)
{
    struct request *rq = ad->rq;
    const struct json *obj = ad->obj, *old = ad->old;
    size_t kind = 0;
    (void)self;
    (void)state;
    while (kind < ARRAY_LEN(kinds) && !str_is(rq->route.resource, kinds[kind].plural))
        kind++;
    if (old && only_collector_fields(&rq->arena, obj, old))
        return NULL;
    switch ((enum rbac_kind)kind) {
    case RBAC_ROLE:
    case RBAC_CLUSTER_ROLE:
        return check_role(rq, (enum rbac_kind)kind, obj, old);
    case RBAC_ROLE_BINDING:
    case RBAC_CLUSTER_ROLE_BINDING:
        return check_binding(rq, obj);
    }
    return NULL;
}

static const struct admission_stage escalation = { .name = "escalation of rights",
                                                   .point = ADMISSION_VALIDATED,
                                                   .ops = ADMISSION_ON(ADMISSION_CREATE) |
                                                          ADMISSION_ON(ADMISSION_UPDATE),
                                                   .wanted = escalation_wanted,
                                                   .apply = escalation_apply };

void authz_register(struct admission_chain *c)
{
    admission_register(c, &escalation, NULL);
}
