/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations of a G1 or G2 guest; see calls.h.
 *
 * Each operation is one struct calls_op from its import to its last delivery. An op whose guest was
 * freed while its exchange is still running is an orphan (calls == NULL) and frees itself when the
 * exchange ends.
 */
#include "operator/host/calls.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/slab.h"
#include "codec/bincode.h"
#include "codec/json.h"
#include "codec/url.h"
#include "operator/discovery.h"
#include "operator/target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum op_kind { OP_DELAY, OP_UNARY, OP_STREAM, OP_WATCH };

/* A delivery for which the guest's queue had no room. */
struct calls_waiting {
    struct list node;
    bool finished, last, null;
    size_t n;
    char bytes[];
};

struct calls_op {
    struct list node;    /* in calls->ops, or ->queued */
    struct calls *calls; /* NULL: orphan */
    uint64_t id;
    uint32_t incarnation;
    enum op_kind kind;
    bool paused;
    bool ended; /* the last delivery is queued or waits */
    struct list waiting;
    struct shared *shared;               /* OP_WATCH under an identity: what it watches */
    struct operator_client_query *query; /* OP_WATCH: the pending access query */
    union {
        struct timer timer;              /* OP_DELAY */
        struct watch_sub *sub;           /* OP_WATCH; NULL before it subscribes and after its end */
        struct calls_exchange *exchange; /* OP_UNARY, OP_STREAM */
    };
};

/*
 * A shared watch under an identity; kept to repeat the access query, and to watch without sharing.
 */
struct shared {
    uint64_t asked_ms;
    size_t n;
    char origin[]; /* path and query of the guest's request, already parsed once */
};

struct calls_exchange {
    struct exchange *call; /* NULL before its start and after its end */
    char *method, *target;
    struct headers headers;
    char *body;
    size_t body_n;
    bool split_lines; /* a watch that cannot be shared: each line is a delivery */
    int status;
    struct headers head;
    struct buf in; /* OP_UNARY: the body so far; split_lines: an incomplete line */
};

struct calls {
    const struct calls_env *env;
    struct operator_client *client;
    struct transport *transport; /* the client's, or the host's */
    struct guest *guest;
    enum guest_abi abi;
    const struct allow *allow;
    struct list ops;    /* running */
    struct list queued; /* OP_UNARY and OP_STREAM beyond CALLS_REQUESTS_MAX */
    size_t running;
};

static void start_next(struct calls *c);

/* ---------------------------------------------------------------- life of an op */

static struct calls_op *new_op(struct calls *c, const struct guest_op *from, enum op_kind kind)
{
    struct calls_op *op = slab_new(struct calls_op);
    op->calls = c;
    op->id = from->id;
    op->incarnation = from->incarnation;
    op->kind = kind;
    list_init(&op->waiting);
    list_push_back(&c->ops, &op->node);
    return op;
}

static void free_exchange(struct calls_exchange *x)
{
    if (!x)
        return;
    free(x->method);
    free(x->target);
    free(x->body);
    headers_fini(&x->headers);
    headers_fini(&x->head);
    buf_fini(&x->in);
    free(x);
}

static void free_op(struct calls_op *op)
{
    list_each_safe (n, &op->waiting)
        free(list_entry(n, struct calls_waiting, node));
    list_remove(&op->node);
    operator_client_ask_cancel(op->query);
    slab_free(op->shared);
    if (op->kind == OP_UNARY || op->kind == OP_STREAM) {
        assert(!op->exchange || !op->exchange->call);
        free_exchange(op->exchange);
    }
    slab_free(op);
}

/* Free the op if its last delivery was passed to the guest and its source has ended. */
static void free_if_done(struct calls_op *op)
{
    if (!op->ended || !list_is_empty(&op->waiting))
        return;
    if ((op->kind == OP_UNARY || op->kind == OP_STREAM) && op->exchange && op->exchange->call)
        return; /* freed in on_end() */
    free_op(op);
}

