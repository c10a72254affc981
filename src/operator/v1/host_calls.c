/* SPDX-License-Identifier: Apache-2.0 */
/* Parked calls; see host_calls.h. */
#include "operator/v1/host_calls.h"

#include "base/buf.h"
#include "base/log.h"
#include "operator/v1/request_head.h"

#include <errno.h>
#include <stdio.h>

enum { QUERY_MAX_DEPTH = 4, WHAT_MAX = 160, PAGE_MAX_BYTES = 4 << 20 };

struct host_call {
    const struct host_calls *env;
    enum guest_call_kind kind;
    host_call_done_fn done;
    void *arg;
    /* A result that is known when the call begins; delivered on the next turn of the loop. */
    bool is_begun;
    struct defer turn;
    int64_t early_value;
    struct buf early;
    char what[WHAT_MAX];
    /* API_REQUEST */
    struct exchange *exchange;
    struct timer timeout;
    int status;
    bool timed_out;
    struct headers headers;
    struct buf in;
    /* reads */
    struct object_read *read;
    struct config_read *config;
    struct list_read *list;
};

/* A list over the subscriptions of a watch, in the order of their namespaces. */
struct list_read {
    struct arena arena; /* of the query */
    struct object_query query;
    struct object_sub *subs[DECLARATION_MAX_NAMESPACES];
    size_t n_subs, at;
    size_t n_items, limit;
    uint64_t rv, n_left;
    struct buf items;
};

enum guest_error host_call_error(int r)
{
    switch (r) {
    case -ENOENT:
        return GUEST_E_NOT_FOUND;
    case E_DENIED:
    case -EACCES:
        return GUEST_E_FORBIDDEN;
    case -EMSGSIZE:
    case E_LIMIT:
        return GUEST_E_TOO_LARGE;
    case -EBUSY:
        return GUEST_E_LIMITED;
    case -ETIMEDOUT:
        return GUEST_E_TIMEOUT;
    case E_EXPIRED:
        return GUEST_E_EXPIRED;
    case -ECANCELED:
        return GUEST_E_CANCELLED;
    case -EAGAIN:
        return GUEST_E_NOT_SYNCED;
    case E_INVALID:
    case E_PARSE:
    case -EINVAL:
        return GUEST_E_INVALID;
    default:
        return GUEST_E_UNAVAILABLE;
    }
}

/* ---------------------------------------------------------------- ends */

static void free_call(struct host_call *c)
{
    if (timer_is_armed(&c->timeout)) /* a call whose exchange ends later may have lost its env */
        timer_stop(c->env->loop, &c->timeout);
    defer_cancel(&c->turn);
    headers_fini(&c->headers);
    buf_fini(&c->in);
    buf_fini(&c->early);
    if (c->list) {
        arena_fini(&c->list->arena);
        buf_fini(&c->list->items);
        free(c->list);
    }
    free(c);
}

static void on_turn(struct defer *d);

/* The only place that calls done(). */
static void finish(struct host_call *c, int64_t value, struct str bytes)
{
    if (!c->is_begun) {
        c->early_value = value;
        buf_init(&c->early, BUF_MAX_DEFAULT);
        (void)buf_add_str(&c->early, bytes);
        defer_start(c->env->loop, &c->turn, on_turn);
        return;
    }
    if (timer_is_armed(&c->timeout)) /* done() may free what the call uses */
        timer_stop(c->env->loop, &c->timeout);
    c->done(c->arg, value, bytes);
    free_call(c);
}

static void on_turn(struct defer *d)
{
    struct host_call *c = container_of(d, struct host_call, turn);
    finish(c, c->early_value, buf_str(&c->early));
}

static void finish_error(struct host_call *c, enum guest_error code, struct str text)
{
    finish(c, code, text);
}

static void finish_bytes(struct host_call *c, const struct buf *b)
{
    if (buf_ok(b))
        finish(c, (int64_t)b->n, buf_str(b));
    else
        finish_error(c, GUEST_E_TOO_LARGE, STR("the answer is larger than 16 MiB"));
}

