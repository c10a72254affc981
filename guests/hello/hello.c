/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest useful operator, to start from: greets every ConfigMap labelled hello=please by
 * setting data.greeting, and greets again whenever somebody changes it.
 */
#include "dm/kube.h"

static struct dm_cache *configmaps;

/* What is kept in memory of each object: the event of a change that does not touch it is ignored.
 */
static void keep(struct dm_json obj, struct dm_text *out)
{
    dm_jw_raw(out, dm_json_at(obj, "data.greeting"));
}

static void on_patched(struct dm_work *w, const struct dm_reply *r)
{
    if (dm_ok(r) || r->status == 404)
        dm_done(w);
    else
        dm_fail_reply(w, r); /* comes back, later each time */
}

static void reconcile(struct dm_work *w)
{
    const struct dm_object *o = dm_cache_get(configmaps, w->ns, w->name);
    struct dm_text greeting = { 0 }, wanted = { 0 }, patch = { 0 };
    dm_textf(&greeting, "Hello, %s!", w->name);
    dm_jw_str(&wanted, greeting.p);
    if (!o || dm_str_eq(o->kept, dm_text_view(&wanted))) {
        dm_done(w);
    } else {
        dm_textf(&patch, "{\"data\":{\"greeting\":%s}}", wanted.p);
        dm_patch(w, &dm_configmaps, w->ns, w->name, NULL, DM_MERGE_PATCH, dm_text_view(&patch),
                 on_patched);
    }
    dm_text_fini(&patch);
    dm_text_fini(&wanted);
    dm_text_fini(&greeting);
}

int dm_main(void)
{
    struct dm_controller *ctl =
        dm_control(&(struct dm_control){ .name = "hello", .reconcile = reconcile });
    configmaps = dm_cache_start(&(struct dm_watch){ .res = &dm_configmaps,
                                                    .label_selector = "hello=please",
                                                    .keep = keep,
                                                    .changed = dm_enqueue_changed,
                                                    .arg = ctl });
    dm_control_needs(ctl, configmaps);
    return 0;
}