static void pause_source(struct calls_op *op)
{
    if (op->paused)
        return;
    op->paused = true;
    if (op->kind == OP_WATCH && op->sub)
        watch_sub_pause(op->sub);
    if (op->kind == OP_STREAM && op->exchange && op->exchange->call)
        exchange_pause(op->exchange->call);
}

static void resume_source(struct calls_op *op)
{
    if (!op->paused)
        return;
    op->paused = false;
    if (op->kind == OP_WATCH && op->sub)
        watch_sub_resume(op->sub);
    if (op->kind == OP_STREAM && op->exchange && op->exchange->call)
        exchange_resume(op->exchange->call);
}

/* ---------------------------------------------------------------- deliveries */

static int try_deliver(struct calls_op *op, bool finished, bool last, bool null, struct str payload)
{
    struct guest_delivery d = { .id = op->id,
                                .incarnation = op->incarnation,
                                .finished = finished,
                                .last = last,
                                .null = null,
                                .payload = payload };
    return guest_deliver(op->calls->guest, &d, NULL);
}

/* Deliver to the guest, or queue after the deliveries that already wait. */
static void deliver(struct calls_op *op, bool finished, bool last, bool null, struct str payload)
{
    if (!op->calls || op->ended)
        return;
    op->ended = last;
    if (list_is_empty(&op->waiting) && try_deliver(op, finished, last, null, payload) != -EBUSY)
        return;
    struct calls_waiting *w = xalloc(sizeof *w + payload.n);
    w->finished = finished;
    w->last = last;
    w->null = null;
    w->n = payload.n;
    if (payload.n)
        memcpy(w->bytes, payload.p, payload.n);
    list_push_back(&op->waiting, &w->node);
    pause_source(op);
}

void calls_on_room(struct calls *c)
{
    struct list round;
    list_move_all(&c->ops, &round);
    struct list *node;
    while ((node = list_pop_front(&round))) {
        struct calls_op *op = list_entry(node, struct calls_op, node);
        list_push_back(&c->ops, &op->node);
        bool full = false;
        while (!full && !list_is_empty(&op->waiting)) {
            struct calls_waiting *w = list_first(&op->waiting, struct calls_waiting, node);
            full = try_deliver(op, w->finished, w->last, w->null, str_n(w->bytes, w->n)) == -EBUSY;
            if (full)
                break;
            list_remove(&w->node);
            free(w);
        }
        if (list_is_empty(&op->waiting)) {
            resume_source(op);
            free_if_done(op);
        }
    }
}

/* A Status body in upstream's format. */
static void write_status(struct buf *b, int code, const char *reason, struct str message)
{
    buf_add_cstr(b, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                    "\"Failure\",\"message\":");
    json_write_str(b, message);
    buf_printf(b, ",\"reason\":\"%s\",\"code\":%d}", reason, code);
}

/* A watch of G1 has events and an end, but no responses. */
static bool is_g1_watch(const struct calls_op *op)
{
    return op->calls->abi == GUEST_ABI_G1 && (op->kind == OP_WATCH || op->kind == OP_STREAM);
}

/* Deliver the refusal of a watch as an event; `status` is the server's Status object, or empty. */
static void deliver_error_event(struct calls_op *op, struct str status)
{
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(GUEST_PAYLOAD_MAX_BYTES);
    struct arena arena = { .max_bytes = (size_t)GUEST_PAYLOAD_MAX_BYTES * 4 };
    struct json *object;
    buf_add_cstr(&line, "{\"type\":\"ERROR\",\"object\":");
    if (json_parse(&arena, status, NULL, &object, NULL) >= 0)
        (void)json_write(&line, object);
    else
        buf_add_cstr(&line, "null");
    buf_add_char(&line, '}');
    arena_fini(&arena);
    deliver(op, false, false, false, buf_str(&line));
}

static void end_stream(struct calls_op *op)
{
    deliver(op, true, true, true, STR(""));
}

