/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that are not resources: discovery, version, health, OpenAPI, metrics. */
#include "api/core.h"
#include "api/encode.h"
#include "api/monitor.h"
#include "api/negotiate.h"
#include "kube/model/discovery.h"

#include <errno.h>
#include <sys/utsname.h>

static void serve_build(struct request *rq)
{
    struct arena *a = &rq->arena;
    struct utsname un;
    struct json *v = json_new_object(a);
    const char *machine = uname(&un) == 0 ? un.machine : "";
    struct str minor = monitor_minor();
    uint64_t before = 0; /* the previous release, with which this one is also compatible */
    (void)parse_u64(minor, 1, UINT32_MAX, &before);
    json_set_str(a, v, "major", STR("1"));
    json_set_str(a, v, "minor", minor);
    json_set_str(a, v, "emulationMajor", STR("1"));
    json_set_str(a, v, "emulationMinor", minor);
    json_set_str(a, v, "minCompatibilityMajor", STR("1"));
    json_set_str(a, v, "minCompatibilityMinor",
                 str_of(arena_printf(a, "%llu", (unsigned long long)before - 1)));
    json_set_str(a, v, "gitVersion", str_of(monitor_git_version(a)));
    struct str commit = str_of(rq->api->commit), date = str_of(rq->api->commit_date);
    bool is_dirty = str_has_suffix(commit, STR("+"));
    json_set_str(a, v, "gitCommit", str_slice(commit, 0, commit.n - is_dirty));
    json_set_str(a, v, "gitTreeState", is_dirty ? STR("dirty") : STR("clean"));
    /* The date of the commit, so that builds of the same tree are identical. */
    json_set_str(a, v, "buildDate", date.n ? date : STR("1970-01-01T00:00:00Z"));
    json_set_str(a, v, "goVersion", STR(""));
    json_set_str(a, v, "compiler", STR(__VERSION__));
    json_set_str(a, v, "platform",
                 str_of(arena_printf(a, "linux/%s",
                                     strcmp(machine, "x86_64") == 0    ? "amd64"
                                     : strcmp(machine, "aarch64") == 0 ? "arm64"
                                                                       : machine)));
    reply_json(rq, 200, v);
}

static void reply_no_page(struct request *rq)
{
    const struct route *rt = &rq->route;
    rq->no_page = rt->kind != ROUTE_VERSION || !api_is_builtin_group(&rq->api->reg, rt->group);
    reply_status(rq, status_no_resource(&rq->arena));
}

/* ------------------------------------------------------------------ discovery */

static struct str server_address(struct request *rq)
{
    return str_of(arena_printf(&rq->arena, "127.0.0.1:%u", api_port(rq->api)));
}

static void serve_aggregated(struct request *rq)
{
    const struct document_name name = { .what = rq->route.kind == ROUTE_LEGACY
                                                    ? DOCUMENT_AGGREGATED_CORE
                                                    : DOCUMENT_AGGREGATED,
                                        .rep = rq->rep };
    const char *type =
        arena_printf(&rq->arena, "%s;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList",
                     negotiate_content_type(&rq->rep, false), rq->rep.v1beta1 ? "v2beta1" : "v2");
    (void)headers_addc(&rq->extra, "vary", "Accept");
    (void)headers_addc(&rq->extra, "cache-control", "public");
    document_send(rq, documents_get(&rq->api->documents, &name), type);
}

/*
 * Documents that grow with the number of kinds are shared; those of one group are made on request.
 */
static void serve_shared(struct request *rq, enum document_what what)
{
    const struct document_name name = {
        .what = what, .group = rq->route.group, .version = rq->route.version, .rep = rq->rep
    };
    struct document *doc = documents_get(&rq->api->documents, &name);
    if (doc)
        document_send(rq, doc, negotiate_content_type(&rq->rep, false));
    else
        reply_no_page(rq);
}

static void serve_discovery(struct request *rq)
{
    struct arena *a = &rq->arena;
    const struct route *rt = &rq->route;
    const struct json *v;
    if (rq->rep.kind == REP_AGGREGATED) {
        serve_aggregated(rq);
    } else if (rt->kind == ROUTE_LEGACY) {
        reply_json(rq, 200, discovery_api_versions(a, server_address(rq)));
    } else if (rt->kind == ROUTE_GROUPS) {
        serve_shared(rq, DOCUMENT_GROUPS);
    } else if (rt->kind == ROUTE_VERSION) {
        serve_shared(rq, DOCUMENT_RESOURCES);
    } else {
        v = discovery_group(a, &rq->api->reg, rt->group);
        if (v)
            reply_json(rq, 200, v);
        else
            reply_no_page(rq);
    }
}

static void serve_root(struct request *rq)
{
    static const char *const fixed[] = { "/.well-known/openid-configuration",
                                         "/api",
                                         "/apis",
                                         "/healthz",
                                         "/livez",
                                         "/metrics",
                                         "/openapi/v2",
                                         "/openapi/v3",
                                         "/openid/v1/jwks",
                                         "/readyz",
                                         "/version" };
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
    reply_bytes(rq, 200, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores",
                buf_str(&b));
}

/* ------------------------------------------------------------------ token issuer */

static void reply_public(struct request *rq, const char *type, const struct json *v)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 20);
    (void)json_write(&b, v);
    (void)headers_addc(&rq->extra, "cache-control", "public, max-age=3600");
    reply_bytes(rq, 200, type, buf_str(&b));
}

static void serve_oidc(struct request *rq)
{
    const struct json *v = rq->api->needs->openid_document(rq, server_address(rq));
    if (v)
        reply_public(rq, "application/json", v);
    else
        reply_no_page(rq);
}

static void serve_oidc_keys(struct request *rq)
{
    const struct json *v = rq->api->needs->openid_keys(rq);
    if (v)
        reply_public(rq, "application/jwk-set+json", v);
    else
        reply_no_page(rq);
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
        monitor_serve_health(rq);
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
    case ROUTE_OIDC:
        serve_oidc(rq);
        return;
    case ROUTE_OIDC_KEYS:
        serve_oidc_keys(rq);
        return;
    case ROUTE_UNKNOWN:
    case ROUTE_RESOURCE:
        break;
    }
    reply_no_page(rq);
}
