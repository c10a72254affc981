/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operator's access to the API; see client.h.
 *
 *     DELAYED -> WAITING -> RUNNING -> on_end   rate allows it, identity is ready, it is sent
 *        \----------\----> ANSWERED -> on_end   refused, failed or cancelled before it was sent
 */
#include "operator/client.h"

#include "base/buf.h"
#include "base/slab.h"
#include "base/token_bucket.h"
#include "codec/json.h"

#include <errno.h>

enum { QUERY_MAX_BYTES = 64 << 10, NS_PER_MS = 1000000 };

struct operator_client_call {
    struct exchange_forward forward; /* RUNNING: carried by client->opts.transport */
    struct list node;                /* on client->calls */
    struct operator_client *client;
    enum { CALL_WAITING, CALL_DELAYED, CALL_RUNNING, CALL_ANSWERED } at;
    struct list delayed;       /* DELAYED: on client->drip->calls */
    struct identity_wait wait; /* WAITING, with the request to send */
    char *method, *target, *body;
    size_t body_n;
    struct headers headers;
    uint64_t timeout_ms;
    struct defer answer; /* ANSWERED: 429, or on_end() with err */
    bool limited;
    struct err err;
    char what[OPERATOR_CLIENT_WHAT_MAX];
};

struct operator_client_known {
    struct list node; /* on client->known, the newest last */
    bool allowed;
    uint64_t at_ms;
    size_t n;
    char key[];
};

struct operator_client_query {
    struct list node; /* on client->queries */
    struct operator_client *client;
    operator_client_cb cb;
    void *arg;
    struct exchange *call;
    int status;
    struct buf in;
    char *key;
    struct defer at_once; /* answered without a request: */
    bool allowed;
    bool cancelled; /* on_query_end() frees it */
    char what[OPERATOR_CLIENT_WHAT_MAX];
};

/* Requests that wait because of the rate, in order; allocated by the first. */
struct drip {
    struct operator_client *client;
    struct list calls; /* call.delayed */
    size_t n;
    struct timer timer;
};

struct operator_client {
    struct transport base;
    struct operator_client_opts opts;
    struct list calls, queries, known;
    uint32_t n_waiting, n_known;
    struct token_bucket rate;            /* of requests, in ns */
    struct operator_client_stats *stats; /* NULL: nothing counted yet */
    char *denied;                        /* NULL: none */
    struct drip *drip;                   /* NULL: no request has waited yet */
    unsigned ending;                     /* number of on_end() callbacks that are running */
    bool closed;                         /* freed when its last call ends */
};

static struct operator_client_stats *stats_of(struct operator_client *g)
{
    if (!g->stats)
        g->stats = slab_new(struct operator_client_stats);
    return g->stats;
}

static void note_denied(struct operator_client *g, const char *what)
{
    if (g->denied && strcmp(g->denied, what) == 0)
        return;
    free(g->denied);
    g->denied = xstrdup(what);
    if (g->opts.on_denied && !g->closed)
        g->opts.on_denied(g->opts.arg);
}

static void note_allowed(struct operator_client *g, const char *what)
{
    if (!g->denied || strcmp(g->denied, what) != 0)
        return;
    free(take_ptr(&g->denied));
    if (g->opts.on_denied && !g->closed)
        g->opts.on_denied(g->opts.arg);
}

/* ---------------------------------------------------------------- calls */

static void drop_request(struct operator_client_call *c)
{
    identity_wait_cancel(&c->wait);
    free(take_ptr(&c->method));
    free(take_ptr(&c->target));
    free(take_ptr(&c->body));
    headers_fini(&c->headers);
}

static void free_if_done(struct operator_client *g)
{
    if (!g->closed || g->ending > 0 || !list_is_empty(&g->calls))
        return;
    slab_free(g->stats);
    free(g->denied);
    free(g->drip);
    slab_free(g);
}

