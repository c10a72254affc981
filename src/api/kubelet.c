/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the agents of nodes; see kubelet.h. */
#include "api/kubelet.h"

#include "api/reply.h"
#include "base/log.h"
#include "base/sm.h"
#include "io/address.h"
#include "io/http.h"
#include "io/tls.h"

#include <assert.h>
#include <errno.h>

/*
 *     asking ----> relaying ----> ended        asking: the agent has not answered
 *       |                          ^           relaying: its head was sent to the client
 *       +--> refused --------------+           refused: the text of a refusal is collected
 *
 * An exchange that fails, or whose client leaves, ends from each of them.
 */
enum relay_at { RELAY_ASKING, RELAY_REFUSED, RELAY_RELAYING, RELAY_ENDED };

static const struct sm_state relay_table[] = {
    [RELAY_ASKING] = { "asking", EDGE(RELAY_REFUSED) | EDGE(RELAY_RELAYING) | EDGE(RELAY_ENDED) },
    [RELAY_REFUSED] = { "refused", EDGE(RELAY_ENDED) },
    [RELAY_RELAYING] = { "relaying", EDGE(RELAY_ENDED) },
    [RELAY_ENDED] = { "ended", 0 },
};

/* Outlives the request if the client leaves: until the exchange with the agent has ended. */
struct relay {
    struct request *rq; /* NULL: the client has gone, or has its answer */
    struct sm sm;
    struct http_client *client;
    struct tls_ctx *tls;
    struct exchange *x;
    char *where; /* "HOST:PORT", for errors */
    int status;  /* of a refusal */
    struct buf refusal;
    bool upgrades; /* the answer has to be another protocol */
    bool is_raw;   /* it is: bytes pass both ways */
    bool is_proxy;
    char *prefix; /* of a proxy */
};

bool kubelet_is_reachable(const struct api *api)
{
    return api->ca_key.n > 0;
}

/* ------------------------------------------------------------------ the end */

static void relay_free(struct relay *y)
{
    assert(!y->rq);
    if (y->client)
        http_client_close(y->client);
    tls_ctx_free(y->tls);
    buf_fini(&y->refusal);
    free(y->where);
    free(y->prefix);
    free(y);
}

/* The request is answered, or its client has gone: it knows nothing of the relay any more. */
static void detach(struct relay *y)
{
    struct request *rq = take_ptr(&y->rq);
    rq->work = NULL;
    rq->on_gone = NULL;
    rq->on_writable = NULL;
    rq->on_bytes = NULL;
    assert(rq->api->n_kubelet_calls > 0);
    rq->api->n_kubelet_calls--;
}

static void on_gone(struct request *rq)
{
    struct relay *y = rq->work;
    detach(y);
    exchange_cancel(y->x);
}

/* ------------------------------------------------------------------ from the agent */

static void on_writable(struct request *rq)
{
    struct relay *y = rq->work;
    exchange_resume(y->x);
}

/* Bytes of the client, once the protocol has changed. end: there are no more. */
static void on_bytes(struct request *rq, struct str bytes, bool end)
{
    struct relay *y = rq->work;
    assert(y->is_raw);
    if (end)
        exchange_end_body(y->x, NULL);
    else if (!exchange_write(y->x, bytes))
        rq->sink->pause(rq);
}

static void on_agent_writable(void *arg)
{
    struct relay *y = arg;
    if (y->rq && y->is_raw)
        y->rq->sink->resume(y->rq);
}

/* Only what the protocol needs: the agent's other fields are not ours. */
static void change_protocol(struct relay *y, const struct headers *headers)
{
    static const char *const fields[] = { "upgrade", "sec-websocket-accept",
                                          "sec-websocket-protocol", "x-stream-protocol-version" };
    struct request *rq = y->rq;
    struct headers h = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        struct str value = headers_get(headers, fields[i]);
        if (value.p)
            (void)headers_add(&h, str_of(fields[i]), value);
    }
    y->is_raw = true;
    rq->on_bytes = on_bytes;
    reply_upgrade(rq, &h);
    headers_fini(&h);
}

/* Fields that concern one connection only (RFC 9110 section 7.6.1), and those that we set. */
static bool is_of_connection(struct str name)
{
    static const char *const names[] = { "connection",        "keep-alive", "proxy-authenticate",
                                         "proxy-connection",  "te",         "trailer",
                                         "transfer-encoding", "upgrade",    "content-length",
                                         "audit-id" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_ieq(name, str_of(names[i])))
            return true;
    return false;
}

/* A path of the other server as the client has to ask for it. */
static struct str through_proxy(const struct relay *y, struct arena *a, struct str location)
{
    struct str rest = location, path;
    ptrdiff_t scheme = str_find(location, STR("://"));
    if (scheme >= 0) {
        rest = str_slice(location, (size_t)scheme + 3, location.n);
        if (!str_has_prefix(rest, str_of(y->where)))
            return location; /* to somewhere else */
        rest = str_slice(rest, strlen(y->where), rest.n);
    }
    path = rest.n ? rest : STR("/");
    if (path.p[0] != '/' || str_has_prefix(path, STR("//")) ||
        str_has_prefix(path, str_of(y->prefix)))
        return location;
    return str_of(arena_printf(a, "%s" STR_FMT, y->prefix, STR_ARG(path)));
}

