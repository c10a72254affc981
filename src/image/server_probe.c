/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round trips and rates to other nodes, and the round trip to the registry. A node measures when
 * something happened to it (a deployment, a pull, an upload), and at most once in
 * IMAGE_SERVER_PROBE_GAP_MS: up to three of the nodes that it knows, drawn, and the registry that
 * it used last; and every probe_ms where that is set. It answers the probes of nodes for tokens of
 * the cluster, within a budget of bytes.
 *
 *     activity, or probe_ms --> registry, then three drawn peers --> rates, NodeImageState
 *
 * Rates are mostly those of transfers; bytes are probed only where nothing has moved for ten
 * minutes and nothing moves now. A node at rest without probe_ms probes nothing and has no timer.
 */
#include "image/server_int.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/sys.h"
#include "image/peer_probe.h"
#include "image/registry_probe.h"

#include <errno.h>

enum { DRAWN_MAX = 3, TOKEN_S = 60, RATE_OLD_S = 600 };

struct probed_peer {
    char *name, *url;
};

struct image_server_prober {
    struct image_server *s;
    struct probed_peer peers[IMAGE_SERVER_PEERS_MAX]; /* the last reported one at the end */
    size_t n_peers;
    struct timer timer;
    struct tls_ctx *tls;                   /* ours, where none was given; NULL: not made yet */
    struct peer_probe *probe;              /* under way */
    char *registry;                        /* host of the one that was used last; NULL: none yet */
    struct registry_probe *registry_probe; /* under way */
    char *left[DRAWN_MAX];                 /* names of those that follow */
    size_t n_left;
    struct rng rng;
    uint64_t last_ms;   /* when the last round began; 0: none did */
    uint64_t window_ms; /* of the budget */
    uint64_t n_window;  /* bytes in it */
};

/* ---- peers ---- */

static void peer_fini(struct probed_peer *p)
{
    free(p->name);
    free(p->url);
}

static void drop_peer(struct image_server_prober *b, size_t i)
{
    peer_fini(&b->peers[i]);
    memmove(b->peers + i, b->peers + i + 1, (b->n_peers - i - 1) * sizeof b->peers[0]);
    b->n_peers--;
}

void image_server_probe_peer(struct image_server *s, struct str name, struct str url)
{
    struct image_server_prober *b = s->prober;
    if (!b || name.n == 0 || url.n == 0 || str_is(name, s->node))
        return;
    for (size_t i = 0; i < b->n_peers; i++)
        if (str_is(name, b->peers[i].name)) {
            drop_peer(b, i);
            break;
        }
    if (b->n_peers == IMAGE_SERVER_PEERS_MAX)
        drop_peer(b, 0);
    b->peers[b->n_peers++] = (struct probed_peer){ str_dup(name), str_dup(url) };
}

void image_server_probe_registry(struct image_server *s, const char *host)
{
    struct image_server_prober *b = s->prober;
    if (!b || (b->registry && strcmp(b->registry, host) == 0))
        return;
    if (b->registry)
        s->rates.registry_rtt_us = 0; /* that was of another one */
    free(b->registry);
    b->registry = xstrdup(host);
}

/* NULL: it was dropped for others. */
static const struct probed_peer *find_peer(const struct image_server_prober *b, const char *name)
{
    for (size_t i = 0; i < b->n_peers; i++)
        if (strcmp(name, b->peers[i].name) == 0)
            return &b->peers[i];
    return NULL;
}

/* ---- a round ---- */

static void next_probe(struct image_server_prober *b);

static struct image_bdm_grant probe_grant(struct str from, const char *to)
{
    return (struct image_bdm_grant){ .deploy = STR("probe"), .source = from, .node = str_of(to) };
}

static bool wants_rates(const struct image_server *s)
{
    const struct node_state_rates *r = &s->rates;
    bool is_idle = s->n_deploying == 0 && s->n_uploads == 0 && s->n_running == 0;
    bool is_old = clock_wall_ms() / 1000 - r->rates_wall_s >= RATE_OLD_S;
    return is_idle && (is_old || r->uplink_bps <= 0 || r->downlink_bps <= 0);
}

