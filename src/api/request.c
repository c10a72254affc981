/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request path. Each step looks at the request, fills in a part of it, and refuses by returning
 * a Status. In order:
 *
 *     admit_load -> authenticate -> impersonate -> route -> authorize -> find -> negotiate ->
 *         (body) -> verb -> reply
 *
 * Decoding and everything after it belongs to the verb (read.c, write.c, watch.c).
 */
#include "api/core.h"

#include "api/compress.h"
#include "api/negotiate.h"
#include "api/part.h"
#include "api/permission.h"
#include "api/subresources.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sm.h"
#include "kube/model/crd.h"
#include "kube/model/duration.h"
#include "kube/model/field.h"
#include "kube/model/table.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>

/* ------------------------------------------------------------------ states */

/* Drawn in request.h. */
static const struct sm_state request_table[] = {
    [REQUEST_NEW] = { "new", EDGE(REQUEST_HEAD) },
    [REQUEST_HEAD] = { "head", EDGE(REQUEST_WAITING) | EDGE(REQUEST_BODY) | EDGE(REQUEST_VERB) |
                                   EDGE(REQUEST_ANSWER) },
    [REQUEST_WAITING] = { "waiting", EDGE(REQUEST_HEAD) },
    [REQUEST_BODY] = { "body", EDGE(REQUEST_VERB) | EDGE(REQUEST_ANSWER) },
    [REQUEST_VERB] = { "verb", EDGE(REQUEST_ANSWER) | EDGE(REQUEST_ENDED) },
    [REQUEST_ANSWER] = { "answer", EDGE(REQUEST_ENDED) },
    [REQUEST_ENDED] = { "ended", 0 },
};

void request_move(struct request *rq, enum request_at to)
{
    assert(sm_is_edge(request_table, rq->at, to));
    rq->at = to;
}

void request_end(struct request *rq)
{
    if (rq->at != REQUEST_ENDED)
        request_move(rq, REQUEST_ENDED);
}

/* ------------------------------------------------------------------ steps */

/* Health probes are answered even if the server is full. */
static bool is_probe(struct str target)
{
    return str_has_prefix(target, STR("/readyz")) || str_has_prefix(target, STR("/livez")) ||
           str_has_prefix(target, STR("/healthz"));
}

static struct json *admit_load(struct request *rq)
{
    struct api *api = rq->api;
    if (api->closing)
        return status_unavailable(&rq->arena, STR("the server is shutting down"));
    if (!rq->in_process && api->n_inflight >= API_INFLIGHT_MAX && !is_probe(rq->target))
        return status_too_many_requests(&rq->arena, 1);
    rq->counted = !rq->in_process;
    api->n_inflight += rq->counted;
    return NULL;
}

static struct json *method_not_allowed(struct request *rq)
{
    const char *verb =
        rq->route.verb ? kube_verb_name(rq->route.verb) : str_dup_arena(&rq->arena, rq->method);
    if (!rq->res->crd)
        return status_no_method(&rq->arena);
    return status_method_not_allowed(&rq->arena, rq->route.group, rq->route.resource, verb);
}

/*
 * Whether the path's shape fits the resource: a namespace only for a namespaced resource, a name
 * where one is required.
 */
static struct json *check_scope(struct request *rq)
{
    const struct route *rt = &rq->route;
    const struct kube_resource *res = rq->res;
    /* A Namespace lies in itself and in no other: authorization was decided for rt->ns. */
    bool in_itself =
        rt->group.n == 0 && str_is(rt->resource, "namespaces") && str_eq(rt->ns, rt->name);
    if (!res->namespaced && rt->ns.n && !in_itself)
        return status_no_resource(&rq->arena);
    bool everywhere = res->namespaced && rt->ns.n == 0;
    if (everywhere && rt->name.n)
        return status_no_resource(&rq->arena);
    if (everywhere &&
        (rt->verb == KUBE_CREATE || (rt->verb == KUBE_DELETECOLLECTION && !rq->in_process)))
        return method_not_allowed(rq);
    if (rt->verb == KUBE_CREATE && rt->name.n && !rq->sub)
        return method_not_allowed(rq);
    return NULL;
}

/* Parses the path only: a client that may not see a resource must not learn whether it exists. */
static struct json *route(struct request *rq)
{
    struct err err = { 0 };
    int r = route_parse(&rq->arena, rq->method, rq->target, &rq->route, &err);
    return r < 0 ? status_bad_request(&rq->arena, str_of(err_text(&err))) : NULL;
}