/* End a call, and free a closed client whose last call it was. */
static void end_call(struct operator_client_call *c, int r, const struct err *err)
{
    struct operator_client *g = c->client;
    list_remove(&c->node); /* on_end() may free the client, which cancels running calls */
    g->ending++;
    exchange_forward_end(&c->forward, r, err);
    g->ending--;
    drop_request(c);
    free(c);
    free_if_done(g);
}

static void count_answer(struct operator_client *g, int status)
{
    if (status >= 100 && status < 600)
        stats_of(g)->by_class[status / 100]++;
}

static struct operator_client_call *call_of(void *forward)
{
    return container_of(forward, struct operator_client_call, forward);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct operator_client_call *c = call_of(arg);
    count_answer(c->client, status);
    if (status == 401 && c->client->opts.identity)
        identity_reject(c->client->opts.identity);
    if (c->what[0] && status == 403)
        note_denied(c->client, c->what);
    else if (c->what[0] && status < 400)
        note_allowed(c->client, c->what);
    exchange_forward_head(arg, status, headers);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct operator_client_call *c = call_of(arg);
    if (r < 0 && r != -ECANCELED)
        stats_of(c->client)->failed++;
    end_call(c, r, err);
}

static const struct exchange_events under_events = { .on_head = on_head,
                                                     .on_data = exchange_forward_data,
                                                     .on_end = on_end };

static void answer_limited(struct operator_client_call *c)
{
    uint32_t rate = c->client->opts.per_second;
    struct headers h = { 0 };
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(4096);
    buf_printf(&body,
               "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
               "\"message\":\"this operator may make %u requests a second\","
               "\"reason\":\"TooManyRequests\",\"details\":{\"retryAfterSeconds\":1},\"code\":429}",
               rate);
    (void)headers_addc(&h, "content-type", "application/json");
    (void)headers_addc(&h, "retry-after", "1");
    (void)headers_addc(&h, "dormouse-error", "limited");
    stats_of(c->client)->by_class[0]++;
    exchange_report_head(&c->forward.x, 429, &h);
    exchange_report_data(&c->forward.x, buf_str(&body));
    headers_fini(&h);
}

static void on_answer(struct defer *d)
{
    struct operator_client_call *c = container_of(d, struct operator_client_call, answer);
    if (c->limited && c->err.code == 0)
        answer_limited(c);
    end_call(c, c->err.code, &c->err);
}

static void answer_later(struct operator_client_call *c, int code, const struct err *err)
{
    if (c->at == CALL_WAITING)
        c->client->n_waiting--;
    c->at = CALL_ANSWERED;
    if (err)
        c->err = *err;
    c->err.code = code;
    defer_start(c->client->opts.loop, &c->answer, on_answer);
}

static int run_call(struct operator_client_call *c, const struct kube_request *req,
                    const struct kube_identity *identity, struct err *err)
{
    struct kube_request as = *req;
    as.identity = identity;
    c->at = CALL_RUNNING;
    return transport_start(c->client->opts.transport, &as, &under_events, &c->forward,
                           &c->forward.under, err);
}

/* The wait for the identity has ended: send the request, or (r < 0) end it with `why`. */
static void send_kept(struct operator_client_call *c, int r, const struct err *why)
{
    struct operator_client *g = c->client;
    struct identity_who as;
    struct err err = { 0 };
    if (r < 0)
        err = *why;
    else if (g->opts.identity)
        r = identity_get(g->opts.identity, &as, &c->wait, &err);
    if (r == -EAGAIN)
        return;
    if (r >= 0) {
        struct kube_request req = { .method = str_of(c->method),
                                    .target = str_of(c->target),
                                    .headers = &c->headers,
                                    .body = str_n(c->body, c->body_n),
                                    .timeout_ms = c->timeout_ms };
        g->n_waiting--;
        r = run_call(c, &req, g->opts.identity ? &as.who : NULL, &err);
        drop_request(c);
    }
    if (r < 0)
        answer_later(c, r, &err);
    else
        exchange_forward_started(&c->forward);
}

