/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions over plain HTTP, for clients that do not use the Kubernetes API:
 *
 *     /v1/namespaces/NS/functions          GET list, POST create
 *     /v1/namespaces/NS/functions/NAME     GET, PUT, PATCH (merge), DELETE
 *     /v1/status                           GET the leader, gateways, workers
 *     /registerService                     POST, a form: Dirigent's registration
 *     /patch, /check?name=, /health        likewise
 *
 * Each becomes a request for Function objects and is answered after that request, so an
 * acknowledged change is as durable as the API makes it.
 */
#include "fn/control/control_impl.h"

#include "base/map.h"
#include "client/ask.h"
#include "codec/json.h"
#include "codec/media.h"
#include "codec/url.h"
#include "io/http.h"

#include <errno.h>

enum { FORM_MAX_BYTES = 64 << 10 };

#define FUNCTIONS "/apis/dormouse.dev/v1alpha1/namespaces/"

struct rest;
typedef void (*rest_answer)(struct rest *r, int status, struct str body, const struct json *json);

struct rest {
    struct control *c;
    struct list node;
    struct http_exchange *x;
    struct arena arena;
    struct buf body;
    struct url_target target;
    const char *method;
    bool is_form;
    struct client_ask *ask;
    rest_answer answer;
};

/* ---------------------------------------------------------------- answers */

static void reply(struct rest *r, int status, const char *type, struct str body)
{
    struct headers h = { 0 };
    (void)headers_addc(&h, "content-type", type);
    http_reply(r->x, status, &h, body);
    headers_fini(&h);
}

static void fail(struct rest *r, int status, const char *reason, const char *text)
{
    struct json *o = json_new_object(&r->arena);
    struct buf body = BUF_INIT(8 << 10);
    json_set_str(&r->arena, o, "reason", str_of(reason));
    json_set_str(&r->arena, o, "message", str_of(text));
    (void)json_write(&body, o);
    reply(r, status, "application/json", buf_str(&body));
    buf_fini(&body);
}

/* Pass on the API's answer; its Status becomes reason and message. */
static void pass_on(struct rest *r, int status, struct str body, const struct json *json)
{
    if (status >= 400 && str_is(json_get_str(json, "kind"), "Status"))
        fail(r, status, str_dup_arena(&r->arena, json_get_str(json, "reason")),
             str_dup_arena(&r->arena, json_get_str(json, "message")));
    else
        reply(r, status, "application/json", body);
}

static void on_asked(void *arg, int status, struct str body, const struct json *json,
                     const struct err *err)
{
    struct rest *r = arg;
    r->ask = NULL;
    if (status == 0)
        fail(r, 503, "ApiUnavailable", err_text(err));
    else
        r->answer(r, status, body, json);
}

static void ask(struct rest *r, const char *method, const char *type, struct str path,
                struct str body, rest_answer answer)
{
    struct err err = { 0 };
    struct ask_request rq = {
        .method = method, .target = path, .content_type = type, .body = body
    };
    r->answer = answer;
    if (ask_start(r->c->opts.transport, r->c->opts.identity, &rq, on_asked, r, &r->ask, &err) < 0)
        fail(r, 503, "ApiUnavailable", err_text(&err));
}

static struct str function_path(struct rest *r, struct str namespace, struct str name)
{
    struct buf path = BUF_INIT(4 << 10);
    buf_add_cstr(&path, FUNCTIONS);
    (void)url_encode(&path, namespace);
    buf_add_cstr(&path, "/functions");
    if (name.n) {
        buf_add_char(&path, '/');
        (void)url_encode(&path, name);
    }
    struct str copy = str_copy_arena(&r->arena, buf_str(&path));
    buf_fini(&path);
    return copy;
}

/* ---------------------------------------------------------------- objects */

