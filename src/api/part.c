/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the server; see part.h. */
#include "api/part.h"

#include <assert.h>
#include <errno.h>

void api_add_part(struct api *api, const struct api_part_ops *ops, void *self)
{
    assert(api->n_parts < API_PARTS_MAX && api->n_started == 0);
    api->parts[api->n_parts++] = (struct api_part){ ops, self };
}

static void start_next(struct api *api);

static void parts_ready(struct api *api, int r, const struct err *err)
{
    controller_ready_cb ready = api->parts_ready;
    struct err why = { 0 };
    assert(ready && !api->in_part_start); /* a part becomes ready once, from the loop */
    if (r < 0 && (!err || !err->code)) {
        (void)err_sys(&why, r, "start of the API server");
        err = &why;
    }
    api->parts_ready = NULL;
    ready(api->parts_ready_arg, r, err);
}

static void on_ready(void *arg, int r, const struct err *err)
{
    struct api *api = arg;
    assert(!api->in_part_start);
    if (r < 0 || api->closing)
        parts_ready(api, r < 0 ? r : -ECANCELED, err);
    else
        start_next(api);
}

static void start_next(struct api *api)
{
    assert(api->parts_ready && api->n_started <= api->n_parts);
    while (api->n_started < api->n_parts) {
        const struct api_part *p = &api->parts[api->n_started++];
        if (p->ops->start) {
            api->in_part_start = true;
            p->ops->start(p->self, on_ready, api);
            api->in_part_start = false;
            return;
        }
    }
    parts_ready(api, 0, NULL);
}

/* The server may have been closed since api_start_parts(): then no part is started. */
static void on_start_turn(struct defer *d)
{
    on_ready(container_of(d, struct api, parts_turn), 0, NULL);
}

void api_start_parts(struct api *api, controller_ready_cb ready, void *arg)
{
    assert(ready && !api->parts_ready && api->n_started == 0 && !api->closing);
    api->parts_ready = ready;
    api->parts_ready_arg = arg;
    defer_start(api->loop, &api->parts_turn, on_start_turn);
}

void api_stop_parts(struct api *api)
{
    for (size_t i = api->n_parts; i-- > 0;)
        if (api->parts[i].ops->stop)
            api->parts[i].ops->stop(api->parts[i].self);
}

void api_free_parts(struct api *api)
{
    for (size_t i = api->n_parts; i-- > 0;)
        if (api->parts[i].ops->free)
            api->parts[i].ops->free(api->parts[i].self);
}

bool api_parts_busy(const struct api *api)
{
    for (size_t i = 0; i < api->n_parts; i++)
        if (api->parts[i].ops->is_busy && api->parts[i].ops->is_busy(api->parts[i].self))
            return true;
    return false;
}

/* Keep the table of Namespaces that accept new objects (namespace_table.h) current. */
static void note_namespace(struct api *api, const struct written *w)
{
    if (w->res->group.n || !str_is(w->res->plural, "namespaces"))
        return;
    if (w->obj && !meta_is_deleting(w->obj))
        namespace_table_put(&api->namespace_table, w->name, w->rev);
    else
        namespace_table_forget(&api->namespace_table, w->name);
}

void api_written(struct api *api, const struct written *w)
{
    note_namespace(api, w);
    for (size_t i = 0; i < api->n_parts; i++)
        if (api->parts[i].ops->written)
            api->parts[i].ops->written(api->parts[i].self, w);
    watch_note_write(api);
}

void api_lost(struct api *api, const struct kube_resource *res, struct str ns, struct str name,
              struct str key, uint64_t rev)
{
    struct arena a = { 0 };
    struct json *old = json_new_object(&a), *meta = json_obj(&a, old, "metadata");
    json_set_str(&a, meta, "name", name);
    json_set_str(&a, meta, "namespace", ns);
    const struct written w = {
        .res = res, .key = key, .name = name, .old = old, .value = STR(""), .rev = rev
    };
    note_namespace(api, &w);
    for (size_t i = 0; i < api->n_parts; i++)
        if (api->parts[i].ops->lost)
            api->parts[i].ops->lost(api->parts[i].self, &w);
    watch_note_write(api);
    arena_fini(&a);
}
