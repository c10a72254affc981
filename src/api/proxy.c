/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes/proxy, pods/proxy and services/proxy: the request goes to the agent of a node, to a pod or
 * to an endpoint of a Service, and the answer comes back as it is (kubelet.h). The name may say
 * scheme and port: "https:web:8443", "web:metrics".
 *
 *     node                            -> address of the agent, or of the node with another port
 *     pod                             -> its IP
 *     service -> EndpointSlices of it -> a ready endpoint
 *
 * As upstream, names of hosts in answers are not followed, and addresses of the server's own
 * machine (loopback, link-local) are not reached. Unlike upstream, links in HTML are not rewritten.
 */
#include "api/inner.h"
#include "api/kubelet.h"
#include "api/subresources.h"
#include "api/write.h"
#include "base/random.h"
#include "base/sys.h"
#include "codec/url.h"
#include "io/address.h"
#include "io/http.h"

#include <assert.h>
#include <errno.h>

struct proxy {
    struct request *rq;
    struct str scheme, name, port; /* of the request; "" where it has none */
    struct str path, prefix;       /* as received: what comes after ".../proxy", and up to there */
    struct json *service;
};

/* ------------------------------------------------------------------ the request */

/* "scheme:name:port", "name:port", "name". false: neither. */
static bool split_name(struct proxy *p, struct str id)
{
    struct str parts[3];
    size_t n = 0;
    bool more = true;
    for (struct str rest = id; more && n < 3;)
        more = str_cut(rest, ':', &parts[n++], &rest);
    if (more)
        return false;
    p->name = n == 3 ? parts[1] : parts[0];
    p->scheme = n == 3 ? parts[0] : STR("");
    p->port = n == 3 ? parts[2] : n == 2 ? parts[1] : STR("");
    return p->name.n &&
           (p->scheme.n == 0 || str_is(p->scheme, "http") || str_is(p->scheme, "https"));
}

/* Cut the path as it was received, so that its escapes stay as they are. */
static void split_path(struct proxy *p)
{
    const struct request *rq = p->rq;
    struct str path = rq->route.path;
    size_t wanted = rq->route.ns.n && !str_is(rq->res->plural, "nodes") ? 7 : 5, seen = 0, at = 0;
    for (bool is_in = false; at < path.n; at++) {
        bool starts = path.p[at] != '/' && !is_in;
        is_in = path.p[at] != '/';
        if (!is_in && seen == wanted)
            break;
        seen += starts;
    }
    p->prefix = str_slice(path, 0, at);
    p->path = str_slice(path, at, path.n);
}

static uint16_t port_of(struct str text)
{
    uint64_t port;
    return parse_u64(text, 1, UINT16_MAX, &port) < 0 ? 0 : (uint16_t)port;
}

/* Whether the server may connect there on behalf of a client. */
static bool is_allowed(struct str host)
{
    struct address at;
    return address_parse(host, &at) && address_is_machine(&at) && !address_is_loopback(&at);
}

/* As upstream: links in the page at the root would otherwise lead beside the proxy. */
static void redirect(struct proxy *p)
{
    struct request *rq = p->rq;
    struct str query = rq->route.url->raw_query;
    (void)headers_add(&rq->extra, STR("location"),
                      str_of(arena_printf(&rq->arena, STR_FMT "/%s" STR_FMT, STR_ARG(p->prefix),
                                          query.n ? "?" : "", STR_ARG(query))));
    reply_bytes(rq, 301, NULL, STR(""));
}

static void relay(struct proxy *p, struct str host, uint16_t port, enum kubelet_way way)
{
    struct request *rq = p->rq;
    struct arena *a = &rq->arena;
    struct str query = rq->route.url->raw_query;
    if (p->path.n == 0 && !rq->protocol && rq->route.verb == KUBE_GET) {
        redirect(p);
        return;
    }
    if (!is_allowed(host)) {
        reply_status(rq, status_bad_request(a, STR("address not allowed")));
        return;
    }
    const struct kubelet_call call = {
        .host = host,
        .port = port,
        .way = way,
        .target = str_of(arena_printf(a, STR_FMT "%s%s" STR_FMT, STR_ARG(p->path),
                                      p->path.n ? "" : "/", query.n ? "?" : "", STR_ARG(query))),
        .is_proxy = true,
        .prefix = p->prefix,
    };
    kubelet_relay(rq, &call);
}

static enum kubelet_way way_of(const struct proxy *p)
{
    return str_is(p->scheme, "https") ? KUBELET_FOREIGN : KUBELET_PLAIN;
}

