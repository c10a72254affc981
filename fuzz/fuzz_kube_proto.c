/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf bodies of several kinds; what decodes is a tree that can be normalized and written, and
 * what is encoded from it decodes to the same.
 */
#include "fuzz.h"

#include "base/mem.h"
#include "kube/model/builtin.h"
#include "kube/model/proto.h"
#include "kube/model/proto_transcode.h"

static void there_and_back(struct arena *a, const struct schema *s, const struct json *v)
{
    struct buf bytes = BUF_INIT(BUF_MAX_DEFAULT);
    struct json *back;
    int r = proto_encode(a, s, v, &bytes);
    FUZZ_CHECK(r == 0);
    r = proto_decode(a, s, buf_str(&bytes), &back, NULL);
    if (r >= 0) { /* else it has more values than may be decoded */
        FUZZ_CHECK(schema_normalize(a, s, back, "", NULL, NULL, NULL) == 0);
        FUZZ_CHECK(json_equal(back, v));
    }
    buf_fini(&bytes);
}

/* The way without a tree gives the same bytes, or nothing; also with values kept from before. */
static void without_tree(struct arena *a, const struct schema *s, const struct json *v,
                         struct str text)
{
    struct proto_transcoder t = PROTO_TRANSCODER_INIT;
    struct buf want = BUF_INIT(BUF_MAX_DEFAULT), got = BUF_INIT(BUF_MAX_DEFAULT);
    const struct proto_source from = { .schema = s, .text = text };
    FUZZ_CHECK(proto_encode_field(a, 2, s, v, &want) == 0);
    t.remembers = true;
    for (int round = 0; round < 2; round++) {
        buf_reset(&got);
        int r = proto_transcode_field(&t, 2, &from, &got);
        FUZZ_CHECK(r == 0 || (r == E_UNSUPPORTED && got.n == 0));
        FUZZ_CHECK(r < 0 || str_eq(buf_str(&got), buf_str(&want)));
    }
    buf_fini(&want);
    buf_fini(&got);
    proto_transcoder_fini(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const kinds[] = { "Pod",    "ConfigMap", "Namespace",
                                         "Secret", "Event",     "CustomResourceDefinition" };
    struct proto_envelope env;
    if (proto_open(str_n(data, n), &env, NULL) < 0)
        env = (struct proto_envelope){ .raw = str_n(data, n) };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct str group = i == 5 ? STR("apiextensions.k8s.io") : STR("");
        const struct schema *s = builtin_schema(group, STR("v1"), str_of(kinds[i]));
        struct arena a = { 0 };
        struct json *obj, *again;
        if (s && proto_decode(&a, s, env.raw, &obj, NULL) >= 0) {
            struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
            if (json_write(&text, obj) >= 0) {
                FUZZ_CHECK(json_parse(&a, buf_str(&text), NULL, &again, NULL) == 0);
                without_tree(&a, s, again, buf_str(&text));
            }
            if (schema_normalize(&a, s, obj, kinds[i], NULL, NULL, NULL) >= 0)
                there_and_back(&a, s, obj);
            buf_fini(&text);
        }
        arena_fini(&a);
    }
    return 0;
}
