/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of built-in kinds: [object, object...], each with its apiVersion and kind. Decoded and
 * defaulted, each is judged as a new object, and as the next state of the one before it; what is
 * said must make a Status.
 */
#include "fuzz.h"

#include "kube/model/builtin.h"
#include "kube/rules/object_rules.h"
#include "kube/rules/rules.h"

static const struct kube_resource *resource_of(const struct kube_registry *reg,
                                               const struct json *obj)
{
    struct str group, version, api = json_get_str(obj, "apiVersion");
    if (!str_cut(api, '/', &group, &version)) {
        group = STR("");
        version = api;
    }
    return kube_registry_find_kind(reg, group, version, json_get_str(obj, "kind"));
}

/* The parts of an object that can be written. */
static void judge(struct arena *a, const struct kube_resource *res, const struct json *obj,
                  const struct json *old)
{
    for (enum object_part part = OBJECT_WHOLE; part <= OBJECT_RESIZE; part++) {
        struct json *status = NULL;
        int r = object_validate(a, res, part, obj, old, &status);
        FUZZ_CHECK((r < 0) == (status != NULL));
    }
}

static void judge_all(struct arena *a, const struct kube_registry *reg, struct json *list)
{
    const struct kube_resource *last = NULL;
    const struct json *old = NULL;
    json_each (obj, list) {
        const struct kube_resource *res = resource_of(reg, obj);
        struct object_warnings w = { .a = a };
        struct json *status = NULL;
        if (!res || object_decode_tree(a, res, obj, FIELD_VALIDATION_WARN, &w, &status) < 0)
            continue;
        judge(a, res, obj, NULL);
        if (last == res)
            judge(a, res, obj, old);
        last = res;
        old = obj;
    }
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
    if (size <= 32768 && json_parse(&a, str_n(data, size), NULL, &root, NULL) == 0 &&
        root->type == JSON_ARRAY)
        judge_all(&a, &reg, root);
    arena_fini(&a);
    return 0;
}
