/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations of a G1 or G2 guest; see calls.h.
 *
 * Each operation is one struct op from its import to its last delivery. An op whose guest is gone while its
 * exchange still runs is an orphan (calls == NULL) and frees itself at the exchange's end.
 */
#include "operator/calls.h"

#include "base/buf.h"
#include "base/log.h"
#include "codec/bincode.h"
#include "codec/json.h"
#include "operator/discovery.h"
#include "operator/target.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum op_kind { OP_DELAY, OP_UNARY, OP_STREAM, OP_WATCH };

/* A delivery that the guest's queue had no room for. */
struct waiting {
    struct list node;
    bool finished, last, null;
    size_t n;
    char bytes[];
};

struct op {
    struct list node; /* in calls->ops, or ->queued */
    struct calls *calls; /* NULL: orphan */
    uint64_t id;
    uint32_t incarnation;
    enum op_kind kind;
    bool paused;
    bool ended; /* the last delivery is queued or waits */
    struct list waiting;
    union {
        struct timer timer;       /* OP_DELAY */
        struct watch_sub *sub;    /* OP_WATCH; NULL until subscribed, after its end */
        struct exchange *exchange; /* OP_UNARY, OP_STREAM */
    };
};

struct exchange {
    struct kube_call *call; /* NULL before the start, after the end */
    char *method, *target;
    struct headers headers;
    char *body;
    size_t body_n;
    bool split_lines; /* a watch that cannot be shared: one line a delivery */
    int status;
    struct headers head;
    struct buf in; /* OP_UNARY: the body so far; split_lines: an incomplete line */
};

struct calls {
    const struct calls_env *env;
    struct guest *guest;
    enum guest_abi abi;
    const struct allow *allow;
    struct list ops;    /* running */
    struct list queued; /* OP_UNARY and OP_STREAM beyond CALLS_REQUESTS_MAX */
    size_t running;
};

static void start_next(struct calls *c);

/* ---------------------------------------------------------------- life of an op */

static struct op *new_op(struct calls *c, const struct guest_op *from, enum op_kind kind)
{
    struct op *op = xnew(struct op);
    op->calls = c;
    op->id = from->id;
    op->incarnation = from->incarnation;
    op->kind = kind;
    list_init(&op->waiting);
    list_push_back(&c->ops, &op->node);
    return op;
}

static void free_exchange(struct exchange *x)
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

static void free_op(struct op *op)
{
    list_each_safe(n, &op->waiting) free(list_entry(n, struct waiting, node));
    list_remove(&op->node);
    if (op->kind == OP_UNARY || op->kind == OP_STREAM)
        free_exchange(op->exchange);
    free(op);
}

/* Has its last delivery gone to the guest, and its source ended? */
static void free_if_done(struct op *op)
{
    if (!op->ended || !list_is_empty(&op->waiting))
        return;
    if ((op->kind == OP_UNARY || op->kind == OP_STREAM) && op->exchange && op->exchange->call)
        return; /* on_end comes */
    free_op(op);
}

static void pause_source(struct op *op)
{
    if (op->paused)
        return;
    op->paused = true;
    if (op->kind == OP_WATCH && op->sub)
        watch_sub_pause(op->sub);
    if (op->kind == OP_STREAM && op->exchange && op->exchange->call)
        transport_pause(op->calls->env->transport, op->exchange->call);
}

static void resume_source(struct op *op)
{
    if (!op->paused)
        return;
    op->paused = false;
    if (op->kind == OP_WATCH && op->sub)
        watch_sub_resume(op->sub);
    if (op->kind == OP_STREAM && op->exchange && op->exchange->call)
        transport_resume(op->calls->env->transport, op->exchange->call);
}

/* ---------------------------------------------------------------- deliveries */

