/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf bodies of several kinds; what decodes is a tree that can be normalized and written. */
#include "fuzz.h"

#include "base/mem.h"
#include "kube/builtin.h"
#include "kube/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const kinds[] = { "Pod", "ConfigMap", "Namespace", "Secret", "Event" };
    struct proto_envelope env;
    if (proto_open(str_n(data, n), &env, NULL) < 0)
        env = (struct proto_envelope){ .raw = str_n(data, n) };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct schema *s = builtin_schema(STR(""), STR("v1"), str_of(kinds[i]));
        struct arena a = { 0 };
        struct json *obj, *again;
        if (s && proto_decode(&a, s, env.raw, &obj, NULL) >= 0) {
            struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
            if (json_write(&text, obj) >= 0)
                FUZZ_CHECK(json_parse(&a, buf_str(&text), NULL, &again, NULL) == 0);
            (void)schema_normalize(&a, s, obj, kinds[i], NULL, NULL, NULL);
            buf_fini(&text);
        }
        arena_fini(&a);
    }
    return 0;
}
