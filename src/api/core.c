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

#include "api/admission.h"
#include "api/compress.h"
#include "api/encode.h"
#include "api/monitor.h"
#include "api/negotiate.h"
#include "api/part.h"
#include "api/permission.h"
#include "api/subresources.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "codec/digest.h"
#include "io/http.h"
#include "kube/model/builtin.h"
#include "kube/model/crd.h"
#include "kube/model/duration.h"
#include "kube/model/field.h"
#include "kube/rules/rules.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>

/* ------------------------------------------------------------------ answers */

static void leave_inflight(struct request *rq)
{
    if (rq->counted)
        rq->api->n_inflight--;
    rq->counted = false;
    line_leave(&rq->api->lines, &rq->line);
    flow_leave(&rq->api->flows, &rq->place);
}

void request_settled(struct request *rq)
{
    leave_inflight(rq);
}

void request_allow_page(struct request *rq, const struct store_page *page)
{
    uint64_t steps = 0;
    for (size_t i = 0; i < page->n; i++)
        steps += page->kv[i].value.n * (uint64_t)API_WORK_PER_BYTE + API_WORK_PER_OBJECT;
    budget_allow(&rq->budget, steps);
}

/* The request's ID for the client and for logs: chosen by the client, or a new one. */
static struct str audit_id(struct request *rq)
{
    char uid[37];
    if (rq->audit_id.n)
        return rq->audit_id;
    sys_uuid(uid);
    rq->audit_id = str_copy_arena(&rq->arena, str_of(uid));
    return rq->audit_id;
}

enum { WARNINGS_MAX_RUNES = 4096, WARNING_CUT_RUNES = 256 };

static size_t count_runes(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

static struct str cut_runes(struct str s, size_t max)
{
    size_t i = 0;
    for (size_t n = 0; i < s.n; i++) {
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
        if (n > max)
            break;
    }
    return str_slice(s, 0, i);
}

void reply_warn(struct request *rq, struct str text)
{
    if (text.n == 0 || rq->warning_runes >= WARNINGS_MAX_RUNES)
        return;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c < 0x20 || c == 0x7f)
            return; /* as upstream: drop a text that is not valid in a header field */
    }
    for (const struct warning *w = rq->warnings; w; w = w->next)
        if (str_eq(w->text, text))
            return;
    struct warning *w = arena_new(&rq->arena, struct warning);
    w->text = str_copy_arena(&rq->arena, text);
    if (rq->last_warning)
        rq->last_warning->next = w;
    else
        rq->warnings = w;
    rq->last_warning = w;
    rq->warning_runes += MIN(count_runes(text), (size_t)WARNING_CUT_RUNES);
}

static void add_warning(struct headers *to, struct str text)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)buf_add_cstr(&b, "299 - \"");
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            (void)buf_add_char(&b, '\\');
        (void)buf_add_char(&b, text.p[i]);
    }
    (void)buf_add_char(&b, '"');
    (void)headers_add(to, STR("warning"), buf_str(&b));
}

static void add_warnings(const struct request *rq, struct headers *to)
{
    size_t all = 0, written = 0;
    for (const struct warning *w = rq->warnings; w; w = w->next)
        all += count_runes(w->text);
    size_t max = all > WARNINGS_MAX_RUNES ? WARNING_CUT_RUNES : all;
    for (const struct warning *w = rq->warnings; w && written < WARNINGS_MAX_RUNES; w = w->next) {
        struct str text = cut_runes(w->text, max);
        add_warning(to, text);
        written += count_runes(text);
    }
}

void reply_head(struct request *rq, int status, const char *content_type, uint64_t body_n)
{
    if (rq->gone || rq->head_sent)
        return;
    struct headers h = { 0 };
    if (content_type)
        (void)headers_addc(&h, "content-type", content_type);
    if (!rq->in_process)
        (void)headers_add(&h, STR("audit-id"), audit_id(rq));
    if (!headers_get(&rq->extra, "cache-control").p)
        (void)headers_addc(&h, "cache-control", "no-cache, private");
    for (size_t i = 0; i < rq->extra.n; i++)
        (void)headers_add(&h, headers_name(&rq->extra, i), headers_value(&rq->extra, i));
    add_warnings(rq, &h);
    rq->head_sent = true;
    rq->status = status;
    monitor_request(rq);
    const struct sink_ops *sink = rq->sink;
    compress_begin(rq, &h, body_n, &body_n);
    sink->head(rq, status, &h, body_n);
    headers_fini(&h);
}