static void deliver_meta(struct calls_op *op, int status, const struct headers *headers)
{
    scoped(buf_fini_scoped) struct buf meta = BUF_INIT(GUEST_PAYLOAD_MAX_BYTES);
    /* `headers` are only read. */
    struct bincode_response res = { .status = (unsigned)status };
    if (headers)
        res.headers = *headers;
    (void)bincode_response_meta_encode(&meta, &res);
    deliver(op, false, false, false, buf_str(&meta));
}

/* Deliver head and body together, in the form of the guest's ABI, as the op's last delivery. */
static void deliver_response(struct calls_op *op, int status, const struct headers *headers,
                             struct str body)
{
    if (!op->calls)
        return;
    if (op->calls->abi == GUEST_ABI_G2) {
        deliver_meta(op, status, headers);
        deliver(op, true, true, false, body);
        return;
    }
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(GUEST_PAYLOAD_MAX_BYTES);
    struct bincode_response res = { .status = (unsigned)status, .headers = *headers, .body = body };
    (void)bincode_response_encode(&b, &res);
    deliver(op, true, true, false, buf_str(&b));
}

/* Deliver a response made by the host because the exchange failed. */
static void deliver_failure(struct calls_op *op, int code, const char *reason, struct str message)
{
    struct headers h = { 0 };
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(8192);
    if (!op->calls)
        return;
    (void)headers_addc(&h, "content-type", "application/json");
    write_status(&body, code, reason, message);
    if (is_g1_watch(op)) {
        deliver_error_event(op, buf_str(&body));
        end_stream(op);
    } else if (op->kind == OP_STREAM) {
        deliver_meta(op, code, &h);
        deliver(op, false, false, false, buf_str(&body));
        deliver(op, true, true, true, STR(""));
    } else {
        deliver_response(op, code, &h, buf_str(&body));
    }
    headers_fini(&h);
}

/* ---------------------------------------------------------------- exchanges */

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct calls_op *op = arg;
    if (!op->calls)
        return;
    op->exchange->status = status;
    if (op->kind == OP_STREAM && op->calls->abi == GUEST_ABI_G2)
        deliver_meta(op, status, headers);
    else if (op->kind == OP_UNARY)
        (void)headers_copy(&op->exchange->head, headers);
}

static void deliver_lines(struct calls_op *op, struct str chunk)
{
    struct calls_exchange *x = op->exchange;
    struct str line;
    while (str_find_char(chunk, '\n') >= 0) {
        (void)str_cut(chunk, '\n', &line, &chunk);
        if (x->in.n) {
            (void)buf_add_str(&x->in, line);
            line = buf_str(&x->in);
        }
        if (str_trim(line).n && buf_ok(&x->in))
            deliver(op, false, false, false, str_trim(line));
        buf_reset(&x->in);
    }
    (void)buf_add_str(&x->in, chunk);
    if (!buf_ok(&x->in) && x->call)
        exchange_cancel(x->call);
}

static void on_data(void *arg, struct str chunk)
{
    struct calls_op *op = arg;
    if (!op->calls)
        return;
    struct calls_exchange *x = op->exchange;
    if (op->kind == OP_UNARY || (is_g1_watch(op) && x->status != 200)) {
        if (buf_add_str(&x->in, chunk) < 0 && x->call)
            exchange_cancel(x->call);
    } else if (x->split_lines && x->status == 200) {
        deliver_lines(op, chunk);
    } else {
        deliver(op, false, false, false, chunk);
    }
}

static void fail_exchange(struct calls_op *op, int r, const struct err *err)
{
    struct str text = str_of(err && err->text[0] ? err->text : err_strerror(r));
    if (!buf_ok(&op->exchange->in))
        deliver_failure(op, 500, "InternalError",
                        STR("the response is larger than a guest may receive"));
    else if (r == -ETIMEDOUT)
        deliver_failure(op, 504, "Timeout", text);
    else
        deliver_failure(op, 503, "ServiceUnavailable", text);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct calls_op *op = arg;
    struct calls *c = op->calls;
    struct calls_exchange *x = op->exchange;
    x->call = NULL;
    if (!c) {
        free_op(op);
        return;
    }
    assert(c->running > 0);
    c->running--;
    if (op->kind == OP_STREAM && x->status) {
        if (is_g1_watch(op) && x->status != 200)
            deliver_error_event(op, buf_ok(&x->in) ? buf_str(&x->in) : STR(""));
        else if (x->split_lines && x->in.n && buf_ok(&x->in))
            deliver(op, false, false, false, str_trim(buf_str(&x->in)));
        end_stream(op);
    } else if (r < 0 || !x->status) {
        fail_exchange(op, r, err);
    } else {
        deliver_response(op, x->status, &x->head, buf_str(&x->in));
    }
    free_if_done(op);
    start_next(c);
}

