/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses a request's method, path and query. Pure: no registry, no I/O.
 *
 * Paths follow upstream's RequestInfo:
 *
 *     /api/v1/RESOURCE[/NAME[/SUBRESOURCE]]
 *     /api/v1/namespaces/NS/RESOURCE[/NAME[/SUBRESOURCE]]
 *     /apis/GROUP/VERSION/...                                  the same below
 *     .../watch/...                                            the old form of ?watch=true
 */
#pragma once

#include "codec/url.h"
#include "kube/model/resource.h"

enum route_kind {
    ROUTE_UNKNOWN,
    ROUTE_ROOT,       /* / */
    ROUTE_LEGACY,     /* /api */
    ROUTE_GROUPS,     /* /apis */
    ROUTE_GROUP,      /* /apis/G */
    ROUTE_VERSION,    /* /api/v1, /apis/G/V */
    ROUTE_RESOURCE,   /* everything below */
    ROUTE_BUILD,      /* /version */
    ROUTE_HEALTH,     /* /healthz, /livez, /readyz and below; `resource` is the first segment */
    ROUTE_OPENAPI_V2, /* /openapi/v2 */
    ROUTE_OPENAPI_V3, /* /openapi/v3 and below; `rest` is the part after it */
    ROUTE_METRICS,    /* /metrics */
    ROUTE_OIDC,       /* /.well-known/openid-configuration */
    ROUTE_OIDC_KEYS   /* /openid/v1/jwks */
};

struct route {
    enum route_kind kind;
    enum kube_verb verb; /* 0: the method is not supported here (405) */
    struct str path;     /* as received, without query */
    struct str group, version, ns, resource, name, subresource;
    struct str rest;
    struct url_target *url;
    bool in_api; /* of ROUTE_UNKNOWN: the path lies where resources are */
};

/* Decode `target`; all strings live in the arena or in `target`. Errors: those of url_parse(). */
int route_parse(struct arena *a, struct str method, struct str target, struct route *ret,
                struct err *err);

/* First value of the query parameter, "" when absent. */
static inline struct str route_query(const struct route *rt, const char *name)
{
    struct str v = url_query_get(rt->url, name);
    return v.p ? v : STR("");
}
