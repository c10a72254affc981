/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP listener: feeds exchanges to the request core and takes its answers. */
#include "api/core.h"
#include "api/request.h"
#include "api/self_service.h"
#include "api/websocket.h"
#include "io/http.h"
#include "io/tls.h"

#include <errno.h>

static void sink_head(struct request *rq, int status, const struct headers *headers,
                      uint64_t body_n)
{
    if (rq->socket && status == 200 && rq->res && rq->route.verb == KUBE_WATCH)
        websocket_open(rq->socket, rq->sink_data, headers);
    else
        http_respond(rq->sink_data, status, headers, body_n);
}

static bool sink_write(struct request *rq, struct str chunk)
{
    if (websocket_is_open(rq->socket) ? websocket_write(rq->socket, chunk)
                                      : http_write(rq->sink_data, chunk))
        return true;
    request_unsent(rq, 2 * http_write_pending(rq->sink_data)); /* buffers grow by doubling */
    return false;
}

static size_t sink_pending(const struct request *rq)
{
    return http_write_pending(rq->sink_data);
}

static void sink_end(struct request *rq)
{
    if (websocket_is_open(rq->socket))
        websocket_end(rq->socket);
    else
        http_end(rq->sink_data);
}

static void sink_abort(struct request *rq)
{
    http_abort(rq->sink_data);
}

static void sink_read_body(struct request *rq, uint64_t max_bytes)
{
    http_read_body(rq->sink_data, max_bytes);
}

static void sink_upgrade(struct request *rq, const struct headers *headers)
{
    http_upgrade(rq->sink_data, headers);
    http_read_body(rq->sink_data, UINT64_MAX);
}

static void sink_pause(struct request *rq)
{
    http_pause_body(rq->sink_data);
}

static void sink_resume(struct request *rq)
{
    http_resume_body(rq->sink_data);
}

static const struct sink_ops http_sink = {
    .head = sink_head,
    .write = sink_write,
    .pending = sink_pending,
    .end = sink_end,
    .abort = sink_abort,
    .read_body = sink_read_body,
    .upgrade = sink_upgrade,
    .pause = sink_pause,
    .resume = sink_resume,
};

static void read_raw(struct request *rq, struct str bytes, bool end)
{
    if (rq->on_bytes)
        rq->on_bytes(rq, bytes, end);
}

static void on_body(struct http_exchange *x, struct str chunk)
{
    struct request *rq = http_exchange_data(x);
    if (websocket_is_open(rq->socket))
        websocket_read(rq->socket, chunk);
    else if (rq->status == 101) /* to the relay, or to nothing once it has ended */
        read_raw(rq, chunk, false);
    else
        (void)request_body(rq, chunk);
}

static void on_body_end(struct http_exchange *x, int r)
{
    struct request *rq = http_exchange_data(x);
    if (websocket_is_open(rq->socket))
        websocket_end(rq->socket);
    else if (rq->status == 101)
        read_raw(rq, STR(""), true);
    else
        request_body_end(rq, r);
}

static void on_writable(struct http_exchange *x)
{
    request_writable(http_exchange_data(x));
}

static void on_gone(struct http_exchange *x, int r)
{
    (void)r;
    request_gone(http_exchange_data(x));
}

static const struct http_exchange_ops exchange_ops = {
    .on_body = on_body,
    .on_body_end = on_body_end,
    .on_writable = on_writable,
    .on_gone = on_gone,
};

static struct str header(struct request *rq, const struct http_request *req, const char *name)
{
    return str_copy_arena(&rq->arena, headers_get(req->headers, name));
}

/* Without the items that are a browser's bearer token (websocket.h). */
static struct str public_protocols(struct request *rq, struct str list)
{
    scoped(buf_fini_scoped) struct buf kept = BUF_INIT(2L * HTTP_HEAD_MAX_BYTES);
    for (struct str item; list.n;) {
        (void)str_cut(list, ',', &item, &list);
        item = str_trim(item);
        if (!str_has_prefix(item, STR(WEBSOCKET_TOKEN_PREFIX)))
            (void)buf_printf(&kept, "%s" STR_FMT, kept.n ? ", " : "", STR_ARG(item));
    }
    return str_copy_arena(&rq->arena, buf_str(&kept));
}