static void on_identity(struct identity_wait *w, int r, const struct err *why)
{
    send_kept(container_of(w, struct operator_client_call, wait), r, why);
}

static void keep_request(struct operator_client_call *c, const struct kube_request *req)
{
    c->method = str_dup(req->method);
    c->target = str_dup(req->target);
    c->body_n = req->body.n;
    c->body = req->body.n ? xstrndup(req->body.p, req->body.n) : NULL;
    c->timeout_ms = req->timeout_ms;
    if (req->headers)
        (void)headers_copy(&c->headers, req->headers);
}

/* ---------------------------------------------------------------- rate */

static uint64_t token_ns(const struct operator_client *g)
{
    return UINT64_C(1000000000) / g->opts.per_second;
}

static uint64_t now_ns(const struct operator_client *g)
{
    return loop_now_ms(g->opts.loop) * NS_PER_MS;
}

/* A token bucket that holds `burst` requests and gains `per_second`. */
static bool take_token(struct operator_client *g)
{
    return g->opts.per_second == 0 ||
           token_bucket_take(&g->rate, g->opts.burst * token_ns(g), token_ns(g), now_ns(g));
}

/* Time until a token is available for a request with `ahead` others before it. */
static uint64_t delay_ms(const struct operator_client *g, size_t ahead)
{
    uint64_t ns = token_bucket_wait(&g->rate, g->opts.burst * token_ns(g), token_ns(g), now_ns(g));
    return (ns + ahead * token_ns(g) + NS_PER_MS - 1) / NS_PER_MS;
}

static void on_drip(struct timer *t)
{
    struct drip *drip = container_of(t, struct drip, timer);
    struct operator_client *g = drip->client;
    struct err err = { 0 };
    while (drip->n && take_token(g)) {
        struct operator_client_call *c =
            list_entry(list_pop_front(&drip->calls), struct operator_client_call, delayed);
        drip->n--;
        c->at = CALL_WAITING;
        bool fits = g->n_waiting++ < OPERATOR_CLIENT_WAITING_MAX;
        if (!fits)
            (void)err_set(&err, -EBUSY, "%d requests wait for their identity",
                          OPERATOR_CLIENT_WAITING_MAX);
        stats_of(g)->requests += fits;
        send_kept(c, fits ? 0 : -EBUSY, &err);
    }
    if (drip->n)
        timer_start(g->opts.loop, t, delay_ms(g, 0), on_drip);
}

/* Delay the request. false: the wait would be too long, or too many requests wait. */
static bool delay(struct operator_client_call *c, const struct kube_request *req)
{
    struct operator_client *g = c->client;
    size_t ahead = g->drip ? g->drip->n : 0;
    if (ahead >= OPERATOR_CLIENT_DELAYED_MAX || delay_ms(g, ahead) > OPERATOR_CLIENT_DELAY_MAX_MS)
        return false;
    if (!g->drip) {
        g->drip = xnew(struct drip);
        g->drip->client = g;
        list_init(&g->drip->calls);
    }
    c->at = CALL_DELAYED;
    keep_request(c, req);
    list_push_back(&g->drip->calls, &c->delayed);
    g->drip->n++;
    stats_of(g)->delayed++;
    if (!timer_is_armed(&g->drip->timer))
        timer_start(g->opts.loop, &g->drip->timer, delay_ms(g, 0), on_drip);
    return true;
}

static bool is_its_turn(struct operator_client *g)
{
    return (!g->drip || g->drip->n == 0) && take_token(g);
}

static void cancel(struct operator_client_call *c)
{
    struct err err = { 0 };
    (void)err_set(&err, -ECANCELED, "cancelled");
    switch (c->at) {
    case CALL_DELAYED:
        list_remove(&c->delayed);
        if (--c->client->drip->n == 0)
            timer_stop(c->client->opts.loop, &c->client->drip->timer);
        drop_request(c);
        answer_later(c, -ECANCELED, &err);
        return;
    case CALL_WAITING:
        drop_request(c);
        answer_later(c, -ECANCELED, &err);
        return;
    case CALL_RUNNING:
        exchange_cancel(c->forward.under);
        return;
    case CALL_ANSWERED:
        c->err = err;
        return;
    }
}