/* A Function, or {"name", "spec"}, or for PUT the spec alone. NULL: answered. */
static struct json *read_object(struct rest *r, struct str name)
{
    struct err err = { 0 };
    struct json *in, *object = json_new_object(&r->arena);
    if (json_parse(&r->arena, buf_str(&r->body), NULL, &in, &err) < 0 || in->type != JSON_OBJECT) {
        fail(r, 400, "BadRequest", err.code ? err_text(&err) : "the body is no object");
        return NULL;
    }
    if (json_getc(in, "metadata"))
        object = in;
    else if (json_getc(in, "spec"))
        json_setc(&r->arena, object, "spec", json_clone(&r->arena, json_getc(in, "spec")));
    else
        json_setc(&r->arena, object, "spec", in);
    struct json *meta = json_obj(&r->arena, object, "metadata");
    if (name.n == 0 && object != in)
        name = json_get_str(in, "name");
    json_set_str(&r->arena, object, "apiVersion", STR("dormouse.dev/v1alpha1"));
    json_set_str(&r->arena, object, "kind", STR("Function"));
    if (name.n)
        json_set_str(&r->arena, meta, "name", name);
    return object;
}

static void send_object(struct rest *r, const char *method, struct str path,
                        const struct json *object, rest_answer answer)
{
    struct buf body = BUF_INIT(FN_SPEC_MAX_BYTES * 2);
    (void)json_write(&body, object);
    ask(r, method, "application/json", path, buf_str(&body), answer);
    buf_fini(&body);
}

static void create(struct rest *r, struct str namespace)
{
    struct json *object = read_object(r, STR(""));
    if (!object)
        return;
    if (!catalog_may_add(r->c->catalog, namespace))
        fail(r, 403, "QuotaExceeded", "the namespace has as many functions as its quota allows");
    else
        send_object(r, "POST", function_path(r, namespace, STR("")), object, pass_on);
}

/* Replaces the present version, whatever it is. */
static void on_current(struct rest *r, int status, struct str body, const struct json *json)
{
    struct str namespace = r->target.segments[2], name = r->target.segments[4];
    struct json *object = read_object(r, name);
    if (!object)
        return;
    if (status == 404) {
        send_object(r, "POST", function_path(r, namespace, STR("")), object, pass_on);
    } else if (status != 200) {
        pass_on(r, status, body, json);
    } else {
        json_set_str(&r->arena, json_obj(&r->arena, object, "metadata"), "resourceVersion",
                     json_get_str(json_getc(json, "metadata"), "resourceVersion"));
        send_object(r, "PUT", function_path(r, namespace, name), object, pass_on);
    }
}

/* A patch of the object, or of its spec alone. */
static void patch(struct rest *r, struct str path)
{
    struct json *in;
    struct err err = { 0 };
    struct buf body = BUF_INIT(FN_SPEC_MAX_BYTES * 2);
    if (json_parse(&r->arena, buf_str(&r->body), NULL, &in, &err) < 0 || in->type != JSON_OBJECT) {
        fail(r, 400, "BadRequest", err.code ? err_text(&err) : "the body is no object");
        return;
    }
    if (!json_getc(in, "spec") && !json_getc(in, "metadata")) {
        struct json *whole = json_new_object(&r->arena);
        json_setc(&r->arena, whole, "spec", in);
        in = whole;
    }
    (void)json_write(&body, in);
    ask(r, "PATCH", "application/merge-patch+json", path, buf_str(&body), pass_on);
    buf_fini(&body);
}

static void serve_functions(struct rest *r)
{
    const struct url_target *t = &r->target;
    struct str namespace = t->segments[2], name = t->n_segments == 5 ? t->segments[4] : STR("");
    struct str path = function_path(r, namespace, name);
    bool one = name.n > 0;
    if (strcmp(r->method, "GET") == 0) {
        if (!one && t->raw_query.n)
            path = str_of(
                arena_printf(&r->arena, STR_FMT "?" STR_FMT, STR_ARG(path), STR_ARG(t->raw_query)));
        ask(r, "GET", NULL, path, STR(""), pass_on);
    } else if (strcmp(r->method, "POST") == 0 && !one) {
        create(r, namespace);
    } else if (strcmp(r->method, "PUT") == 0 && one) {
        ask(r, "GET", NULL, path, STR(""), on_current);
    } else if (strcmp(r->method, "PATCH") == 0 && one) {
        patch(r, path);
    } else if (strcmp(r->method, "DELETE") == 0 && one) {
        ask(r, "DELETE", NULL, path, STR(""), pass_on);
    } else {
        fail(r, 405, "MethodNotAllowed", "GET, POST, PUT, PATCH or DELETE");
    }
}