/*
 * A webhook would have to convert between the stored version and this one. The server's own
 * controllers accept any version, so they get the stored one.
 */
static struct json *check_version(struct request *rq, const struct kube_resource **res)
{
    struct arena *a = &rq->arena;
    const struct kube_resource *asked = *res;
    if (!asked->crd || asked->storage == asked || !crd_wants_webhook(asked->crd))
        return NULL;
    if (rq->in_process && str_is(rq->identity.user, API_CONTROLLER_USER)) {
        *res = asked->storage;
        return NULL;
    }
    return status_new(
        a, 500, "",
        str_of(arena_printf(a,
                            "conversion webhook for " STR_FMT ", Kind=" STR_FMT
                            " failed: dormouse calls no conversion webhooks, use version " STR_FMT
                            ", in which the objects are stored",
                            STR_ARG(kube_api_version(a, asked)), STR_ARG(asked->kind),
                            STR_ARG(asked->storage->version))));
}

static struct json *find_resource(struct request *rq)
{
    struct route *rt = &rq->route;
    const struct api *api = rq->api;
    const struct kube_resource *res =
        kube_registry_find(&api->reg, rt->group, rt->version, rt->resource);
    if (!res && rq->in_process && str_is(rq->identity.user, API_CONTROLLER_USER))
        res = api->needs->find_stored(api, rt->group, rt->version, rt->resource);
    if (!res) {
        rq->no_page = !api_is_builtin_group(&api->reg, rt->group);
        return status_no_resource(&rq->arena);
    }
    struct json *unconverted = check_version(rq, &res);
    if (unconverted)
        return unconverted;
    rq->res = kube_resource_ref(res);
    unsigned verbs = res->verbs;
    if (rt->subresource.n) {
        rq->sub = kube_subresource(res, rt->subresource);
        if (!rq->sub || (rt->rest.n && !str_is(rt->subresource, "proxy")))
            return status_no_resource(&rq->arena);
        verbs = rq->sub->verbs;
    }
    if (!rt->verb || !(verbs & rt->verb))
        return method_not_allowed(rq);
    struct json *no = check_scope(rq);
    if (!no && res->deprecation.n)
        reply_warn(rq, res->deprecation);
    return no;
}

static struct json *find(struct request *rq)
{
    rq->no_page = rq->route.kind == ROUTE_UNKNOWN && !rq->route.in_api;
    if (rq->route.kind == ROUTE_UNKNOWN)
        return status_no_resource(&rq->arena);
    if (rq->route.kind == ROUTE_RESOURCE)
        return find_resource(rq);
    if (!str_is(rq->method, "GET") && !str_is(rq->method, "HEAD"))
        return status_no_method(&rq->arena);
    return NULL;
}

/* Name of the list type in upstream's code, which appears in its message. */
static const char *go_list_type(struct request *rq)
{
    const struct kube_resource *res = rq->res;
    struct str package, rest;
    (void)str_cut(res->group, '.', &package, &rest);
    if (res->crd)
        return "unstructured.UnstructuredList";
    if (package.n == 0 || str_is(package, "events"))
        package = STR("core");
    return arena_printf(&rq->arena, STR_FMT "." STR_FMT, STR_ARG(package), STR_ARG(res->list_kind));
}

/* A client asks for PartialObjectMetadata or for its list type; it must ask for the right one. */
static struct json *check_partial(struct request *rq, struct rep *rep)
{
    struct arena *a = &rq->arena;
    bool is_list = rq->route.verb == KUBE_LIST || rq->route.verb == KUBE_DELETECOLLECTION;
    if (rep->kind == REP_PARTIAL && is_list)
        return status_new(a, 406, "NotAcceptable",
                          str_of(arena_printf(a,
                                              "you requested PartialObjectMetadata, but the "
                                              "requested object is a list (*%s)",
                                              go_list_type(rq))));
    if (rep->kind == REP_PARTIAL_LIST && !is_list && rq->route.verb != KUBE_WATCH) {
        const char *type = go_list_type(rq);
        int n = (int)strlen(type) - 4;
        return status_new(a, 406, "NotAcceptable",
                          str_of(arena_printf(a,
                                              "you requested PartialObjectMetadataList, but the "
                                              "requested object is not a list (*%.*s)",
                                              n, type)));
    }
    if (rep->kind == REP_PARTIAL_LIST)
        rep->kind = REP_PARTIAL;
    return NULL;
}

