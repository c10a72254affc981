/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /v1/async/ID: the state of a call.
 *
 *     GET, HEAD   202 it waits or runs; its result: status, fields and body of the answer; 410 it
 *                 was canceled; 404
 *     DELETE      200 canceled; 202 it runs and is being canceled; 409 it has ended; 404
 *
 * The id, 128 random bits, is also the credential. Requests for an id of another gateway are
 * forwarded to that gateway.
 */
#include "fn/async/async_int.h"

#include "io/http.h"

#include <errno.h>

enum { FORWARD_TIMEOUT_MS = 10000, CANCEL_TRIES = 3 };

struct async_serving {
    struct async *a;
    struct http_exchange *x; /* NULL: the client has left */
    unsigned waiting;        /* pending callbacks of the store or of a peer */
    struct async_id id;
    bool is_delete, is_head;
    unsigned tries;
    /* pieces of a large result */
    char after[ASYNC_STORE_KEY_MAX];
    size_t after_n;
    uint64_t left;
    /* the answer of another gateway */
    struct http_client *client;
    struct exchange *call;
    bool answered;
};

static void release(struct async_serving *s)
{
    if (s->x || s->waiting)
        return;
    if (s->client)
        http_client_close(s->client);
    free(s);
}

static void add_number(struct headers *h, const char *name, uint64_t v)
{
    char number[24];
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)v);
    (void)headers_addc(h, name, number);
}

static void add_time(struct buf *to, const char *name, uint64_t wall_ms)
{
    char text[RFC3339_MAX];
    rfc3339_format_us((int64_t)wall_ms * 1000, text);
    (void)buf_printf(to, ",\"%s\":\"%s\"", name, text);
}

static void add_text(struct buf *to, const char *name, struct str s)
{
    (void)buf_printf(to, ",\"%s\":", name);
    (void)json_write_str(to, s);
}

/* {"id","state","function","attempts",...} */
static void describe(struct buf *to, const struct async_serving *s, const struct async_record *rec,
                     const char *state)
{
    char id[ASYNC_ID_TEXT];
    async_id_text(&s->id, id);
    (void)buf_printf(to,
                     "{\"id\":\"%s\",\"state\":\"%s\",\"function\":\"" STR_FMT "/" STR_FMT
                     "\",\"attempts\":%u",
                     id, state, STR_ARG(rec->namespace), STR_ARG(rec->name), rec->attempts);
    add_time(to, "created", rec->wall_created_ms);
    if (rec->state == ASYNC_PENDING)
        add_time(to, "due", rec->wall_due_ms);
    else
        add_time(to, "finished", rec->wall_finished_ms);
    if (rec->status)
        (void)buf_printf(to, ",\"status\":%u", rec->status);
    if (rec->reason.n)
        add_text(to, "reason", rec->reason);
    if (rec->url.n)
        add_text(to, "url", rec->url);
    if (rec->parent.n)
        add_text(to, "parent", rec->parent);
    (void)buf_add_cstr(to, "}\n");
}

static void add_call_fields(struct headers *h, const struct async_serving *s,
                            const struct async_record *rec, const char *state)
{
    char id[ASYNC_ID_TEXT];
    async_id_text(&s->id, id);
    (void)headers_addc(h, "x-dormouse-call-id", id);
    (void)headers_addc(h, "x-faas-call-state", state);
    add_number(h, "x-faas-call-attempts", rec->attempts);
    if (rec->status)
        add_number(h, "x-faas-call-status", rec->status);
    if (rec->reason.n)
        (void)headers_add(h, STR("x-faas-call-reason"), rec->reason);
}

static void reply_described(struct async_serving *s, int status, const struct async_record *rec,
                            const char *state)
{
    struct headers h = { 0 };
    struct buf body;
    (void)headers_addc(&h, "content-type", "application/json");
    (void)headers_addc(&h, "cache-control", "no-store");
    add_call_fields(&h, s, rec, state);
    if (status == 202)
        (void)headers_addc(&h, "retry-after", "1");
    if (status == 409)
        (void)headers_addc(&h, "x-dormouse-reason", "CallHasEnded");
    buf_init(&body, 64 << 10);
    describe(&body, s, rec, state);
    http_reply(s->x, status, &h, buf_str(&body));
    buf_fini(&body);
    headers_fini(&h);
}