static void cancel_call(struct exchange *x)
{
    cancel(container_of(x, struct operator_client_call, forward.x));
}

static const struct exchange_ops call_ops = { .pause = exchange_forward_pause,
                                              .resume = exchange_forward_resume,
                                              .cancel = cancel_call };

static int start_call(struct operator_client *g, bool is_counted, const struct kube_request *req,
                      const struct exchange_events *events, void *arg, struct exchange **ret,
                      struct err *err)
{
    struct identity_who as;
    struct err why = { 0 };
    int r = 0;
    assert(!g->closed && !req->identity);
    struct operator_client_call *c = xnew(struct operator_client_call);
    exchange_forward_init(&c->forward, &call_ops, events, arg);
    c->client = g;
    c->wait.run = on_identity;
    if (is_counted) {
        struct str path, query;
        (void)str_cut(req->target, '?', &path, &query);
        (void)snprintf(c->what, sizeof c->what, STR_FMT " " STR_FMT, STR_ARG(req->method),
                       STR_ARG(path));
    }
    list_push_back(&g->calls, &c->node);
    if (is_counted && !is_its_turn(g)) {
        if (!delay(c, req)) {
            stats_of(g)->limited++;
            c->limited = true;
            c->at = CALL_ANSWERED;
            defer_start(g->opts.loop, &c->answer, on_answer);
        }
        if (g->opts.on_limited)
            g->opts.on_limited(g->opts.arg);
        *ret = &c->forward.x;
        return 0;
    }
    if (is_counted)
        stats_of(g)->requests++;
    if (g->opts.identity)
        r = identity_get(g->opts.identity, &as, &c->wait, &why);
    if (r == -EAGAIN && g->n_waiting < OPERATOR_CLIENT_WAITING_MAX) {
        c->at = CALL_WAITING;
        g->n_waiting++;
        keep_request(c, req);
        *ret = &c->forward.x;
        return 0;
    }
    if (r == -EAGAIN)
        r = err_set(&why, -EBUSY, "%d requests wait for their identity",
                    OPERATOR_CLIENT_WAITING_MAX);
    if (r >= 0)
        r = run_call(c, req, g->opts.identity ? &as.who : NULL, &why);
    if (r >= 0) {
        *ret = &c->forward.x;
        return 0;
    }
    drop_request(c);
    list_remove(&c->node);
    free(c);
    if (err)
        *err = why;
    return r;
}

static int start(struct transport *t, const struct kube_request *req,
                 const struct exchange_events *events, void *arg, struct exchange **ret,
                 struct err *err)
{
    return start_call(container_of(t, struct operator_client, base), true, req, events, arg, ret,
                      err);
}

/* ---------------------------------------------------------------- access queries */

static char *write_key(const struct access_query *q)
{
    return xasprintf("%d " STR_FMT " " STR_FMT "/" STR_FMT " " STR_FMT " " STR_FMT, (int)q->verb,
                     STR_ARG(q->group_version), STR_ARG(q->resource), STR_ARG(q->subresource),
                     STR_ARG(q->namespace), STR_ARG(q->name));
}

static struct operator_client_known *find_known(struct operator_client *g, const char *key)
{
    uint64_t now = loop_now_ms(g->opts.loop);
    list_each_safe (n, &g->known) {
        struct operator_client_known *k = list_entry(n, struct operator_client_known, node);
        if (now - k->at_ms > OPERATOR_CLIENT_ACCESS_TTL_MS) {
            list_remove(&k->node);
            g->n_known--;
            slab_free(k);
        } else if (strcmp(k->key, key) == 0) {
            return k;
        }
    }
    return NULL;
}