static const struct exchange_events exchange_events = { .on_head = on_head,
                                                        .on_data = on_data,
                                                        .on_end = on_end };

static void start_exchange(struct calls_op *op)
{
    struct calls *c = op->calls;
    struct calls_exchange *x = op->exchange;
    struct kube_request req = { .method = str_of(x->method),
                                .target = str_of(x->target),
                                .headers = &x->headers,
                                .body = str_n(x->body, x->body_n),
                                .timeout_ms = CALLS_REQUEST_TIMEOUT_MS };
    struct err err = { 0 };
    assert(!x->call && c->running < CALLS_REQUESTS_MAX);
    c->running++;
    if (transport_start(c->transport, &req, &exchange_events, op, &x->call, &err) < 0) {
        c->running--;
        deliver_failure(op, 503, "ServiceUnavailable", str_of(err_text(&err)));
        free_if_done(op);
        return;
    }
    /* The request body is not needed again. */
    free(take_ptr(&x->body));
    headers_fini(&x->headers);
}

static void start_next(struct calls *c)
{
    while (c->running < CALLS_REQUESTS_MAX && !list_is_empty(&c->queued)) {
        struct calls_op *op = list_entry(list_pop_front(&c->queued), struct calls_op, node);
        list_push_back(&c->ops, &op->node);
        start_exchange(op);
    }
}

/* Headers that only the host sets or sees. */
static bool is_hosts(struct str name)
{
    static const char *const hosts[] = { "authorization",
                                         "connection",
                                         "content-length",
                                         "cookie",
                                         "host",
                                         "keep-alive",
                                         "proxy-authorization",
                                         "te",
                                         "trailer",
                                         "transfer-encoding",
                                         "upgrade",
                                         "user-agent",
                                         "expect",
                                         "accept-encoding" };
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
        if (str_ieq(name, str_of(hosts[i])))
            return true;
    struct str prefix = STR("impersonate-"), remote = STR("x-remote-");
    return str_ieq(str_slice(name, 0, prefix.n), prefix) ||
           str_ieq(str_slice(name, 0, remote.n), remote);
}

static void begin_exchange(struct calls_op *op, const struct bincode_request *req,
                           const struct target *t)
{
    struct calls *c = op->calls;
    struct calls_exchange *x = op->exchange = xnew(struct calls_exchange);
    x->method = str_dup(req->method);
    x->target = str_dup(t->origin);
    x->split_lines = t->watch;
    buf_init(&x->in, GUEST_PAYLOAD_MAX_BYTES - (64 << 10)); /* leaves space for the head */
    for (size_t i = 0; i < req->headers.n; i++)
        if (!is_hosts(headers_name(&req->headers, i)))
            (void)headers_add(&x->headers, headers_name(&req->headers, i),
                              headers_value(&req->headers, i));
    if (req->body.n) {
        x->body = xstrndup(req->body.p, req->body.n);
        x->body_n = req->body.n;
        if (!headers_get(&x->headers, "content-type").p)
            (void)headers_addc(&x->headers, "content-type", "application/json");
    }
    if (!headers_get(&x->headers, "accept").p)
        (void)headers_addc(&x->headers, "accept", "application/json");
    if (c->running < CALLS_REQUESTS_MAX) {
        start_exchange(op);
        return;
    }
    list_remove(&op->node);
    list_push_back(&c->queued, &op->node);
}

/* ---------------------------------------------------------------- watches */