/* ---------------------------------------------------------------- Dirigent's forms */

static void text_reply(struct rest *r, int status, struct str text)
{
    reply(r, status, "text/plain; charset=utf-8", text);
}

/* Scaling fields of Dirigent's forms, and the fields of the spec. */
static const struct {
    const char *field, *group, *key;
    uint32_t times;
} form_fields[] = {
    { "scaling_upper_bound", "scale", "max", 1 },
    { "scaling_lower_bound", "scale", "min", 1 },
    { "initial_scale", "scale", "initial", 1 },
    { "target_burst_capacity", "scale", "burstCapacity", 1 },
    { "scale_down_delay", "scale", "downDelayMilliseconds", 1000 },
    { "panic_threshold_percentage", "scale", "panicThresholdPercent", 1 },
    { "max_scale_up_rate", "scale", "maxUpPercent", 100 },
    { "max_scale_down_rate", "scale", "maxDownPercent", 100 },
    { "stable_window_width_seconds", "scale", "stableMilliseconds", 1000 },
    { "container_concurrency", "concurrency", "limit", 1 },
    { "container_concurrency_target_percentage", "concurrency", "utilizationPercent", 1 },
};

/* false: a field is no number, and that has been answered. */
static bool add_scaling(struct rest *r, const struct url_target *form, struct json *spec)
{
    for (size_t i = 0; i < ARRAY_LEN(form_fields); i++) {
        struct str v = url_query_get(form, form_fields[i].field);
        uint64_t n;
        if (v.n == 0)
            continue;
        if (parse_u64(v, 0, INT32_MAX, &n) < 0) {
            text_reply(r, 400,
                       str_of(arena_printf(&r->arena, "%s is no number\n", form_fields[i].field)));
            return false;
        }
        if (n == INT32_MAX) /* Dirigent's value for no bound */
            continue;
        json_set_int(&r->arena, json_obj(&r->arena, spec, form_fields[i].group), form_fields[i].key,
                     (int64_t)n * form_fields[i].times);
    }
    return true;
}

/*
 * `image`: "fake", "fake:CREATE_MS", "file:NAME.wasm" or NAME.wasm, "http(s)://URL#sha256=HEX", a
 * path that begins at the root or a plain word: a bundle; anything else a reference to an image.
 */
static void add_image(struct rest *r, struct str image, struct json *spec)
{
    struct arena *a = &r->arena;
    uint64_t ms = 0;
    if (str_is(image, "fake") || str_has_prefix(image, STR("fake:"))) {
        (void)parse_u64(str_slice(image, 5, image.n), 0, 600000, &ms);
        json_set_int(a, json_obj(a, spec, "fake"), "createMilliseconds", (int64_t)ms);
    } else if (str_has_prefix(image, STR("http://")) || str_has_prefix(image, STR("https://"))) {
        struct str url, digest;
        (void)str_cut(image, '#', &url, &digest);
        if (str_has_prefix(digest, STR("sha256=")))
            digest = str_slice(digest, 7, digest.n);
        json_set_str(a, json_obj(a, spec, "module"), "url", url);
        json_set_str(a, json_obj(a, spec, "module"), "sha256", digest);
    } else if (str_has_prefix(image, STR("file:")) || str_has_suffix(image, STR(".wasm"))) {
        if (str_has_prefix(image, STR("file:")))
            image = str_slice(image, 5, image.n);
        json_set_str(a, json_obj(a, spec, "module"), "file", image);
    } else {
        bool is_bundle = str_has_prefix(image, STR("/")) ||
                         (str_find_char(image, '/') < 0 && str_find_char(image, ':') < 0);
        json_set_str(a, json_obj(a, spec, "image"), is_bundle ? "bundle" : "reference", image);
    }
}

