/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles a client's request: finds the function, checks the policy of the namespace, offers it to
 * gateway_async, finds the owner and the revision. Then it is a call (calls.c), or has been
 * answered.
 */
#include "fn/gateway/call.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <stdio.h>

/* ---------------------------------------------------------------- policies of namespaces */

static bool is_good_token(const struct gateway_policy *p, struct str authorization)
{
    struct str scheme, token;
    if (!str_cut(authorization, ' ', &scheme, &token) || !str_ieq(scheme, STR("Bearer")))
        return false;
    token = str_trim(token);
    uint8_t digest[32];
    SHA256((const uint8_t *)token.p, token.n, digest);
    bool good = false;
    for (size_t i = 0; i < p->n_tokens; i++)
        good |= CRYPTO_memcmp(digest, p->tokens[i], sizeof digest) == 0;
    return good;
}

/* One request from a bucket that holds what a second allows. */
static bool take_credit(struct gateway_policy *p)
{
    if (!p->per_second)
        return true;
    uint64_t now = gateway_now_us(), cost = 1000000 / p->per_second;
    return token_bucket_take(&p->rate, 1000000, cost, now);
}

/* NULL: it may go on. */
static const struct gateway_refusal *check_policy(struct gateway *g,
                                                  const struct gateway_function *f,
                                                  const struct fn_spec *spec,
                                                  const struct fields *fields)
{
    static const struct gateway_refusal no_token = { 401, "TokenRequired", 0 };
    static const struct gateway_refusal too_many = { 429, "RateLimited", 1 };
    struct gateway_policy *p = directory_policy(g, function_namespace(f));
    if (!p)
        return NULL;
    if (p->require_token && !spec->is_public && !is_good_token(p, fields->authorization))
        return &no_token;
    return take_credit(p) ? NULL : &too_many;
}

int gateway_admits(struct gateway *g, struct str namespace, const struct headers *h)
{
    struct gateway_policy *p = directory_policy(g, namespace);
    struct fields f;
    if (!p)
        return 0;
    fields_scan(h, &f);
    if (p->require_token && !is_good_token(p, f.authorization))
        return 401;
    return take_credit(p) ? 0 : 429;
}

/* ---------------------------------------------------------------- a request */

static struct gateway_function *find(struct gateway *g, const struct fields *f,
                                     const struct http_request *req, struct gateway_route *route,
                                     size_t *ret_prefix_n, bool *ret_named)
{
    char clean[ROUTE_HOST_MAX + 1];
    struct str host = route_clean_host(f->host, clean);
    struct gateway_function *fn;
    *route = (struct gateway_route){ .tag = f->tag };
    *ret_prefix_n = 0;
    *ret_named = false;
    /* A function's own name has precedence: anyone can write any host into a spec. */
    struct gateway_route by_host;
    if (host.n && route_host(host, str_of(g->domain), &by_host)) {
        fn = directory_find(g, by_host.namespace, by_host.name);
        if (fn) {
            if (by_host.tag.n) /* it points into `clean` */
                route->tag = str_slice(f->host, 0, by_host.tag.n);
            return fn;
        }
    }
    fn = host.n ? directory_find_host(g, host) : NULL;
    if (fn)
        return fn;
    fn = directory_find_path(g, req->target);
    if (fn)
        return fn;
    struct gateway_route by_path;
    if (!route_path(req->target, &by_path, ret_prefix_n))
        return NULL;
    route->namespace = by_path.namespace;
    route->name = by_path.name;
    *ret_named = true;
    return directory_find(g, by_path.namespace, by_path.name);
}

static void refuse_unknown(struct gateway *g, struct http_exchange *x, const struct fields *f,
                           const struct gateway_route *r)
{
    static const struct gateway_refusal unknown = { 404, "UnknownFunction", 0 };
    static const struct gateway_refusal alone = { 503, "NoControlPlane", 1 };
    const struct gateway_refusal *why = g->uplink.was_synced ? &unknown : &alone;
    char text[512];
    g->stats.n_unknown++;
    if (!g->uplink.was_synced)
        (void)snprintf(text, sizeof text,
                       "this gateway has not received the functions from a control plane yet");
    else if (r)
        (void)snprintf(text, sizeof text,
                       "there is no function '" STR_FMT "' in namespace '" STR_FMT "'",
                       STR_ARG(r->name), STR_ARG(r->namespace));
    else
        (void)snprintf(text, sizeof text,
                       "functions are called by host NAME.NAMESPACE or NAME.NAMESPACE.%s, or by "
                       "path /fn/NAMESPACE/NAME/",
                       g->domain);
    refusal_send(x, f->is_grpc, why, NULL, text);
}

