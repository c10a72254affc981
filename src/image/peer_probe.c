/* SPDX-License-Identifier: Apache-2.0 */
#include "image/peer_probe.h"

#include "base/clock.h"
#include "base/mem.h"
#include "io/address.h"
#include "io/fetch_url.h"
#include "io/http.h"

#include <errno.h>

enum peer_probe_step {
    PEER_PROBE_CONNECT,
    PEER_PROBE_ROUND_TRIP,
    PEER_PROBE_DOWN,
    PEER_PROBE_UP,
    PEER_PROBE_OVER
};

struct peer_probe {
    struct peer_probe_opts opts;
    char *token, *node;
    struct http_client *client;
    struct exchange *call;
    enum peer_probe_step step;
    uint64_t began_ns, head_ns, n_bytes;
    int status;
    struct timer limit; /* of a step */
    struct defer turn; /* the next step, or the end: no client is closed in a callback of its own */
    bool is_cancelled;
    struct peer_probe_result res;
};

static void free_probe(struct peer_probe *p)
{
    timer_stop(p->opts.loop, &p->limit);
    defer_cancel(&p->turn);
    if (p->client)
        http_client_close(p->client);
    free(p->token);
    free(p->node);
    free(p);
}

/* ---- one request ---- */

static void on_probe_turn(struct defer *d);

static void on_probe_head(void *arg, int status, const struct headers *headers)
{
    struct peer_probe *p = arg;
    (void)headers;
    p->status = status;
    p->head_ns = clock_mono_ns();
}

static void on_probe_data(void *arg, struct str chunk)
{
    struct peer_probe *p = arg;
    p->n_bytes += chunk.n;
    if (p->n_bytes > PEER_PROBE_BYTES && p->call)
        exchange_cancel(p->call);
}

static uint64_t ms_since(uint64_t began_ns)
{
    return MAX((clock_mono_ns() - began_ns) / 1000000, UINT64_C(1));
}

/* If the rate cannot be measured (the node's budget is used up), the round trip stays valid. */
static void take_step(struct peer_probe *p, int r)
{
    bool is_good = r >= 0 && p->status >= 200 && p->status < 300;
    switch (p->step) {
    case PEER_PROBE_CONNECT:
    case PEER_PROBE_ROUND_TRIP:
        if (!is_good)
            p->res.r = r < 0 ? r : -EPROTO;
        else if (p->step == PEER_PROBE_ROUND_TRIP)
            p->res.rtt_us = MAX((p->head_ns - p->began_ns) / 1000, UINT64_C(1));
        break;
    case PEER_PROBE_DOWN:
        if (is_good && p->n_bytes == PEER_PROBE_BYTES)
            p->res.down_ms = ms_since(p->began_ns);
        break;
    case PEER_PROBE_UP:
        if (is_good)
            p->res.up_ms = ms_since(p->began_ns);
        break;
    case PEER_PROBE_OVER:
        break;
    }
    bool is_last = p->res.r < 0 || (p->step == PEER_PROBE_ROUND_TRIP && !p->opts.wants_rates);
    p->step = is_last ? PEER_PROBE_OVER : p->step + 1;
}

static void on_probe_end(void *arg, int r, const struct err *err)
{
    struct peer_probe *p = arg;
    (void)err;
    p->call = NULL;
    if (p->is_cancelled) {
        free_probe(p);
        return;
    }
    timer_stop(p->opts.loop, &p->limit);
    take_step(p, r);
    defer_start(p->opts.loop, &p->turn, on_probe_turn);
}

static void on_probe_limit(struct timer *t)
{
    struct peer_probe *p = container_of(t, struct peer_probe, limit);
    if (p->call)
        exchange_cancel(p->call);
}

static int ask(struct peer_probe *p)
{
    static const struct exchange_events events = { .on_head = on_probe_head,
                                                   .on_data = on_probe_data,
                                                   .on_end = on_probe_end };
    struct headers h = { 0 };
    scoped(free_scoped) char *zeros = p->step == PEER_PROBE_UP ? xalloc(PEER_PROBE_BYTES) : NULL;
    scoped(free_scoped) char *token = xasprintf("Bearer %s", p->token);
    scoped(free_scoped) char *target =
        p->step == PEER_PROBE_DOWN
            ? xasprintf("/v1/probe?node=%s&bytes=%d", p->node, PEER_PROBE_BYTES)
            : xasprintf("/v1/probe?node=%s", p->node);
    (void)headers_addc(&h, "authorization", token);
    const struct http_call_opts o = { .method = p->step == PEER_PROBE_UP ? STR("POST") : STR("GET"),
                                      .target = str_of(target),
                                      .headers = &h,
                                      .body = str_n(zeros, zeros ? PEER_PROBE_BYTES : 0),
                                      .events = &events,
                                      .arg = p };
    p->status = 0;
    p->n_bytes = 0;
    p->began_ns = clock_mono_ns();
    timer_start(p->opts.loop, &p->limit, PEER_PROBE_STEP_MS, on_probe_limit);
    int r = http_call_start(p->client, &o, &p->call, NULL);
    headers_fini(&h);
    return r;
}

static void on_probe_turn(struct defer *d)
{
    struct peer_probe *p = container_of(d, struct peer_probe, turn);
    while (p->step != PEER_PROBE_OVER) {
        int r = ask(p);
        if (r >= 0)
            return;
        take_step(p, r);
    }
    struct peer_probe_opts o = p->opts;
    struct peer_probe_result res = p->res;
    free_probe(p);
    o.on_done(o.arg, &res);
}

int peer_probe_start(const struct peer_probe_opts *opts, struct peer_probe **ret, struct err *err)
{
    struct fetch_url u;
    int r = fetch_url_parse(opts->url, NULL, &u, err);
    if (r >= 0 && u.tls && !opts->tls) {
        fetch_url_fini(&u);
        r = err_set(err, E_INVALID, "'%s': there are no certificates to trust", opts->url);
    }
    if (r < 0)
        return r;
    struct peer_probe *p = xnew(struct peer_probe);
    p->opts = *opts;
    p->token = xstrdup(opts->token);
    p->node = xstrdup(opts->node);
    const struct http_client_opts o = { .host = u.host,
                                        .port = u.port,
                                        .tls = u.tls ? opts->tls : NULL,
                                        .may_connect = address_may_connect,
                                        .max_connections = 1,
                                        .connect_timeout_ms = PEER_PROBE_STEP_MS };
    r = http_client_new(opts->loop, &o, &p->client, err);
    fetch_url_fini(&u);
    if (r < 0) {
        free_probe(p);
        return r;
    }
    defer_start(opts->loop, &p->turn, on_probe_turn);
    *ret = p;
    return 0;
}

void peer_probe_cancel(struct peer_probe *p)
{
    if (!p)
        return;
    bool is_asking = p->call != NULL;
    p->is_cancelled = true;
    timer_stop(p->opts.loop, &p->limit);
    defer_cancel(&p->turn);
    http_client_close(take_ptr(&p->client)); /* opts.tls may go from now on */
    if (!is_asking)
        free_probe(p); /* else the end of the call does */
}
