/* SPDX-License-Identifier: Apache-2.0 */
/* Streams over gRPC; see link.h. */
#include "fn/link/link.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "fn/fn.pb-c.h"
#include "fn/stream_impl.h"
#include "io/address.h"
#include "io/grpc.h"

#include <errno.h>

#define SERVICE "/dormouse.fn.v1.ControlPlane/"

/* One end of a stream: of an incoming call, or of an outgoing one. */
struct link_stream {
    struct fn_stream base;
    struct loop *loop;
    struct grpc_stream *in;
    struct grpc_call *out; /* at most one of both; none: it has ended */
    bool closed;           /* the holder has closed it */
    bool in_on_end; /* on_end runs: a holder that closes the stream in it does not free it yet */
    bool ended;     /* on_end has run */
    int failed;
    struct err err;
    struct defer turn; /* on_end that was decided inside a call of the holder */
};

static void free_if_over(struct link_stream *s)
{
    if (!s->closed || s->in || s->out || s->in_on_end)
        return;
    defer_cancel(&s->turn);
    free(s);
}

static void notify_end(struct link_stream *s)
{
    if (s->ended || s->closed)
        return;
    s->ended = true;
    s->in_on_end = true;
    s->base.ops->on_end(s->base.arg, s->failed, &s->err);
    s->in_on_end = false;
}

static void on_turn(struct defer *d)
{
    struct link_stream *s = container_of(d, struct link_stream, turn);
    notify_end(s);
    free_if_over(s);
}

/* The call failed; on_end runs on the next turn. */
static void fail(struct link_stream *s, int r, const char *why)
{
    if (s->failed || s->ended)
        return;
    s->failed = err_set(&s->err, r, "%s", why);
    if (s->in)
        grpc_stream_abort(s->in);
    if (s->out)
        grpc_call_cancel(s->out);
    defer_start(s->loop, &s->turn, on_turn);
}

static void deliver(struct link_stream *s, struct str message)
{
    struct err err = { 0 };
    if (s->closed || s->ended || s->failed || !s->base.ops)
        return;
    if (fn_stream_deliver(&s->base, message, &err) < 0)
        fail(s, E_PARSE, err_text(&err));
}

/* ---------------------------------------------------------------- incoming calls */

static void on_in_message(struct grpc_stream *st, struct str message)
{
    deliver(grpc_stream_data(st), message);
}

/* The peer has closed its end. */
static void on_in_half_close(struct grpc_stream *st)
{
    notify_end(grpc_stream_data(st));
}

static void on_in_gone(struct grpc_stream *st, int r)
{
    struct link_stream *s = grpc_stream_data(st);
    s->in = NULL;
    if (r < 0 && !s->failed)
        s->failed = err_sys(&s->err, r, "stream");
    if (!list_is_linked(&s->turn.node))
        notify_end(s);
    free_if_over(s);
}

static const struct grpc_stream_ops in_ops = { .on_message = on_in_message,
                                               .on_half_close = on_in_half_close,
                                               .on_gone = on_in_gone };

/* ---------------------------------------------------------------- outgoing calls */

static void on_out_message(void *arg, struct str message)
{
    deliver(arg, message);
}

static void on_out_end(void *arg, const struct grpc_result *result)
{
    struct link_stream *s = arg;
    int r = result->code == GRPC_OK ? 0
            : result->r < 0         ? result->r
                                    : grpc_code_to_errno(result->code);
    s->out = NULL;
    if (r < 0 && !s->failed)
        s->failed =
            err_set(&s->err, r, "%s: %.*s", grpc_code_name(result->code), STR_ARG(result->text));
    if (!list_is_linked(&s->turn.node))
        notify_end(s);
    free_if_over(s);
}

static const struct grpc_call_ops out_ops = { .on_message = on_out_message, .on_end = on_out_end };

/* ---------------------------------------------------------------- fn_stream */

static size_t link_pending(const struct fn_stream *f)
{
    const struct link_stream *s = container_of(f, const struct link_stream, base);
    return s->in ? grpc_stream_pending(s->in) : s->out ? grpc_call_pending(s->out) : 0;
}

static void link_send(struct fn_stream *f, const ProtobufCMessage *m)
{
    struct link_stream *s = container_of(f, struct link_stream, base);
    if ((!s->in && !s->out) || s->failed || s->ended)
        return;
    size_t n = protobuf_c_message_get_packed_size(m);
    if (n > FN_MESSAGE_MAX || link_pending(f) + n > FN_STREAM_QUEUE) {
        fail(s, n > FN_MESSAGE_MAX ? -EMSGSIZE : -ENOBUFS, "the peer does not keep up");
        return;
    }
    char *bytes = n <= LOOP_SCRATCH_BYTES ? loop_scratch(s->loop) : xalloc(n);
    n = protobuf_c_message_pack(m, (uint8_t *)bytes);
    if (s->in)
        (void)grpc_stream_send(s->in, str_n(bytes, n));
    else
        (void)grpc_call_send(s->out, str_n(bytes, n));
    if (n > LOOP_SCRATCH_BYTES)
        free(bytes);
}

