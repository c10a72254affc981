/* SPDX-License-Identifier: Apache-2.0 */
/* The SDK's JSON: whatever the checker accepts can be walked, decoded, edited and read again. */
#include "dm/json.h"
#include "fuzz.h"

#include <string.h>

static void walk(struct dm_json v, unsigned depth)
{
    struct dm_text t = { 0 };
    FUZZ_CHECK(depth <= DM_JSON_DEPTH_MAX);
    (void)dm_json_int(v, 0);
    dm_json_decode(v, &t);
    if (dm_json_kind(v) == DM_JSON_STRING && t.n && !memchr(t.p, 0, t.n))
        FUZZ_CHECK(dm_json_is(v, t.p));
    dm_text_fini(&t);
    for (struct dm_json_iter it = dm_json_iter(v); dm_json_next(&it);) {
        FUZZ_CHECK(it.value.p >= v.p && it.value.p + it.value.n <= v.p + v.n && it.value.n > 0);
        walk(it.value, depth + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    /* On the heap and without a NUL behind it, so that reading too far is seen. */
    char *copy = malloc(n ? n : 1);
    if (n)
        memcpy(copy, data, n);
    struct dm_json v = dm_json_parse(copy, n);
    if (v.p) {
        walk(v, 1);
        FUZZ_CHECK(dm_json_equal(v, v));
        const struct dm_edit edits[] = {
            { { "a", "b" }, "1" }, { { "a", "c" }, NULL }, { { "d" }, NULL }, { { "e" }, "{}" }
        };
        struct dm_text t = { 0 };
        dm_json_edit(v, edits, 4, &t);
        struct dm_json edited = dm_json_parse(t.p, t.n);
        FUZZ_CHECK(edited.p != NULL || t.n == 0);
        FUZZ_CHECK(!dm_json_member(edited, "d").p || dm_json_kind(v) != DM_JSON_OBJECT);
        FUZZ_CHECK(dm_json_kind(dm_json_member(edited, "e")) == DM_JSON_OBJECT);
        dm_text_fini(&t);
    }
    free(copy);
    return 0;
}
