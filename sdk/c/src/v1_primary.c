/* SPDX-License-Identifier: Apache-2.0 */
/* What reconcilers do with the object they are called for: finalizers and status. */
#include "v1.h"

struct dm_ref dm_self(const struct dm_request *r)
{
    return dm_ref(r->controller->primary.res, r->ns, r->name);
}

int dm_set_finalizer(struct dm_request *r, const char *finalizer, bool present)
{
    if (!dm_json_has(r->object) || dm_has_finalizer(r->object, finalizer) == present)
        return 0;
    struct dm_text t = { 0 };
    dm_jw_finalizers(&t, r->object, finalizer, present);
    int code = dm_patch(r, dm_self(r), DM_PATCH_MERGE, dm_text_view(&t), &r->object);
    dm_text_fini(&t);
    return code;
}

int dm_finalize(struct dm_request *r, const char *finalizer, int (*clean)(struct dm_request *r))
{
    if (!dm_json_has(r->object))
        return 1;
    if (!dm_is_deleting(r->object))
        return dm_set_finalizer(r, finalizer, true);
    if (!dm_has_finalizer(r->object, finalizer))
        return 1;
    int code = clean(r);
    if (code != 0)
        return code;
    code = dm_set_finalizer(r, finalizer, false);
    if (code == DM_E_NOT_FOUND) { /* gone meanwhile, which is what was wanted */
        v1_clear_error(r);
        code = 0;
    }
    return code < 0 ? code : 1;
}

/* Does the object's status have these members with these values? */
static bool says_all(struct dm_json status, struct dm_json wanted)
{
    for (struct dm_json_iter it = dm_json_iter(wanted); dm_json_next(&it);) {
        struct dm_text key = { 0 };
        dm_json_decode(it.key, &key);
        bool same = dm_json_equal(dm_json_member(status, key.p ? key.p : ""), it.value);
        dm_text_fini(&key);
        if (!same)
            return false;
    }
    return true;
}

int dm_set_status(struct dm_request *r, const char *members, const struct dm_condition *c)
{
    struct dm_json status = dm_json_member(r->object, "status");
    struct dm_json meta = dm_json_member(r->object, "metadata");
    int64_t generation = dm_json_int(dm_json_member(meta, "generation"), 0);
    struct dm_text t = { 0 };
    dm_textf(&t, "{%s", members ? members : "");
    if (generation)
        dm_jw_kint(&t, "observedGeneration", generation);
    bool condition_differs = false;
    if (c) {
        struct dm_condition full = *c;
        full.generation = c->generation ? c->generation : generation;
        dm_jw_key(&t, "conditions");
        condition_differs = dm_jw_condition(&t, dm_json_member(status, "conditions"), &full);
    }
    dm_jw_close(&t, '}');
    struct dm_json wanted = dm_json_parse(t.p, t.n);
    int code = 0;
    v1_clear_error(r);
    if (condition_differs || !says_all(status, wanted)) {
        struct dm_text patch = { 0 };
        /* The list of conditions is written as a whole, so it must not have changed meanwhile. */
        dm_jw_open(&patch, '{');
        dm_jw_key(&patch, "metadata");
        dm_jw_open(&patch, '{');
        dm_jw_kraw(&patch, "resourceVersion", dm_json_member(meta, "resourceVersion"));
        dm_jw_close(&patch, '}');
        dm_jw_kraw(&patch, "status", wanted);
        dm_jw_close(&patch, '}');
        code = dm_patch(r, dm_sub(dm_self(r), "status"), DM_PATCH_MERGE, dm_text_view(&patch),
                        &r->object);
        dm_text_fini(&patch);
    }
    dm_text_fini(&t);
    return code;
}