/* ---------------------------------------------------------------- requests */

static void write_answer(struct buf *to, int status, const struct headers *headers,
                         const char *dormouse_error, struct str body)
{
    struct buf lines = BUF_INIT(128 << 10);
    for (size_t i = 0; headers && i < headers->n; i++)
        (void)buf_printf(&lines, STR_FMT ": " STR_FMT "\n", STR_ARG(headers_name(headers, i)),
                         STR_ARG(headers_value(headers, i)));
    if (dormouse_error)
        (void)buf_printf(&lines, "content-type: application/json\ndormouse-error: %s\n",
                         dormouse_error);
    (void)buf_add_le32(to, (uint32_t)status);
    (void)buf_add_le32(to, (uint32_t)lines.n);
    (void)buf_add_str(to, buf_str(&lines));
    (void)buf_add_str(to, body);
    buf_fini(&lines);
}

static void finish_answer(struct host_call *c, int status, const struct headers *headers,
                          const char *dormouse_error, struct str body)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(HOST_CALL_ANSWER_MAX_BYTES);
    write_answer(&b, status, headers, dormouse_error, body);
    finish_bytes(c, &b);
}

/* Report a failure of the exchange in the form of a Kubernetes Status. */
static void finish_failure(struct host_call *c, int status, const char *reason,
                           const char *dormouse_error, struct str message)
{
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(8192);
    (void)buf_add_cstr(&body, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                              "\"status\":\"Failure\",\"message\":");
    (void)json_write_str(&body, message);
    (void)buf_printf(&body, ",\"reason\":\"%s\",\"code\":%d}", reason, status);
    finish_answer(c, status, NULL, dormouse_error, buf_str(&body));
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct host_call *c = arg;
    if (!c->done)
        return;
    c->status = status;
    (void)headers_copy(&c->headers, headers);
}

static void on_data(void *arg, struct str chunk)
{
    struct host_call *c = arg;
    if (c->done && buf_add_str(&c->in, chunk) < 0 && c->exchange)
        exchange_cancel(c->exchange);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct host_call *c = arg;
    struct str text = str_of(err && err->text[0] ? err->text : err_strerror(r));
    c->exchange = NULL;
    if (!c->done) {
        free_call(c);
        return;
    }
    if (!buf_ok(&c->in))
        finish_error(c, GUEST_E_TOO_LARGE, STR("the answer is larger than 16 MiB"));
    else if (c->timed_out || r == -ETIMEDOUT)
        finish_failure(c, 504, "Timeout", "timeout",
                       STR("the API server did not answer in time; a write may have happened"));
    else if (r == -ECANCELED)
        finish_failure(c, 503, "ServiceUnavailable", "cancelled", text);
    else if (r < 0 || !c->status)
        finish_failure(c, 503, "ServiceUnavailable", "unavailable", text);
    else
        finish_answer(c, c->status, &c->headers, NULL, buf_str(&c->in));
}

static void on_timeout(struct timer *t)
{
    struct host_call *c = container_of(t, struct host_call, timeout);
    c->timed_out = true;
    exchange_cancel(c->exchange); /* on_end() finishes the call */
}

static void add_header(struct headers *h, const char *name, struct str value, const char *otherwise)
{
    if (!value.p && otherwise)
        value = str_of(otherwise);
    if (value.p)
        (void)headers_add(h, str_of(name), value);
}

static void start_exchange(struct host_call *c, const struct request_head *head, struct str body)
{
    static const struct exchange_events events = { .on_head = on_head,
                                                   .on_data = on_data,
                                                   .on_end = on_end };
    struct headers h = { 0 };
    struct err err = { 0 };
    add_header(&h, "accept", head->accept, "application/json");
    add_header(&h, "content-type", head->content_type, body.n ? "application/json" : NULL);
    add_header(&h, "if-match", head->if_match, NULL);
    add_header(&h, "if-none-match", head->if_none_match, NULL);
    struct kube_request req = { .method = head->method,
                                .target = head->origin,
                                .headers = &h,
                                .body = body,
                                .timeout_ms = head->timeout_ms };
    buf_init(&c->in, HOST_CALL_BODY_MAX_BYTES);
    int r = transport_start(c->env->transport, &req, &events, c, &c->exchange, &err);
    headers_fini(&h);
    if (r < 0)
        finish_failure(c, 503, "ServiceUnavailable", "unavailable", str_of(err_text(&err)));
    else
        timer_start(c->env->loop, &c->timeout, head->timeout_ms, on_timeout);
}

