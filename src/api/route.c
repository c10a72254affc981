/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and queries; see route.h. */
#include "api/route.h"

static enum kube_verb verb_of(struct str method, const struct route *rt, bool old_watch)
{
    bool one = rt->name.n > 0;
    if (str_is(method, "HEAD")) /* as upstream, for proxies and for other paths only */
        return (enum kube_verb)(one && str_is(rt->subresource, "proxy") ? KUBE_GET : 0);
    if (str_is(method, "GET")) {
        if (old_watch || (!one && url_query_bool(rt->url, "watch")))
            return KUBE_WATCH;
        return one ? KUBE_GET : KUBE_LIST;
    }
    if (str_is(method, "POST"))
        return KUBE_CREATE;
    if (str_is(method, "PUT"))
        return (enum kube_verb)(one ? KUBE_UPDATE : 0);
    if (str_is(method, "PATCH"))
        return (enum kube_verb)(one ? KUBE_PATCH : 0);
    if (str_is(method, "DELETE"))
        return one ? KUBE_DELETE : KUBE_DELETECOLLECTION;
    return (enum kube_verb)0;
}

/* The part after the version: [watch/][namespaces/NS/]RESOURCE[/NAME[/SUBRESOURCE[/REST]]]. */
static void parse_resource(struct route *rt, struct str method, struct str *seg, size_t n)
{
    bool old_watch = n > 1 && str_is(seg[0], "watch");
    if (old_watch) {
        seg++;
        n--;
    }
    if (n > 2 && str_is(seg[0], "namespaces") && !str_is(seg[2], "status") &&
        !str_is(seg[2], "finalize")) {
        rt->ns = seg[1];
        seg += 2;
        n -= 2;
    } else if (n >= 2 && str_is(seg[0], "namespaces") && rt->group.n == 0) {
        rt->ns = seg[1]; /* for authorization, a Namespace lies in itself */
    }
    rt->resource = seg[0];
    if (n > 1)
        rt->name = seg[1];
    if (n > 2)
        rt->subresource = seg[2];
    if (n > 3)
        rt->rest = seg[3];
    bool onward = n > 4 && str_is(rt->subresource, "proxy"); /* the target handles the rest */
    rt->kind = n > 4 && !onward ? ROUTE_UNKNOWN : ROUTE_RESOURCE;
    rt->verb = verb_of(method, rt, old_watch);
}

static bool is_health(struct str s)
{
    return str_is(s, "healthz") || str_is(s, "livez") || str_is(s, "readyz");
}

static void parse_segments(struct route *rt, struct str method, struct str *seg, size_t n)
{
    if (n == 0) {
        rt->kind = ROUTE_ROOT;
    } else if (str_is(seg[0], "api") || str_is(seg[0], "apis")) {
        bool legacy = str_is(seg[0], "api");
        size_t head = legacy ? 2 : 3; /* segments up to and including the version */
        if (!legacy && n > 1)
            rt->group = seg[1];
        if (n >= head)
            rt->version = seg[head - 1];
        if (n > head)
            parse_resource(rt, method, seg + head, n - head);
        else if (n == head)
            rt->kind = ROUTE_VERSION;
        else if (n == 2)
            rt->kind = ROUTE_GROUP;
        else
            rt->kind = legacy ? ROUTE_LEGACY : ROUTE_GROUPS;
    } else if (is_health(seg[0]) && !rt->url->trailing_slash) {
        rt->kind = ROUTE_HEALTH;
        rt->resource = seg[0];
        if (n > 1)
            rt->rest = seg[1];
    } else if (n == 1 && str_is(seg[0], "version")) {
        rt->kind = ROUTE_BUILD;
    } else if (n == 1 && str_is(seg[0], "metrics")) {
        rt->kind = ROUTE_METRICS;
    } else if (n == 2 && str_is(seg[0], ".well-known") && str_is(seg[1], "openid-configuration")) {
        rt->kind = ROUTE_OIDC;
    } else if (n == 3 && str_is(seg[0], "openid") && str_is(seg[1], "v1") &&
               str_is(seg[2], "jwks")) {
        rt->kind = ROUTE_OIDC_KEYS;
    } else if (n == 2 && str_is(seg[0], "openapi") && str_is(seg[1], "v2")) {
        rt->kind = ROUTE_OPENAPI_V2;
    } else if (n >= 2 && str_is(seg[0], "openapi") && str_is(seg[1], "v3")) {
        rt->kind = ROUTE_OPENAPI_V3;
        rt->rest = str_slice(rt->path, strlen("/openapi/v3/"), rt->path.n);
    }
}

/* Upstream's router does not clean paths: "//", "/./" and "/../" match no route. */
static bool leads_nowhere(struct str path)
{
    static const char *const odd[] = { "//", "/./", "/../" };
    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        if (str_find(path, str_of(odd[i])) >= 0)
            return true;
    return false;
}

int route_parse(struct arena *a, struct str method, struct str target, struct route *ret,
                struct err *err)
{
    struct route rt = { .url = arena_new(a, struct url_target) };
    struct str path, query;
    (void)str_cut(target, '?', &path, &query);
    if (str_has_prefix(path, STR("/")) && leads_nowhere(path)) {
        rt.path = path;
        rt.in_api = str_has_prefix(path, STR("/api"));
        *ret = rt;
        return 0;
    }
    int r = url_parse(a, target, rt.url, err);
    if (r < 0)
        return r;
    rt.path = rt.url->raw_path;
    parse_segments(&rt, method, rt.url->segments, rt.url->n_segments);
    *ret = rt;
    return 0;
}