void reply_bytes(struct request *rq, int status, const char *content_type, struct str body)
{
    if (rq->gone || rq->head_sent)
        return;
    reply_head(rq, status, content_type, body.n);
    if (body.n)
        (void)rq->sink->write(rq, body);
    rq->ended = true;
    leave_inflight(rq);
    rq->sink->end(rq);
}

/* If-None-Match: a list of tags, or "*". */
static bool has_tag(struct str list, struct str tag)
{
    while (list.n) {
        struct str item;
        (void)str_cut(list, ',', &item, &list);
        item = str_trim(item);
        if (str_has_prefix(item, STR("W/")))
            item = str_slice(item, 2, item.n);
        if (str_is(item, "*") || str_eq(item, tag))
            return true;
    }
    return false;
}

bool reply_unchanged(struct request *rq, const char *tag)
{
    const char *quoted = arena_printf(&rq->arena, "\"%s\"", tag);
    (void)headers_addc(&rq->extra, "etag", quoted);
    if (!has_tag(rq->if_none_match, str_of(quoted)))
        return false;
    reply_bytes(rq, 304, NULL, STR(""));
    return true;
}

static void reply_tree(struct request *rq, const struct rep *rep, int status, const struct json *v)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    int r = encode_tree(&rq->arena, rep, v, &b);
    if (r < 0) {
        log_error("answer does not fit", "path=" STR_FMT " error=%s", STR_ARG(rq->route.path),
                  err_name(r));
        reply_bytes(rq, 500, "text/plain", STR("answer too large"));
        return;
    }
    reply_bytes(rq, status, rep_content_type(rep, false), buf_str(&b));
}

void reply_json(struct request *rq, int status, const struct json *v)
{
    reply_tree(rq, &rq->rep, status, v);
}

