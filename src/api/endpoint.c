/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that name no resource: discovery, version, health, OpenAPI, metrics. */
#include "api/core.h"
#include "api/encode.h"
#include "api/negotiate.h"
#include "kube/discovery.h"

#include <errno.h>
#include <sys/utsname.h>

/* What the API claims to be, for clients that decide by version. */
#define KUBE_MAJOR       "1"
#define KUBE_MINOR       "32"
#define KUBE_GIT_VERSION "v" KUBE_MAJOR "." KUBE_MINOR ".0+dormouse-" DORMOUSE_VERSION

static void serve_build(struct request *rq)
{
    struct arena *a = &rq->arena;
    struct utsname un;
    struct json *v = json_new_object(a);
    const char *machine = uname(&un) == 0 ? un.machine : "";
    json_set_str(a, v, "major", STR(KUBE_MAJOR));
    json_set_str(a, v, "minor", STR(KUBE_MINOR));
    json_set_str(a, v, "gitVersion", STR(KUBE_GIT_VERSION));
    json_set_str(a, v, "gitCommit", STR(""));
    json_set_str(a, v, "gitTreeState", STR("clean"));
    json_set_str(a, v, "buildDate", STR("1970-01-01T00:00:00Z"));
    json_set_str(a, v, "goVersion", STR(""));
    json_set_str(a, v, "compiler", STR(__VERSION__));
    json_set_str(a, v, "platform",
                 str_of(arena_printf(a, "linux/%s",
                                     strcmp(machine, "x86_64") == 0    ? "amd64"
                                     : strcmp(machine, "aarch64") == 0 ? "arm64"
                                                                       : machine)));
    reply_json(rq, 200, v);
}

/* ------------------------------------------------------------------ health */

static void serve_health(struct request *rq)
{
    struct api *api = rq->api;
    const char *which = str_dup_arena(&rq->arena, rq->route.resource);
    const struct {
        const char *name;
        bool ok;
    } checks[] = { { "ping", true },
                   { "log", true },
                   { "store", true },
                   { "poststarthook/start-controllers", api->ready } };
    bool wants_ready = strcmp(which, "readyz") == 0, ok = true, found = rq->route.rest.n == 0;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        if (rq->route.rest.n && !str_is(rq->route.rest, checks[i].name))
            continue;
        found = true;
        bool good = checks[i].ok || !wants_ready;
        ok = ok && good;
        (void)buf_printf(&b, "[%c]%s %s\n", good ? '+' : '-', checks[i].name,
                         good ? "ok" : "failed: reason withheld");
    }
    if (!found) {
        reply_status(rq, status_no_resource(&rq->arena));
        return;
    }
    (void)buf_printf(&b, "%s check %s\n", which, ok ? "passed" : "failed");
    bool verbose =
        route_query(&rq->route, "verbose").n || url_query_get(rq->route.url, "verbose").p;
    if (ok && !verbose)
        reply_bytes(rq, 200, "text/plain; charset=utf-8", STR("ok"));
    else
        reply_bytes(rq, ok ? 200 : 500, "text/plain; charset=utf-8", buf_str(&b));
}

/* ------------------------------------------------------------------ discovery */

static struct str server_address(struct request *rq)
{
    return str_of(arena_printf(&rq->arena, "127.0.0.1:%u", api_port(rq->api)));
}

/* The tag is that of the document, in whatever form it travels. */
static void serve_aggregated(struct request *rq)
{
    struct arena *a = &rq->arena;
    struct str version = rq->rep.v1beta1 ? STR("v2beta1") : STR("v2");
    const struct json *v =
        discovery_aggregated(a, &rq->api->reg, rq->route.kind == ROUTE_LEGACY, version);
    scoped(buf_fini_scoped) struct buf json = BUF_INIT(BUF_MAX_DEFAULT);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)json_write(&json, v);
    int r = encode_tree(a, &rq->rep, v, &b);
    if (r < 0) {
        reply_err(rq, r, NULL);
        return;
    }
    const char *type =
        arena_printf(a, "%s;g=apidiscovery.k8s.io;v=" STR_FMT ";as=APIGroupDiscoveryList",
                     rep_content_type(&rq->rep, false), STR_ARG(version));
    (void)headers_addc(&rq->extra, "vary", "Accept");
    (void)headers_addc(&rq->extra, "cache-control", "public");
    reply_tagged(rq, type, buf_str(&json), buf_str(&b));
}