static void deliver_open(struct calls_op *op, int status, struct str body)
{
    if (op->calls->abi == GUEST_ABI_G1) {
        if (status != 200)
            deliver_error_event(op, body);
        return;
    }
    struct headers h = { 0 };
    (void)headers_addc(&h, "content-type", "application/json");
    deliver_meta(op, status, &h);
    if (status != 200 && body.n)
        deliver(op, false, false, false, body);
    headers_fini(&h);
}

/* End a watch that the host refuses before it begins. */
static void refuse_watch(struct calls_op *op, int code, const char *reason, struct str message)
{
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(8192);
    write_status(&body, code, reason, message);
    deliver_open(op, code, buf_str(&body));
    end_stream(op);
    free_if_done(op);
}

/* The host itself may not watch this, so the watch cannot be shared: run it as the operator. */
static void watch_alone(struct calls_op *op)
{
    struct shared *s = take_ptr(&op->shared);
    struct bincode_request req = { .method = STR("GET") };
    struct target t = { .origin = str_n(s->origin, s->n), .watch = true };
    op->kind = OP_STREAM;
    op->exchange = NULL;
    begin_exchange(op, &req, &t);
    slab_free(s);
}

static void on_watch_open(void *arg, int status, struct str body)
{
    struct calls_op *op = arg;
    if (status == 403 && op->shared) {
        watch_sub_cancel(take_ptr(&op->sub));
        watch_alone(op);
        return;
    }
    deliver_open(op, status, body);
}

static void parse_shared(struct arena *a, const struct shared *s, struct target *ret)
{
    int r = target_parse(a, STR("GET"), str_n(s->origin, s->n), ret, NULL);
    assert(r >= 0);
}

/* As in upstream's RequestInfo, a watch of one name is checked with that name. */
static struct operator_client_query *ask(struct calls_op *op, const struct target *t,
                                         operator_client_cb cb)
{
    struct str one = STR("metadata.name="), name = STR("");
    if (str_has_prefix(t->field_selector, one) && str_find_char(t->field_selector, ',') < 0)
        name = str_slice(t->field_selector, one.n, t->field_selector.n);
    struct access_query q = { .verb = KUBE_WATCH,
                              .group_version = t->group_version,
                              .resource = t->resource,
                              .namespace = t->namespace,
                              .name = name };
    return operator_client_ask(op->calls->client, &q, cb, op);
}

/* The API server's wording. */
static char *forbidden_text(const struct calls_op *op, const struct target *t)
{
    struct str group = STR(""), version;
    if (str_find_char(t->group_version, '/') >= 0)
        (void)str_cut(t->group_version, '/', &group, &version);
    return xasprintf(STR_FMT "%s" STR_FMT " is forbidden: User \"%s\" cannot watch resource "
                             "\"" STR_FMT "\" in API group \"" STR_FMT "\" %s" STR_FMT "%s",
                     STR_ARG(t->resource), group.n ? "." : "", STR_ARG(group),
                     operator_client_user(op->calls->client), STR_ARG(t->resource), STR_ARG(group),
                     t->namespace.n ? "in the namespace \"" : "at the cluster scope",
                     STR_ARG(t->namespace), t->namespace.n ? "\"" : "");
}

/* A revoked right ends the watch, as a server does when the client renews the watch. */
static void on_may_go_on(void *arg, int r, bool allowed, const struct err *err)
{
    struct calls_op *op = arg;
    struct arena a = { 0 };
    struct target t;
    assert(op->calls && op->shared);
    op->query = NULL;
    op->shared->asked_ms = loop_now_ms(op->calls->env->loop);
    if (r < 0 || allowed || op->ended)
        return; /* an API server that does not respond has not refused */
    parse_shared(&a, op->shared, &t);
    scoped(free_scoped) char *text = forbidden_text(op, &t);
    scoped(buf_fini_scoped) struct buf status = BUF_INIT(8192);
    write_status(&status, 403, "Forbidden", str_of(text));
    arena_fini(&a);
    if (op->sub)
        watch_sub_cancel(take_ptr(&op->sub));
    deliver_error_event(op, buf_str(&status));
    end_stream(op);
    free_if_done(op);
}