static void reply_absent(struct async_serving *s)
{
    async_refuse(s->x, 404, "UnknownCall", "there is no such call, or its result has expired", 0);
}

static void reply_failed(struct async_serving *s)
{
    async_refuse(s->x, 503, "StoreFailed", "the call could not be looked up", 1);
}

/* ------------------------------------------------------------------ results */

static void next_piece(struct async_serving *s);

static void on_piece(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct async_serving *s = arg;
    s->waiting--;
    if (!s->x) {
        release(s);
        return;
    }
    if (r < 0 || page->n == 0 || page->kv[0].value.n > s->left ||
        page->kv[0].key.n > sizeof s->after) { /* it has expired since */
        http_abort(s->x);
        return;
    }
    s->after_n = page->kv[0].key.n;
    memcpy(s->after, page->kv[0].key.p, s->after_n);
    s->left -= page->kv[0].value.n;
    bool has_room = http_write(s->x, page->kv[0].value);
    if (s->left == 0)
        http_end(s->x);
    else if (has_room)
        next_piece(s);
}

static void next_piece(struct async_serving *s)
{
    struct async_key k;
    async_key_pieces(&k, 'a', &s->id);
    struct store_range range = { .prefix = async_key_str(&k),
                                 .after = str_n(s->after, s->after_n),
                                 .limit = 1 };
    if (s->waiting)
        return;
    if (store_range(s->a->store, &range, on_piece, s, NULL) < 0)
        http_abort(s->x);
    else
        s->waiting++;
}

static void reply_result(struct async_serving *s, const struct async_record *rec)
{
    struct headers h = { 0 };
    struct buf text;
    (void)async_fields_read(rec->fields, &h, NULL);
    add_call_fields(&h, s, rec, async_state_name(rec->state));
    (void)headers_addc(&h, "cache-control", "no-store");
    bool has_none = rec->status < 200 || rec->status == 204 || rec->status == 304;
    buf_init(&text, 64 << 10);
    if (rec->body_bytes == 0 && rec->reason.n) { /* no answer: describe the call instead */
        (void)headers_set(&h, STR("content-type"), STR("application/json"));
        describe(&text, s, rec, async_state_name(rec->state));
    }
    int status = rec->status >= 200 ? rec->status : 502;
    if (rec->n_pieces && !s->is_head && !has_none) {
        http_respond(s->x, status, &h, rec->body_bytes);
        s->left = rec->body_bytes;
        next_piece(s);
    } else {
        http_reply(s->x, status, &h, text.n ? buf_str(&text) : rec->body);
    }
    buf_fini(&text);
    headers_fini(&h);
}

/* ------------------------------------------------------------------ cancel */

static void look_up(struct async_serving *s);

static void on_canceled(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct async_serving *s = arg;
    struct async *a = s->a;
    s->waiting--;
    if (res->r >= 0) {
        char id[ASYNC_ID_TEXT];
        async_id_text(&s->id, id);
        struct async_run *run =
            map_get(&a->runs, str_of(id)); /* started since: its result is void */
        if (run)
            run_cancel(run);
        a->stats.canceled++;
    }
    if (!s->x) {
        release(s);
        return;
    }
    if (res->r == E_CONFLICT && ++s->tries < CANCEL_TRIES)
        look_up(s);
    else if (res->r < 0)
        async_refuse(s->x, 503, "StoreFailed", "the call could not be canceled", 1);
    else
        async_refuse(s->x, 200, "Canceled", "the call will not run", 0);
}

static void cancel(struct async_serving *s, const struct async_record *rec, uint64_t rev)
{
    struct async *a = s->a;
    char id[ASYNC_ID_TEXT], lane[ASYNC_LANE_MAX];
    async_id_text(&s->id, id);
    struct async_run *run = map_get(&a->runs, str_of(id));
    if (run) {
        run_cancel(run);
        reply_described(s, 202, rec, "canceling");
        return;
    }
    const struct fn_spec *spec =
        a->functions.ops ? a->functions.ops->spec(a->functions.arg, rec->namespace, rec->name)
                         : NULL;
    uint64_t ttl = spec ? spec->async.result_ttl_ms : async_default_policy.result_ttl_ms;
    async_lane_of(lane, async_id_owner(&s->id), rec);
    struct async_batch b = { .n = 0 };
    struct err err = { 0 };
    uint64_t expires = batch_result(&b, &s->id, rec, rev, str_of(lane), ASYNC_CANCELED, 0,
                                    STR("Canceled"), STR(""), STR(""), ttl, async_wall_ms(a));
    int r = store_txn(a->store, b.ops, b.n, on_canceled, s, &err);
    batch_fini(&b);
    if (r < 0) {
        reply_failed(s);
        return;
    }
    s->waiting++;
    async_finished(a, expires); /* too early does no harm */
}

