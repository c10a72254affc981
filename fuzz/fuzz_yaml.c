/* SPDX-License-Identifier: Apache-2.0 */
/* The YAML parser; what it accepts survives the writer, also by way of JSON. */
#include "fuzz.h"

#include "codec/yaml.h"

enum { ARENA_MAX = 16 << 20 };

static void check_rewrite(struct arena *a, const struct json *v, bool sorted)
{
    struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    struct json *back;
    FUZZ_CHECK(yaml_write(&text, v, sorted) == 0);
    FUZZ_CHECK(yaml_parse(a, buf_str(&text), NULL, &back, NULL) == 0);
    FUZZ_CHECK(json_equal(v, back));
    buf_fini(&text);
}

static void check_as_json(struct arena *a, const struct json *v)
{
    struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    struct json *back;
    FUZZ_CHECK(json_write(&text, v) == 0);
    FUZZ_CHECK(json_parse(a, buf_str(&text), NULL, &back, NULL) == 0);
    FUZZ_CHECK(json_equal(v, back));
    buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { .max_bytes = ARENA_MAX }, rest = { 0 };
    struct yaml_marks marks = { 0 };
    struct yaml_opts opts = { .marks = &marks };
    struct json *docs;
    struct err err = { 0 };
    int r = yaml_parse_all(&a, str_n(data, n), &opts, &docs, &err);
    FUZZ_CHECK(r == 0 || err.text[0]);
    for (struct json *v = r == 0 ? docs->first : NULL; v; v = v->next) {
        FUZZ_CHECK(yaml_find_mark(&marks, v));
        check_as_json(&rest, v);
        check_rewrite(&rest, v, false);
        check_rewrite(&rest, v, true);
    }
    yaml_marks_fini(&marks);
    arena_fini(&rest);
    arena_fini(&a);
    return 0;
}
