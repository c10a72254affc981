/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ensures that the objects of a service of this process exist; they are created through the API
 * like any other.
 */
#include "api/inner.h"

#include <assert.h>
#include <errno.h>

struct ensure {
    struct api *api;
    struct arena arena;
    struct json *at; /* the object being processed */
    bool single;
    void (*on_done)(void *arg, int r, const struct err *err);
    void *arg;
    struct defer defer;
};

static void finish(struct ensure *e, int r, const struct err *err)
{
    e->on_done(e->arg, r, err);
    arena_fini(&e->arena);
    free(e);
}

static const struct kube_resource *resource_of(const struct api *api, const struct json *obj)
{
    struct str api_version = json_get_str(obj, "apiVersion"), group, version;
    if (!str_cut(api_version, '/', &group, &version)) {
        group = STR("");
        version = api_version;
    }
    return kube_registry_find_kind(&api->reg, group, version, json_get_str(obj, "kind"));
}

static void next(struct ensure *e);

static void fail(struct ensure *e, int r, struct str body)
{
    struct err err = { 0 };
    struct json *status = NULL;
    struct str why = body;
    if (json_parse(&e->arena, str_copy_arena(&e->arena, body), NULL, &status, NULL) >= 0)
        why = status_message(status);
    (void)err_set(&err, r < 0 ? r : E_INVALID, "make %s '" STR_FMT "': " STR_FMT,
                  str_dup_arena(&e->arena, json_get_str(e->at, "kind")), STR_ARG(meta_name(e->at)),
                  STR_ARG(why));
    finish(e, err.code, &err);
}

static void on_patched(void *arg, int r, struct str body)
{
    struct ensure *e = arg;
    if (r == 200)
        next(e);
    else
        fail(e, r, body);
}

static int request(struct ensure *e, const char *method, bool named, const char *type, inner_cb cb)
{
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(API_BODY_MAX_BYTES);
    const struct kube_resource *res = resource_of(e->api, e->at);
    if (!res)
        return E_UNSUPPORTED;
    (void)json_write(&body, e->at);
    struct str ns = res->namespaced ? meta_namespace(e->at) : STR("");
    if (res->namespaced && ns.n == 0)
        ns = STR("default");
    const struct inner_request req = { .method = method,
                                       .target = inner_path(&e->arena, res, ns,
                                                            named ? meta_name(e->at) : STR("")),
                                       .content_type = type,
                                       .body = buf_str(&body) };
    return inner_call(e->api, &req, cb, e);
}

static void on_created(void *arg, int r, struct str body)
{
    struct ensure *e = arg;
    if (r == 201) {
        next(e);
        return;
    }
    if (r == 409)
        r = request(e, "PATCH", true, "application/merge-patch+json", on_patched);
    else if (r >= 0) {
        fail(e, r, body);
        return;
    }
    if (r < 0)
        fail(e, r, str_of(err_strerror(r)));
}

static void ensure_one(struct ensure *e)
{
    int r = request(e, "POST", false, "application/json", on_created);
    if (r < 0)
        fail(e, r, str_of(err_strerror(r)));
}

static void next(struct ensure *e)
{
    assert(e->at);
    e->at = e->single ? NULL : e->at->next;
    if (e->at)
        ensure_one(e);
    else
        finish(e, 0, NULL);
}

static void begin(struct defer *d)
{
    struct ensure *e = container_of(d, struct ensure, defer);
    if (e->at)
        ensure_one(e);
    else
        finish(e, 0, NULL);
}

int api_ensure_objects(struct api *api, struct str json,
                       void (*on_done)(void *arg, int r, const struct err *err), void *arg,
                       struct err *err)
{
    struct ensure *e = xnew(struct ensure);
    struct json *v;
    *e = (struct ensure){ .api = api, .on_done = on_done, .arg = arg };
    int r = json_parse(&e->arena, str_copy_arena(&e->arena, json), NULL, &v, err);
    if (r < 0) {
        arena_fini(&e->arena);
        free(e);
        return r;
    }
    struct json *items = json_getc(v, "items");
    bool is_list = json_is(v, JSON_ARRAY) || json_is(items, JSON_ARRAY);
    e->single = !is_list;
    e->at = !is_list ? v : json_is(v, JSON_ARRAY) ? v->first : items->first;
    defer_start(api->loop, &e->defer, begin);
    return 0;
}