static int try_deliver(struct op *op, bool finished, bool last, bool null, struct str payload)
{
    struct guest_delivery d = { .id = op->id,
                                .incarnation = op->incarnation,
                                .finished = finished,
                                .last = last,
                                .null = null,
                                .payload = payload };
    return guest_deliver(op->calls->guest, &d, NULL);
}

/* To the guest, or to wait in order behind what already waits. */
static void deliver(struct op *op, bool finished, bool last, bool null, struct str payload)
{
    if (!op->calls || op->ended)
        return;
    op->ended = last;
    if (list_is_empty(&op->waiting) && try_deliver(op, finished, last, null, payload) != -EBUSY)
        return;
    struct waiting *w = xalloc(sizeof *w + payload.n);
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
        struct op *op = list_entry(node, struct op, node);
        list_push_back(&c->ops, &op->node);
        bool full = false;
        while (!full && !list_is_empty(&op->waiting)) {
            struct waiting *w = list_first(&op->waiting, struct waiting, node);
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

/* A Status body as upstream writes it. */
static void write_status(struct buf *b, int code, const char *reason, struct str message)
{
    buf_add_cstr(b, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":");
    json_write_str(b, message);
    buf_printf(b, ",\"reason\":\"%s\",\"code\":%d}", reason, code);
}

static void deliver_meta(struct op *op, int status, const struct headers *headers)
{
    scoped(buf_fini_scoped) struct buf meta = BUF_INIT(GUEST_PAYLOAD_MAX_BYTES);
    /* The views of `headers` are only read. */
    struct bincode_response res = { .status = (unsigned)status };
    if (headers)
        res.headers = *headers;
    (void)bincode_response_meta_encode(&meta, &res);
    deliver(op, false, false, false, buf_str(&meta));
}

/* Head and body together, in the form of the guest's ABI; the op's last delivery. */
static void deliver_response(struct op *op, int status, const struct headers *headers, struct str body)
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

/* A response that the host makes because the exchange could not (H1). */
static void deliver_failure(struct op *op, int code, const char *reason, struct str message)
{
    struct headers h = { 0 };
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(8192);
    (void)headers_addc(&h, "content-type", "application/json");
    write_status(&body, code, reason, message);
    if (op->kind == OP_STREAM && op->calls && op->calls->abi == GUEST_ABI_G2) {
        deliver_meta(op, code, &h);
        deliver(op, false, false, false, buf_str(&body));
        deliver(op, true, true, true, STR(""));
    } else {
        deliver_response(op, code, &h, buf_str(&body));
    }
    headers_fini(&h);
}

static void end_stream(struct op *op)
{
    deliver(op, true, true, true, STR(""));
}

/* ---------------------------------------------------------------- exchanges */

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct op *op = arg;
    if (!op->calls)
        return;
    op->exchange->status = status;
    if (op->kind == OP_STREAM && op->calls->abi == GUEST_ABI_G2)
        deliver_meta(op, status, headers);
    else if (op->kind == OP_UNARY)
        (void)headers_copy(&op->exchange->head, headers);
}

static void deliver_lines(struct op *op, struct str chunk)
{
    struct exchange *x = op->exchange;
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
        transport_cancel(op->calls->env->transport, x->call);
}

static void on_data(void *arg, struct str chunk)
{
    struct op *op = arg;
    if (!op->calls)
        return;
    struct exchange *x = op->exchange;
    if (op->kind == OP_UNARY) {
        if (buf_add_str(&x->in, chunk) < 0 && x->call)
            transport_cancel(op->calls->env->transport, x->call);
    } else if (x->split_lines && x->status == 200) {
        deliver_lines(op, chunk);
    } else {
        deliver(op, false, false, false, chunk);
    }
}

static void fail_exchange(struct op *op, int r, const struct err *err)
{
    struct str text = str_of(err && err->text[0] ? err->text : err_strerror(r));
    if (!buf_ok(&op->exchange->in))
        deliver_failure(op, 500, "InternalError", STR("the response is larger than a guest may receive"));
    else if (r == -ETIMEDOUT)
        deliver_failure(op, 504, "Timeout", text);
    else
        deliver_failure(op, 503, "ServiceUnavailable", text);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct op *op = arg;
    struct calls *c = op->calls;
    struct exchange *x = op->exchange;
    x->call = NULL;
    if (!c) {
        free_op(op);
        return;
    }
    c->running--;
    if (op->kind == OP_STREAM && x->status) {
        if (x->split_lines && x->in.n && buf_ok(&x->in))
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

static const struct kube_call_ops exchange_ops = { .on_head = on_head, .on_data = on_data, .on_end = on_end };

static void start_exchange(struct op *op)
{
    struct calls *c = op->calls;
    struct exchange *x = op->exchange;
    struct kube_request req = { .identity = c->env->identity,
                                .method = str_of(x->method),
                                .target = str_of(x->target),
                                .headers = &x->headers,
                                .body = str_n(x->body, x->body_n),
                                .timeout_ms = CALLS_REQUEST_TIMEOUT_MS };
    struct err err = { 0 };
    c->running++;
    if (transport_start(c->env->transport, &req, &exchange_ops, op, &x->call, &err) < 0) {
        c->running--;
        deliver_failure(op, 503, "ServiceUnavailable", str_of(err_text(&err)));
        free_if_done(op);
        return;
    }
    /* What was sent is not needed again. */
    free(take_ptr(&x->body));
    headers_fini(&x->headers);
}

static void start_next(struct calls *c)
{
    while (c->running < CALLS_REQUESTS_MAX && !list_is_empty(&c->queued)) {
        struct op *op = list_entry(list_pop_front(&c->queued), struct op, node);
        list_push_back(&c->ops, &op->node);
        start_exchange(op);
    }
}

/* Headers that are the host's business, not the guest's. */
static bool is_hosts(struct str name)
{
    static const char *const hosts[] = { "authorization", "connection", "content-length", "cookie", "host",
                                         "keep-alive", "proxy-authorization", "te", "trailer",
                                         "transfer-encoding", "upgrade", "user-agent", "expect", "accept-encoding" };
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
        if (str_ieq(name, str_of(hosts[i])))
            return true;
    struct str prefix = STR("impersonate-"), remote = STR("x-remote-");
    return str_ieq(str_slice(name, 0, prefix.n), prefix) || str_ieq(str_slice(name, 0, remote.n), remote);
}

static void begin_exchange(struct op *op, const struct bincode_request *req, const struct target *t)
{
    struct calls *c = op->calls;
    struct exchange *x = op->exchange = xnew(struct exchange);
    x->method = str_dup(req->method);
    x->target = str_dup(t->origin);
    x->split_lines = t->watch;
    buf_init(&x->in, GUEST_PAYLOAD_MAX_BYTES - (64 << 10)); /* leaves room for the head */
    for (size_t i = 0; i < req->headers.n; i++)
        if (!is_hosts(headers_name(&req->headers, i)))
            (void)headers_add(&x->headers, headers_name(&req->headers, i), headers_value(&req->headers, i));
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

static void on_watch_open(void *arg, int status, struct str body)
{
    struct op *op = arg;
    if (op->calls->abi == GUEST_ABI_G1) {
        if (status == 200)
            return;
        scoped(buf_fini_scoped) struct buf line = BUF_INIT(GUEST_PAYLOAD_MAX_BYTES);
        buf_printf(&line, "{\"type\":\"ERROR\",\"object\":" STR_FMT "}", STR_ARG(body.n ? body : STR("null")));
        deliver(op, false, false, false, buf_str(&line));
        return;
    }
    struct headers h = { 0 };
    (void)headers_addc(&h, "content-type", "application/json");
    deliver_meta(op, status, &h);
    if (status != 200 && body.n)
        deliver(op, false, false, false, body);
    headers_fini(&h);
}

static void on_watch_event(void *arg, const struct watch_event *ev)
{
    deliver(arg, false, false, false, ev->line);
}

static void on_watch_end(void *arg)
{
    struct op *op = arg;
    op->sub = NULL;
    end_stream(op);
    free_if_done(op);
}

static const struct watch_sub_ops watch_ops = { .on_open = on_watch_open,
                                                .on_event = on_watch_event,
                                                .on_end = on_watch_end };

static void begin_watch(struct op *op, const struct watch_key *key, uint64_t rv, bool bookmarks)
{
    struct err err = { 0 };
    op->kind = OP_WATCH;
    op->sub = NULL;
    if (watch_hub_subscribe(op->calls->env->hub, key, rv, bookmarks, &watch_ops, op, &op->sub, &err) >= 0)
        return;
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(4096);
    write_status(&body, 400, "BadRequest", str_of(err_text(&err)));
    on_watch_open(op, 400, buf_str(&body));
    end_stream(op);
    free_if_done(op);
}

/* ---------------------------------------------------------------- imports */

static void violation(struct calls *c, const struct err *err)
{
    struct err why = *err;
    (void)err_ctx(&why, E_TRAP, "malformed payload");
    guest_fail(c->guest, &why);
}

static bool is_allowed(struct op *op, enum kube_verb verb, struct str path)
{
    if (allow_check(op->calls->allow, verb, path))
        return true;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(4096);
    buf_printf(&text, "%s of '" STR_FMT "' is not in this operator's allow list", kube_verb_name(verb),
               STR_ARG(str_slice(path, 0, 1024)));
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
    struct op *op = new_op(c, from, from->stream ? OP_STREAM : OP_UNARY);
    if (target_parse(&arena, req.method, req.uri, &target, &err) < 0) {
        deliver_failure(op, 400, "BadRequest", str_of(err_text(&err)));
        free_if_done(op);
    } else if (is_allowed(op, target.verb, target.path)) {
        bool shared = from->stream && target.verb == KUBE_WATCH && target.rv && target.name.n == 0 &&
                      !target.send_initial_events;
        struct watch_key key = { .group_version = target.group_version,
                                 .plural = target.resource,
                                 .namespace = target.namespace,
                                 .label_selector = target.label_selector,
                                 .field_selector = target.field_selector };
        if (shared)
            begin_watch(op, &key, target.rv, target.bookmarks);
        else
            begin_exchange(op, &req, &target);
    }
    bincode_request_fini(&req);
    arena_fini(&arena);
}

/* A G1 watch waits for the plural of its kind. */
struct g1_watch {
    struct op *op;
    struct bincode_watch watch;
    struct arena arena;
};

/* A G1 watch from no version, or whose kind is unknown, is an ordinary request. */
static void begin_g1_stream(struct op *op, const struct bincode_watch *w, struct str plural)
{
    scoped(buf_fini_scoped) struct buf target = BUF_INIT(16 << 10);
    bool core = str_find_char(w->api_version, '/') < 0;
    buf_printf(&target, "/%s/" STR_FMT "/", core ? "api" : "apis", STR_ARG(w->api_version));
    if (w->ns.n)
        buf_printf(&target, "namespaces/" STR_FMT "/", STR_ARG(w->ns));
    buf_printf(&target, STR_FMT "?watch=true&resourceVersion=" STR_FMT, STR_ARG(plural), STR_ARG(w->resource_version));
    struct arena arena = { 0 };
    struct target t;
    struct err err = { 0 };
    struct bincode_request req = { .method = STR("GET"), .uri = buf_str(&target) };
    op->kind = OP_STREAM;
    if (target_parse(&arena, req.method, req.uri, &t, &err) < 0)
        end_stream(op);
    else
        begin_exchange(op, &req, &t);
    arena_fini(&arena);
}

static void on_plural(void *arg, int r, struct str plural, const struct err *err)
{
    struct g1_watch *w = arg;
    struct op *op = w->op;
    uint64_t rv = 0;
    (void)parse_u64(w->watch.resource_version, 1, UINT64_MAX, &rv);
    struct watch_key key = { .group_version = w->watch.api_version,
                             .plural = plural,
                             .namespace = w->watch.ns,
                             .label_selector = w->watch.label_selector,
                             .field_selector = w->watch.field_selector };
    if (!op->calls) {
        free_op(op);
    } else if (r < 0) {
        scoped(buf_fini_scoped) struct buf body = BUF_INIT(4096);
        write_status(&body, r == -ENOENT ? 404 : 503, r == -ENOENT ? "NotFound" : "ServiceUnavailable",
                     str_of(err_text(err)));
        on_watch_open(op, 404, buf_str(&body));
        end_stream(op);
        free_if_done(op);
    } else {
        scoped(buf_fini_scoped) struct buf path = BUF_INIT(8192);
        bool core = str_find_char(key.group_version, '/') < 0;
        buf_printf(&path, "/%s/" STR_FMT "/%s" STR_FMT "%s" STR_FMT, core ? "api" : "apis",
                   STR_ARG(key.group_version), key.namespace.n ? "namespaces/" : "", STR_ARG(key.namespace),
                   key.namespace.n ? "/" : "", STR_ARG(plural));
        if (!is_allowed(op, KUBE_WATCH, buf_str(&path)))
            ;
        else if (rv)
            begin_watch(op, &key, rv, w->watch.allow_bookmarks);
        else
            begin_g1_stream(op, &w->watch, plural);
    }
    arena_fini(&w->arena);
    free(w);
}

static void begin_g1_watch(struct calls *c, const struct guest_op *from)
{
    struct g1_watch *w = xnew(struct g1_watch);
    struct err err = { 0 };
    /* The views point into the payload, which lives only for this call. */
    struct str payload = str_copy_arena(&w->arena, from->payload);
    if (bincode_watch_decode(payload, &w->watch, &err) < 0) {
        violation(c, &err);
        arena_fini(&w->arena);
        free(w);
        return;
    }
    w->op = new_op(c, from, OP_WATCH);
    w->op->sub = NULL;
    discovery_plural(c->env->discovery, w->watch.api_version, w->watch.kind, on_plural, w);
}

static void on_delay(struct timer *t)
{
    struct op *op = container_of(t, struct op, timer);
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
        struct op *op = new_op(c, from, OP_DELAY);
        timer_start(c->env->loop, &op->timer, from->delay_ms, on_delay);
        break;
    }
    case GUEST_OP_WATCH:
        begin_g1_watch(c, from);
        break;
    }
}

/* ---------------------------------------------------------------- public */

struct calls *calls_new(const struct calls_env *env, enum guest_abi abi, const struct allow *allow)
{
    struct calls *c = xnew(struct calls);
    c->env = env;
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

static void drop_op(struct op *op)
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
        } else if (op->ended) {
            free_op(op);
        } else {
            op->calls = NULL; /* discovery answers yet */
        }
        return;
    case OP_UNARY:
    case OP_STREAM:
        op->calls = NULL;
        if (!op->exchange || !op->exchange->call) {
            free_op(op);
            return;
        }
        c->running--;
        transport_cancel(c->env->transport, op->exchange->call);
        return;
    }
}

void calls_reset(struct calls *c)
{
    while (!list_is_empty(&c->queued))
        drop_op(list_first(&c->queued, struct op, node));
    while (!list_is_empty(&c->ops))
        drop_op(list_first(&c->ops, struct op, node));
    assert(c->running == 0);
}

void calls_free(struct calls *c)
{
    if (!c)
        return;
    calls_reset(c);
    free(c);
}

void calls_get_stats(const struct calls *c, struct calls_stats *ret)
{
    *ret = (struct calls_stats){ 0 };
    list_each(n, &c->queued) ret->queued++;
    list_each(n, &c->ops)
    {
        const struct op *op = list_entry(n, struct op, node);
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
