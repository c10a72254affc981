/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start and stop, and the queries of other modules; see gateway.h.
 *
 * A stop: the gateway reports to the control plane that it leaves, so that other gateways take over
 * its functions. Clients get GOAWAY or "connection: close". Running and waiting requests end, or
 * are cut after the grace period. Then the stream to the control plane ends.
 */
#include "fn/gateway/gateway_int.h"

#include <errno.h>

static const struct sm_state gateway_table[] = {
    [GATEWAY_SERVING] = { "serving", EDGE(GATEWAY_LEAVING) },
    [GATEWAY_LEAVING] = { "leaving", EDGE(GATEWAY_DRAINED) },
    [GATEWAY_DRAINED] = { "drained", EDGE(GATEWAY_RELEASING) },
    [GATEWAY_RELEASING] = { "releasing", 0 },
};

enum { DRAIN_IDLE_MS = 1000 }; /* for requests already on their way */

static int listen_on(struct gateway *g, struct err *err)
{
    const struct http_server_opts opts = { .host = g->opts.host,
                                           .port = g->opts.port,
                                           .tls = g->opts.tls,
                                           .on_request = gateway_on_request,
                                           .arg = g,
                                           .half_closed_ms = GATEWAY_HALF_CLOSED_MS,
                                           .http2 = true,
                                           .drain_idle_ms = DRAIN_IDLE_MS };
    if (g->opts.tls)
        tls_ctx_offer_h2(g->opts.tls);
    return http_server_start(g->loop, &opts, &g->server, err);
}

static void release(struct gateway *g)
{
    calls_fini(g);
    load_fini(g);
    directory_fini(g);
    gateway_trace_stop(g);
    timer_stop(g->loop, &g->dir.trust);
    free(g->name);
    free(g->domain);
    free(g->local_worker);
    free(g->worker_token);
    free(g->address);
    free(g);
}

static void no_server(void *arg)
{
}

int gateway_start(const struct gateway_opts *opts, struct gateway **ret, struct err *err)
{
    struct gateway *g = xnew(struct gateway);
    g->loop = opts->loop;
    sm_init(&g->sm, gateway_table, GATEWAY_SERVING);
    g->opts = *opts;
    g->name = xstrdup(opts->name);
    g->domain = xstrdup(opts->domain ? opts->domain : "fn.local");
    g->local_worker = opts->local_worker ? xstrdup(opts->local_worker) : NULL;
    g->worker_token = opts->worker_token ? xstrdup(opts->worker_token) : NULL;
    g->random.state = clock_mono_ns() ^ str_hash(str_of(opts->name), (uint64_t)clock_wall_us());
    g->call_seed = rng_next(&g->random);
    calls_init(g);
    load_init(g);
    directory_init(g);
    int r = listen_on(g, err);
    if (r >= 0 && opts->trace_dir)
        r = gateway_trace_start(g, opts->trace_dir, err);
    if (r < 0) {
        if (g->server)
            http_server_close(g->server, 0, no_server, NULL);
        release(g);
        return r;
    }
    const char *host = opts->host ? opts->host : "127.0.0.1";
    g->address = opts->advertise ? xstrdup(opts->advertise)
                                 : xasprintf(strchr(host, ':') ? "[%s]:%u" : "%s:%u", host,
                                             http_server_port(g->server));
    uplink_start(g);
    *ret = g;
    return 0;
}

uint16_t gateway_port(const struct gateway *g)
{
    return http_server_port(g->server);
}

/* ---------------------------------------------------------------- stopping */

static void on_stopped(struct defer *d)
{
    struct gateway *g = container_of(d, struct gateway, stop.later);
    void (*done)(void *arg) = g->stop.done;
    void *arg = g->stop.arg;
    release(g);
    done(arg);
}

void gateway_check_stopped(struct gateway *g)
{
    if (g->sm.at != GATEWAY_DRAINED || g->calls.n_live)
        return;
    sm_move(&g->sm, GATEWAY_RELEASING);
    uplink_stop(g);
    defer_start(g->loop, &g->stop.later, on_stopped);
}

static void on_server_closed(void *arg)
{
    struct gateway *g = arg;
    sm_move(&g->sm, GATEWAY_DRAINED);
    timer_stop(g->loop, &g->stop.cut);
    calls_cut(g); /* calls from inside the process; clients have left */
    gateway_check_stopped(g);
}

static void on_cut(struct timer *t)
{
    calls_cut(container_of(t, struct gateway, stop.cut));
}

void gateway_stop(struct gateway *g, uint64_t grace_ms, void (*done)(void *arg), void *arg)
{
    sm_move(&g->sm, GATEWAY_LEAVING);
    g->stop.done = done;
    g->stop.arg = arg;
    load_report_soon(g);
    timer_start(g->loop, &g->stop.cut, grace_ms, on_cut);
    /* What is cut still gets an answer. */
    http_server_close(g->server, grace_ms + 1000, on_server_closed, g);
}

/* ---------------------------------------------------------------- queries of other modules */

const struct fn_spec *gateway_spec(struct gateway *g, struct str namespace, struct str name)
{
    struct gateway_function *f = directory_find(g, namespace, name);
    return f ? gateway_function_spec(g, f) : NULL;
}

void gateway_on_function(struct gateway *g,
                         void (*fn)(void *arg, struct str namespace, struct str name,
                                    const struct fn_spec *spec),
                         void *arg)
{
    vec_push(&g->dir.listeners, ((struct gateway_listener){ fn, arg }));
    map_each (e, &g->dir.functions) {
        struct gateway_function *f = e->value;
        const struct fn_spec *spec = gateway_function_spec(g, f);
        if (spec)
            fn(arg, function_namespace(f), function_name(f), spec);
    }
}

bool gateway_owns(const struct gateway *g, struct str namespace, struct str name)
{
    struct gateway_function *f = directory_find(g, namespace, name);
    size_t member;
    return f && directory_owns((struct gateway *)g, f, &member);
}

void gateway_on_members(struct gateway *g, void (*fn)(void *arg), void *arg)
{
    g->on_members = fn;
    g->on_members_arg = arg;
}

const char *gateway_peer(const struct gateway *g, bool (*is)(void *arg, struct str name), void *arg)
{
    for (size_t i = 0; i < g->dir.members.n; i++)
        if (i != g->dir.members.self && is(arg, str_of(g->dir.members.at[i].name)))
            return g->dir.members.at[i].address;
    return NULL;
}

void gateway_on_trust(struct timer *t)
{
    struct gateway *g = container_of(t, struct gateway, dir.trust);
    g->dir.members_seen++;
}
