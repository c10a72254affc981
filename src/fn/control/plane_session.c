/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of gateways and workers until their hello, and the leases of peers: one timer for all,
 * which runs only while a peer is in another process or lost.
 */
#include "fn/control/plane_impl.h"

#include "base/log.h"

#include <inttypes.h>

/* ---------------------------------------------------------------- new streams */

void plane_caller_free(struct plane_caller *g)
{
    list_remove(&g->node);
    timer_stop(g->p->loop, &g->timer);
    buf_fini(&g->hello);
    free(g);
}

static void redirect(struct plane *p, struct fn_stream *s, bool is_worker)
{
    Dormouse__Fn__V1__Redirect to = DORMOUSE__FN__V1__REDIRECT__INIT;
    Dormouse__Fn__V1__WorkerOrder w = DORMOUSE__FN__V1__WORKER_ORDER__INIT;
    Dormouse__Fn__V1__GatewayOrder g = DORMOUSE__FN__V1__GATEWAY_ORDER__INIT;
    to.address = p->leader;
    w.redirect = g.redirect = &to;
    fn_stream_send(s, is_worker ? &w.base : &g.base);
    fn_stream_close(s);
}

void plane_caller_refuse(struct plane_caller *g, const char *name, uint64_t incarnation,
                         const struct err *err)
{
    Dormouse__Fn__V1__Refusal why = DORMOUSE__FN__V1__REFUSAL__INIT;
    Dormouse__Fn__V1__WorkerOrder to_worker = DORMOUSE__FN__V1__WORKER_ORDER__INIT;
    Dormouse__Fn__V1__GatewayOrder to_gateway = DORMOUSE__FN__V1__GATEWAY_ORDER__INIT;
    char quoted[LOG_QUOTE_MAX], text[LOG_QUOTE_MAX];
    g->p->refused++;
    log_warn(g->is_worker ? "worker refused" : "gateway refused",
             "%s=\"%s\" incarnation=%" PRIu64 " reason=\"%s\"", g->is_worker ? "worker" : "gateway",
             log_quote(quoted, str_of(name)), incarnation, log_quote(text, str_of(err_text(err))));
    why.message = (char *)(uintptr_t)err_text(err);
    to_worker.refusal = to_gateway.refusal = &why;
    fn_stream_send(g->stream, g->is_worker ? &to_worker.base : &to_gateway.base);
    fn_stream_close(g->stream);
    plane_caller_free(g);
}

static void send_away(struct plane_caller *g)
{
    assert(g->stream && list_is_linked(&g->node));
    redirect(g->p, g->stream, g->is_worker);
    plane_caller_free(g);
}

static void on_hold_over(struct timer *t)
{
    send_away(container_of(t, struct plane_caller, timer));
}

/* No leader is known: the hello is processed when there is one. */
static void hold(struct plane_caller *g, const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    char *at;
    assert(!g->p->leads && n > 0);
    if (!g->p->expects || g->hello.n) {
        send_away(g);
        return;
    }
    buf_init(&g->hello, FN_MESSAGE_MAX);
    if (buf_reserve(&g->hello, n, &at) < 0) {
        send_away(g);
        return;
    }
    buf_advance(&g->hello, protobuf_c_message_pack(m, (uint8_t *)at));
    timer_start(g->p->loop, &g->timer, PLANE_HOLD_MS, on_hold_over);
}

static void refuse(struct plane_caller *g)
{
    assert(g->stream && list_is_linked(&g->node));
    fn_stream_close(g->stream);
    plane_caller_free(g);
}

static void on_caller_message(void *arg, const ProtobufCMessage *m)
{
    struct plane_caller *g = arg;
    const Dormouse__Fn__V1__WorkerReport *w = (const Dormouse__Fn__V1__WorkerReport *)m;
    const Dormouse__Fn__V1__GatewayReport *gw = (const Dormouse__Fn__V1__GatewayReport *)m;
    const char *name = g->is_worker ? (w->hello ? w->hello->name : "")
                       : gw->hello  ? gw->hello->name
                                    : "";
    const char *address = name[0] && g->is_worker ? w->hello->address
                          : name[0]               ? gw->hello->address
                                                  : "";
    if (!name[0] || strlen(name) > PLANE_NAME_MAX || strlen(address) > PLANE_NAME_MAX)
        refuse(g); /* a stream begins with a hello */
    else if (!g->p->leads)
        hold(g, m);
    else if (g->is_worker)
        plane_worker_hello(g, w);
    else
        plane_gateway_hello(g, gw);
}

static void on_caller_end(void *arg, int r, const struct err *err)
{
    refuse(arg);
}

static const struct fn_stream_ops caller_ops = { .on_message = on_caller_message,
                                                 .on_end = on_caller_end };

static void on_caller_timer(struct timer *t)
{
    refuse(container_of(t, struct plane_caller, timer));
}