/* What passes to an agent that is asked for the same protocol: no credentials, no cookies. */
static const struct headers *protocol_fields(struct request *rq, const struct headers *from)
{
    static const char *const names[] = { "upgrade", "sec-websocket-key", "sec-websocket-version",
                                         "sec-websocket-protocol", "x-stream-protocol-version" };
    for (size_t i = 0; i < from->n; i++) {
        struct str name = headers_name(from, i), value = headers_value(from, i);
        if (str_ieq(name, STR("sec-websocket-protocol")))
            value = public_protocols(rq, value);
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            if (str_ieq(name, str_of(names[k])))
                (void)headers_add(&rq->protocol_fields, name, value);
    }
    return &rq->protocol_fields;
}

/* What a proxy passes on: all but the connection's fields and the client's credentials for us. */
static void keep_proxy_fields(struct request *rq, const struct headers *from)
{
    static const char *const ours[] = { "authorization",
                                        "connection",
                                        "content-length",
                                        "expect",
                                        "host",
                                        "keep-alive",
                                        "proxy-authorization",
                                        "proxy-connection",
                                        "te",
                                        "trailer",
                                        "transfer-encoding",
                                        "upgrade",
                                        "x-stream-protocol-version" };
    for (size_t i = 0; i < from->n; i++) {
        struct str name = headers_name(from, i);
        bool is_ours = str_has_prefix(name, STR("impersonate-")) ||
                       str_has_prefix(name, STR("sec-websocket-")) ||
                       str_has_prefix(name, STR("x-remote-"));
        for (size_t k = 0; !is_ours && k < ARRAY_LEN(ours); k++)
            is_ours = str_is(name, ours[k]);
        if (!is_ours)
            (void)headers_add(&rq->proxy_fields, name, headers_value(from, i));
    }
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    struct request *rq = request_new(arg, &http_sink, x);
    http_exchange_set(x, &exchange_ops, rq);
    rq->method = str_copy_arena(&rq->arena, req->method);
    rq->target = str_copy_arena(&rq->arena, req->target);
    rq->peer = str_copy_arena(&rq->arena, req->peer);
    rq->accept = header(rq, req, "accept");
    rq->accept_encoding = header(rq, req, "accept-encoding");
    rq->content_type = header(rq, req, "content-type");
    rq->user_agent = header(rq, req, "user-agent");
    rq->audit_id = header(rq, req, "audit-id");
    rq->if_none_match = header(rq, req, "if-none-match");
    rq->api->needs->take_credentials(rq, req->headers);
    if (str_find(rq->target, STR("/proxy")) >= 0)
        keep_proxy_fields(rq, req->headers);
    if (req->upgrade) {
        rq->protocol = protocol_fields(rq, req->headers);
        rq->socket = websocket_take(rq, req->headers);
    }
    struct tls_peer cert;
    if (http_exchange_peer(x, &rq->arena, &cert)) {
        struct tls_peer *kept = arena_new(&rq->arena, struct tls_peer);
        *kept = cert;
        rq->cert = kept;
    }
    request_start(rq, req->has_body);
}

/* Runs before the handshake: a client that gets an expired certificate sends no request. */
static void on_accept(void *arg)
{
    api_renew_certificate(arg);
}

int api_listen(struct api *api, const char *host, uint16_t port, struct tls_ctx *tls,
               struct err *err)
{
    const struct http_server_opts opts = { .host = host,
                                           .port = port,
                                           .tls = tls,
                                           .http2 = true,
                                           .on_request = on_request,
                                           .on_accept = on_accept,
                                           .arg = api };
    int r = http_server_start(api->loop, &opts, &api->http, err);
    if (r >= 0)
        self_service_publish(api, host, api_port(api));
    return r;
}

uint16_t api_port(const struct api *api)
{
    return api->http ? http_server_port(api->http) : 0;
}