static void on_watch_event(void *arg, const struct watch_event *ev)
{
    struct calls_op *op = arg;
    struct arena a = { 0 };
    struct target t;
    deliver(op, false, false, false, ev->line);
    if (!op->shared || op->query ||
        loop_now_ms(op->calls->env->loop) - op->shared->asked_ms <
            OPERATOR_CLIENT_ACCESS_RECHECK_MS)
        return;
    parse_shared(&a, op->shared, &t);
    op->query = ask(op, &t, on_may_go_on);
    arena_fini(&a);
}

static void on_watch_end(void *arg)
{
    struct calls_op *op = arg;
    op->sub = NULL;
    end_stream(op);
    free_if_done(op);
}

static const struct watch_sub_ops watch_ops = { .on_open = on_watch_open,
                                                .on_event = on_watch_event,
                                                .on_end = on_watch_end };

static void subscribe(struct calls_op *op, const struct target *t)
{
    struct err err = { 0 };
    struct watch_key key = { .group_version = t->group_version,
                             .plural = t->resource,
                             .namespace = t->namespace,
                             .label_selector = t->label_selector,
                             .field_selector = t->field_selector };
    int r = watch_hub_subscribe(op->calls->env->hub, &key, t->rv, t->bookmarks, &watch_ops, op,
                                &op->sub, &err);
    if (r == E_LIMIT)
        refuse_watch(op, 429, "TooManyRequests", str_of(err_text(&err)));
    else if (r < 0)
        refuse_watch(op, 400, "BadRequest", str_of(err_text(&err)));
}

static void on_may_watch(void *arg, int r, bool allowed, const struct err *err)
{
    struct calls_op *op = arg;
    struct arena a = { 0 };
    struct target t;
    assert(op->calls && op->shared && !op->sub);
    op->query = NULL;
    op->shared->asked_ms = loop_now_ms(op->calls->env->loop);
    parse_shared(&a, op->shared, &t);
    if (r < 0) {
        refuse_watch(op, 503, "ServiceUnavailable", str_of(err_text(err)));
    } else if (!allowed) {
        scoped(free_scoped) char *text = forbidden_text(op, &t);
        refuse_watch(op, 403, "Forbidden", str_of(text));
    } else {
        subscribe(op, &t);
    }
    arena_fini(&a);
}

static void begin_watch(struct calls_op *op, const struct target *t)
{
    assert(!op->shared && !op->query);
    op->kind = OP_WATCH;
    op->sub = NULL;
    if (!op->calls->client || !operator_client_user(op->calls->client)) {
        subscribe(op, t);
        return;
    }
    op->shared = slab_alloc(sizeof *op->shared + t->origin.n);
    op->shared->n = t->origin.n;
    memcpy(op->shared->origin, t->origin.p, t->origin.n);
    op->query = ask(op, t, on_may_watch);
}

/* ---------------------------------------------------------------- imports */

static void violation(struct calls *c, const struct err *err)
{
    struct err why = *err;
    (void)err_ctx(&why, E_TRAP, "malformed payload");
    guest_fail(c->guest, &why);
}

static bool is_allowed(struct calls_op *op, enum kube_verb verb, struct str path)
{
    if (allow_check(op->calls->allow, verb, path))
        return true;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    buf_printf(&text, "%s of '" STR_FMT "' is not in this operator's allow list",
               kube_verb_name(verb), STR_ARG(str_slice(path, 0, 1024)));
    deliver_failure(op, 403, "Forbidden", buf_str(&text));
    free_if_done(op);
    return false;
}

