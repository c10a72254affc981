/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions: "EXPRESSION" alone, or behind a newline JSON that is `self`. Whatever the text is,
 * it is parsed, checked against a schema and evaluated twice with the same result, within its
 * bounds.
 */
#include "fuzz.h"

#include "codec/json.h"
#include "kube/cel/cel_static.h"

static const char schema_text[] =
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"n\":{\"type\":"
    "\"number\"},\"list\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"k\"],"
    "\"properties\":{\"k\":{\"type\":\"string\"},\"t\":{\"type\":\"string\",\"format\":"
    "\"date-time\"}}},\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":[\"k\"]},"
    "\"set\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"x-kubernetes-list-type\":"
    "\"set\"},\"map\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}}}";

static const char self_text[] =
    "{\"name\":\"n\",\"n\":1,\"list\":[{\"k\":\"a\",\"t\":\"2024-01-01T00:00:00Z\"},{\"k\":"
    "\"b\"}],\"set\":[\"x\",\"y\"],\"map\":{\"a\":1,\"b-c\":2}}";

static int evaluate(struct arena *a, const struct cel_expr *e, const struct json *self,
                    const struct schema *s, struct cel_value *ret)
{
    const struct cel_var var = { STR("self"), cel_from_json(self, s), NULL };
    struct cel_run run = { .a = a, .cost_max = 20000 };
    int r = cel_eval(&run, e, &var, ret);
    FUZZ_CHECK(r == 0 || err_text(&run.err)[0]);
    FUZZ_CHECK(r != 0 || ret->type < CEL_JSON);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct str text = { (const char *)data, size }, expression, own;
    struct field_errors errs = field_errors_init(&a);
    const struct schema *s = NULL;
    const struct cel_expr *e;
    struct cel_flaw flaw = { 0 };
    struct json *spec, *self;
    FUZZ_CHECK(json_parse(&a, str_of(schema_text), NULL, &spec, NULL) == 0);
    FUZZ_CHECK(schema_from_openapi(&a, spec, NULL, NULL, &errs, &s) == 0);
    if (!str_cut(text, '\n', &expression, &own) || json_parse(&a, own, NULL, &self, NULL) < 0) {
        expression = text;
        FUZZ_CHECK(json_parse(&a, str_of(self_text), NULL, &self, NULL) == 0);
    }
    if (size > 4096 || cel_parse(&a, expression, &e, &flaw) < 0) {
        FUZZ_CHECK(size > 4096 || flaw.text);
    } else {
        struct arena once = { 0 }, again = { 0 };
        struct cel_value x = { 0 }, y = { 0 };
        struct cel_checked *checked;
        const struct cel_static *type;
        const struct cel_decl *decl = cel_decl_new(&a, s, true, "selfType");
        const struct cel_name name = { STR("self"), decl->type, NULL };
        if (cel_check(&a, e, expression, &name, &checked, &type, &flaw) == 0) {
            FUZZ_CHECK(cel_static_text(&a, type)[0]);
            (void)cel_cost(&a, checked, decl); /* any number; UINT64_MAX: no bound */
        } else {
            FUZZ_CHECK(flaw.text);
        }
        int r = evaluate(&once, e, self, s, &x);
        FUZZ_CHECK(evaluate(&again, e, self, s, &y) == r && (r < 0 || x.type == y.type));
        (void)evaluate(&again, e, self, NULL, &y);
        arena_fini(&once);
        arena_fini(&again);
    }
    schema_release(s);
    arena_fini(&a);
    return 0;
}