static void accept_stream(struct plane *p, struct fn_stream *s, bool is_local, bool is_worker)
{
    if (!p->leads && !p->expects) {
        redirect(p, s, is_worker);
        return;
    }
    struct plane_caller *g = xnew(struct plane_caller);
    *g = (struct plane_caller){ .p = p, .stream = s, .is_local = is_local, .is_worker = is_worker };
    list_push_back(&p->callers, &g->node);
    fn_stream_set(s, &caller_ops, g);
    timer_start(p->loop, &g->timer, PLANE_HELLO_MS, on_caller_timer);
}

void plane_accept_gateway(struct plane *p, struct fn_stream *s, bool is_local)
{
    accept_stream(p, s, is_local, false);
}

void plane_accept_worker(struct plane *p, struct fn_stream *s, bool is_local)
{
    accept_stream(p, s, is_local, true);
}

bool plane_caller_is_late(struct plane_caller *g, uint64_t highest_term)
{
    struct plane *p = g->p;
    if (highest_term <= p->term)
        return false;
    log_warn("functions: a higher term exists", "term=%" PRIu64 " seen=%" PRIu64, p->term,
             highest_term);
    redirect(p, g->stream, g->is_worker);
    plane_caller_free(g);
    p->opts.ops->on_deposed(p->opts.arg);
    return true;
}

void plane_redirect_callers(struct plane *p)
{
    list_each_safe (node, &p->callers)
        send_away(list_entry(node, struct plane_caller, node));
}

void plane_welcome_callers(struct plane *p)
{
    list_each_safe (node, &p->callers) {
        struct plane_caller *g = list_entry(node, struct plane_caller, node);
        struct buf hello = g->hello;
        const ProtobufCMessageDescriptor *type =
            g->is_worker ? &dormouse__fn__v1__worker_report__descriptor
                         : &dormouse__fn__v1__gateway_report__descriptor;
        if (hello.n == 0)
            continue; /* its hello has not arrived */
        g->hello = (struct buf){ 0 };
        ProtobufCMessage *m =
            protobuf_c_message_unpack(type, NULL, hello.n, (const uint8_t *)hello.p);
        if (m)
            on_caller_message(g, m);
        if (m)
            protobuf_c_message_free_unpacked(m, NULL);
        buf_fini(&hello);
    }
}

void plane_end_callers(struct plane *p)
{
    list_each_safe (node, &p->callers)
        refuse(list_entry(node, struct plane_caller, node));
}

/* ---------------------------------------------------------------- leases */

static bool is_watched(const struct plane_peer *peer)
{
    return !peer->is_local || !peer->stream;
}

static bool is_over(const struct plane *p, const struct plane_peer *peer)
{
    return is_watched(peer) && loop_now_ms(p->loop) - peer->heard_ms >= p->lease_ms;
}

static void on_lease_timer(struct timer *t)
{
    struct plane *p = container_of(t, struct plane, lease_timer);
    bool goes_on = false;
    /*
     * If this process was suspended, it has read nothing since: read the sockets before leases are
     * checked.
     */
    bool is_late = loop_now_ms(p->loop) > p->lease_due_ms + p->lease_ms / 4;
    for (size_t i = 0; i < p->workers.n; i++) {
        struct plane_worker *w = p->workers.p[i];
        if (w && !is_late && is_over(p, &w->peer))
            plane_worker_lost(w);
        else
            goes_on |= w && is_watched(&w->peer);
    }
    for (size_t i = 0; i < PLANE_GATEWAYS_MAX; i++) {
        struct plane_gateway *g = p->gateways[i];
        if (g && !is_late && is_over(p, &g->peer))
            plane_gateway_lost(g);
        else
            goes_on |= g && is_watched(&g->peer);
    }
    if (goes_on)
        plane_watch_leases(p);
}

void plane_watch_leases(struct plane *p)
{
    if (timer_is_armed(&p->lease_timer))
        return;
    p->lease_due_ms = loop_now_ms(p->loop) + p->lease_ms / 4;
    timer_start(p->loop, &p->lease_timer, p->lease_ms / 4, on_lease_timer);
}

int plane_peer_connect(struct plane_peer *peer, struct plane_caller *g, uint64_t incarnation,
                       struct err *err)
{
    if (incarnation < peer->incarnation)
        return err_set(err, E_EXPIRED, "a newer process with its name is connected");
    fn_stream_close(peer->stream);
    peer->stream = g->stream;
    peer->is_local = g->is_local;
    (void)snprintf(peer->from, sizeof peer->from, "%s", fn_stream_from(g->stream));
    peer->incarnation = incarnation;
    plane_caller_free(g);
    plane_peer_heard(peer);
    return 0;
}

void plane_peer_heard(struct plane_peer *peer)
{
    peer->heard_ms = loop_now_ms(peer->p->loop);
}

void plane_peer_broke(struct plane_peer *peer)
{
    assert(peer->stream);
    fn_stream_close(take_ptr(&peer->stream));
    plane_watch_leases(peer->p);
}
