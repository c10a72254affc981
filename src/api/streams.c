/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that are forwarded to a node or a pod: logs, exec, attach, port forwarding, proxies. The
 * server answers what the objects tell. It has no connection to the agents of nodes, so where
 * upstream would dial, the client gets an error.
 *
 *     pod or service -> [node] -> refusal
 */
#include "api/subresources.h"

#include "api/write.h"

enum { AGENT_PORT = 10250 };

struct streams_stream {
    struct request *rq;
    struct json *pod;
};

/* ------------------------------------------------------------------ reading */

static void read_object(struct streams_stream *s, const char *plural, struct str ns,
                        struct str name, store_get_cb cb)
{
    struct request *rq = s->rq;
    struct err err = { 0 };
    const struct kube_resource *res =
        kube_registry_find(&rq->api->reg, STR(""), STR("v1"), str_of(plural));
    request_busy(rq);
    int r = store_get(rq->api->store, key_object(&rq->arena, res, ns, name), 0, cb, s, &err);
    if (r < 0 && !request_idle(rq))
        reply_store_err(rq, r, 0, &err);
}

/* true: an answer was sent, or the client is gone. */
static bool read_failed(struct request *rq, int r, const struct store_kv *kv, const struct err *err,
                        const char *plural, struct str name)
{
    if (request_idle(rq))
        return true;
    if (r < 0)
        reply_store_err(rq, r, 0, err);
    else if (!kv)
        reply_status(rq, status_not_found(&rq->arena, STR(""), str_of(plural), name));
    return r < 0 || !kv;
}

static struct json *take(struct request *rq, const struct store_kv *kv)
{
    struct json *obj = NULL;
    struct str text = str_copy_arena(&rq->arena, kv->value);
    return json_parse(&rq->arena, text, NULL, &obj, NULL) < 0 ? json_new_object(&rq->arena) : obj;
}

/* ------------------------------------------------------------------ nodes */

static struct str node_address(const struct json *node)
{
    static const char *const types[] = { "Hostname", "InternalDNS", "InternalIP", "ExternalDNS",
                                         "ExternalIP" };
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        json_each (at, json_path(node, "status", "addresses", NULL))
            if (str_is(json_get_str(at, "type"), types[i]))
                return json_get_str(at, "address");
    return STR("");
}

static void reply_unreachable(struct request *rq, struct str host, int64_t port)
{
    struct arena *a = &rq->arena;
    struct str sub = rq->sub->name;
    const char *dial = arena_printf(a, "dial tcp " STR_FMT ":%lld: connect: connection refused",
                                    STR_ARG(host), (long long)port);
    struct str text = str_of(arena_printf(a, "error dialing backend: %s", dial));
    if (str_is(sub, "proxy")) {
        text = str_of(arena_printf(a, "error trying to reach service: %s", dial));
        reply_status(rq, status_unavailable(a, text));
        return;
    }
    if (str_is(sub, "log"))
        text = str_of(arena_printf(
            a, "Get \"https://" STR_FMT ":%lld/containerLogs/" STR_FMT "/" STR_FMT "\": %s",
            STR_ARG(host), (long long)port, STR_ARG(rq->route.ns), STR_ARG(rq->route.name), dial));
    reply_status(rq, status_new(a, 500, "", text));
}

static void on_node(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                    const struct err *err)
{
    struct streams_stream *s = arg;
    struct request *rq = s->rq;
    struct str name =
        s->pod ? json_str(json_path(s->pod, "spec", "nodeName", NULL)) : rq->route.name;
    (void)rev;
    if (read_failed(rq, r, kv, err, "nodes", name))
        return;
    const struct json *node = take(rq, kv);
    struct str host = node_address(node);
    int64_t port = json_int_or(
        json_path(node, "status", "daemonEndpoints", "kubeletEndpoint", "Port", NULL), 0);
    if (host.n == 0)
        reply_status(rq, status_new(&rq->arena, 500, "",
                                    STR("no preferred addresses found; known addresses: []")));
    else
        reply_unreachable(rq, host, port > 0 ? port : AGENT_PORT);
}

/* ------------------------------------------------------------------ pods */