static void remember(struct operator_client *g, const char *key, bool allowed)
{
    struct operator_client_known *k = find_known(g, key);
    if (!k) {
        if (g->n_known == OPERATOR_CLIENT_ACCESS_KEPT) {
            slab_free(list_entry(list_pop_front(&g->known), struct operator_client_known, node));
            g->n_known--;
        }
        size_t n = strlen(key);
        k = slab_alloc(sizeof *k + n + 1);
        memcpy(k->key, key, n + 1);
        g->n_known++;
    }
    list_remove(&k->node);
    list_push_back(&g->known, &k->node);
    k->allowed = allowed;
    k->at_ms = loop_now_ms(g->opts.loop);
}

static void free_query(struct operator_client_query *q)
{
    list_remove(&q->node);
    buf_fini(&q->in);
    free(q->key);
    free(q);
}

static void on_query_head(void *arg, int status, const struct headers *headers)
{
    struct operator_client_query *q = arg;
    q->status = status;
}

static void on_query_data(void *arg, struct str chunk)
{
    struct operator_client_query *q = arg;
    (void)buf_add_str(&q->in, chunk); /* an overlong response fails to parse */
}

static void on_query_end(void *arg, int r, const struct err *cause)
{
    struct operator_client_query *q = arg;
    struct err err = cause ? *cause : (struct err){ 0 };
    struct arena a = { .max_bytes = (size_t)QUERY_MAX_BYTES * 16 };
    struct json *answer = NULL;
    bool allowed = false;
    if (q->cancelled) {
        free_query(q);
        return;
    }
    if (r >= 0 && (q->status != 201 || !buf_ok(&q->in)))
        r = err_set(&err, q->status == 403 ? E_DENIED : -EIO,
                    "the API answers %d to the question what this operator may do", q->status);
    if (r >= 0)
        r = json_parse(&a, buf_str(&q->in), NULL, &answer, &err);
    if (r >= 0) {
        allowed = json_bool(json_path(answer, "status", "allowed", NULL));
        remember(q->client, q->key, allowed);
        if (allowed)
            note_allowed(q->client, q->what);
        else
            note_denied(q->client, q->what);
    }
    arena_fini(&a);
    list_remove(&q->node);
    q->cb(q->arg, r < 0 ? r : 0, allowed, &err);
    free_query(q);
}

static const struct exchange_events query_events = { .on_head = on_query_head,
                                                     .on_data = on_query_data,
                                                     .on_end = on_query_end };

static void on_at_once(struct defer *d)
{
    struct operator_client_query *q = container_of(d, struct operator_client_query, at_once);
    list_remove(&q->node);
    q->cb(q->arg, 0, q->allowed, NULL);
    free_query(q);
}

static void on_not_asked(struct defer *d)
{
    struct operator_client_query *q = container_of(d, struct operator_client_query, at_once);
    struct err err = { 0 };
    (void)err_set(&err, -EIO, "the API cannot be asked what this operator may do");
    list_remove(&q->node);
    q->cb(q->arg, -EIO, false, &err);
    free_query(q);
}

static void write_review(struct arena *a, struct buf *to, const struct access_query *q)
{
    struct json *review = json_new_object(a), *spec = json_obj(a, review, "spec"),
                *what = json_obj(a, spec, "resourceAttributes");
    struct str group = STR(""), version = q->group_version;
    if (str_find_char(version, '/') >= 0)
        (void)str_cut(q->group_version, '/', &group, &version);
    json_set_str(a, review, "apiVersion", STR("authorization.k8s.io/v1"));
    json_set_str(a, review, "kind", STR("SelfSubjectAccessReview"));
    json_set_str(a, what, "verb", str_of(kube_verb_name(q->verb)));
    json_set_str(a, what, "group", group);
    json_set_str(a, what, "version", version);
    json_set_str(a, what, "resource", q->resource);
    json_set_str(a, what, "subresource", q->subresource);
    json_set_str(a, what, "namespace", q->namespace);
    json_set_str(a, what, "name", q->name);
    (void)json_write(to, review);
}