static void link_close(struct fn_stream *f)
{
    struct link_stream *s = container_of(f, struct link_stream, base);
    s->closed = true;
    defer_cancel(&s->turn);
    if (s->in && !s->failed)
        grpc_stream_end(s->in, GRPC_OK, NULL, NULL);
    if (s->out && !s->failed)
        grpc_call_half_close(s->out);
    free_if_over(s);
}

static const struct fn_stream_impl link_impl = { .send = link_send,
                                                 .pending = link_pending,
                                                 .close = link_close };

static struct link_stream *new_stream(struct loop *loop, const ProtobufCMessageDescriptor *in)
{
    struct link_stream *s = xnew(struct link_stream);
    s->base.impl = &link_impl;
    s->base.in = in;
    s->loop = loop;
    return s;
}

/* ---------------------------------------------------------------- server */

struct link_server {
    struct loop *loop;
    struct grpc_server *grpc;
    char *token;
    const struct link_accept *accept;
    void *arg;
    struct str peer; /* of the request that is being taken */
};

static bool may_enter(struct link_server *s, struct grpc_stream *st)
{
    struct str shown = headers_get(grpc_stream_metadata(st), "authorization");
    if (s->token[0] == '\0')
        return true;
    if (str_has_prefix(shown, STR("Bearer ")) &&
        str_is_secret(str_slice(shown, 7, shown.n), s->token))
        return true;
    grpc_stream_end(st, GRPC_UNAUTHENTICATED, "a token is wanted", NULL);
    return false;
}

/* "ADDRESS:PORT" or "[ADDRESS]:PORT" */
static void set_from(struct fn_stream *f, struct str peer)
{
    struct str host;
    if (!address_host(peer, &host) || host.n >= sizeof f->from)
        host = STR("unknown");
    (void)snprintf(f->from, sizeof f->from, STR_FMT, STR_ARG(host));
}

static struct fn_stream *take(struct link_server *s, struct grpc_stream *st,
                              const ProtobufCMessageDescriptor *in)
{
    if (!may_enter(s, st))
        return NULL;
    struct link_stream *l = new_stream(s->loop, in);
    l->in = st;
    set_from(&l->base, s->peer);
    grpc_stream_set(st, &in_ops, l);
    grpc_stream_head(st, NULL);
    http_let_body_idle(grpc_stream_exchange(st));
    return &l->base;
}

static void begin_gateway(struct grpc_stream *st, void *arg)
{
    struct link_server *s = arg;
    struct fn_stream *f = take(s, st, &dormouse__fn__v1__gateway_report__descriptor);
    if (f)
        s->accept->gateway(s->arg, f);
}

static void begin_worker(struct grpc_stream *st, void *arg)
{
    struct link_server *s = arg;
    struct fn_stream *f = take(s, st, &dormouse__fn__v1__worker_report__descriptor);
    if (f)
        s->accept->worker(s->arg, f);
}

static void begin_peer(struct grpc_stream *st, void *arg)
{
    struct link_server *s = arg;
    struct fn_stream *f = take(s, st, &dormouse__fn__v1__peer_report__descriptor);
    if (f)
        s->accept->peer(s->arg, f);
}

struct link_server *link_server_new(struct loop *loop, const char *token,
                                    const struct link_accept *accept, void *arg)
{
    struct link_server *s = xnew(struct link_server);
    *s = (struct link_server){ .loop = loop,
                               .grpc = grpc_server_new(loop),
                               .token = xstrdup(token),
                               .accept = accept,
                               .arg = arg };
    grpc_server_add(s->grpc, SERVICE "Gateway", FN_MESSAGE_MAX, begin_gateway, s);
    grpc_server_add(s->grpc, SERVICE "Worker", FN_MESSAGE_MAX, begin_worker, s);
    grpc_server_add(s->grpc, SERVICE "Peer", FN_MESSAGE_MAX, begin_peer, s);
    return s;
}

void link_server_free(struct link_server *s)
{
    if (!s)
        return;
    grpc_server_free(s->grpc);
    free(s->token);
    free(s);
}

bool link_server_take(struct link_server *s, struct http_exchange *x,
                      const struct http_request *req)
{
    s->peer = req->peer;
    return grpc_server_take(s->grpc, x, req);
}

/* ---------------------------------------------------------------- dialer */

struct link_dialer {
    struct fn_dialer base;
    struct loop *loop;
    char *addresses[LINK_ADDRESSES_MAX];
    size_t n_addresses, next;
    struct tls_ctx *tls;
    char *token;
    struct map clients; /* by address: struct http_client */
};