static void begin_request(struct calls *c, const struct guest_op *from)
{
    struct arena arena = { 0 };
    struct bincode_request req = { 0 };
    struct target target;
    struct err err = { 0 };
    if (bincode_request_decode(from->payload, &req, &err) < 0) {
        violation(c, &err);
        return;
    }
    struct calls_op *op = new_op(c, from, from->stream ? OP_STREAM : OP_UNARY);
    if (target_parse(&arena, req.method, req.uri, &target, &err) < 0) {
        deliver_failure(op, 400, "BadRequest", str_of(err_text(&err)));
        free_if_done(op);
    } else if (is_allowed(op, target.verb, target.path)) {
        bool shared = from->stream && target.verb == KUBE_WATCH && target.rv &&
                      !target.is_old_watch && !target.send_initial_events;
        if (shared)
            begin_watch(op, &target);
        else
            begin_exchange(op, &req, &target);
    }
    bincode_request_fini(&req);
    arena_fini(&arena);
}

/* A G1 watch waits for the plural of its kind. */
struct g1_watch {
    struct calls_op *op;
    struct bincode_watch watch;
    struct arena arena;
};

/* The request of a G1 watch, with its selectors. */
static int write_g1_target(struct buf *to, const struct bincode_watch *w, struct str plural)
{
    bool core = str_find_char(w->api_version, '/') < 0;
    buf_printf(to, "/%s/" STR_FMT "/", core ? "api" : "apis", STR_ARG(w->api_version));
    if (w->ns.n)
        buf_printf(to, "namespaces/" STR_FMT "/", STR_ARG(w->ns));
    buf_printf(to, STR_FMT "?watch=true", STR_ARG(plural));
    const struct url_pair pairs[] = { { STR("resourceVersion"), w->resource_version },
                                      { STR("labelSelector"), w->label_selector },
                                      { STR("fieldSelector"), w->field_selector },
                                      { STR("allowWatchBookmarks"),
                                        w->allow_bookmarks ? STR("true") : STR("") } };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (pairs[i].value.n == 0)
            continue;
        buf_printf(to, "&" STR_FMT "=", STR_ARG(pairs[i].name));
        (void)url_encode(to, pairs[i].value);
    }
    return buf_ok(to) ? 0 : E_LIMIT;
}

/*
 * The guest's version and namespace become part of a path. Check that it is still the path of a
 * watch of this resource, so that the allow list is applied to the actual request.
 */
static int parse_g1_target(struct arena *a, struct str text, const struct bincode_watch *w,
                           struct str plural, struct target *ret, struct err *err)
{
    int r = target_parse(a, STR("GET"), text, ret, err);
    if (r < 0)
        return r;
    if (ret->verb != KUBE_WATCH || !str_eq(ret->group_version, w->api_version) ||
        !str_eq(ret->namespace, w->ns) || !str_eq(ret->resource, plural) || ret->name.n)
        return err_set(err, E_INVALID, "no such API version or namespace");
    return 0;
}

/* With a version: a shared watch. Without: a stream of its own. */
static void begin_g1_stream(struct calls_op *op, const struct bincode_watch *w, struct str plural)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(16 << 10);
    struct arena arena = { 0 };
    struct target t;
    struct err err = { 0 };
    int r = write_g1_target(&text, w, plural);
    if (r >= 0)
        r = parse_g1_target(&arena, buf_str(&text), w, plural, &t, &err);
    if (r < 0) {
        deliver_failure(op, 400, "BadRequest",
                        str_of(r == E_LIMIT ? "the watch is too long" : err_text(&err)));
        free_if_done(op);
    } else if (is_allowed(op, KUBE_WATCH, t.path)) {
        struct bincode_request req = { .method = STR("GET"), .uri = buf_str(&text) };
        if (t.rv) {
            begin_watch(op, &t);
        } else {
            op->kind = OP_STREAM;
            begin_exchange(op, &req, &t);
        }
    }
    arena_fini(&arena);
}

static void on_kind(void *arg, int r, const struct discovery_kind *kind, const struct err *err)
{
    struct g1_watch *w = arg;
    struct calls_op *op = w->op;
    if (!op->calls) {
        free_op(op);
    } else if (r < 0) {
        deliver_failure(op, r == -ENOENT ? 404 : 503,
                        r == -ENOENT ? "NotFound" : "ServiceUnavailable", str_of(err_text(err)));
        free_if_done(op);
    } else {
        begin_g1_stream(op, &w->watch, kind->plural);
    }
    arena_fini(&w->arena);
    free(w);
}