struct operator_client_query *operator_client_ask(struct operator_client *g,
                                                  const struct access_query *question,
                                                  operator_client_cb cb, void *arg)
{
    struct operator_client_query *q = xnew(struct operator_client_query);
    q->client = g;
    q->cb = cb;
    q->arg = arg;
    q->key = write_key(question);
    (void)snprintf(q->what, sizeof q->what, "%s " STR_FMT "%s" STR_FMT,
                   kube_verb_name(question->verb), STR_ARG(question->resource),
                   question->namespace.n ? " in " : "", STR_ARG(question->namespace));
    buf_init(&q->in, QUERY_MAX_BYTES);
    list_push_back(&g->queries, &q->node);
    const struct operator_client_known *k = g->opts.identity ? find_known(g, q->key) : NULL;
    if (k || !g->opts.identity) {
        q->allowed = k ? k->allowed : true;
        defer_start(g->opts.loop, &q->at_once, on_at_once);
        return q;
    }
    struct arena a = { 0 };
    struct headers h = { 0 };
    struct buf body = BUF_INIT(QUERY_MAX_BYTES);
    write_review(&a, &body, question);
    (void)headers_addc(&h, "content-type", "application/json");
    (void)headers_addc(&h, "accept", "application/json");
    struct kube_request req = {
        .method = STR("POST"),
        .target = STR("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
        .headers = &h,
        .body = buf_str(&body),
    };
    if (!buf_ok(&body) || start_call(g, false, &req, &query_events, q, &q->call, NULL) < 0)
        defer_start(g->opts.loop, &q->at_once, on_not_asked);
    headers_fini(&h);
    buf_fini(&body);
    arena_fini(&a);
    return q;
}

void operator_client_ask_cancel(struct operator_client_query *q)
{
    if (!q)
        return;
    list_remove(&q->node);
    if (!q->call) {
        defer_cancel(&q->at_once);
        free_query(q);
        return;
    }
    q->cancelled = true;
    exchange_cancel(q->call);
}

int operator_client_known(struct operator_client *g, const struct access_query *question)
{
    if (!g->opts.identity)
        return 1;
    scoped(free_scoped) char *key = write_key(question);
    const struct operator_client_known *k = find_known(g, key);
    return k ? k->allowed : -EAGAIN;
}

/* ---------------------------------------------------------------- public */

struct operator_client *operator_client_new(const struct operator_client_opts *opts)
{
    struct operator_client *g = slab_new(struct operator_client);
    g->base.start = start;
    g->opts = *opts;
    g->opts.identity = identity_ref(opts->identity);
    g->opts.burst = MAX(opts->burst, 1U);
    list_init(&g->calls);
    list_init(&g->queries);
    list_init(&g->known);
    return g;
}

struct transport *operator_client_transport(struct operator_client *g)
{
    return &g->base;
}

const char *operator_client_user(const struct operator_client *g)
{
    return g->opts.identity ? identity_user(g->opts.identity) : NULL;
}

void operator_client_free(struct operator_client *g)
{
    struct list *node;
    if (!g)
        return;
    while (!list_is_empty(&g->queries))
        operator_client_ask_cancel(list_first(&g->queries, struct operator_client_query, node));
    while ((node = list_pop_front(&g->known)))
        slab_free(list_entry(node, struct operator_client_known, node));
    list_each (n, &g->calls)
        cancel(list_entry(n, struct operator_client_call, node));
    identity_unref(take_ptr(&g->opts.identity));
    g->closed = true;
    free_if_done(g);
}

const char *operator_client_denied(const struct operator_client *g)
{
    return g->denied ? g->denied : "";
}

void operator_client_get_stats(const struct operator_client *g, struct operator_client_stats *ret)
{
    *ret = g->stats ? *g->stats : (struct operator_client_stats){ 0 };
}
