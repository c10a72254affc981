/*
 * @NAME@: greets every ConfigMap labelled hello=please by
 * setting data.greeting, and greets again whenever somebody changes it.
 */
#include "dm/operator.h"

static struct dm_result reconcile(struct dm_request *r)
{
    struct dm_text *greeting = dm_scratch(r), *patch = dm_scratch(r);
    dm_textf(greeting, "Hello, %s!", r->name);
    if (!dm_json_has(r->object) || dm_json_is(dm_json_at(r->object, "data.greeting"), greeting->p))
        return dm_done();
    dm_jsonf(patch, "{'data':{'greeting':%s}}", greeting->p);
    int code = dm_patch(r, dm_self(r), DM_PATCH_MERGE, dm_text_view(patch), NULL);
    if (code < 0 && code != DM_E_NOT_FOUND)
        return dm_fail(r, "greet"); /* comes back, later each time */
    dm_info("greeted", "name=%s", r->name);
    return dm_done();
}

static const struct dm_controller controllers[] = {
    {
        .name = "@NAME@",
        .reconcile = reconcile,
        .primary = { .res = &dm_configmaps, .label_selector = "hello=please" },
    },
    { 0 },
};

const struct dm_operator dm_operator = {
    .name = "@NAME@",
    .version = "1.0.0",
    .controllers = controllers,
};