static void begin_request(struct host_call *c, struct str text, struct str body)
{
    struct arena a = { .max_bytes = 1 << 20 };
    struct request_head head;
    struct err err = { 0 };
    int r = request_head_parse(&a, text, str_of(c->env->name), &head, &err);
    if (r < 0) {
        finish_error(c, r == E_LIMIT ? GUEST_E_TOO_LARGE : GUEST_E_INVALID, str_of(err_text(&err)));
    } else if (!allow_check(c->env->allow, head.target.verb, head.target.path)) {
        scoped(buf_fini_scoped) struct buf message = BUF_INIT(4096);
        (void)buf_printf(&message, "%s of '" STR_FMT "' is not in this operator's allow list",
                         kube_verb_name(head.target.verb),
                         STR_ARG(str_slice(head.target.path, 0, 1024)));
        finish_failure(c, 403, "Forbidden", "denied", buf_str(&message));
    } else {
        (void)snprintf(c->what, sizeof c->what, STR_FMT " " STR_FMT, STR_ARG(head.method),
                       STR_ARG(head.target.path));
        start_exchange(c, &head, body);
    }
    arena_fini(&a);
}

/* ---------------------------------------------------------------- queries of the cache */

/* A member of a query; the two calls have different tables. */
struct host_calls_query {
    struct str watch, namespace, name, label_selector, index, value, view, continue_from;
    uint64_t limit;
    bool has_value, has_namespace, consistent;
};

static int read_query(struct arena *a, struct str text, bool list, struct host_calls_query *q,
                      struct err *err)
{
    struct json_parse_opts opts = { .max_depth = QUERY_MAX_DEPTH };
    struct json *v;
    const struct {
        const char *name;
        struct str *to;
        bool for_get, for_list;
    } strings[] = {
        { "watch", &q->watch, true, true },  { "namespace", &q->namespace, true, true },
        { "name", &q->name, true, false },   { "labelSelector", &q->label_selector, false, true },
        { "index", &q->index, false, true }, { "value", &q->value, false, true },
        { "view", &q->view, false, true },   { "continue", &q->continue_from, false, true }
    };
    int r = json_parse(a, text, &opts, &v, err);
    if (r < 0)
        return r;
    if (!json_is(v, JSON_OBJECT))
        return err_set(err, E_INVALID, "the query must be an object");
    json_each (m, v) {
        bool known = false, fits = true;
        for (size_t i = 0; i < ARRAY_LEN(strings) && !known; i++) {
            known = str_is(m->key, strings[i].name) &&
                    (list ? strings[i].for_list : strings[i].for_get);
            if (!known)
                continue;
            fits = json_is(m, JSON_STRING);
            *strings[i].to = json_str(m);
        }
        if (str_is(m->key, "consistent")) {
            known = true;
            fits = json_is_bool(m);
            q->consistent = json_bool(m);
        }
        if (list && str_is(m->key, "limit")) {
            int64_t n = -1;
            known = true;
            fits = json_is(m, JSON_NUMBER) && json_int(m, &n) >= 0 && n >= 0 &&
                   n <= HOST_CALL_LIMIT_MAX;
            q->limit = (uint64_t)n;
        }
        if (!known)
            return err_set(err, E_INVALID, "a query has no member '%.*s'",
                           (int)MIN(m->key.n, (size_t)64), m->key.p);
        if (!fits)
            return err_set(err, E_INVALID, "member '" STR_FMT "' of a query has a wrong value",
                           STR_ARG(m->key));
    }
    q->has_namespace = json_getc(v, "namespace") != NULL;
    q->has_value = json_getc(v, "value") != NULL;
    return 0;
}

