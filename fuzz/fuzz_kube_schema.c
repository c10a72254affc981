/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schemas and objects: [schema, object]. The first becomes a struct schema whatever is wrong with
 * it; pruning and defaulting by it settle after one pass. The object is decoded as a built-in kind
 * as well.
 */
#include "fuzz.h"

#include "kube/model/builtin.h"
#include "kube/model/crd.h"
#include "kube/model/table.h"
#include "kube/rules/object_rules.h"
#include "kube/rules/rules.h"

static void check_custom(struct arena *a, const struct json *spec, const struct json *value)
{
    struct field_errors errs = field_errors_init(a);
    const struct schema *s = NULL;
    struct json *v = json_clone(a, value);
    int r = schema_from_openapi(a, spec, NULL, NULL, &errs, &s);
    FUZZ_CHECK((r == 0) == (errs.n == 0));
    schema_prune(s, v, true, NULL, NULL);
    schema_default(a, s, v);
    schema_prune(s, v, true, NULL, NULL);
    if (r == 0) {
        struct json *once = json_clone(a, v);
        schema_default(a, s, v);
        FUZZ_CHECK(json_equal(once, v));
    }
    schema_validate(s, v, NULL, NULL, &errs);
    schema_validate(s, v, value, NULL, &errs);
    (void)field_errors_text(&errs);
    schema_release(s);
}

static void check_builtin(struct arena *a, const struct kube_resource *res,
                          const struct json *value)
{
    struct json *v = json_clone(a, value), *status = NULL;
    struct object_warnings w = { .a = a };
    (void)json_del(v, STR("apiVersion"));
    (void)json_del(v, STR("kind"));
    if (object_decode_tree(a, res, v, FIELD_VALIDATION_WARN, &w, &status) < 0) {
        FUZZ_CHECK(status != NULL);
        return;
    }
    struct json *once = json_clone(a, v);
    struct object_warnings none = { .a = a };
    FUZZ_CHECK(object_decode_tree(a, res, v, FIELD_VALIDATION_STRICT, &none, &status) == 0);
    FUZZ_CHECK(json_equal(once, v));
    (void)object_validate(a, res, OBJECT_WHOLE, v, NULL, &status);
    (void)object_validate(a, res, OBJECT_WHOLE, v, once, &status);
    struct json *t = table_new(a, res, STR("v1"), true, NULL);
    table_add_row(a, t, res, v, TABLE_INCLUDE_OBJECT, STR("v1"), 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct kube_registry reg;
    struct arena a = { 0 };
    struct json *root;
    if (!reg.generation) {
        kube_registry_init(&reg);
        rules_register(&reg);
    }
    if (size <= 8192 && json_parse(&a, str_n(data, size), NULL, &root, NULL) == 0 &&
        root->type == JSON_ARRAY && root->n == 2) {
        if (root->first->type == JSON_OBJECT && json_last(root)->type == JSON_OBJECT)
            check_custom(&a, root->first, json_last(root));
        kube_registry_each(r, &reg)
        {
            if (json_last(root)->type == JSON_OBJECT)
                check_builtin(&a, *r, json_last(root));
        }
    }
    arena_fini(&a);
    return 0;
}