static bool add_port(struct rest *r, const struct url_target *form, struct json *spec)
{
    struct str values[2] = { STR(""), STR("") };
    size_t n = 0;
    uint64_t port;
    for (size_t i = 0; i < form->n_pairs; i++)
        if (str_is(form->pairs[i].name, "port_forwarding") && n < 2)
            values[n++] = form->pairs[i].value;
    if (n != 2 || parse_u64(values[0], 1, UINT16_MAX, &port) < 0 ||
        !(str_ieq(values[1], STR("tcp")) || str_ieq(values[1], STR("udp")))) {
        text_reply(r, 400, STR("port_forwarding is wanted twice: a port, and tcp or udp\n"));
        return false;
    }
    if (json_getc(spec, "image"))
        json_set_int(&r->arena, spec, "port", (int64_t)port);
    return true;
}

static void add_resources(struct rest *r, const struct url_target *form, struct json *spec)
{
    struct str cpu = url_query_get(form, "requested_cpu"),
               memory = url_query_get(form, "requested_memory");
    uint64_t n;
    struct json *to = json_obj(&r->arena, spec, "resources");
    if (parse_u64(cpu, 1, 1024000, &n) >= 0 && n > 1) /* 1 is Dirigent's "whatever" */
        json_set_str(&r->arena, to, "cpu",
                     str_of(arena_printf(&r->arena, "%llum", (unsigned long long)n)));
    if (parse_u64(memory, 1, 1 << 20, &n) >= 0 && n > 1)
        json_set_str(&r->arena, to, "memory",
                     str_of(arena_printf(&r->arena, "%lluMi", (unsigned long long)n)));
}

static void on_registered(struct rest *r, int status, struct str body, const struct json *json)
{
    if (status == 201)
        text_reply(r, 200, str_of(r->c->url));
    else if (status == 409)
        text_reply(r, 409, STR("there is a function of this name\n"));
    else
        text_reply(
            r,
            status >= 500   ? 503
            : status == 403 ? 403
                            : 400,
            str_of(arena_printf(&r->arena, STR_FMT "\n", STR_ARG(json_get_str(json, "message")))));
}

static void register_service(struct rest *r, const struct url_target *form)
{
    struct arena *a = &r->arena;
    struct json *o = json_new_object(a), *spec = json_obj(a, o, "spec");
    struct str name = url_query_get(form, "name"), image = url_query_get(form, "image");
    if (name.n == 0 || image.n == 0) {
        text_reply(r, 400, STR("name and image are wanted\n"));
        return;
    }
    add_image(r, image, spec);
    if (!add_port(r, form, spec) || !add_scaling(r, form, spec))
        return;
    add_resources(r, form, spec);
    if (url_query_bool(form, "cold_start_sweep")) {
        struct json *scale = json_obj(a, spec, "scale");
        json_set_str(a, scale, "policy", STR("dirigent"));
        json_set_int(a, scale, "stableMilliseconds", 6000);
        json_set_int(a, scale, "max", 1);
    }
    json_set_str(a, o, "apiVersion", STR("dormouse.dev/v1alpha1"));
    json_set_str(a, o, "kind", STR("Function"));
    json_set_str(a, json_obj(a, o, "metadata"), "name", name);
    if (!catalog_may_add(r->c->catalog, STR("default")))
        text_reply(r, 403, STR("the namespace has as many functions as its quota allows\n"));
    else
        send_object(r, "POST", function_path(r, STR("default"), STR("")), o, on_registered);
}

static void on_patched(struct rest *r, int status, struct str body, const struct json *json)
{
    if (status == 200)
        text_reply(r, 200, STR(""));
    else
        text_reply(
            r, status == 404 ? 404 : 400,
            str_of(arena_printf(&r->arena, STR_FMT "\n", STR_ARG(json_get_str(json, "message")))));
}

static void patch_service(struct rest *r, const struct url_target *form)
{
    struct json *o = json_new_object(&r->arena), *spec = json_obj(&r->arena, o, "spec");
    struct str name = url_query_get(form, "function");
    struct buf body = BUF_INIT(64 << 10);
    if (name.n == 0) {
        text_reply(r, 400, STR("function is wanted\n"));
        return;
    }
    if (!add_scaling(r, form, spec))
        return;
    (void)json_write(&body, o);
    ask(r, "PATCH", "application/merge-patch+json", function_path(r, STR("default"), name),
        buf_str(&body), on_patched);
    buf_fini(&body);
}