/* Why a watch cannot be read now, as the guest may know it. 0: it can be read. */
static int watch_trouble(const struct host_call *c, size_t watch, struct err *err)
{
    struct watch_view view;
    interests_watch_view(c->env->interests, watch, &view);
    switch (view.state) {
    case WATCH_SYNCED:
    case WATCH_SYNCING: /* the cache reports its progress */
    case WATCH_UNAVAILABLE:
        return 0;
    case WATCH_FINDING:
        return err_set(err, -EAGAIN, "the kind is being looked up");
    case WATCH_WAITING:
        return err_set(err, -EAGAIN, "%s", view.why);
    case WATCH_LIMITED:
        return err_set(err, -EBUSY, "%s", view.why);
    case WATCH_FORBIDDEN:
        return err_set(err, E_DENIED, "%s", view.why);
    }
    return 0;
}

static int find_watch(const struct host_call *c, struct str id, size_t *ret, struct err *err)
{
    const struct declaration_watch *w = declaration_watch(c->env->declaration, id);
    if (!w)
        return err_set(err, -ENODEV, "no watch '%.*s' is declared", (int)MIN(id.n, (size_t)64),
                       id.p);
    *ret = (size_t)(w - c->env->declaration->watches);
    return watch_trouble(c, *ret, err);
}

static void finish_trouble(struct host_call *c, int r, const struct err *err)
{
    finish_error(c, r == -ENODEV ? GUEST_E_NOT_DECLARED : host_call_error(r),
                 str_of(err && err->text[0] ? err->text : err_strerror(r)));
}

static void on_got(void *arg, int r, const struct object_result *res, const struct err *err)
{
    struct host_call *c = arg;
    c->read = NULL;
    if (r < 0 || res->n == 0)
        finish_trouble(c, r < 0 ? r : -ENOENT, err);
    else
        finish(c, (int64_t)res->items[0].n, res->items[0]);
}

static void begin_get(struct host_call *c, struct str text)
{
    struct arena a = { .max_bytes = 1 << 20 };
    struct host_calls_query q = { 0 };
    struct err err = { 0 };
    size_t watch = 0;
    int r = read_query(&a, text, false, &q, &err);
    if (r >= 0 && !q.name.n)
        r = err_set(&err, E_INVALID, "a query needs 'watch' and 'name'");
    if (r >= 0)
        r = find_watch(c, q.watch, &watch, &err);
    if (r >= 0) {
        struct object_sub *sub = interests_sub(c->env->interests, watch, q.namespace);
        struct object_query query = { .namespace = q.namespace,
                                      .name = q.name,
                                      .view = OBJECT_FULL,
                                      .consistent = q.consistent };
        (void)snprintf(c->what, sizeof c->what, "cache_get " STR_FMT " " STR_FMT "/" STR_FMT,
                       STR_ARG(q.watch), STR_ARG(q.namespace), STR_ARG(q.name));
        r = sub ? object_sub_get(sub, &query, on_got, c, &c->read, &err)
                : err_set(&err, -ENOENT,
                          "watch '" STR_FMT "' does not cover namespace '" STR_FMT "'",
                          STR_ARG(q.watch), STR_ARG(q.namespace));
    }
    if (r < 0)
        finish_trouble(c, r, &err);
    arena_fini(&a);
}

/* ---------------------------------------------------------------- lists */

static void ask_next(struct host_call *c);