static int split_address(const char *address, char host[256], uint16_t *ret_port, struct err *err)
{
    struct str s = str_of(address), name;
    size_t colon = s.n;
    uint64_t port;
    while (colon > 0 && s.p[colon - 1] != ':')
        colon--;
    name = str_slice(s, 0, colon ? colon - 1 : 0);
    if (name.n > 2 && name.p[0] == '[' && name.p[name.n - 1] == ']')
        name = str_slice(name, 1, name.n - 1);
    if (name.n == 0 || name.n > 255 ||
        parse_u64(str_slice(s, colon, s.n), 1, UINT16_MAX, &port) < 0)
        return err_set(err, E_INVALID, "'%s' is not HOST:PORT", address);
    memcpy(host, name.p, name.n);
    host[name.n] = '\0';
    *ret_port = (uint16_t)port;
    return 0;
}

static struct http_client *need_client(struct link_dialer *d, const char *address, struct err *err)
{
    struct http_client *client = map_get(&d->clients, str_of(address));
    char host[256];
    if (client)
        return client;
    if (d->clients.n >= LINK_PEERS_MAX) {
        (void)err_set(err, E_LIMIT, "too many addresses of control planes");
        return NULL;
    }
    struct http_client_opts opts = {
        .host = host,
        .tls = d->tls,
        .connect_timeout_ms = LINK_CONNECT_MS,
        .http2 = true,
        /* A suspended control plane keeps its connection in the kernel; pings detect it. */
        .ping_ms = LINK_PING_MS,
        .ping_timeout_ms = LINK_PING_MS,
        .user_timeout_ms = LINK_PING_MS * 2
    };
    if (split_address(address, host, &opts.port, err) < 0 ||
        http_client_new(d->loop, &opts, &client, err) < 0)
        return NULL;
    (void)map_put(&d->clients, str_of(address), client);
    return client;
}

static const char *path_of(const ProtobufCMessageDescriptor *in)
{
    if (in == &dormouse__fn__v1__gateway_order__descriptor)
        return SERVICE "Gateway";
    return in == &dormouse__fn__v1__worker_order__descriptor ? SERVICE "Worker" : SERVICE "Peer";
}

static struct fn_stream *dial(struct fn_dialer *base, const ProtobufCMessageDescriptor *in,
                              const char *address)
{
    struct link_dialer *d = container_of(base, struct link_dialer, base);
    struct link_stream *s = new_stream(d->loop, in);
    struct headers metadata = { 0 };
    struct err err = { 0 };
    if (!address[0])
        address = d->n_addresses ? d->addresses[d->next++ % d->n_addresses] : "";
    struct http_client *client = need_client(d, address, &err);
    if (d->token[0]) {
        scoped(free_scoped) char *value = xasprintf("Bearer %s", d->token);
        (void)headers_addc(&metadata, "authorization", value);
    }
    struct grpc_call_opts opts = { .path = path_of(in),
                                   .metadata = &metadata,
                                   .max_bytes = FN_MESSAGE_MAX,
                                   .ops = &out_ops,
                                   .arg = s };
    if (!client || grpc_call_start(client, &opts, &s->out, &err) < 0)
        fail(s, err.code ? err.code : -ECONNREFUSED, err_text(&err));
    headers_fini(&metadata);
    return &s->base;
}

static const struct fn_dialer_ops dialer_ops = { .dial = dial };

int link_dialer_new(const struct link_dialer_opts *opts, struct fn_dialer **ret, struct err *err)
{
    char host[256];
    uint16_t port;
    for (size_t i = 0; i < opts->n_addresses; i++)
        if (split_address(opts->addresses[i], host, &port, err) < 0)
            return E_INVALID;
    if (opts->n_addresses > LINK_ADDRESSES_MAX)
        return err_set(err, E_INVALID, "more than %d control planes", LINK_ADDRESSES_MAX);
    struct link_dialer *d = xnew(struct link_dialer);
    d->base.ops = &dialer_ops;
    d->loop = opts->loop;
    d->tls = opts->tls;
    d->token = xstrdup(opts->token ? opts->token : "");
    for (size_t i = 0; i < opts->n_addresses; i++)
        d->addresses[d->n_addresses++] = xstrdup(opts->addresses[i]);
    *ret = &d->base;
    return 0;
}

void link_dialer_free(struct fn_dialer *base)
{
    if (!base)
        return;
    struct link_dialer *d = container_of(base, struct link_dialer, base);
    map_each (e, &d->clients)
        http_client_close(e->value);
    map_fini(&d->clients);
    for (size_t i = 0; i < d->n_addresses; i++)
        free(d->addresses[i]);
    free(d->token);
    free(d);
}