/* A refusal is written in a format that the client accepts, never as a Table; otherwise in JSON. */
void reply_status(struct request *rq, const struct json *status)
{
    if (budget_is_over(&rq->budget)) /* later conclusions are not based on all data */
        status = status_too_much_work(&rq->arena);
    int code = status_code(status);
    struct rep rep = { .pretty = true };
    if (code == 404 && rq->no_page) {
        (void)headers_addc(&rq->extra, "x-content-type-options", "nosniff");
        reply_bytes(rq, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
        return;
    }
    if (rep_negotiate(rq->accept, ALLOW_PLAIN | ALLOW_PROTOBUF, &rep))
        rep.pretty = rep.pretty || rep_wants_pretty(rq->route.url, rq->user_agent);
    int64_t retry_s = json_int_or(json_path(status, "details", "retryAfterSeconds", NULL), 0);
    if (retry_s > 0)
        (void)headers_addc(&rq->extra, "retry-after",
                           arena_printf(&rq->arena, "%lld", (long long)retry_s));
    if (code == 401)
        (void)headers_addc(&rq->extra, "www-authenticate", "Bearer realm=\"kubernetes\"");
    reply_tree(rq, &rep, code, status);
}

enum { DAMAGE_LOG_MS = 60000 }; /* a damaged object may be read by many clients */

struct json *api_error(struct request *rq, int r, const struct err *err)
{
    struct json *status = status_from_err(&rq->arena, r, err);
    uint64_t skipped = 0;
    bool repeats = r == E_DIGEST && !log_rate_ok(&rq->api->damage_log, DAMAGE_LOG_MS, &skipped);
    if (status_code(status) >= 500 && !repeats)
        log_error("request failed", "method=" STR_FMT " path=" STR_FMT " error=\"%s\" skipped=%llu",
                  STR_ARG(rq->method), STR_ARG(rq->route.path),
                  err ? err_text(err) : err_strerror(r), (unsigned long long)skipped);
    return status;
}

void reply_err(struct request *rq, int r, const struct err *err)
{
    reply_status(rq, api_error(rq, r, err));
}

void reply_store_err(struct request *rq, int r, uint64_t wanted_rev, const struct err *err)
{
    struct arena *a = &rq->arena;
    struct store *s = rq->api->store;
    if (r == E_EXPIRED)
        reply_status(
            rq, status_expired(a, str_of(arena_printf(a, "too old resource version: %llu (%llu)",
                                                      (unsigned long long)wanted_rev,
                                                      (unsigned long long)store_compacted(s)))));
    else if (r == E_FUTURE)
        reply_status(rq, status_future(a, wanted_rev, store_revision(s)));
    else
        reply_err(rq, r, err);
}

struct json *reply_not_found(struct request *rq)
{
    return status_not_found(&rq->arena, rq->route.group, rq->route.resource, rq->route.name);
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
 * Upstream has fixed routes below the groups of built-in kinds; other paths are looked up at run
 * time.
 */
bool is_builtin_group(const struct registry *reg, struct str group)
{
    registry_each(r, reg)
    {
        if (!(*r)->crd && str_eq((*r)->group, group))
            return true;
    }
    return false;
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
        registry_find(&api->reg, rt->group, rt->version, rt->resource);
    if (!res && rq->in_process && str_is(rq->identity.user, API_CONTROLLER_USER))
        res = api->needs->find_stored(api, rt->group, rt->version, rt->resource);
    if (!res) {
        rq->no_page = !is_builtin_group(&api->reg, rt->group);
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
    if (!rq->res || rq->res->crd || rep_is_known(rq->accept))
        return status_not_acceptable(a, rep_accepted(stream));
    if (rq->route.name.n)
        return status_no_representation(a, rep_accepted(false));
    return status_no_representation(
        a, arena_printf(a, "%s, %s", rep_accepted(false), rep_accepted(true)));
}

static struct json *negotiate(struct request *rq)
{
    bool stream = rq->res && rq->route.verb == KUBE_WATCH;
    bool aggregates = rq->route.kind == ROUTE_LEGACY || rq->route.kind == ROUTE_GROUPS;
    struct rep rep;
    if (!rq->res && !is_discovery(rq->route.kind)) /* their handlers look at Accept themselves */
        return NULL;
    if (!(aggregates && rep_negotiate(rq->accept, ALLOW_AGGREGATED, &rep)) &&
        !rep_negotiate(rq->accept, allowed_reps(rq), &rep))
        return not_acceptable(rq, false);
    if (stream && rep.format == FORMAT_YAML)
        return not_acceptable(rq, true);
    struct json *no = check_table(rq, &rep);
    if (!no)
        no = check_partial(rq, &rep);
    rep.pretty = !stream && rep.format == FORMAT_JSON &&
                 (rep.pretty || rep_wants_pretty(rq->route.url, rq->user_agent));
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
    rq->waiting = answer == FLOW_WAIT;
    return answer == FLOW_REFUSED ? status_too_many_requests(&rq->arena, 1) : NULL;
}

static void on_flow_run(struct flow_ticket *t)
{
    request_continue(container_of(t, struct request, place), NULL);
}

static void on_flow_refuse(struct flow_ticket *t)
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
    if (given.n == 0 || goes_on || go_duration_parse(given, &ns))
        return NULL;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    (void)buf_add_cstr(&text, "invalid timeout specified in the request URL - time: ");
    (void)buf_add_cstr(&text, go_duration_problem(given));
    go_quote(&text, given);
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
    if (!rq->res) {
        endpoint_serve(rq);
        return;
    }
    if (subresource_serve(rq))
        return;
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
        write_delete(rq);
        return;
    case KUBE_DELETECOLLECTION:
        write_delete_collection(rq);
        return;
    case KUBE_VERBS_ALL:
        break;
    }
    reply_status(rq, method_not_allowed(rq));
}

/* ------------------------------------------------------------------ lifecycle */

void api_renew_certificate(struct api *api)
{
    if (api->renew_at_s && clock_wall_ms() / 1000 >= api->renew_at_s)
        api->renew_at_s = api->renew(api->renew_arg);
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
    while (rq->step < ARRAY_LEN(head_steps)) {
        const struct json *no = head_steps[rq->step++](rq);
        if (no) {
            reply_status(rq, no);
            return;
        }
        if (rq->waiting)
            return;
    }
    if (rq->has_body)
        rq->sink->read_body(rq, API_BODY_MAX_BYTES);
    else
        run(rq);
}

void request_start(struct request *rq, bool has_body)
{
    api_renew_certificate(rq->api);
    rq->has_body = has_body;
    run_head(rq);
}

void request_continue(struct request *rq, const struct json *no)
{
    assert(rq->waiting);
    rq->waiting = false;
    if (no)
        reply_status(rq, no);
    else
        run_head(rq);
}

int request_body(struct request *rq, struct str chunk)
{
    struct api *api = rq->api;
    if (rq->head_sent)
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
    list_push_back(&api->large, &rq->large);
    defer_start(api->loop, &api->large_turn, on_large_turn);
}

void request_body_end(struct request *rq, int r)
{
    if (rq->gone || rq->head_sent)
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
        last->ended = true;
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

static void close_step(struct api *api);

enum { TRIM_MIN_BYTES = 8 << 20 };

static void request_free(struct request *rq)
{
    struct api *api = rq->api;
    if (rq->on_gone)
        rq->on_gone(rq);
    leave_inflight(rq);
    api->body_bytes -= rq->body_counted;
    list_remove(&rq->node);
    kube_resource_unref(rq->res);
    headers_fini(&rq->extra);
    bool large = rq->arena.total_bytes > TRIM_MIN_BYTES;
    buf_fini(&rq->body);
    arena_fini(&rq->arena);
    if (large)
        (void)malloc_trim(0); /* otherwise heap fragments would stay with the process */
    free(rq);
    if (api->closing)
        close_step(api);
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

/* ------------------------------------------------------------------ the server */

struct api *api_core_new(const struct api_opts *opts, const struct api_needs *needs)
{
    struct api *api = xnew(struct api);
    api->needs = needs;
    api->transport.start = api_local_start;
    api->loop = opts->loop;
    api->store = opts->store;
    api->authorize = opts->authorize;
    api->authorize_arg = opts->authorize_arg;
    api->with_rbac = opts->rbac;
    api->ca_cert = BUF_INIT(1 << 20);
    (void)buf_add_str(&api->ca_cert, opts->ca_cert);
    api->commit = str_dup(opts->commit);
    api->commit_date = str_dup(opts->commit_date);
    api->unattended.is_on = opts->warn_unattended;
    api->watch_min_ms = opts->watch_min_ms ? opts->watch_min_ms : API_WATCH_MIN_MS;
    list_init(&api->requests);
    list_init(&api->unsent);
    list_init(&api->large);
    flows_init(&api->flows, api->loop, on_flow_run, on_flow_refuse);
    lines_init(&api->lines, api->loop);
    documents_init(&api->documents, api);
    registry_init(&api->reg);
    rules_register(&api->reg);
    api->chain = xnew(struct admission_chain);
    return api;
}

struct transport *api_transport(struct api *api)
{
    return &api->transport;
}

void api_on_renewal(struct api *api, int64_t at_s, int64_t (*renew)(void *arg), void *arg)
{
    api->renew_at_s = at_s;
    api->renew = renew;
    api->renew_arg = arg;
}

static void on_parts_ready(void *arg, int r, const struct err *err)
{
    struct api *api = arg;
    api->ready = r >= 0;
    api->on_ready(api->on_ready_arg, r, err);
}

void api_start(struct api *api, void (*on_ready)(void *arg, int r, const struct err *err),
               void *arg)
{
    api->on_ready = on_ready;
    api->on_ready_arg = arg;
    api_start_parts(api, on_parts_ready, api);
}

void api_core_free(struct api *api)
{
    assert(list_is_empty(&api->requests));
    api_free_parts(api);
    timer_stop(api->loop, &api->bookmark_timer);
    timer_stop(api->loop, &api->reauthorize_timer);
    map_fini(&api->revoked);
    map_fini(&api->hubs);
    registry_fini(&api->reg);
    metrics_fini(&api->metrics);
    buf_fini(&api->ca_cert);
    flows_fini(&api->flows);
    lines_fini(&api->lines);
    namespace_table_fini(&api->namespace_table);
    documents_fini(&api->documents);
    unattended_fini(&api->unattended);
    free(api->commit);
    free(api->commit_date);
    defer_cancel(&api->large_turn);
    free(api->chain);
    free(api);
}

static void close_turn(struct defer *d)
{
    struct api *api = container_of(d, struct api, close_defer);
    void (*done)(void *arg) = api->on_closed;
    void *arg = api->on_closed_arg;
    api_core_free(api);
    done(arg);
}

/* The server ends when the listener is closed and the last request has ended. */
static void close_step(struct api *api)
{
    if (api->http_closed && list_is_empty(&api->requests) && !api_parts_busy(api))
        defer_start(api->loop, &api->close_defer, close_turn);
}

void api_part_idle(struct api *api)
{
    if (api->closing)
        close_step(api);
}

static void on_http_closed(void *arg)
{
    struct api *api = arg;
    api->http = NULL;
    api->http_closed = true;
    close_step(api);
}

void api_close(struct api *api, uint64_t grace_ms, void (*done)(void *arg), void *arg)
{
    assert(!api->closing);
    api->closing = true;
    api->on_closed = done;
    api->on_closed_arg = arg;
    api_stop_parts(api);
    watch_close_all(api);
    if (api->http) {
        http_server_close(api->http, grace_ms, on_http_closed, api);
    } else {
        api->http_closed = true;
        close_step(api);
    }
}
