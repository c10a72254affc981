/* SPDX-License-Identifier: Apache-2.0 */
/* Parser of request targets; see target.h. */
#include "operator/target.h"

#include "base/buf.h"
#include "codec/url.h"

enum { PATH_MAX_BYTES = 32 << 10 };

static int verb_of_method(struct str method, struct target *t)
{
    if (str_is(method, "GET") || str_is(method, "HEAD"))
        t->verb = KUBE_GET;
    else if (str_is(method, "POST"))
        t->verb = KUBE_CREATE;
    else if (str_is(method, "PUT"))
        t->verb = KUBE_UPDATE;
    else if (str_is(method, "PATCH"))
        t->verb = KUBE_PATCH;
    else if (str_is(method, "DELETE"))
        t->verb = KUBE_DELETE;
    else
        return E_INVALID;
    return 0;
}

/*
 * Segments after the group and version: [watch/][namespaces/NS/]resource[/name[/subresource]]. The
 * prefix is upstream's deprecated form of a watch, which servers still accept.
 */
static void parse_resource(struct target *t, const struct str *seg, size_t n)
{
    if (n > 1 && str_is(seg[0], "watch") && t->verb == KUBE_GET) {
        t->is_old_watch = true;
        seg++;
        n--;
    }
    if (n >= 3 && str_is(seg[0], "namespaces") && !str_is(seg[2], "status") &&
        !str_is(seg[2], "finalize")) {
        t->namespace = seg[1];
        seg += 2;
        n -= 2;
    }
    if (n > 0)
        t->resource = seg[0];
    if (n > 1)
        t->name = seg[1];
    if (n > 2)
        t->subresource = seg[2];
    t->is_resource = n > 0;
}

static void parse_query(struct target *t, const struct url_target *u)
{
    t->watch = url_query_bool(u, "watch");
    t->bookmarks = url_query_bool(u, "allowWatchBookmarks");
    t->send_initial_events = url_query_bool(u, "sendInitialEvents");
    t->label_selector = url_query_get(u, "labelSelector");
    t->field_selector = url_query_get(u, "fieldSelector");
    (void)parse_u64(url_query_get(u, "resourceVersion"), 1, UINT64_MAX, &t->rv);
}

int target_parse(struct arena *a, struct str method, struct str text, struct target *ret,
                 struct err *err)
{
    struct url_target *u = arena_new(a, struct url_target);
    struct target t = { 0 };
    if (verb_of_method(method, &t) < 0)
        return err_set(err, E_INVALID, "method '" STR_FMT "' is not one of the API's",
                       STR_ARG(method));
    int r = url_parse(a, text, u, err);
    if (r < 0)
        return r;
    t.origin = str_n(u->raw_path.p ? u->raw_path.p : "/", u->raw_path.n ? u->raw_path.n : 1);
    if (u->raw_query.n) /* path and query are adjacent in `text` */
        t.origin.n = (size_t)(u->raw_query.p + u->raw_query.n - t.origin.p);
    struct buf path = BUF_INIT(PATH_MAX_BYTES);
    for (size_t i = 0; i < u->n_segments; i++)
        buf_printf(&path, "/" STR_FMT, STR_ARG(u->segments[i]));
    if (path.n == 0)
        buf_add_char(&path, '/');
    bool ok = buf_ok(&path);
    t.path = str_copy_arena(a, buf_str(&path));
    buf_fini(&path);
    if (!ok)
        return err_set(err, E_LIMIT, "path longer than %d bytes", PATH_MAX_BYTES);
    parse_query(&t, u);
    const struct str *seg = u->segments;
    size_t n = u->n_segments;
    if (n > 2 && str_is(seg[0], "api")) {
        t.group_version = seg[1];
        parse_resource(&t, seg + 2, n - 2);
    } else if (n > 3 && str_is(seg[0], "apis")) {
        t.group_version =
            str_of(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(seg[1]), STR_ARG(seg[2])));
        parse_resource(&t, seg + 3, n - 3);
    }
    if (t.is_resource && t.verb == KUBE_GET && t.name.n == 0)
        t.verb = t.watch ? KUBE_WATCH : KUBE_LIST;
    if (t.is_old_watch) {
        t.verb = KUBE_WATCH;
        t.watch = true;
    }
    if (t.verb != KUBE_WATCH)
        t.watch = false; /* upstream ignores it with a name and for methods other than GET */
    if (t.is_resource && t.verb == KUBE_DELETE && t.name.n == 0)
        t.verb = KUBE_DELETECOLLECTION;
    *ret = t;
    return 0;
}