/* Find the container; the Status if the choice is ambiguous or wrong. */
static struct json *check_container(struct request *rq, const struct json *pod)
{
    static const char *const lists[] = { "initContainers", "containers", "ephemeralContainers" };
    struct arena *a = &rq->arena;
    struct str wanted = route_query(&rq->route, "container");
    const struct json *spec = json_getc(pod, "spec");
    const struct json *main = json_getc(spec, "containers");
    if (str_is(rq->sub->name, "portforward") || str_is(rq->sub->name, "proxy"))
        return NULL;
    if (wanted.n == 0 && main && main->n == 1)
        return NULL;
    struct buf names = BUF_INIT(4096);
    bool found = false;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        json_each (c, json_getc(spec, lists[i])) {
            found = found || str_eq(json_get_str(c, "name"), wanted);
            if (str_is(str_of(lists[i]), "containers"))
                (void)buf_printf(&names, "%s" STR_FMT, names.n ? " " : "",
                                 STR_ARG(json_get_str(c, "name")));
        }
    }
    const char *text = wanted.n
                           ? arena_printf(a, "container " STR_FMT " is not valid for pod " STR_FMT,
                                          STR_ARG(wanted), STR_ARG(rq->route.name))
                           : arena_printf(a,
                                          "a container name must be specified for pod " STR_FMT
                                          ", choose one of: [%s]",
                                          STR_ARG(rq->route.name), buf_cstr(&names));
    buf_fini(&names);
    return wanted.n && found ? NULL : status_bad_request(a, str_of(text));
}

static void on_pod(void *arg, int r, const struct store_kv *kv, uint64_t rev, const struct err *err)
{
    struct streams_stream *s = arg;
    struct request *rq = s->rq;
    struct arena *a = &rq->arena;
    (void)rev;
    if (read_failed(rq, r, kv, err, "pods", rq->route.name))
        return;
    s->pod = take(rq, kv);
    const struct json *no = check_container(rq, s->pod);
    struct str node = json_str(json_path(s->pod, "spec", "nodeName", NULL));
    struct str ip = json_str(json_path(s->pod, "status", "podIP", NULL));
    if (no) {
        reply_status(rq, no);
    } else if (str_is(rq->sub->name, "proxy")) {
        if (ip.n)
            reply_unreachable(rq, ip, 80);
        else
            reply_status(rq, status_bad_request(a, STR("address not allowed")));
    } else if (node.n) {
        read_object(s, "nodes", STR(""), node, on_node);
    } else if (str_is(rq->sub->name, "log")) {
        reply_bytes(rq, 200, "text/plain", STR("")); /* the container has no output yet */
    } else {
        reply_status(
            rq, status_bad_request(a, str_of(arena_printf(a,
                                                          "pod " STR_FMT " does not have a host "
                                                          "assigned",
                                                          STR_ARG(rq->route.name)))));
    }
}

/* ------------------------------------------------------------------ services */

static void on_service(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                       const struct err *err)
{
    struct streams_stream *s = arg;
    struct request *rq = s->rq;
    struct arena *a = &rq->arena;
    (void)rev;
    if (read_failed(rq, r, kv, err, "services", rq->route.name))
        return;
    reply_status(rq,
                 status_unavailable(
                     a, str_of(arena_printf(a, "no endpoints available for service \"" STR_FMT "\"",
                                            STR_ARG(rq->route.name)))));
}

/* From "scheme:name:port" only the name is used here. */
static struct str plain_name(struct str s)
{
    struct str head, rest;
    if (!str_cut(s, ':', &head, &rest))
        return s;
    bool scheme = str_is(head, "http") || str_is(head, "https") || head.n == 0;
    if (!scheme)
        return head;
    (void)str_cut(rest, ':', &head, &rest);
    return head;
}

void streams_serve(struct request *rq)
{
    struct streams_stream *s = arena_new(&rq->arena, struct streams_stream);
    s->rq = rq;
    rq->route.name = plain_name(rq->route.name);
    if (str_is(rq->res->plural, "nodes"))
        read_object(s, "nodes", STR(""), rq->route.name, on_node);
    else if (str_is(rq->res->plural, "services"))
        read_object(s, "services", rq->route.ns, rq->route.name, on_service);
    else
        read_object(s, "pods", rq->route.ns, rq->route.name, on_pod);
}