static struct json *check_table(struct request *rq, struct rep *rep)
{
    struct arena *a = &rq->arena;
    enum table_include include;
    struct str given = route_query(&rq->route, "includeObject");
    if (rep->kind != REP_TABLE)
        return NULL;
    if (table_include_parse(given, &include) < 0) {
        struct field_errors errs = field_errors_init(a);
        struct fpath at = fpath_child(NULL, STR("includeObject"));
        field_error_str(&errs, FIELD_INVALID, &at, given,
                        "must be 'Metadata', 'Object', 'None', or empty");
        return status_bad_request(
            a, str_of(arena_printf(a, "Unable to convert to Table as requested: " STR_FMT,
                                   STR_ARG(field_errors_text(&errs)))));
    }
    rep->include = (uint8_t)include;
    return NULL;
}

static bool is_discovery(enum route_kind kind)
{
    return kind == ROUTE_LEGACY || kind == ROUTE_GROUPS || kind == ROUTE_GROUP ||
           kind == ROUTE_VERSION;
}

static unsigned allowed_reps(const struct request *rq)
{
    if (!rq->res)
        return ALLOW_PLAIN | ALLOW_PROTOBUF;
    bool is_scale = rq->sub && str_is(rq->sub->name, "scale");
    bool is_review = !rq->sub && rq->res->strategy->is_review;
    return ALLOW_PLAIN | ALLOW_TRANSFORMS | (is_review ? 0 : ALLOW_TABLE) |
           (rq->res->crd && !is_scale ? 0 : ALLOW_PROTOBUF);
}

/* Built-in kinds have upstream's router in front, which looks at media types only. */
static struct json *not_acceptable(struct request *rq, bool stream)
{
    struct arena *a = &rq->arena;
    if (!rq->res || rq->res->crd || negotiate_is_known(rq->accept))
        return status_not_acceptable(a, negotiate_accepted(stream));
    if (rq->route.name.n)
        return status_no_representation(a, negotiate_accepted(false));
    return status_no_representation(
        a, arena_printf(a, "%s, %s", negotiate_accepted(false), negotiate_accepted(true)));
}

static struct json *negotiate(struct request *rq)
{
    bool stream = rq->res && rq->route.verb == KUBE_WATCH;
    bool aggregates = rq->route.kind == ROUTE_LEGACY || rq->route.kind == ROUTE_GROUPS;
    struct rep rep;
    if (!rq->res && !is_discovery(rq->route.kind)) /* their handlers look at Accept themselves */
        return NULL;
    if (!(aggregates && negotiate_accept(rq->accept, ALLOW_AGGREGATED, &rep)) &&
        !negotiate_accept(rq->accept, allowed_reps(rq), &rep))
        return not_acceptable(rq, false);
    if (stream && rep.format == FORMAT_YAML)
        return not_acceptable(rq, true);
    struct json *no = check_table(rq, &rep);
    if (!no)
        no = check_partial(rq, &rep);
    rep.pretty = !stream && rep.format == FORMAT_JSON &&
                 (rep.pretty || negotiate_wants_pretty(rq->route.url, rq->user_agent));
    rq->rep = rep;
    return no;
}

/* Flow control; see flow.h. In-process requests do not queue. */
static struct json *flow_step(struct request *rq)
{
    if (rq->in_process)
        return NULL;
    const struct api_attributes at = permission_attributes(rq);
    const struct flow_question q = {
        .user = rq->identity.user,
        .groups = rq->identity.groups,
        .n_groups = rq->identity.n_groups,
        .verb = at.verb,
        .group = at.group,
        .resource = at.resource,
        .subresource = at.subresource,
        .ns = at.ns,
        .path = at.path,
    };
    enum flow_answer answer = flow_enter(&rq->api->flows, &rq->place, &q);
    if (answer == FLOW_WAIT)
        request_wait(rq);
    return answer == FLOW_REFUSED ? status_too_many_requests(&rq->arena, 1) : NULL;
}

void request_on_flow_run(struct flow_ticket *t)
{
    request_continue(container_of(t, struct request, place), NULL);
}

void request_on_flow_refuse(struct flow_ticket *t)
{
    struct request *rq = container_of(t, struct request, place);
    request_continue(rq, status_too_many_requests(&rq->arena, 1));
}