static void on_probed(void *arg, const struct peer_probe_result *res)
{
    struct image_server_prober *b = arg;
    struct image_server *s = b->s;
    struct node_state_rates *r = &s->rates;
    int64_t wall_s = clock_wall_ms() / 1000;
    b->probe = NULL;
    if (res->r >= 0)
        node_state_round_trip(r, &r->rtt_us, res->rtt_us, wall_s);
    if (res->down_ms)
        node_state_measure(r, &r->downlink_bps, PEER_PROBE_BYTES, res->down_ms, wall_s);
    if (res->up_ms)
        node_state_measure(r, &r->uplink_bps, PEER_PROBE_BYTES, res->up_ms, wall_s);
    next_probe(b);
}

static void on_registry_probed(void *arg, int r, uint64_t rtt_us)
{
    struct image_server_prober *b = arg;
    struct node_state_rates *rates = &b->s->rates;
    b->registry_probe = NULL;
    if (r >= 0)
        node_state_round_trip(rates, &rates->registry_rtt_us, rtt_us, clock_wall_ms() / 1000);
    next_probe(b);
}

static int start_registry_probe(struct image_server_prober *b)
{
    const struct registry_probe_opts o = { .loop = b->s->loop,
                                           .host = b->registry,
                                           .remote = &b->s->opts.registry,
                                           .on_done = on_registry_probed,
                                           .arg = b };
    return b->registry ? registry_probe_start(&o, &b->registry_probe, NULL) : -ENOENT;
}

static int start_probe(struct image_server_prober *b, const struct probed_peer *peer)
{
    struct image_server *s = b->s;
    char token[IMAGE_BDM_TOKEN_SIZE];
    const struct image_bdm_grant g = probe_grant(str_of(s->node), peer->name);
    image_bdm_token(str_of(s->cluster_key), &g, clock_wall_ms() / 1000, TOKEN_S, token);
    if (!s->opts.peers && !b->tls && str_has_prefix(str_of(peer->url), STR("https:")))
        (void)tls_ctx_new_client(STR(""), STR(""), STR(""), false, &b->tls, NULL);
    const struct peer_probe_opts o = { .loop = s->loop,
                                       .url = peer->url,
                                       .token = token,
                                       .node = s->node,
                                       .tls = s->opts.peers ? s->opts.peers : b->tls,
                                       .wants_rates = wants_rates(s),
                                       .on_done = on_probed,
                                       .arg = b };
    return peer_probe_start(&o, &b->probe, NULL);
}

static void on_probe_timer(struct timer *t);

static void end_round(struct image_server_prober *b)
{
    struct image_server *s = b->s;
    image_server_state_measured(s);
    if (s->opts.probe_ms && !image_closing_has_begun(&s->closing))
        timer_start(s->loop, &b->timer, MAX(s->opts.probe_ms, (uint64_t)IMAGE_SERVER_PROBE_GAP_MS),
                    on_probe_timer);
}

static void next_probe(struct image_server_prober *b)
{
    while (b->n_left > 0 && !image_closing_has_begun(&b->s->closing)) {
        scoped(free_scoped) char *name = b->left[--b->n_left];
        const struct probed_peer *peer = find_peer(b, name);
        if (peer && start_probe(b, peer) >= 0)
            return;
    }
    end_round(b);
}

/* Some of them, none twice. */
static void draw_peers(struct image_server_prober *b)
{
    bool taken[IMAGE_SERVER_PEERS_MAX] = { false };
    for (b->n_left = 0; b->n_left < MIN((size_t)DRAWN_MAX, b->n_peers);) {
        size_t i = (size_t)rng_below(&b->rng, (uint32_t)b->n_peers);
        if (taken[i])
            continue;
        taken[i] = true;
        b->left[b->n_left++] = xstrdup(b->peers[i].name);
    }
}

static void on_probe_timer(struct timer *t)
{
    struct image_server_prober *b = container_of(t, struct image_server_prober, timer);
    if (b->probe || b->registry_probe || image_closing_has_begun(&b->s->closing))
        return;
    b->last_ms = loop_now_ms(b->s->loop);
    draw_peers(b);
    if (start_registry_probe(b) < 0)
        next_probe(b);
}

/* ---- for the rest of the server ---- */