static void pass_head(struct relay *y, int status, const struct headers *headers)
{
    struct request *rq = y->rq;
    uint64_t n = HTTP_CHUNKED;
    struct str length = headers_get(headers, "content-length");
    for (size_t i = 0; i < headers->n; i++) {
        struct str name = headers_name(headers, i), value = headers_value(headers, i);
        if (str_ieq(name, STR("location")))
            value = through_proxy(y, &rq->arena, value);
        if (!is_of_connection(name))
            (void)headers_add(&rq->extra, name, value);
    }
    if (length.p && parse_u64(length, 0, INT64_MAX, &n) < 0)
        n = HTTP_CHUNKED;
    if (status == 204 || status == 304)
        n = 0;
    rq->accept_encoding = STR("");
    reply_head(rq, status, NULL, n);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct relay *y = arg;
    if (!y->rq)
        return;
    if (y->is_proxy && status != 101) {
        sm_move(&y->sm, RELAY_RELAYING);
        pass_head(y, status, headers);
    } else if (status == 101) {
        sm_move(&y->sm, RELAY_RELAYING);
        change_protocol(y, headers);
    } else if (status == 200 && !y->upgrades) {
        sm_move(&y->sm, RELAY_RELAYING);
        y->rq->accept_encoding = STR(""); /* compression would hold lines back */
        reply_head(y->rq, 200, "text/plain", HTTP_CHUNKED);
    } else {
        sm_move(&y->sm, RELAY_REFUSED);
        y->status = status;
    }
}

static void on_data(void *arg, struct str chunk)
{
    struct relay *y = arg;
    if (!y->rq)
        return;
    if (y->sm.at == RELAY_REFUSED) {
        size_t room = y->refusal.max - y->refusal.n;
        (void)buf_add_str(&y->refusal, str_slice(chunk, 0, MIN(chunk.n, room)));
        if (chunk.n > room) /* the rest is not shown, and may have no end */
            exchange_cancel(y->x);
    } else if (!y->rq->sink->write(y->rq, chunk)) {
        exchange_pause(y->x);
    }
}

/* As upstream: the agent's text, with its status; a success that is none of ours is an error. */
static void reply_refusal(struct relay *y)
{
    struct arena *a = &y->rq->arena;
    struct str text = str_trim(buf_str(&y->refusal));
    int status = y->status >= 400 && y->status < 600 ? y->status : 500;
    if (text.n == 0)
        text = str_of(arena_printf(a, "the node answered with status %d", y->status));
    static const struct {
        int status;
        const char *reason;
    } reasons[] = { { 400, "BadRequest" },
                    { 401, "Unauthorized" },
                    { 403, "Forbidden" },
                    { 404, "NotFound" },
                    { 500, "InternalError" } };
    const char *reason = "";
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status)
            reason = reasons[i].reason;
    reply_status(y->rq, status_new(a, status, reason, str_copy_arena(a, text)));
}

static void reply_failure(struct relay *y, int r, const struct err *err)
{
    struct arena *a = &y->rq->arena;
    const char *why = err_text(err);
    if (r == -ECONNREFUSED)
        why = arena_printf(a, "dial tcp %s: connect: connection refused", y->where);
    if (y->is_proxy) {
        reply_status(y->rq,
                     status_unavailable(
                         a, str_of(arena_printf(a, "error trying to reach service: %s", why))));
        return;
    }
    reply_status(y->rq,
                 status_new(a, 500, "", str_of(arena_printf(a, "error dialing backend: %s", why))));
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct relay *y = arg;
    enum relay_at was = (enum relay_at)y->sm.at;
    struct request *rq = y->rq;
    sm_move(&y->sm, RELAY_ENDED);
    if (rq) {
        if (was == RELAY_ASKING)
            reply_failure(y, r < 0 ? r : -EPROTO, err);
        else if (was == RELAY_REFUSED)
            reply_refusal(y);
        detach(y);
        if (was == RELAY_RELAYING) {
            request_end(rq);
            (r < 0 ? rq->sink->abort : rq->sink->end)(rq);
        }
    }
    relay_free(y);
}

/* ------------------------------------------------------------------ asking it */