static void finish_list(struct host_call *c, struct str continue_from)
{
    struct list_read *l = c->list;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(HOST_CALL_ANSWER_MAX_BYTES);
    (void)buf_printf(&b, "{\"resourceVersion\":\"%llu\",\"items\":[", (unsigned long long)l->rv);
    (void)buf_add_str(&b, buf_str(&l->items));
    (void)buf_add_char(&b, ']');
    if (continue_from.n || l->at < l->n_subs) {
        /* The index of the subscription, and its own token. */
        scoped(buf_fini_scoped) struct buf token = BUF_INIT(64 << 10);
        (void)buf_printf(&token, "%zu:" STR_FMT, l->at, STR_ARG(continue_from));
        (void)buf_add_cstr(&b, ",\"continue\":");
        (void)json_write_str(&b, buf_str(&token));
        if (l->n_subs == 1 && l->n_left)
            (void)buf_printf(&b, ",\"remainingItemCount\":%llu", (unsigned long long)l->n_left);
    }
    (void)buf_add_char(&b, '}');
    finish_bytes(c, &b);
}

static void on_listed(void *arg, int r, const struct object_result *res, const struct err *err)
{
    struct host_call *c = arg;
    struct list_read *l = c->list;
    c->read = NULL;
    if (r < 0) {
        finish_trouble(c, r, err);
        return;
    }
    for (size_t i = 0; i < res->n; i++) {
        if (l->items.n)
            (void)buf_add_char(&l->items, ',');
        (void)buf_add_str(&l->items, res->items[i]);
    }
    l->n_items += res->n;
    l->n_left = res->n_left;
    /* The whole list is at least as new as its oldest part. */
    l->rv = l->rv ? MIN(l->rv, res->rv) : res->rv;
    l->query.continue_from = STR("");
    if (res->continue_from.n) {
        finish_list(c, res->continue_from);
        return;
    }
    l->at++;
    ask_next(c);
}

static void ask_next(struct host_call *c)
{
    struct list_read *l = c->list;
    struct err err = { 0 };
    if (l->at == l->n_subs || l->n_items >= l->limit || l->items.n >= PAGE_MAX_BYTES) {
        finish_list(c, STR(""));
        return;
    }
    l->query.limit = l->limit - l->n_items;
    int r = object_sub_list(l->subs[l->at], &l->query, on_listed, c, &c->read, &err);
    if (r < 0)
        finish_trouble(c, r, &err);
}

static int read_view(struct str view, enum object_view *ret, struct err *err)
{
    if (view.n == 0 || str_is(view, "full"))
        *ret = OBJECT_FULL;
    else if (str_is(view, "metadata"))
        *ret = OBJECT_METADATA;
    else if (str_is(view, "keys"))
        *ret = OBJECT_KEYS;
    else
        return err_set(err, E_INVALID, "'view' must be 'full', 'metadata' or 'keys'");
    return 0;
}

static int read_index(const struct declaration_watch *w, const struct host_calls_query *q,
                      struct object_query *to, struct err *err)
{
    if (!q->index.n)
        return q->has_value ? err_set(err, E_INVALID, "'value' goes with an 'index'") : 0;
    if (!q->has_value)
        return err_set(err, E_INVALID, "'index' goes with a 'value'");
    for (size_t i = 0; i < w->n_indexes; i++)
        if (str_eq(w->indexes[i].name, q->index)) {
            to->by_field = true;
            to->field = i;
            to->value = q->value;
            return 0;
        }
    return err_set(err, -ENODEV, "watch '" STR_FMT "' has no index '%.*s'", STR_ARG(w->id),
                   (int)MIN(q->index.n, (size_t)64), q->index.p);
}

/* "2:TOKEN" of an earlier page. */
static int read_continue(struct list_read *l, struct str token, struct err *err)
{
    struct str number, rest;
    uint64_t at = 0;
    if (!token.n)
        return 0;
    if (!str_cut(token, ':', &number, &rest) || parse_u64(number, 0, l->n_subs, &at) < 0)
        return err_set(err, E_INVALID, "'continue' is not what an earlier page said");
    l->at = (size_t)at;
    l->query.continue_from = rest;
    return 0;
}

