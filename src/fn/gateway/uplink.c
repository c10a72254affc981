/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream to the control plane.
 *
 *     DOWN --dial--> ASKING --welcome--> WELCOME --end--> DOWN ...
 *                      `--redirect, lower term, end--> DOWN
 *
 * While it is down everything known goes on to be served, and what waits, waits. A welcome of a
 * lower term than the highest ever seen comes from a leader that was deposed and does not know yet:
 * the stream is ended and another control plane is asked.
 */
#include "fn/gateway/gateway_int.h"

#include "base/backoff.h"

#include <errno.h>
#include <stdio.h>

typedef Dormouse__Fn__V1__GatewayOrder order;

enum { UPLINK_REDIRECTS_MAX = 4, UPLINK_WELCOME_MS = 5000 };

static void on_dial(struct timer *t);
static void on_heartbeat(struct timer *t);

void uplink_send(struct gateway *g, const Dormouse__Fn__V1__GatewayReport *r)
{
    if (!g->stream)
        return;
    Dormouse__Fn__V1__GatewayReport with = *r;
    with.seq = ++g->seq;
    fn_stream_send(g->stream, &with.base);
    if (g->lease_ms)
        timer_start(g->loop, &g->heartbeat, MAX(g->lease_ms / 4, (uint64_t)1), on_heartbeat);
}

static void say_hello(struct gateway *g)
{
    Dormouse__Fn__V1__GatewayReport r = DORMOUSE__FN__V1__GATEWAY_REPORT__INIT;
    Dormouse__Fn__V1__GatewayHello hello = DORMOUSE__FN__V1__GATEWAY_HELLO__INIT;
    hello.name = g->name;
    hello.incarnation = g->opts.incarnation;
    hello.address = g->address;
    hello.highest_term = g->term;
    r.hello = &hello;
    r.is_leaving = g->is_leaving;
    g->seq = 0;
    uplink_send(g, &r);
}

static void on_heartbeat(struct timer *t)
{
    struct gateway *g = container_of(t, struct gateway, heartbeat);
    const Dormouse__Fn__V1__GatewayReport r = DORMOUSE__FN__V1__GATEWAY_REPORT__INIT;
    Dormouse__Fn__V1__GatewayReport with = r;
    with.endpoints_version = g->endpoints_version;
    with.is_leaving = g->is_leaving;
    uplink_send(g, &with);
}

static void hang_up(struct gateway *g)
{
    fn_stream_close(g->stream);
    g->stream = NULL;
    g->is_welcome = g->has_endpoints = false;
    g->lease_ms = 0;
    timer_stop(g->loop, &g->heartbeat);
    timer_stop(g->loop, &g->welcome_by);
}

static void redial(struct gateway *g)
{
    hang_up(g);
    if (g->is_closing)
        return;
    timer_start(g->loop, &g->redial, g->backoff_ms, on_dial);
    g->backoff_ms =
        (uint32_t)backoff_next(g->backoff_ms, GATEWAY_RECONNECT_FIRST_MS, GATEWAY_RECONNECT_MAX_MS);
}

void uplink_drop(struct gateway *g, const char *why)
{
    log_warn("gateway: the control plane's stream is ended", "reason=\"%s\"", why);
    redial(g);
}

/* false: the stream is no more. */
static bool take_welcome(struct gateway *g, const order *o)
{
    if (o->redirect) {
        bool again = o->redirect->address[0] && ++g->n_redirects <= UPLINK_REDIRECTS_MAX;
        (void)snprintf(g->redirect, sizeof g->redirect, "%s", again ? o->redirect->address : "");
        if (again)
            g->backoff_ms = 0;
        else
            g->n_redirects = 0; /* another round after the pause: the next leader may be known */
        redial(g);
        return false;
    }
    if (o->refusal) { /* its operator has to act; until then it tries again */
        uint64_t skipped;
        char quoted[LOG_QUOTE_MAX];
        if (log_rate_ok(&g->refused_rate, 10000, &skipped))
            log_warn("the control plane refuses this gateway", "gateway=%s reason=\"%s\"", g->name,
                     log_quote(quoted, str_of(o->refusal->message)));
        redial(g);
        return false;
    }
    if (!o->welcome) {
        uplink_drop(g, "an order before a welcome");
        return false;
    }
    if (o->welcome->term < g->term) {
        g->n_refused_terms++;
        log_warn("gateway: a deposed control plane is refused", "leader=%s term=%llu highest=%llu",
                 o->welcome->leader, (unsigned long long)o->welcome->term,
                 (unsigned long long)g->term);
        redial(g);
        return false;
    }
    log_info("gateway: connected", "control_plane=%s term=%llu", o->welcome->leader,
             (unsigned long long)o->welcome->term);
    timer_stop(g->loop, &g->welcome_by);
    g->is_new_leader = g->term && o->welcome->term > g->term;
    if (g->is_new_leader)
        directory_doubt(g);
    g->term = o->welcome->term;
    g->lease_ms = o->welcome->lease_ms;
    g->is_welcome = true;
    g->has_endpoints = false;
    g->backoff_ms = GATEWAY_RECONNECT_FIRST_MS;
    g->n_redirects = 0;
    g->is_syncing = true;
    if (g->lease_ms)
        timer_start(g->loop, &g->heartbeat, MAX(g->lease_ms / 4, (uint64_t)1), on_heartbeat);
    return true;
}

static void on_message(void *arg, const ProtobufCMessage *m)
{
    struct gateway *g = arg;
    const order *o = (const order *)m;
    struct err err = { 0 };
    if (o->welcome || o->redirect || !g->is_welcome)
        if (!take_welcome(g, o))
            return;
    if (directory_apply(g, o, &err) < 0) {
        uplink_drop(g, err_text(&err));
        return;
    }
    if (!g->is_syncing || o->more)
        return;
    /* Everything it has told is here: now it may hear which of it is in use. */
    g->is_syncing = false;
    load_report_all(g);
    if (!g->was_synced) {
        g->was_synced = true;
        if (g->opts.on_synced)
            g->opts.on_synced(g->opts.arg);
    }
}

static void on_stream_end(void *arg, int r, const struct err *err)
{
    struct gateway *g = arg;
    if (g->is_welcome)
        log_warn("gateway: the control plane has gone", "reason=\"%s\"",
                 r < 0 ? err_text(err) : "closed");
    redial(g);
}

static void on_no_welcome(struct timer *t)
{
    uplink_drop(container_of(t, struct gateway, welcome_by), "no welcome came");
}

static const struct fn_stream_ops stream_ops = { .on_message = on_message,
                                                 .on_end = on_stream_end };

static void on_dial(struct timer *t)
{
    struct gateway *g = container_of(t, struct gateway, redial);
    g->stream = g->opts.dialer->ops->dial(
        g->opts.dialer, &dormouse__fn__v1__gateway_order__descriptor, g->redirect);
    g->redirect[0] = 0;
    fn_stream_set(g->stream, &stream_ops, g);
    timer_start(g->loop, &g->welcome_by, UPLINK_WELCOME_MS, on_no_welcome);
    say_hello(g);
}

void uplink_start(struct gateway *g)
{
    timer_start(g->loop, &g->redial, 0, on_dial);
}

void uplink_stop(struct gateway *g)
{
    g->is_closing = true;
    timer_stop(g->loop, &g->redial);
    hang_up(g);
}