static void serve_form(struct rest *r)
{
    struct url_target *form = arena_new(&r->arena, struct url_target);
    struct err err = { 0 };
    char *text = arena_printf(&r->arena, "/?" STR_FMT, STR_ARG(buf_str(&r->body)));
    if (url_parse(&r->arena, str_of(text), form, &err) < 0)
        text_reply(r, 400, STR("this is no form\n"));
    else if (str_is(r->target.raw_path, "/patch"))
        patch_service(r, form);
    else
        register_service(r, form);
}

/* ---------------------------------------------------------------- requests */

static void on_body(struct http_exchange *x, struct str chunk)
{
    struct rest *r = http_exchange_data(x);
    (void)buf_add_str(&r->body, chunk);
}

static void on_body_end(struct http_exchange *x, int e)
{
    struct rest *r = http_exchange_data(x);
    if (e < 0)
        return; /* the server reports the error */
    if (r->is_form)
        serve_form(r);
    else
        serve_functions(r);
}

static void on_gone(struct http_exchange *x, int e)
{
    struct rest *r = http_exchange_data(x);
    ask_cancel(r->ask);
    list_remove(&r->node);
    buf_fini(&r->body);
    arena_fini(&r->arena);
    free(r);
}

static const struct http_exchange_ops ops = { .on_body = on_body,
                                              .on_body_end = on_body_end,
                                              .on_gone = on_gone };

static bool is_functions(const struct url_target *t)
{
    return (t->n_segments == 4 || t->n_segments == 5) && str_is(t->segments[0], "v1") &&
           str_is(t->segments[1], "namespaces") && str_is(t->segments[3], "functions");
}

static void serve_status(struct rest *r)
{
    struct buf body = BUF_INIT(16 << 20);
    control_json(r->c, &body);
    reply(r, 200, "application/json", buf_str(&body));
    buf_fini(&body);
}

static void check_service(struct rest *r)
{
    struct str name = url_query_get(&r->target, "name");
    bool known = catalog_find(r->c->catalog, STR("default"), name) != 0;
    text_reply(r, known ? 200 : 404, STR(""));
}

bool control_serve(struct control *c, struct http_exchange *x, const struct http_request *req)
{
    struct rest *r = xnew(struct rest);
    *r = (struct rest){ .c = c, .x = x };
    buf_init(&r->body, FN_SPEC_MAX_BYTES * 2);
    bool readable = url_parse(&r->arena, req->target, &r->target, NULL) >= 0;
    struct str path = r->target.raw_path;
    bool is_get = str_is(req->method, "GET");
    bool is_form = readable && (str_is(path, "/registerService") || str_is(path, "/patch"));
    bool is_quick = readable && (str_is(path, "/v1/status") || str_is(path, "/check") ||
                                 str_is(path, "/health"));
    if (!is_form && !is_quick && !(readable && is_functions(&r->target))) {
        arena_fini(&r->arena);
        buf_fini(&r->body);
        free(r);
        return false;
    }
    r->method = str_dup_arena(&r->arena, req->method);
    r->is_form = is_form;
    /* The arena's strings must outlive the request's. */
    (void)url_parse(&r->arena, str_copy_arena(&r->arena, req->target), &r->target, NULL);
    list_push_back(&c->rest, &r->node);
    http_exchange_set(x, &ops, r);
    if (!is_get && headers_get(req->headers, "origin").p)
        text_reply(r, 403, STR("not from a page in a browser\n"));
    else if (is_quick && !is_get)
        text_reply(r, 405, STR("GET is wanted\n"));
    else if (is_form && !str_is(req->method, "POST"))
        text_reply(r, 405, STR("POST is wanted\n"));
    else if (is_quick && str_is(path, "/v1/status"))
        serve_status(r);
    else if (is_quick && str_is(path, "/check"))
        check_service(r);
    else if (is_quick)
        text_reply(r, 200, STR(""));
    else if (req->has_body)
        http_read_body(x, is_form ? FORM_MAX_BYTES : FN_SPEC_MAX_BYTES);
    else
        on_body_end(x, 0);
    return true;
}

void control_end_rest(struct control *c)
{
    list_each (node, &c->rest) {
        struct rest *r = list_entry(node, struct rest, node);
        ask_cancel(take_ptr(&r->ask));
        http_abort(r->x);
    }
}