/* Validate ?timeout. Its value has no effect: no request lasts that long. */
static struct json *check_timeout(struct request *rq)
{
    static const char *const streams[] = { "attach", "exec", "log", "portforward", "proxy" };
    struct arena *a = &rq->arena;
    struct str given = route_query(&rq->route, "timeout");
    bool goes_on = rq->route.verb == KUBE_WATCH; /* these verbs have no time limit */
    int64_t ns;
    for (size_t i = 0; i < ARRAY_LEN(streams); i++)
        goes_on = goes_on || str_is(rq->route.subresource, streams[i]);
    if (given.n == 0 || goes_on || duration_parse(given, &ns))
        return NULL;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    (void)buf_add_cstr(&text, "invalid timeout specified in the request URL - time: ");
    (void)buf_add_cstr(&text, duration_problem(given));
    field_go_quote(&text, given);
    return status_bad_request(a, str_copy_arena(a, buf_str(&text)));
}

static struct json *authenticate(struct request *rq)
{
    return rq->api->needs->authenticate(rq);
}

static struct json *impersonate(struct request *rq)
{
    return rq->api->needs->impersonate(rq);
}

static struct json *authorize(struct request *rq)
{
    return rq->api->needs->authorize(rq);
}

static struct json *(*const head_steps[])(struct request *rq) = {
    admit_load, authenticate, impersonate, route,    check_timeout,
    flow_step,  authorize,    find,        negotiate
};

/* Run the verb; it continues from store callbacks if it cannot answer at once. */
static void run(struct request *rq)
{
    request_move(rq, REQUEST_VERB);
    if (!rq->res) {
        endpoint_serve(rq);
        return;
    }
    if (subresource_serve(rq))
        return;
    if (rq->res->strategy->is_measured) {
        rq->api->needs->serve_measured(rq);
        return;
    }
    switch (rq->route.verb) {
    case KUBE_GET:
        read_get(rq);
        return;
    case KUBE_LIST:
        read_list(rq);
        return;
    case KUBE_WATCH:
        watch_begin(rq);
        return;
    case KUBE_CREATE:
        if (!rq->api->needs->serve(rq))
            write_create(rq);
        return;
    case KUBE_UPDATE:
        write_update(rq);
        return;
    case KUBE_PATCH:
        write_patch(rq);
        return;
    case KUBE_DELETE:
        delete_object(rq);
        return;
    case KUBE_DELETECOLLECTION:
        delete_collection(rq);
        return;
    case KUBE_VERBS_ALL:
        break;
    }
    reply_status(rq, method_not_allowed(rq));
}

/* ------------------------------------------------------------------ lifecycle */

void request_settled(struct request *rq)
{
    assert(!rq->counted || rq->api->n_inflight > 0);
    if (rq->counted)
        rq->api->n_inflight--;
    rq->counted = false;
    line_leave(&rq->api->lines, &rq->line);
    flow_leave(&rq->api->flows, &rq->place);
}

void request_allow_page(struct request *rq, const struct store_page *page)
{
    uint64_t steps = 0;
    for (size_t i = 0; i < page->n; i++)
        steps += page->kv[i].value.n * (uint64_t)API_WORK_PER_BYTE + API_WORK_PER_OBJECT;
    budget_allow(&rq->budget, steps);
}

struct request *request_new(struct api *api, const struct sink_ops *sink, void *sink_data)
{
    struct request *rq = xnew(struct request);
    rq->api = api;
    rq->sink = sink;
    rq->sink_data = sink_data;
    rq->start_ns = clock_mono_ns();
    rq->budget = BUDGET_INIT;
    rq->arena.max_bytes = API_ARENA_MAX_BYTES;
    rq->arena.budget = &rq->budget;
    rq->body = BUF_INIT(API_BODY_MAX_BYTES);
    list_push_back(&api->requests, &rq->node);
    return rq;
}

/* Run the steps of the head until one waits. */
static void run_head(struct request *rq)
{
    assert(rq->at == REQUEST_HEAD && rq->step <= ARRAY_LEN(head_steps));
    while (rq->step < ARRAY_LEN(head_steps)) {
        const struct json *no = head_steps[rq->step++](rq);
        if (no) {
            reply_status(rq, no);
            return;
        }
        if (rq->at == REQUEST_WAITING)
            return;
    }
    if (rq->has_body) {
        request_move(rq, REQUEST_BODY);
        rq->sink->read_body(rq, API_BODY_MAX_BYTES);
    } else {
        run(rq);
    }
}

void request_start(struct request *rq, bool has_body)
{
    assert(rq->step == 0 && !rq->gone);
    request_move(rq, REQUEST_HEAD);
    api_renew_certificate(rq->api);
    rq->has_body = has_body;
    run_head(rq);
}

void request_continue(struct request *rq, const struct json *no)
{
    assert(!rq->gone);
    request_move(rq, REQUEST_HEAD);
    if (no)
        reply_status(rq, no);
    else
        run_head(rq);
}