static int prepare_list(struct host_call *c, const struct host_calls_query *q, struct err *err)
{
    struct list_read *l = c->list;
    size_t watch = 0;
    int r = find_watch(c, q->watch, &watch, err);
    if (r < 0)
        return r;
    l->limit = q->limit ? q->limit : HOST_CALL_ITEMS_MAX;
    l->query = (struct object_query){ .namespace = q->namespace,
                                      .label_selector = q->label_selector,
                                      .consistent = q->consistent };
    if (q->namespace.n) {
        l->subs[0] = interests_sub(c->env->interests, watch, q->namespace);
        l->n_subs = l->subs[0] ? 1 : 0;
    } else {
        l->n_subs = interests_subs(c->env->interests, watch, l->subs, ARRAY_LEN(l->subs));
    }
    if (l->n_subs == 0)
        return err_set(err, -ENOENT, "watch '" STR_FMT "' does not cover namespace '" STR_FMT "'",
                       STR_ARG(q->watch), STR_ARG(q->namespace));
    r = read_view(q->view, &l->query.view, err);
    if (r >= 0)
        r = read_index(&c->env->declaration->watches[watch], q, &l->query, err);
    return r < 0 ? r : read_continue(l, q->continue_from, err);
}

static void begin_list(struct host_call *c, struct str text)
{
    struct host_calls_query q = { 0 };
    struct err err = { 0 };
    c->list = xnew(struct list_read);
    c->list->arena.max_bytes = 1 << 20;
    buf_init(&c->list->items, HOST_CALL_BODY_MAX_BYTES);
    /* The query's strings must live until the last page. */
    int r = read_query(&c->list->arena, str_copy_arena(&c->list->arena, text), true, &q, &err);
    if (r >= 0)
        r = prepare_list(c, &q, &err);
    if (r < 0) {
        finish_trouble(c, r, &err);
        return;
    }
    (void)snprintf(c->what, sizeof c->what, "cache_list " STR_FMT, STR_ARG(q.watch));
    ask_next(c);
}

/* ---------------------------------------------------------------- configurations */

static void on_config(void *arg, int r, struct str json, const struct err *err)
{
    struct host_call *c = arg;
    c->config = NULL;
    if (r < 0)
        finish_trouble(c, r, err);
    else
        finish(c, (int64_t)json.n, json);
}

static void begin_config(struct host_call *c, struct str name)
{
    const struct declaration_config *d = declaration_config(c->env->declaration, name);
    struct err err = { 0 };
    if (!d) {
        (void)err_set(&err, -ENODEV, "no configuration '%.*s' is declared",
                      (int)MIN(name.n, (size_t)64), name.p);
        finish_trouble(c, -ENODEV, &err);
        return;
    }
    (void)snprintf(c->what, sizeof c->what, "config_get " STR_FMT, STR_ARG(name));
    int r = configs_get(c->env->configs, (size_t)(d - c->env->declaration->configs), on_config, c,
                        &c->config, &err);
    if (r < 0)
        finish_trouble(c, r, &err);
}

/* ---------------------------------------------------------------- public */

struct host_call *host_call_begin(const struct host_calls *env, const struct guest_call *call,
                                  host_call_done_fn done, void *arg)
{
    struct host_call *c = xnew(struct host_call);
    c->env = env;
    c->kind = call->kind;
    c->done = done;
    c->arg = arg;
    switch (call->kind) {
    case GUEST_CALL_DECLARE:
        assert(false); /* handled by the caller */
        break;
    case GUEST_CALL_API_REQUEST:
        begin_request(c, call->head, call->body);
        break;
    case GUEST_CALL_CACHE_GET:
        begin_get(c, call->head);
        break;
    case GUEST_CALL_CACHE_LIST:
        begin_list(c, call->head);
        break;
    case GUEST_CALL_CONFIG_GET:
        begin_config(c, call->head);
        break;
    }
    c->is_begun = true;
    return c;
}

void host_call_cancel(struct host_call *c)
{
    if (!c)
        return;
    c->done = NULL;
    timer_stop(c->env->loop, &c->timeout);
    if (c->exchange) {
        exchange_cancel(c->exchange); /* on_end() frees it */
        return;
    }
    if (c->read)
        object_read_cancel(c->read);
    if (c->config)
        config_read_cancel(c->config);
    free_call(c);
}

const char *host_call_what(const struct host_call *c)
{
    return c->what;
}