void image_server_probe_start(struct image_server *s)
{
    struct image_server_prober *b = xnew(struct image_server_prober);
    b->s = s;
    b->rng.state = sys_random_u64();
    s->prober = b;
    for (size_t i = 0; i < s->opts.n_peers; i++)
        image_server_probe_peer(s, str_of(s->opts.peer_names[i]), str_of(s->opts.peer_urls[i]));
    if (s->opts.n_upstreams)
        image_server_probe_registry(s, s->opts.upstreams[0]);
    if (s->opts.probe_ms)
        timer_start(s->loop, &b->timer, 0, on_probe_timer);
}

/* The round can wait while the server is busy; further requests are part of the same round. */
void image_server_probe_soon(struct image_server *s)
{
    struct image_server_prober *b = s->prober;
    if (!b || (b->n_peers == 0 && !b->registry) || b->probe || b->registry_probe ||
        timer_is_armed(&b->timer) || image_closing_has_begun(&s->closing))
        return;
    uint64_t now = loop_now_ms(s->loop),
             due = b->last_ms ? b->last_ms + IMAGE_SERVER_PROBE_GAP_MS : 0;
    timer_start(s->loop, &b->timer, due > now ? due - now : IMAGE_SERVER_STATE_QUIET_MS,
                on_probe_timer);
}

void image_server_probe_close(struct image_server *s)
{
    if (!s->prober)
        return;
    timer_stop(s->loop, &s->prober->timer);
    peer_probe_cancel(take_ptr(&s->prober->probe));
    registry_probe_cancel(take_ptr(&s->prober->registry_probe));
}

void image_server_probe_fini(struct image_server *s)
{
    if (!s->prober)
        return;
    for (size_t i = 0; i < s->prober->n_peers; i++)
        peer_fini(&s->prober->peers[i]);
    while (s->prober->n_left > 0)
        free(s->prober->left[--s->prober->n_left]);
    tls_ctx_free(s->prober->tls);
    free(s->prober->registry);
    free(s->prober);
}

/* ---- answering ---- */

/* Bytes either way, of all that probe this node. */
static bool take_budget(struct image_server_prober *b, uint64_t n)
{
    uint64_t now = loop_now_ms(b->s->loop);
    if (now - b->window_ms >= IMAGE_SERVER_PROBE_WINDOW_MS) {
        b->window_ms = now;
        b->n_window = 0;
    }
    if (b->n_window + n > IMAGE_SERVER_PROBE_BYTES)
        return false;
    b->n_window += n;
    return true;
}

static void on_probe_body_end(struct http_exchange *x, int r)
{
    if (r >= 0)
        http_reply(x, 204, NULL, STR(""));
}

void image_server_probe_answer(struct image_server *s, struct http_exchange *x,
                               const struct http_request *req, const struct url_target *t)
{
    static const struct http_exchange_ops ops = { .on_body_end = on_probe_body_end };
    const struct image_bdm_grant g = probe_grant(url_query_get(t, "node"), s->node);
    bool is_post = str_is(req->method, "POST");
    uint64_t n = 0;
    if (!image_server_holds(s, &g, req))
        image_server_reply_error(x, 403, "DENIED",
                                 "the token is not for this, or its time is over");
    else if ((!is_post && url_query_get(t, "bytes").n &&
              parse_u64(url_query_get(t, "bytes"), 1, PEER_PROBE_BYTES, &n) < 0) ||
             (is_post && req->content_length > PEER_PROBE_BYTES))
        image_server_reply_error(x, 400, "SIZE_INVALID", "a probe has at most 1 MiB");
    else if (!take_budget(s->prober, is_post ? req->content_length : n))
        image_server_reply_error(x, 429, "TOOMANYREQUESTS",
                                 "the probes of this minute have used up their bytes");
    else if (is_post) {
        http_exchange_set(x, &ops, s);
        http_read_body(x, PEER_PROBE_BYTES);
    } else if (n) {
        scoped(free_scoped) char *zeros = xalloc((size_t)n);
        http_reply(x, 200, NULL, str_n(zeros, (size_t)n));
    } else {
        http_reply(x, 204, NULL, STR(""));
    }
}