/* ------------------------------------------------------------------ look up */

static const char *pending_state(const struct async_serving *s)
{
    char id[ASYNC_ID_TEXT];
    async_id_text(&s->id, id);
    return map_has(&s->a->runs, str_of(id)) ? "running" : "pending";
}

static void answer(struct async_serving *s, const struct async_record *rec, uint64_t rev)
{
    if (rec->state != ASYNC_PENDING && rec->wall_expires_ms <= async_wall_ms(s->a))
        reply_absent(s);
    else if (s->is_delete && rec->state == ASYNC_PENDING)
        cancel(s, rec, rev);
    else if (s->is_delete && rec->state == ASYNC_CANCELED)
        async_refuse(s->x, 200, "Canceled", "the call will not run", 0);
    else if (s->is_delete)
        reply_described(s, 409, rec, async_state_name(rec->state));
    else if (rec->state == ASYNC_PENDING)
        reply_described(s, 202, rec, pending_state(s));
    else if (rec->state == ASYNC_CANCELED)
        reply_described(s, 410, rec, async_state_name(rec->state));
    else
        reply_result(s, rec);
}

static void on_row(void *arg, int r, const struct store_kv *kv, uint64_t rev, const struct err *err)
{
    struct async_serving *s = arg;
    struct async_record rec;
    s->waiting--;
    if (!s->x)
        release(s);
    else if (r < 0)
        reply_failed(s);
    else if (!kv)
        reply_absent(s);
    else if (async_record_read(kv->value, &rec, NULL) < 0)
        async_refuse(s->x, 500, "Damaged", "the call does not read back", 0);
    else
        answer(s, &rec, kv->mod_rev);
}

static void look_up(struct async_serving *s)
{
    struct async_key k;
    async_key_call(&k, &s->id);
    if (!s->a->store || async_is_closing(s->a))
        reply_absent(s);
    else if (store_get(s->a->store, async_key_str(&k), 0, on_row, s, NULL) < 0)
        reply_failed(s);
    else
        s->waiting++;
}

/* ------------------------------------------------------------------ calls of another gateway */

static void on_peer_head(void *arg, int status, const struct headers *headers)
{
    struct async_serving *s = arg;
    static const char *const dropped[] = { "connection", "keep-alive", "transfer-encoding",
                                           "content-length", "date" };
    struct headers h = { 0 };
    uint64_t n = HTTP_CHUNKED;
    struct str length = headers_get(headers, "content-length");
    if (length.p && parse_u64(length, 0, UINT64_MAX - 1, &n) < 0)
        n = HTTP_CHUNKED;
    for (size_t i = 0; i < headers->n; i++) {
        bool drop = false;
        for (size_t k = 0; k < ARRAY_LEN(dropped) && !drop; k++)
            drop = str_is(headers_name(headers, i), dropped[k]);
        if (!drop)
            (void)headers_add(&h, headers_name(headers, i), headers_value(headers, i));
    }
    s->answered = true;
    if (s->x && s->is_head)
        http_reply(s->x, status, &h, STR(""));
    else if (s->x)
        http_respond(s->x, status, &h, n);
    headers_fini(&h);
}

static void on_peer_data(void *arg, struct str chunk)
{
    struct async_serving *s = arg;
    if (s->x && !s->is_head && !http_write(s->x, chunk) && s->call)
        exchange_pause(s->call);
}

static void on_peer_end(void *arg, int r, const struct err *err)
{
    struct async_serving *s = arg;
    s->call = NULL;
    s->waiting--;
    if (!s->x) {
        release(s);
        return;
    }
    if (!s->answered)
        async_refuse(s->x, 502, "GatewayUnreachable", "the gateway that has the call is away", 1);
    else if (r < 0)
        http_abort(s->x);
    else if (!s->is_head)
        http_end(s->x);
}

