/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of a request in the terms of RBAC; see permission.h. */
#include "api/permission.h"

#include "kube/model/field.h"
#include "kube/model/selector.h"

/* A list or watch of one object by its name is authorized for that object. */
static struct str selected_name(struct arena *a, const struct route *rt)
{
    struct selector s;
    struct str text = route_query(rt, "fieldSelector");
    if (text.n == 0 || selector_parse_fields(a, text, &s, NULL) < 0)
        return STR("");
    struct str name = selector_required_value(&s, "metadata.name");
    return name.n && meta_check_path_segment(name).n == 0 ? name : STR("");
}

static struct str resource_verb(const struct request *rq)
{
    if (rq->route.verb)
        return str_of(kube_verb_name(rq->route.verb));
    return str_is(rq->method, "PUT")     ? STR("update")
           : str_is(rq->method, "PATCH") ? STR("patch")
                                         : STR("");
}

struct api_attributes permission_attributes(struct request *rq)
{
    const struct route *rt = &rq->route;
    struct api_attributes at = { .identity = &rq->identity, .path = rt->path };
    bool names_resource =
        rt->kind == ROUTE_RESOURCE || (rt->kind == ROUTE_UNKNOWN && rt->resource.n);
    if (!names_resource) {
        at.verb = str_lower_arena(&rq->arena, rq->method);
        return at;
    }
    at.is_resource = true;
    at.verb = resource_verb(rq);
    at.group = rt->group;
    at.version = rt->version;
    at.resource = rt->resource;
    at.subresource = rt->subresource;
    at.name = rt->name;
    at.ns = rt->ns;
    at.related = rq->related;
    if (rt->verb == KUBE_LIST || rt->verb == KUBE_WATCH || rt->verb == KUBE_DELETECOLLECTION)
        at.field_selector = route_query(rt, "fieldSelector");
    if (at.name.n == 0 && (rt->verb == KUBE_LIST || rt->verb == KUBE_WATCH))
        at.name = selected_name(&rq->arena, rt);
    return at;
}

/* Upstream escapes everything that looks like HTML. */
static void add_plain(struct buf *to, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '&')
            (void)buf_add_cstr(to, "&amp;");
        else if (s.p[i] == '<')
            (void)buf_add_cstr(to, "&lt;");
        else if (s.p[i] == '>')
            (void)buf_add_cstr(to, "&gt;");
        else
            (void)buf_add_char(to, s.p[i]);
    }
}

static void write_refusal(struct buf *to, const struct api_attributes *at)
{
    (void)buf_add_cstr(to, "User ");
    field_go_quote(to, at->identity->user);
    (void)buf_printf(to, " cannot " STR_FMT, STR_ARG(at->verb));
    if (!at->is_resource) {
        (void)buf_add_cstr(to, " path ");
        field_go_quote(to, at->path);
        return;
    }
    (void)buf_printf(to, " resource \"" STR_FMT "%s" STR_FMT "\" in API group ",
                     STR_ARG(at->resource), at->subresource.n ? "/" : "", STR_ARG(at->subresource));
    field_go_quote(to, at->group);
    if (at->ns.n == 0) {
        (void)buf_add_cstr(to, " at the cluster scope");
        return;
    }
    (void)buf_add_cstr(to, " in the namespace ");
    field_go_quote(to, at->ns);
}

struct json *permission_forbidden(struct arena *a, const struct api_attributes *at,
                                  struct str reason)
{
    scoped(buf_fini_scoped) struct buf raw = BUF_INIT(BUF_MAX_DEFAULT);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    write_refusal(&raw, at);
    add_plain(&text, buf_str(&raw));
    if (reason.n)
        (void)buf_printf(&text, ": " STR_FMT, STR_ARG(reason));
    return status_forbidden(a, at->group, at->resource, at->name,
                            str_copy_arena(a, buf_str(&text)));
}

struct json *permission_refuse(struct request *rq, const struct api_attributes *at,
                               struct str reason)
{
    (void)headers_addc(&rq->extra, "x-content-type-options", "nosniff");
    return permission_forbidden(&rq->arena, at, reason);
}

bool permission_has(const struct api *api, const struct api_attributes *at, struct buf *reason)
{
    return !api->authorize || api->authorize(api->authorize_arg, at, reason);
}