static void begin_g1_watch(struct calls *c, const struct guest_op *from)
{
    struct g1_watch *w = xnew(struct g1_watch);
    struct err err = { 0 };
    /* The views point into the payload, which is only valid during this call. */
    struct str payload = str_copy_arena(&w->arena, from->payload);
    if (bincode_watch_decode(payload, &w->watch, &err) < 0) {
        violation(c, &err);
        arena_fini(&w->arena);
        free(w);
        return;
    }
    w->op = new_op(c, from, OP_WATCH);
    w->op->sub = NULL;
    discovery_ask(c->env->discovery, w->watch.api_version, w->watch.kind, on_kind, w);
}

static void on_delay(struct timer *t)
{
    struct calls_op *op = container_of(t, struct calls_op, timer);
    deliver(op, true, true, true, STR(""));
    free_if_done(op);
}

void calls_on_op(struct calls *c, const struct guest_op *from)
{
    switch (from->kind) {
    case GUEST_OP_REQUEST:
        begin_request(c, from);
        break;
    case GUEST_OP_DELAY: {
        struct calls_op *op = new_op(c, from, OP_DELAY);
        timer_start(c->env->loop, &op->timer, from->delay_ms, on_delay);
        break;
    }
    case GUEST_OP_WATCH:
        begin_g1_watch(c, from);
        break;
    }
}

/* ---------------------------------------------------------------- public */

struct calls *calls_new(const struct calls_env *env, enum guest_abi abi,
                        struct operator_client *client, const struct allow *allow)
{
    struct calls *c = slab_new(struct calls);
    c->env = env;
    c->client = client;
    c->transport = client ? operator_client_transport(client) : env->transport;
    c->abi = abi;
    c->allow = allow;
    list_init(&c->ops);
    list_init(&c->queued);
    return c;
}

void calls_set_guest(struct calls *c, struct guest *g)
{
    c->guest = g;
}

static void drop_op(struct calls_op *op)
{
    struct calls *c = op->calls;
    list_remove(&op->node);
    switch (op->kind) {
    case OP_DELAY:
        timer_stop(c->env->loop, &op->timer);
        free_op(op);
        return;
    case OP_WATCH:
        if (op->sub) {
            watch_sub_cancel(op->sub);
            free_op(op);
        } else if (op->ended || op->query) {
            free_op(op);
        } else {
            op->calls = NULL; /* the pending callback of discovery frees it */
        }
        return;
    case OP_UNARY:
    case OP_STREAM:
        op->calls = NULL;
        if (!op->exchange || !op->exchange->call) {
            free_op(op);
            return;
        }
        assert(c->running > 0);
        c->running--;
        exchange_cancel(op->exchange->call);
        return;
    }
}

void calls_reset(struct calls *c)
{
    while (!list_is_empty(&c->queued))
        drop_op(list_first(&c->queued, struct calls_op, node));
    while (!list_is_empty(&c->ops))
        drop_op(list_first(&c->ops, struct calls_op, node));
    assert(c->running == 0);
}

void calls_free(struct calls *c)
{
    if (!c)
        return;
    calls_reset(c);
    slab_free(c);
}

void calls_get_stats(const struct calls *c, struct calls_stats *ret)
{
    *ret = (struct calls_stats){ 0 };
    list_each (n, &c->queued)
        ret->queued++;
    list_each (n, &c->ops) {
        const struct calls_op *op = list_entry(n, struct calls_op, node);
        switch (op->kind) {
        case OP_DELAY:
            ret->timers++;
            if (!ret->next_timer_ms || op->timer.due_ms < ret->next_timer_ms)
                ret->next_timer_ms = op->timer.due_ms;
            break;
        case OP_WATCH:
            ret->watches++;
            break;
        case OP_STREAM:
            ret->streams++;
            break;
        case OP_UNARY:
            ret->requests++;
            break;
        }
    }
}