static const struct exchange_events peer_events = { .on_head = on_peer_head,
                                                    .on_data = on_peer_data,
                                                    .on_end = on_peer_end };

static bool ask_peer(struct async_serving *s, const struct http_request *req, const char *address)
{
    struct headers h = { 0 };
    struct str all = str_of(address);
    uint64_t port = 0;
    size_t colon = all.n;
    while (colon > 0 && all.p[colon - 1] != ':')
        colon--;
    if (colon < 2 || parse_u64(str_slice(all, colon, all.n), 1, 65535, &port) < 0)
        return false;
    struct str name = str_slice(all, 0, colon - 1);
    if (name.n > 2 && name.p[0] == '[')
        name = str_slice(name, 1, name.n - 1);
    scoped(free_scoped) char *host = str_dup(name);
    struct http_client_opts opts = {
        .host = host, .port = (uint16_t)port, .tls = s->a->peer_tls, .max_connections = 1
    };
    if (http_client_new(s->a->loop, &opts, &s->client, NULL) < 0)
        return false;
    (void)headers_addc(&h, "x-faas-async-forwarded", "1");
    struct http_call_opts call = { .method = req->method,
                                   .target = req->target,
                                   .headers = &h,
                                   .head_timeout_ms = FORWARD_TIMEOUT_MS,
                                   .events = &peer_events,
                                   .arg = s };
    int r = http_call_start(s->client, &call, &s->call, NULL);
    headers_fini(&h);
    if (r >= 0)
        s->waiting++;
    return r >= 0;
}

/* Its owner, if that is another one and alive. */
static const char *peer_of(struct async *a, const struct async_id *id,
                           const struct http_request *req)
{
    uint32_t owner = async_id_owner(id);
    bool is_mine = owner == a->owner || (a->is_mine && a->is_mine(a->is_mine_arg, owner));
    if (is_mine || !a->functions.ops || headers_get(req->headers, "x-faas-async-forwarded").p)
        return NULL;
    return a->functions.ops->peer(a->functions.arg, owner);
}

/* ------------------------------------------------------------------ the exchange */

static void on_writable(struct http_exchange *x)
{
    struct async_serving *s = http_exchange_data(x);
    if (s->call)
        exchange_resume(s->call);
    else if (s->left)
        next_piece(s);
}

static void on_gone(struct http_exchange *x, int r)
{
    struct async_serving *s = http_exchange_data(x);
    s->x = NULL;
    if (s->call)
        exchange_cancel(s->call);
    release(s);
}

static const struct http_exchange_ops serve_ops = { .on_writable = on_writable,
                                                    .on_gone = on_gone };

static void serve_call(struct async *a, struct http_exchange *x, const struct http_request *req)
{
    struct async_id id;
    bool is_get = str_is(req->method, "GET"), is_head = str_is(req->method, "HEAD");
    bool is_delete = str_is(req->method, "DELETE");
    if (!async_path_parse(req->target, &id)) {
        async_refuse(x, 404, "UnknownCall", "the path names no call", 0);
        return;
    }
    if (!is_get && !is_head && !is_delete) {
        struct headers h = { 0 };
        (void)headers_addc(&h, "allow", "GET, HEAD, DELETE");
        http_reply(x, 405, &h, STR(""));
        headers_fini(&h);
        return;
    }
    struct async_serving *s = xnew(struct async_serving);
    *s = (struct async_serving){
        .a = a, .x = x, .id = id, .is_delete = is_delete, .is_head = is_head
    };
    http_exchange_set(x, &serve_ops, s);
    const char *peer = peer_of(a, &id, req);
    if (peer && ask_peer(s, req, peer))
        return;
    look_up(s);
}

bool async_serve(void *arg, struct http_exchange *x, const struct http_request *req)
{
    struct async *a = arg;
    if (str_has_prefix(req->target, STR("/v1/async/"))) {
        serve_call(a, x, req);
        return true;
    }
    if (str_has_prefix(req->target, STR("/v1/events/")) && a->events.serve)
        return a->events.serve(a->events.arg, x, req);
    return false;
}