/* ------------------------------------------------------------------ reading */

static void read_object(struct proxy *p, const char *plural, struct str ns, store_get_cb cb)
{
    struct request *rq = p->rq;
    struct err err = { 0 };
    const struct kube_resource *res =
        kube_registry_find(&rq->api->reg, STR(""), STR("v1"), str_of(plural));
    request_busy(rq);
    int r = store_get(rq->api->store, key_object(&rq->arena, res, ns, p->name), 0, cb, p, &err);
    if (r < 0 && !request_idle(rq))
        reply_store_err(rq, r, 0, &err);
}

/* The object; NULL: an answer was sent, or the client is gone. */
static struct json *take(struct proxy *p, int r, const struct store_kv *kv, const struct err *err,
                         const char *plural)
{
    struct request *rq = p->rq;
    struct json *obj = NULL;
    if (request_idle(rq))
        return NULL;
    if (r < 0)
        reply_store_err(rq, r, 0, err);
    else if (!kv)
        reply_status(rq, status_not_found(&rq->arena, STR(""), str_of(plural), p->name));
    if (r < 0 || !kv)
        return NULL;
    struct str text = str_copy_arena(&rq->arena, kv->value);
    return json_parse(&rq->arena, text, NULL, &obj, NULL) < 0 ? json_new_object(&rq->arena) : obj;
}

/* ------------------------------------------------------------------ nodes and pods */

/* Without the CA's key the agent would not talk to us. */
static void reply_unreachable(struct request *rq, struct str host, uint16_t port)
{
    struct arena *a = &rq->arena;
    reply_status(rq, status_unavailable(
                         a, str_of(arena_printf(a,
                                                "error trying to reach service: dial tcp " STR_FMT
                                                ":%u: connect: connection refused",
                                                STR_ARG(host), port))));
}

static void on_node(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                    const struct err *err)
{
    struct proxy *p = arg;
    struct request *rq = p->rq;
    const struct json *node = take(p, r, kv, err, "nodes");
    (void)rev;
    if (!node)
        return;
    struct str host = streams_node_address(node);
    uint16_t agent = streams_node_port(node), port = p->port.n ? port_of(p->port) : agent;
    bool is_agent = port == agent;
    if (host.n == 0)
        reply_status(rq, status_new(&rq->arena, 500, "",
                                    STR("no preferred addresses found; known addresses: []")));
    else if (port == 0)
        reply_status(rq, status_bad_request(&rq->arena, STR("invalid port")));
    else if (is_agent && !kubelet_is_reachable(rq->api))
        reply_unreachable(rq, host, port);
    else
        relay(p, host, port, is_agent ? KUBELET_VERIFIED : way_of(p));
}

/* The port of the first container that has one. */
static uint16_t first_port(const struct json *pod)
{
    json_each (c, json_path(pod, "spec", "containers", NULL)) {
        json_each (port, json_getc(c, "ports")) {
            int64_t n = json_int_or(json_getc(port, "containerPort"), 0);
            if (n > 0 && n <= UINT16_MAX)
                return (uint16_t)n;
        }
    }
    return 0;
}

static void on_pod(void *arg, int r, const struct store_kv *kv, uint64_t rev, const struct err *err)
{
    struct proxy *p = arg;
    const struct json *pod = take(p, r, kv, err, "pods");
    (void)rev;
    if (!pod)
        return;
    uint16_t port = p->port.n ? port_of(p->port) : first_port(pod);
    if (p->port.n && port == 0)
        reply_status(p->rq, status_bad_request(&p->rq->arena, STR("invalid port")));
    else
        relay(p, json_str(json_path(pod, "status", "podIP", NULL)),
              port                         ? port
              : str_is(p->scheme, "https") ? 443
                                           : 80,
              way_of(p));
}

/* ------------------------------------------------------------------ services */

static void reply_no_endpoints(struct proxy *p)
{
    struct arena *a = &p->rq->arena;
    reply_status(p->rq,
                 status_unavailable(
                     a, str_of(arena_printf(a, "no endpoints available for service \"" STR_FMT "\"",
                                            STR_ARG(p->name)))));
}

/* Whether endpoints may be used: absent means yes. */
static bool is_ready(const struct json *endpoint)
{
    const struct json *ready = json_path(endpoint, "conditions", "ready", NULL);
    return !json_is(ready, JSON_FALSE);
}