static void serve_discovery(struct request *rq)
{
    struct arena *a = &rq->arena;
    const struct registry *reg = &rq->api->reg;
    const struct route *rt = &rq->route;
    struct json *v = NULL;
    if (rq->rep.kind == REP_AGGREGATED) {
        serve_aggregated(rq);
        return;
    }
    if (rt->kind == ROUTE_LEGACY)
        v = discovery_api_versions(a, server_address(rq));
    else if (rt->kind == ROUTE_GROUPS)
        v = discovery_groups(a, reg);
    else if (rt->kind == ROUTE_GROUP)
        v = discovery_group(a, reg, rt->group);
    else
        v = discovery_resources(a, reg, rt->group, rt->version);
    if (v)
        reply_json(rq, 200, v);
    else
        reply_status(rq, status_no_resource(a));
}

static void serve_root(struct request *rq)
{
    static const char *const fixed[] = { "/api",        "/apis",    "/healthz",
                                         "/livez",      "/metrics", "/openapi/v2",
                                         "/openapi/v3", "/readyz",  "/version" };
    struct arena *a = &rq->arena;
    struct json *v = json_new_object(a), *paths = json_new_array(a);
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        json_add(paths, json_new_cstr(a, fixed[i]));
    json_setc(a, v, "paths", paths);
    reply_json(rq, 200, v);
}

static void serve_metrics(struct request *rq)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    api_metrics(rq->api, &b);
    reply_bytes(rq, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&b));
}

void endpoint_serve(struct request *rq)
{
    switch (rq->route.kind) {
    case ROUTE_ROOT:
        serve_root(rq);
        return;
    case ROUTE_LEGACY:
    case ROUTE_GROUPS:
    case ROUTE_GROUP:
    case ROUTE_VERSION:
        serve_discovery(rq);
        return;
    case ROUTE_BUILD:
        serve_build(rq);
        return;
    case ROUTE_HEALTH:
        serve_health(rq);
        return;
    case ROUTE_OPENAPI_V2:
        openapi_serve_v2(rq);
        return;
    case ROUTE_OPENAPI_V3:
        openapi_serve_v3(rq);
        return;
    case ROUTE_METRICS:
        serve_metrics(rq);
        return;
    case ROUTE_UNKNOWN:
    case ROUTE_RESOURCE:
        break;
    }
    reply_status(rq, status_no_resource(&rq->arena));
}

/* ------------------------------------------------------------------ metrics */

void api_metrics(const struct api *api, struct buf *to)
{
    struct store_stats st;
    store_stats(api->store, &st);
    metrics_write(&api->metrics, to);
    flow_metrics(&api->flows, to);
    (void)buf_printf(
        to,
        "# HELP apiserver_current_inflight_requests Requests that are being worked on.\n"
        "# TYPE apiserver_current_inflight_requests gauge\n"
        "apiserver_current_inflight_requests %zu\n"
        "# HELP apiserver_storage_size_bytes Size of the store's file.\n"
        "# TYPE apiserver_storage_size_bytes gauge\n"
        "apiserver_storage_size_bytes %llu\n"
        "# HELP dormouse_store_commits_total Groups of transactions committed together.\n"
        "# TYPE dormouse_store_commits_total counter\n"
        "dormouse_store_commits_total %llu\n"
        "# HELP dormouse_store_transactions_total Transactions committed.\n"
        "# TYPE dormouse_store_transactions_total counter\n"
        "dormouse_store_transactions_total %llu\n"
        "# HELP dormouse_store_revision Newest durable revision.\n"
        "# TYPE dormouse_store_revision gauge\n"
        "dormouse_store_revision %llu\n",
        api->n_inflight, (unsigned long long)st.bytes_on_disk, (unsigned long long)st.commits,
        (unsigned long long)st.txns, (unsigned long long)store_revision(api->store));
}
