/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patches: [document, patch]; the same patch is tried as each of the three kinds. The result is a
 * well-formed tree, and applying a merge patch twice changes nothing.
 */
#include "fuzz.h"

#include "kube/model/builtin.h"
#include "kube/model/patch.h"

enum { ARENA_MAX = 64 << 20 };

static void check_tree(const struct json *v)
{
    uint32_t n = 0;
    json_each (c, v) {
        check_tree(c);
        n++;
        if (!c->next)
            FUZZ_CHECK(json_last(v) == c);
    }
    if (v->type >= JSON_ARRAY)
        FUZZ_CHECK(n == v->n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { .max_bytes = ARENA_MAX };
    struct json *root, *got = NULL, *again = NULL;
    struct err err = { 0 };
    if (size > 4096 || json_parse(&a, str_n(data, size), NULL, &root, &err) < 0 ||
        root->type != JSON_ARRAY || root->n != 2)
        goto out;
    const struct json *doc = root->first, *patch = json_last(root);
    const struct schema *pod = builtin_schema(STR(""), STR("v1"), STR("Pod"));
    if (patch_merge(&a, json_clone(&a, doc), patch, &got, &err) == 0) {
        check_tree(got);
        FUZZ_CHECK(patch_merge(&a, json_clone(&a, got), patch, &again, &err) == 0);
        FUZZ_CHECK(json_equal(got, again));
    }
    if (patch_strategic(&a, pod, json_clone(&a, doc), patch, &got, &err) == 0)
        check_tree(got);
    if (patch->n < 16 && patch_json(&a, json_clone(&a, doc), patch, &got, &err) == 0)
        check_tree(got);
out:
    arena_fini(&a);
    return 0;
}