/* The port of this name in a slice; 0: it has none. */
static uint16_t slice_port(const struct json *slice, struct str name)
{
    json_each (port, json_getc(slice, "ports")) {
        int64_t n = json_int_or(json_getc(port, "port"), 0);
        if (str_eq(json_get_str(port, "name"), name) && n > 0 && n <= UINT16_MAX)
            return (uint16_t)n;
    }
    return 0;
}

/* One of the ready endpoints, each with the same probability. */
static bool choose(const struct json *slices, struct str port_name, struct str *ret_host,
                   uint16_t *ret_port)
{
    uint32_t n = 0;
    struct rng rng = { sys_random_u64() };
    json_each (slice, json_getc(slices, "items")) {
        uint16_t port = slice_port(slice, port_name);
        json_each (endpoint, json_getc(slice, "endpoints")) {
            struct str host = json_str(json_first(json_getc(endpoint, "addresses")));
            if (port == 0 || host.n == 0 || !is_ready(endpoint) || rng_below(&rng, ++n) != 0)
                continue;
            *ret_host = host;
            *ret_port = port;
        }
    }
    return n > 0;
}

/* The name of the Service's port that the request names, by name or number. false: none. */
static bool service_port(const struct proxy *p, struct str *ret)
{
    const struct json *ports = json_path(p->service, "spec", "ports", NULL);
    uint16_t number = port_of(p->port);
    *ret = p->port;
    if (p->port.n == 0 && json_first(ports) && !json_first(ports)->next)
        *ret = json_get_str(json_first(ports), "name");
    if (number == 0)
        return true;
    json_each (port, ports) {
        if (json_int_or(json_getc(port, "port"), 0) != number)
            continue;
        *ret = json_get_str(port, "name");
        return true;
    }
    return false;
}

static void on_slices(void *arg, int r, struct str body)
{
    struct proxy *p = arg;
    struct request *rq = p->rq;
    struct arena *a = &rq->arena;
    struct json *slices = NULL;
    struct str name, host;
    uint16_t port;
    if (request_idle(rq))
        return;
    if (r != 200 || json_parse(a, str_copy_arena(a, body), NULL, &slices, NULL) < 0)
        reply_status(rq,
                     status_new(a, 500, "", STR("the endpoints of the service cannot be read")));
    else if (!service_port(p, &name))
        reply_status(
            rq, status_unavailable(a, str_of(arena_printf(a,
                                                          "no service port " STR_FMT
                                                          " found for service \"" STR_FMT "\"",
                                                          STR_ARG(p->port), STR_ARG(p->name)))));
    else if (!choose(slices, name, &host, &port))
        reply_no_endpoints(p);
    else
        relay(p, host, port, way_of(p));
}

static void on_service(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                       const struct err *err)
{
    struct proxy *p = arg;
    struct request *rq = p->rq;
    p->service = take(p, r, kv, err, "services");
    (void)rev;
    if (!p->service)
        return;
    const struct inner_request req = {
        .method = "GET",
        .target = str_of(arena_printf(&rq->arena,
                                      "/apis/discovery.k8s.io/v1/namespaces/" STR_FMT
                                      "/endpointslices?labelSelector=kubernetes.io%%2Fservice-name"
                                      "%%3D" STR_FMT,
                                      STR_ARG(rq->route.ns), STR_ARG(p->name)))
    };
    request_busy(rq);
    if (inner_call(rq->api, &req, on_slices, p) < 0 && !request_idle(rq))
        reply_no_endpoints(p);
}

/* ------------------------------------------------------------------ start */

static const char *invalid_name(const struct proxy *p)
{
    const struct request *rq = p->rq;
    struct str one = str_slice(rq->res->plural, 0, rq->res->plural.n - 1);
    return arena_printf(&p->rq->arena, "invalid " STR_FMT " request \"" STR_FMT "\"", STR_ARG(one),
                        STR_ARG(rq->route.name));
}

void proxy_serve(struct request *rq)
{
    struct proxy *p = arena_new(&rq->arena, struct proxy);
    p->rq = rq;
    split_path(p);
    if (!split_name(p, rq->route.name))
        reply_status(rq, status_bad_request(&rq->arena, str_of(invalid_name(p))));
    else if (str_is(rq->res->plural, "nodes"))
        read_object(p, "nodes", STR(""), on_node);
    else if (str_is(rq->res->plural, "services"))
        read_object(p, "services", rq->route.ns, on_service);
    else
        read_object(p, "pods", rq->route.ns, on_pod);
}