int request_body(struct request *rq, struct str chunk)
{
    struct api *api = rq->api;
    if (request_is_answered(rq))
        return -EMSGSIZE;
    if (api->body_bytes + chunk.n > API_BODIES_MAX_BYTES) {
        reply_status(rq, status_too_many_requests(&rq->arena, 1));
        return -EMSGSIZE;
    }
    api->body_bytes += chunk.n;
    rq->body_counted += chunk.n;
    return buf_add_str(&rq->body, chunk);
}

/* One large request per turn, so that other work runs in between. */
static void on_large_turn(struct defer *d)
{
    struct api *api = container_of(d, struct api, large_turn);
    struct list *first = list_pop_front(&api->large);
    if (!list_is_empty(&api->large))
        defer_start(api->loop, &api->large_turn, on_large_turn);
    if (first)
        run(container_of(first, struct request, large));
}

static void run_large(struct request *rq)
{
    struct api *api = rq->api;
    assert(rq->at == REQUEST_BODY);
    list_push_back(&api->large, &rq->large);
    defer_start(api->loop, &api->large_turn, on_large_turn);
}

void request_body_end(struct request *rq, int r)
{
    if (rq->gone || request_is_answered(rq))
        return;
    if (r == -EMSGSIZE || rq->body.failed == -EMSGSIZE)
        reply_status(rq, status_too_large(&rq->arena, API_BODY_MAX_BYTES));
    else if (r < 0 || !buf_ok(&rq->body))
        reply_status(
            rq, status_bad_request(&rq->arena, STR("the request body did not arrive completely")));
    else if (rq->body.n > API_LARGE_BODY_BYTES)
        run_large(rq);
    else
        run(rq);
}

static void set_unsent(struct request *rq, size_t bytes)
{
    assert(rq->api->unsent_bytes >= rq->unsent);
    rq->api->unsent_bytes += bytes - rq->unsent;
    rq->unsent = bytes;
}

void request_unsent(struct request *rq, size_t bytes)
{
    struct api *api = rq->api;
    set_unsent(rq, bytes);
    if (!bytes)
        list_remove(&rq->behind);
    else if (!list_is_linked(&rq->behind))
        list_push_back(&api->unsent, &rq->behind);
    while (api->unsent_bytes > API_UNSENT_MAX_BYTES) {
        struct request *last = list_first(&api->unsent, struct request, behind);
        log_warn("answer cut off", "path=" STR_FMT " peer=" STR_FMT " bytes=%zu reason=\"%s\"",
                 STR_ARG(last->route.path), STR_ARG(last->peer), last->unsent,
                 "too much waits for clients that do not read");
        set_unsent(last, 0);
        list_remove(&last->behind);
        request_end(last);
        last->sink->abort(last);
    }
}

void request_writable(struct request *rq)
{
    request_unsent(rq, 0);
    if (rq->gone)
        return;
    if (rq->compress)
        compress_writable(rq);
    else if (rq->on_writable)
        rq->on_writable(rq);
}

enum { TRIM_MIN_BYTES = 8 << 20 };

static void request_free(struct request *rq)
{
    struct api *api = rq->api;
    assert(rq->gone && rq->busy == 0);
    assert(!list_is_linked(&rq->large) && !list_is_linked(&rq->behind) && rq->unsent == 0);
    assert(api->body_bytes >= rq->body_counted);
    if (rq->on_gone)
        rq->on_gone(rq);
    request_settled(rq);
    api->body_bytes -= rq->body_counted;
    list_remove(&rq->node);
    kube_resource_unref(rq->res);
    headers_fini(&rq->extra);
    headers_fini(&rq->protocol_fields);
    headers_fini(&rq->proxy_fields);
    bool large = rq->arena.total_bytes > TRIM_MIN_BYTES;
    buf_fini(&rq->body);
    arena_fini(&rq->arena);
    if (large)
        (void)malloc_trim(0); /* otherwise heap fragments would stay with the process */
    free(rq);
    api_part_idle(api);
}

void request_gone(struct request *rq)
{
    assert(!rq->gone);
    rq->gone = true;
    list_remove(&rq->large);
    request_unsent(rq, 0);
    compress_free(rq);
    if (rq->busy == 0)
        request_free(rq);
}

bool request_idle(struct request *rq)
{
    assert(rq->busy > 0);
    rq->busy--;
    if (!rq->gone)
        return false;
    if (rq->busy == 0)
        request_free(rq);
    return true;
}
