/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that claims to be a Node or a Pod, as the messages that plugins get. */
#include "fuzz.h"

#include "sched/wasm/objects.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { .max_bytes = 32 << 20 };
    struct err err = { 0 };
    struct json *obj;
    struct wobject *pod;
    struct str states, name = STR_NULL;
    if (json_parse(&a, str_n(data, n), NULL, &obj, NULL) >= 0) {
        struct wnodes *nodes = wnodes_new();
        if (wobject_get(NULL, WOBJECT_POD, &a, json_clone(&a, obj), &pod, &err) >= 0)
            wobject_unref(pod);
        else
            FUZZ_CHECK(err.text[0]);
        if (wnodes_add(nodes, NULL, &a, obj, &err) >= 0) {
            name = json_str(json_path(obj, "metadata", "name", NULL));
            FUZZ_CHECK(wnodes_list(nodes).n >= 8 + 60);
            FUZZ_CHECK(memchr(name.n ? name.p : "", 0, name.n) ||
                       wnodes_image_states(nodes, name, &states));
        }
        wnodes_free(nodes);
    }
    arena_fini(&a);
    return 0;
}