/* Show ourselves to agents as upstream's API server does, and to nobody else. */
int kubelet_tls(const struct api *api, enum kubelet_way way, struct tls_ctx **ret, struct err *err)
{
    static const struct str group = { "system:masters", sizeof "system:masters" - 1 };
    const struct x509_user us = { .name = STR("kube-apiserver-kubelet-client"),
                                  .groups = &group,
                                  .n_groups = 1 };
    scoped(buf_fini_scoped) struct buf cert = BUF_INIT(64 << 10);
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(64 << 10);
    struct str ca = buf_str(&api->ca_cert);
    *ret = NULL;
    if (way == KUBELET_PLAIN)
        return 0;
    if (way == KUBELET_FOREIGN)
        return tls_ctx_new_client(STR(""), STR(""), STR(""), true, ret, err);
    int r =
        x509_make_client(ca, buf_str(&api->ca_key), &us, KUBELET_CERTIFICATE_S, &cert, &key, err);
    return r < 0 ? r
                 : tls_ctx_new_client(ca, buf_str(&cert), buf_str(&key), way == KUBELET_ANY, ret,
                                      err);
}

/* The fields that a proxy sends: the client's, without those of its connection to us. */
static void proxy_fields(struct request *rq, const struct kubelet_call *call, struct headers *to)
{
    struct arena *a = &rq->arena;
    struct str host, rest;
    for (size_t i = 0; i < rq->proxy_fields.n; i++)
        (void)headers_add(to, headers_name(&rq->proxy_fields, i),
                          headers_value(&rq->proxy_fields, i));
    if (rq->proxy_fields.n == 0 && rq->accept.n) /* in process */
        (void)headers_add(to, STR("accept"), rq->accept);
    if (rq->proxy_fields.n == 0 && rq->content_type.n)
        (void)headers_add(to, STR("content-type"), rq->content_type);
    if (address_host(rq->peer, &host))
        (void)headers_set(to, STR("x-forwarded-for"), host);
    (void)str_cut(call->target, '?', &host, &rest);
    (void)headers_set(
        to, STR("x-forwarded-uri"),
        str_of(arena_printf(a, STR_FMT STR_FMT, STR_ARG(call->prefix), STR_ARG(host))));
    for (size_t i = 0; rq->protocol && i < rq->protocol->n; i++)
        (void)headers_add(to, headers_name(rq->protocol, i), headers_value(rq->protocol, i));
}

static int ask(struct relay *y, const struct kubelet_call *call, struct err *err)
{
    static const struct exchange_events events = {
        .on_head = on_head, .on_data = on_data, .on_writable = on_agent_writable, .on_end = on_end
    };
    struct request *rq = y->rq;
    const char *host = str_dup_arena(&rq->arena, call->host);
    const struct http_client_opts opts = { .host = host, .port = call->port, .tls = y->tls };
    struct headers fields = { 0 };
    if (call->is_proxy)
        proxy_fields(rq, call, &fields);
    const struct http_call_opts request = { .method = rq->method,
                                            .target = call->target,
                                            .headers = call->is_proxy ? &fields
                                                       : y->upgrades  ? rq->protocol
                                                                      : NULL,
                                            .body = call->is_proxy ? buf_str(&rq->body) : STR(""),
                                            .head_timeout_ms =
                                                call->upgrades ? KUBELET_HEAD_TIMEOUT_MS : 0,
                                            .events = &events,
                                            .arg = y,
                                            .upgrade = y->upgrades };
    int r = http_client_new(rq->api->loop, &opts, &y->client, err);
    if (r >= 0)
        r = http_call_start(y->client, &request, &y->x, err);
    headers_fini(&fields);
    return r;
}

void kubelet_relay(struct request *rq, const struct kubelet_call *call)
{
    struct err err = { 0 };
    struct api *api = rq->api;
    assert((call->way >= KUBELET_FOREIGN || kubelet_is_reachable(api)) && !rq->work);
    if (call->upgrades && !rq->protocol) {
        reply_status(rq, status_bad_request(&rq->arena, STR("Upgrade request required")));
        return;
    }
    if (api->n_kubelet_calls >= KUBELET_CALLS_MAX) {
        reply_status(rq, status_too_many_requests(&rq->arena, 1));
        return;
    }
    struct relay *y = xnew(struct relay);
    y->rq = rq;
    y->upgrades = call->upgrades || (call->is_proxy && rq->protocol);
    y->is_proxy = call->is_proxy;
    y->prefix = str_dup(call->prefix);
    y->where = xasprintf(str_find_char(call->host, ':') >= 0 ? "[" STR_FMT "]:%u" : STR_FMT ":%u",
                         STR_ARG(call->host), call->port);
    y->refusal = BUF_INIT(KUBELET_ERROR_MAX_BYTES);
    sm_init(&y->sm, relay_table, RELAY_ASKING);
    api->n_kubelet_calls++;
    int r = kubelet_tls(api, call->way, &y->tls, &err);
    if (r >= 0)
        r = ask(y, call, &err);
    if (r < 0) {
        reply_failure(y, r, &err);
        detach(y);
        relay_free(y);
        return;
    }
    rq->work = y;
    rq->on_gone = on_gone;
    rq->on_writable = on_writable;
    request_settled(rq);
}
