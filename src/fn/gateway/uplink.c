/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream to the control plane.
 *
 *     DOWN --dial--> ASKING --welcome--> SYNCING --last message of the welcome--> SYNCED
 *                      `--redirect, lower term--> DOWN
 *
 * Every state goes to DOWN when the stream ends, and to CLOSED when the gateway stops. A further
 * welcome of the same stream begins a new synchronisation.
 *
 * While the stream is down the gateway serves with what it knows, and waiting requests keep
 * waiting. A welcome of a lower term than the highest seen comes from a deposed leader that does
 * not know so yet: the gateway ends the stream and dials again.
 */
#include "fn/gateway/gateway_int.h"

#include "base/backoff.h"

#include <errno.h>
#include <stdio.h>

typedef Dormouse__Fn__V1__GatewayOrder order;

enum { UPLINK_REDIRECTS_MAX = 4, UPLINK_WELCOME_MS = 5000 };

static const struct sm_state uplink_table[] = {
    [UPLINK_DOWN] = { "down", EDGE(UPLINK_ASKING) | EDGE(UPLINK_CLOSED) },
    [UPLINK_ASKING] = { "asking", EDGE(UPLINK_SYNCING) | EDGE(UPLINK_DOWN) | EDGE(UPLINK_CLOSED) },
    [UPLINK_SYNCING] = { "syncing", EDGE(UPLINK_SYNCING) | EDGE(UPLINK_SYNCED) | EDGE(UPLINK_DOWN) |
                                        EDGE(UPLINK_CLOSED) },
    [UPLINK_SYNCED] = { "synced", EDGE(UPLINK_SYNCING) | EDGE(UPLINK_DOWN) | EDGE(UPLINK_CLOSED) },
    [UPLINK_CLOSED] = { "closed", 0 },
};

static void on_dial(struct timer *t);
static void on_heartbeat(struct timer *t);

void uplink_send(struct gateway *g, const Dormouse__Fn__V1__GatewayReport *r)
{
    if (!g->uplink.stream)
        return;
    assert(g->uplink.sm.at != UPLINK_DOWN && g->uplink.sm.at != UPLINK_CLOSED);
    Dormouse__Fn__V1__GatewayReport with = *r;
    with.seq = ++g->uplink.seq;
    fn_stream_send(g->uplink.stream, &with.base);
    if (g->uplink.lease_ms)
        timer_start(g->loop, &g->uplink.heartbeat, MAX(g->uplink.lease_ms / 4, (uint64_t)1),
                    on_heartbeat);
}

static void say_hello(struct gateway *g)
{
    Dormouse__Fn__V1__GatewayReport r = DORMOUSE__FN__V1__GATEWAY_REPORT__INIT;
    Dormouse__Fn__V1__GatewayHello hello = DORMOUSE__FN__V1__GATEWAY_HELLO__INIT;
    hello.name = g->name;
    hello.incarnation = g->opts.incarnation;
    hello.address = g->address;
    hello.highest_term = g->uplink.term;
    r.hello = &hello;
    r.is_leaving = gateway_is_leaving(g);
    g->uplink.seq = 0;
    uplink_send(g, &r);
}

static void on_heartbeat(struct timer *t)
{
    struct gateway *g = container_of(t, struct gateway, uplink.heartbeat);
    const Dormouse__Fn__V1__GatewayReport r = DORMOUSE__FN__V1__GATEWAY_REPORT__INIT;
    Dormouse__Fn__V1__GatewayReport with = r;
    with.endpoints_version = g->dir.endpoints_version;
    with.is_leaving = gateway_is_leaving(g);
    uplink_send(g, &with);
}

/* to: UPLINK_DOWN or UPLINK_CLOSED. */
static void hang_up(struct gateway *g, enum uplink_at to)
{
    fn_stream_close(g->uplink.stream);
    g->uplink.stream = NULL;
    sm_move(&g->uplink.sm, to);
    g->dir.has_endpoints = false;
    g->uplink.lease_ms = 0;
    timer_stop(g->loop, &g->uplink.heartbeat);
    timer_stop(g->loop, &g->uplink.welcome_by);
}

static void redial(struct gateway *g)
{
    hang_up(g, UPLINK_DOWN);
    timer_start(g->loop, &g->uplink.redial, g->uplink.backoff_ms, on_dial);
    g->uplink.backoff_ms = (uint32_t)backoff_next(g->uplink.backoff_ms, GATEWAY_RECONNECT_FIRST_MS,
                                                  GATEWAY_RECONNECT_MAX_MS);
}

void uplink_drop(struct gateway *g, const char *why)
{
    log_warn("gateway: ending the stream to the control plane", "reason=\"%s\"", why);
    redial(g);
}

/* false: the stream is no more. */
static bool take_welcome(struct gateway *g, const order *o)
{
    if (o->redirect) {
        bool again = o->redirect->address[0] && ++g->uplink.n_redirects <= UPLINK_REDIRECTS_MAX;
        (void)snprintf(g->uplink.redirect, sizeof g->uplink.redirect, "%s",
                       again ? o->redirect->address : "");
        if (again)
            g->uplink.backoff_ms = 0;
        else
            g->uplink.n_redirects =
                0; /* pause, then begin again: the next leader may be known by then */
        redial(g);
        return false;
    }
    if (o->refusal) { /* an operator must act; until then the gateway retries */
        uint64_t skipped;
        char quoted[LOG_QUOTE_MAX];
        if (log_rate_ok(&g->uplink.refused_rate, 10000, &skipped))
            log_warn("the control plane refuses this gateway", "gateway=%s reason=\"%s\"", g->name,
                     log_quote(quoted, str_of(o->refusal->message)));
        redial(g);
        return false;
    }
    if (!o->welcome) {
        uplink_drop(g, "an order before a welcome");
        return false;
    }
    if (o->welcome->term < g->uplink.term) {
        g->stats.n_refused_terms++;
        log_warn("gateway: a deposed control plane is refused", "leader=%s term=%llu highest=%llu",
                 o->welcome->leader, (unsigned long long)o->welcome->term,
                 (unsigned long long)g->uplink.term);
        redial(g);
        return false;
    }
    log_info("gateway: connected", "control_plane=%s term=%llu", o->welcome->leader,
             (unsigned long long)o->welcome->term);
    timer_stop(g->loop, &g->uplink.welcome_by);
    g->dir.is_new_leader = g->uplink.term && o->welcome->term > g->uplink.term;
    if (g->dir.is_new_leader)
        directory_doubt(g);
    g->uplink.term = o->welcome->term;
    g->uplink.lease_ms = o->welcome->lease_ms;
    sm_move(&g->uplink.sm, UPLINK_SYNCING);
    g->dir.has_endpoints = false;
    g->uplink.backoff_ms = GATEWAY_RECONNECT_FIRST_MS;
    g->uplink.n_redirects = 0;
    if (g->uplink.lease_ms)
        timer_start(g->loop, &g->uplink.heartbeat, MAX(g->uplink.lease_ms / 4, (uint64_t)1),
                    on_heartbeat);
    return true;
}

static void on_message(void *arg, const ProtobufCMessage *m)
{
    struct gateway *g = arg;
    const order *o = (const order *)m;
    struct err err = { 0 };
    assert(g->uplink.stream && g->uplink.sm.at != UPLINK_DOWN);
    if (o->welcome || o->redirect || !uplink_is_welcome(g))
        if (!take_welcome(g, o))
            return;
    if (directory_apply(g, o, &err) < 0) {
        uplink_drop(g, err_text(&err));
        return;
    }
    if (g->uplink.sm.at != UPLINK_SYNCING || o->more)
        return;
    /* The whole welcome has been applied: report the load of what it names. */
    sm_move(&g->uplink.sm, UPLINK_SYNCED);
    load_report_all(g);
    if (!g->uplink.was_synced) {
        g->uplink.was_synced = true;
        if (g->opts.on_synced)
            g->opts.on_synced(g->opts.arg);
    }
}

static void on_stream_end(void *arg, int r, const struct err *err)
{
    struct gateway *g = arg;
    if (uplink_is_welcome(g))
        log_warn("gateway: connection to the control plane lost", "reason=\"%s\"",
                 r < 0 ? err_text(err) : "closed");
    redial(g);
}

static void on_no_welcome(struct timer *t)
{
    uplink_drop(container_of(t, struct gateway, uplink.welcome_by), "no welcome came");
}

static const struct fn_stream_ops stream_ops = { .on_message = on_message,
                                                 .on_end = on_stream_end };

static void on_dial(struct timer *t)
{
    struct gateway *g = container_of(t, struct gateway, uplink.redial);
    assert(g->uplink.sm.at == UPLINK_DOWN && !g->uplink.stream);
    g->uplink.stream = g->opts.dialer->ops->dial(
        g->opts.dialer, &dormouse__fn__v1__gateway_order__descriptor, g->uplink.redirect);
    sm_move(&g->uplink.sm, UPLINK_ASKING);
    g->uplink.redirect[0] = 0;
    fn_stream_set(g->uplink.stream, &stream_ops, g);
    timer_start(g->loop, &g->uplink.welcome_by, UPLINK_WELCOME_MS, on_no_welcome);
    say_hello(g);
}

void uplink_start(struct gateway *g)
{
    sm_init(&g->uplink.sm, uplink_table, UPLINK_DOWN);
    timer_start(g->loop, &g->uplink.redial, 0, on_dial);
}

void uplink_stop(struct gateway *g)
{
    timer_stop(g->loop, &g->uplink.redial);
    hang_up(g, UPLINK_CLOSED);
}
