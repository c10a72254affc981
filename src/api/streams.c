/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that go to the agent of a pod's node (kubelet.h): logs, exec, attach, port forwarding.
 *
 *     pod -> node -> agent, or refusal
 */
#include "api/subresources.h"

#include "api/kubelet.h"
#include "api/write.h"
#include "codec/url.h"
#include "io/http.h"

#include <assert.h>

struct streams_stream {
    struct request *rq;
    struct json *pod;
    struct str container; /* of the pod; "" for port forwarding */
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

struct str streams_node_address(const struct json *node)
{
    static const char *const types[] = { "InternalIP", "ExternalIP", "Hostname", "InternalDNS",
                                         "ExternalDNS" };
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        json_each (at, json_path(node, "status", "addresses", NULL))
            if (str_is(json_get_str(at, "type"), types[i]))
                return json_get_str(at, "address");
    return STR("");
}

uint16_t streams_node_port(const struct json *node)
{
    int64_t port = json_int_or(
        json_path(node, "status", "daemonEndpoints", "kubeletEndpoint", "Port", NULL), 0);
    return port <= 0 || port > UINT16_MAX ? KUBELET_PORT : (uint16_t)port;
}

static void reply_unreachable(struct request *rq, struct str host, int64_t port)
{
    struct arena *a = &rq->arena;
    struct str sub = rq->sub->name;
    const char *dial = arena_printf(a, "dial tcp " STR_FMT ":%lld: connect: connection refused",
                                    STR_ARG(host), (long long)port);
    struct str text = str_of(arena_printf(a, "error dialing backend: %s", dial));
    if (str_is(sub, "log"))
        text = str_of(arena_printf(
            a, "Get \"https://" STR_FMT ":%lld/containerLogs/" STR_FMT "/" STR_FMT "\": %s",
            STR_ARG(host), (long long)port, STR_ARG(rq->route.ns), STR_ARG(rq->route.name), dial));
    reply_status(rq, status_new(a, 500, "", text));
}

/* Parameters of the agent's API, by those of a PodExecOptions and the like. */
struct streams_param {
    const char *name, *agent_name;
    const char *yes; /* value of a boolean that is true; NULL: the value is copied */
};

static const struct streams_param log_params[] = { { "follow", "follow", "true" },
                                                   { "limitBytes", "limitBytes", NULL },
                                                   { "previous", "previous", "true" },
                                                   { "sinceSeconds", "sinceSeconds", NULL },
                                                   { "sinceTime", "sinceTime", NULL },
                                                   { "stream", "stream", NULL },
                                                   { "tailLines", "tailLines", NULL },
                                                   { "timestamps", "timestamps", "true" },
                                                   { 0 } };
static const struct streams_param exec_params[] = {
    { "command", "command", NULL }, { "stderr", "error", "1" }, { "stdin", "input", "1" },
    { "stdout", "output", "1" },    { "tty", "tty", "1" },      { 0 }
};
static const struct streams_param port_params[] = { { "ports", "port", NULL }, { 0 } };

/* The requests that an agent serves, by subresource. */
static const struct streams_kind {
    const char *sub, *path;
    const struct streams_param *params;
} kinds[] = {
    { "attach", "attach", exec_params + 1 },
    { "exec", "exec", exec_params },
    { "log", "containerLogs", log_params },
    { "portforward", "portForward", port_params },
};

static void add_param(struct buf *to, const struct streams_param *p, struct str value, char *mark)
{
    (void)buf_printf(to, "%c%s=", *mark, p->agent_name);
    *mark = '&';
    (void)url_encode(to, p->yes ? str_of(p->yes) : value);
}

static void add_segment(struct buf *to, struct str text)
{
    (void)buf_add_char(to, '/');
    (void)url_encode(to, text);
}

/* The target of the agent's API for this request. */
static struct str agent_target(const struct streams_stream *s, const struct streams_kind *kind)
{
    struct request *rq = s->rq;
    const struct url_target *url = rq->route.url;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(HTTP_URI_MAX_BYTES * 4);
    char mark = '?';
    add_segment(&b, str_of(kind->path));
    add_segment(&b, rq->route.ns);
    add_segment(&b, rq->route.name);
    if (s->container.n)
        add_segment(&b, s->container);
    for (size_t i = 0; i < url->n_pairs; i++)
        for (const struct streams_param *p = kind->params; p->name; p++)
            if (str_is(url->pairs[i].name, p->name) && (!p->yes || url_query_bool(url, p->name)))
                add_param(&b, p, url->pairs[i].value, &mark);
    return str_copy_arena(&rq->arena, buf_str(&b));
}

static void relay(struct streams_stream *s, struct str host, uint16_t port)
{
    struct request *rq = s->rq;
    const struct streams_kind *kind = kinds;
    while (kind < kinds + ARRAY_LEN(kinds) && !str_is(rq->sub->name, kind->sub))
        kind++;
    assert(kind < kinds + ARRAY_LEN(kinds));
    bool is_log = str_is(rq->sub->name, "log");
    const struct kubelet_call call = {
        .host = host,
        .port = port,
        .target = agent_target(s, kind),
        .upgrades = !is_log,
        .way = is_log && url_query_bool(rq->route.url, "insecureSkipTLSVerifyBackend")
                   ? KUBELET_ANY
                   : KUBELET_VERIFIED,
    };
    kubelet_relay(rq, &call);
}

static void on_node(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                    const struct err *err)
{
    struct streams_stream *s = arg;
    struct request *rq = s->rq;
    struct str name = json_str(json_path(s->pod, "spec", "nodeName", NULL));
    (void)rev;
    if (read_failed(rq, r, kv, err, "nodes", name))
        return;
    const struct json *node = take(rq, kv);
    struct str host = streams_node_address(node);
    uint16_t port = streams_node_port(node);
    if (host.n == 0)
        reply_status(rq, status_new(&rq->arena, 500, "",
                                    STR("no preferred addresses found; known addresses: []")));
    else if (kubelet_is_reachable(rq->api))
        relay(s, host, port);
    else
        reply_unreachable(rq, host, port);
}

/* ------------------------------------------------------------------ pods */

/* Find the container; the Status if the choice is ambiguous or wrong. */
static struct json *check_container(struct streams_stream *s)
{
    struct request *rq = s->rq;
    const struct json *pod = s->pod;
    static const char *const lists[] = { "initContainers", "containers", "ephemeralContainers" };
    struct arena *a = &rq->arena;
    struct str wanted = route_query(&rq->route, "container");
    const struct json *spec = json_getc(pod, "spec");
    const struct json *main = json_getc(spec, "containers");
    if (str_is(rq->sub->name, "portforward"))
        return NULL;
    s->container = wanted;
    if (wanted.n == 0 && main && main->n == 1) {
        s->container = json_get_str(main->first, "name");
        return NULL;
    }
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
    const struct json *no = check_container(s);
    struct str node = json_str(json_path(s->pod, "spec", "nodeName", NULL));
    if (no) {
        reply_status(rq, no);
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

void streams_serve(struct request *rq)
{
    struct streams_stream *s = arena_new(&rq->arena, struct streams_stream);
    s->rq = rq;
    read_object(s, "pods", rq->route.ns, rq->route.name, on_pod);
}
