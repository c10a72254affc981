/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ownership of fields: [live, configuration, FieldsV1, FieldsV1], on a Deployment. The sets obey
 * the laws of sets and have one text; whatever fits the schema can be applied, and applied again
 * without a change; a compared object differs from itself in nothing.
 */
#include "fuzz.h"

#include "kube/model/apply.h"
#include "kube/model/builtin.h"

enum { ARENA_MAX = 64 << 20 };

static const struct kube_strategy no_strategy;

static void check_sets(struct arena *a, const struct json *vx, const struct json *vy)
{
    struct field_set *x, *y, *again;
    if (field_set_parse(a, vx, &x, NULL) < 0 || field_set_parse(a, vy, &y, NULL) < 0)
        return;
    struct json *text = field_set_write(a, x);
    FUZZ_CHECK(field_set_parse(a, text, &again, NULL) == 0);
    FUZZ_CHECK(field_set_equal(x, again));
    struct field_set *both = field_set_intersection(a, x, y), *less = field_set_difference(a, x, y);
    FUZZ_CHECK(field_set_equal(x, field_set_union(a, both, less)));
    FUZZ_CHECK(field_set_equal(both, field_set_intersection(a, y, x)));
    FUZZ_CHECK(field_set_equal(field_set_union(a, x, y), field_set_union(a, y, x)));
    FUZZ_CHECK(field_set_is_empty(both) || field_set_touches(y, text));
    FUZZ_CHECK(field_set_count(x) == field_set_count(both) + field_set_count(less));
    (void)field_set_recursive_difference(a, x, y);
    (void)field_set_leaves(a, x);
}

static bool fits(struct typed t, const struct json *v)
{
    struct buf why = BUF_INIT(64 * 1024);
    int r = typed_check(t, v, false, &why);
    buf_fini(&why);
    return r == 0;
}

static struct json *named(struct arena *a, const struct kube_resource *res, const struct json *v)
{
    struct json *obj = json_clone(a, v);
    json_set_str(a, obj, "apiVersion", kube_api_version(a, res));
    json_set_str(a, obj, "kind", res->kind);
    return obj;
}

static void check_apply(struct arena *a, const struct json *vlive, const struct json *vconfig,
                        const struct json *entries)
{
    const struct kube_resource res = { .group = STR("apps"),
                                       .version = STR("v1"),
                                       .kind = STR("Deployment"),
                                       .plural = STR("deployments"),
                                       .schema = builtin_schema(STR("apps"), STR("v1"),
                                                                STR("Deployment")),
                                       .strategy = &no_strategy };
    const struct managed_writer w = { .res = &res, .manager = STR("m"), .now_s = 1700000000 };
    struct typed t = typed_resource(&res);
    struct json *live = named(a, &res, vlive), *config = named(a, &res, vconfig);
    struct json *got = NULL, *again = NULL, *status = NULL;
    struct typed_changes c;
    typed_compare(a, t, live, live, &c);
    typed_compare(a, t, live, config, &c);
    json_set_str(a, json_obj(a, live, "metadata"), "uid", STR("u"));
    json_setc(a, json_obj(a, live, "metadata"), "managedFields", json_clone(a, entries));
    struct json *updated = json_clone(a, config);
    managed_update(a, &w, live, updated);
    bool sound = fits(t, live);
    if (apply_config(a, &w, live, config, true, &got, &status) < 0 || !sound)
        return;
    FUZZ_CHECK(apply_config(a, &w, got, config, false, &again, &status) == 0);
    FUZZ_CHECK(managed_same(got, again));
    typed_compare(a, t, got, again, &c);
    FUZZ_CHECK(typed_is_same(&c));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { .max_bytes = ARENA_MAX };
    struct json *root;
    if (size <= 4096 && json_parse(&a, str_n(data, size), NULL, &root, NULL) == 0 &&
        root->type == JSON_ARRAY && root->n == 4) {
        const struct json *live = root->first, *config = live->next, *x = config->next;
        check_sets(&a, x, x->next);
        if (live->type == JSON_OBJECT && config->type == JSON_OBJECT)
            check_apply(&a, live, config, x);
    }
    arena_fini(&a);
    return 0;
}