/* A tag in a host may have capitals; tags in specs have none. */
static struct str lower_tag(struct str tag, char to[FN_NAME_MAX + 1])
{
    size_t n = MIN(tag.n, (size_t)FN_NAME_MAX);
    for (size_t i = 0; i < n; i++)
        to[i] = tag.p[i] >= 'A' && tag.p[i] <= 'Z' ? (char)(tag.p[i] | 0x20) : tag.p[i];
    return str_n(to, n);
}

static struct gateway_call *of_exchange(struct gateway *g, struct http_exchange *x,
                                        const struct http_request *req, const struct fields *f,
                                        size_t prefix_n)
{
    struct gateway_call *c = call_new(g);
    c->x = x;
    c->from.method = req->method;
    c->from.target = req->target;
    c->from.peer_address = req->peer;
    c->from.headers = req->headers;
    c->from.fields = *f;
    c->from.prefix = str_slice(req->target, 0, prefix_n);
    c->body.at = req->has_body ? CALL_BODY_UNREAD : CALL_BODY_NONE;
    c->body.bytes = req->content_length;
    c->from.wants_upgrade = req->upgrade;
    c->from.is_http2 = req->http2;
    c->from.is_tls = g->opts.tls != NULL;
    call_id_make(c);
    assert(!c->inside.events && c->body.at != CALL_BODY_WHOLE);
    http_exchange_set(x, &call_exchange_ops, c);
    return c;
}

void gateway_on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    static const struct gateway_refusal bad_spec = { 503, "InvalidFunction", 0 };
    static const struct gateway_refusal no_tag = { 404, "UnknownTag", 0 };
    static const struct gateway_refusal not_owner = { 503, "NotOwner", 1 };
    static const struct gateway_refusal large = { 413, "BodyTooLarge", 0 };
    struct gateway *g = arg;
    struct fields f;
    struct gateway_route route;
    size_t prefix_n, member = 0;
    bool is_named;
    fields_scan(req->headers, &f);
    struct gateway_function *fn = find(g, &f, req, &route, &prefix_n, &is_named);
    if (!fn) {
        bool is_ours = str_has_prefix(req->target, STR("/v1/async/")) ||
                       str_has_prefix(req->target, STR("/v1/events/"));
        if (!is_ours || !g->opts.async.serve || !g->opts.async.serve(g->opts.async.arg, x, req))
            refuse_unknown(g, x, &f, is_named ? &route : NULL);
        return;
    }
    const struct fn_spec *spec = gateway_function_spec(g, fn);
    if (!spec) {
        refusal_send(x, f.is_grpc, &bad_spec, NULL, "the function's spec cannot be read here");
        return;
    }
    bool is_trusted = f.forwarded_by.n && members_knows(&g->dir.members, f.forwarded_by);
    const struct gateway_refusal *why = is_trusted ? NULL : check_policy(g, fn, spec, &f);
    if (why) {
        refusal_send(x, f.is_grpc, why, NULL, "the namespace's policy");
        return;
    }
    bool is_async = f.is_async || route_is_async(req->target);
    if (is_async && !is_trusted && g->opts.async.take &&
        g->opts.async.take(g->opts.async.arg, x, req, function_namespace(fn), function_name(fn),
                           spec))
        return;
    bool is_owner = is_trusted || directory_owns(g, fn, &member);
    if (!is_owner && f.forwarded_by.n) {
        refusal_send(x, f.is_grpc, &not_owner, NULL,
                     "the gateways do not agree on the owner of the function");
        return;
    }
    if (req->content_length != UINT64_MAX && req->content_length > spec->body_max) {
        refusal_send(x, f.is_grpc, &large, NULL,
                     "the request is longer than spec.limits.bodyBytes");
        return;
    }
    uint32_t revision = 0;
    char tag[FN_NAME_MAX + 1];
    if (is_owner && split_choose(&fn->split, &g->random, spec, lower_tag(route.tag, tag),
                                 req->headers, fn->latest, &revision) < 0) {
        refusal_send(x, f.is_grpc, &no_tag, NULL, "no revision has this tag");
        return;
    }
    struct gateway_call *c = of_exchange(g, x, req, &f, prefix_n);
    c->from.is_forwarded = is_trusted;
    if (is_trusted && f.call_id.n && f.call_id.n < sizeof c->from.call_id) {
        memcpy(c->from.call_id, f.call_id.p, f.call_id.n);
        c->from.call_id[f.call_id.n] = '\0';
    }
    call_use_spec(c, spec);
    call_use_function(c, fn, revision);
    if (!is_owner) {
        call_forward(c, member);
        return;
    }
    call_use_pool(c, fn);
    if (req->has_body && req->content_length <= GATEWAY_EAGER_BYTES) {
        call_move(c, CALL_BUFFERING);
        call_body_move(c, CALL_BODY_READING);
        http_read_body(x, spec->body_max);
        return;
    }
    call_place(c);
}
