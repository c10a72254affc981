/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: tables, round trips, a random tree against a naive twin, and libjansson as a second opinion
 * (loaded at run time, since both libraries have a function json_equal).
 */
#include "codec/json.h"
#include "codec/json_scan.h"

#include "base/clock.h"
#include "base/vec.h"
#include "codec/json_number.h"
#include "test.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>

static struct json *parse(struct arena *a, const char *text)
{
    struct json *v = NULL;
    struct err err = { 0 };
    if (json_parse(a, str_of(text), NULL, &v, &err) < 0)
        TEST_FAIL("'%s': %s", text, err.text);
    return v;
}

/* Parse, write, compare with `want`. */
static void check_rewrite(struct str text, struct str want)
{
    struct arena a = { 0 };
    struct json *v = NULL;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    if (json_parse(&a, text, NULL, &v, &err) < 0)
        TEST_FAIL("'" STR_FMT "': %s", STR_ARG(text), err.text);
    CHECK_OK(json_write(&out, v));
    if (!str_eq(buf_str(&out), want))
        TEST_FAIL("'" STR_FMT "' became '%s', expected '" STR_FMT "'", STR_ARG(text), out.p,
                  STR_ARG(want));
    arena_fini(&a);
}

TEST(valid_documents_are_written_back_as_go_writes_them)
{
    static const struct {
        const char *text, *want;
    } t[] = {
        { "null", "null" },
        { " true\n", "true" },
        { "\tfalse\r", "false" },
        { "0", "0" },
        { "-0", "-0" },
        { "1.50e+007", "1.50e+007" },
        { "123456789012345678901234567890", "123456789012345678901234567890" },
        { "\"\"", "\"\"" },
        { "[]", "[]" },
        { "{}", "{}" },
        { "[ ]", "[]" },
        { "{ }", "{}" },
        { "[1 , 2,[ 3]]", "[1,2,[3]]" },
        { "{ \"a\" : 1 , \"b\":{\"c\":[{}]} }", "{\"a\":1,\"b\":{\"c\":[{}]}}" },
        { "{\"\":0}", "{\"\":0}" },
        { "\"\\u0041\\/\\\"\\\\\\b\\f\\n\\r\\t\"", "\"A/\\\"\\\\\\b\\f\\n\\r\\t\"" },
        { "\"\\u0000\\u001f\\u007f\"", "\"\\u0000\\u001f\x7f\"" },
        { "\"<&>\"", "\"<&>\"" },
        { "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
        { "\"\\u00e9\\u20AC\\ud83d\\ude00\"", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
        { "\"\xe2\x80\xa8\xe2\x80\xa9\"", "\"\\u2028\\u2029\"" },
        /* lone and misordered surrogates, malformed UTF-8: one U+FFFD each, as in Go */
        { "\"\\ud800\"", "\"\xef\xbf\xbd\"" },
        { "\"\\udc00\\ud800x\"", "\"\xef\xbf\xbd\xef\xbf\xbdx\"" },
        { "\"\\ud800\\u0041\"", "\"\xef\xbf\xbd"
                                "A\"" },
        { "\"\\ud800\\ud83d\\ude00\"", "\"\xef\xbf\xbd\xf0\x9f\x98\x80\"" },
        { "\"\\ud800\\n\"", "\"\xef\xbf\xbd\\n\"" },
        { "\"a\xff\xfe"
          "b\"",
          "\"a\xef\xbf\xbd\xef\xbf\xbd"
          "b\"" },
        { "\"\xc3\"", "\"\xef\xbf\xbd\"" },
        { "\"\xe2\x82\"", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "\"\xed\xa0\x80\"", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "\"\xc0\x80\"", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "\"\xf4\x90\x80\x80\"", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "{\"\\u0061\":1}", "{\"a\":1}" },
        /* a repeated key: the last value at the first place */
        { "{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}" },
        { "{\"a\":1,\"a\":[2]}", "{\"a\":[2]}" },
        { "{\"a\":{\"x\":1},\"a\":{\"y\":2},\"\\u0061\":{\"z\":3},\"c\":4}",
          "{\"a\":{\"z\":3},\"c\":4}" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        check_rewrite(str_of(t[i].text), str_of(t[i].want));
}

TEST(malformed_documents_are_refused_with_the_place)
{
    static const struct {
        const char *text;
        int offset;
        const char *reason;
    } t[] = {
        { "", 0, "unexpected end of JSON input" },
        { "  ", 2, "unexpected end of JSON input" },
        { "nul", 3, "unexpected end of JSON input" },
        { "nulL", 3, "invalid character 'L' in literal null (expecting 'l')" },
        { "truex", 4, "invalid character 'x' after top-level value" },
        { "1 2", 2, "invalid character '2' after top-level value" },
        { "01", 1, "invalid character '1' after top-level value" },
        { "-", 1, "unexpected end of JSON input" },
        { "+1", 0, "invalid character '+' looking for beginning of value" },
        { ".5", 0, "invalid character '.' looking for beginning of value" },
        { "1.", 2, "unexpected end of JSON input" },
        { "1.x", 2, "invalid character 'x' after decimal point in numeric literal" },
        { "1e", 2, "unexpected end of JSON input" },
        { "1e+x", 3, "invalid character 'x' in exponent of numeric literal" },
        { "-a", 1, "invalid character 'a' in numeric literal" },
        { "NaN", 0, "invalid character 'N' looking for beginning of value" },
        { "[1,]", 3, "invalid character ']' looking for beginning of value" },
        { "[,1]", 1, "invalid character ',' looking for beginning of value" },
        { "[1 2]", 3, "invalid character '2' after array element" },
        { "[1", 2, "unexpected end of JSON input" },
        { "{\"a\" 1}", 5, "invalid character '1' after object key" },
        { "{\"a\":1,}", 7, "invalid character '}' looking for beginning of object key string" },
        { "{a:1}", 1, "invalid character 'a' looking for beginning of object key string" },
        { "{\"a\":1 \"b\":2}", 7, "invalid character '\"' after object key:value pair" },
        { "{\"a\":}", 5, "invalid character '}' looking for beginning of value" },
        { "{\"a\"", 4, "unexpected end of JSON input" },
        { "[}", 1, "invalid character '}' looking for beginning of value" },
        { "\"abc", 4, "unexpected end of JSON input" },
        { "\"a\nb\"", 2, "invalid character '\\n' in string literal" },
        { "\"a\\x\"", 3, "invalid character 'x' in string escape code" },
        { "\"\\u12g4\"", 5, "invalid character 'g' in \\u hexadecimal character escape" },
        { "\"\\u12", 5, "unexpected end of JSON input" },
        { "\"\\", 2, "unexpected end of JSON input" },
        { "'a'", 0, "invalid character '\\'' looking for beginning of value" },
        { "\xef\xbb\xbf{}", 0, "invalid character 'ï' looking for beginning of value" },
        { "/* c */ 1", 0, "invalid character '/' looking for beginning of value" },
        { "\xc2\xa0"
          "1",
          0, "invalid character 'Â' looking for beginning of value" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct arena a = { 0 };
        struct json *v = (struct json *)&a;
        struct err err = { 0 };
        char want[160];
        int r = json_parse(&a, str_of(t[i].text), NULL, &v, &err);
        if (r != E_PARSE)
            TEST_FAIL("'%s': %s", t[i].text, err_name(r));
        CHECK((void *)v == (void *)&a); /* out parameters are written on success only */
        (void)snprintf(want, sizeof want, "offset %d: %s", t[i].offset, t[i].reason);
        CHECK_STR(str_of(err.text), want);
        arena_fini(&a);
    }
    struct arena a = { 0 };
    struct json *v;
    CHECK_ERR(json_parse(&a, STR("1\0"), NULL, &v, NULL), E_PARSE);
    CHECK_ERR(json_parse(&a, STR("\"a\0b\""), NULL, &v, NULL), E_PARSE);
    CHECK_ERR(json_parse(&a, STR_NULL, NULL, &v, NULL), E_PARSE);
    arena_fini(&a);
}

TEST(every_prefix_of_a_document_is_refused)
{
    static const char text[] =
        "{\"k\\u00e9y\":[1.5e3,true,null,\"\xe2\x82\xac\\n\",{\"x\":false}]}";
    for (size_t n = 0; n + 1 < sizeof text; n++) {
        struct arena a = { 0 };
        struct json *v;
        char *copy = xstrndup(text, n); /* its own allocation, so that a sanitizer sees overreads */
        CHECK_ERR(json_parse(&a, str_n(copy, n), NULL, &v, NULL), E_PARSE);
        free(copy);
        arena_fini(&a);
    }
}

TEST(depth_is_limited)
{
    enum { N = JSON_MAX_DEPTH };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT), out = text;
    for (int i = 0; i < N; i++)
        buf_add_char(&text, '[');
    for (int i = 0; i < N; i++)
        buf_add_char(&text, ']');
    struct arena a = { 0 };
    struct json *v;
    CHECK_OK(json_parse(&a, buf_str(&text), NULL, &v, NULL));
    CHECK_OK(json_write(&out, v));
    CHECK(str_eq(buf_str(&out), buf_str(&text)));
    CHECK(json_equal(v, json_clone(&a, v)));
    struct json_parse_opts opts = { .max_depth = N - 1 };
    struct err err = { 0 };
    CHECK_ERR(json_parse(&a, buf_str(&text), &opts, &v, &err), E_PARSE);
    CHECK_STR(str_of(err.text), "offset 511: invalid character '[' exceeded max depth");
    opts.max_depth = 1000000; /* walkers recurse: the limit can only be lowered */
    buf_reset(&text);
    for (int i = 0; i <= N; i++)
        buf_add_cstr(&text, "{\"a\":");
    CHECK_ERR(json_parse(&a, buf_str(&text), &opts, &v, &err), E_PARSE);
    arena_fini(&a);
}

TEST(the_limit_of_the_arena_is_an_error)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    buf_add_cstr(&text, "[0");
    for (int i = 0; i < 10000; i++)
        buf_add_cstr(&text, ",0");
    buf_add_cstr(&text, "]");
    struct arena a = { .max_bytes = 100000 };
    struct json *v;
    CHECK_ERR(json_parse(&a, buf_str(&text), NULL, &v, NULL), -EMSGSIZE);
    arena_fini(&a);
    buf_reset(&text);
    buf_add_char(&text, '"');
    for (int i = 0; i < 30000; i++)
        buf_add_cstr(&text, "\\n\xff\xff\xff\xff");
    buf_add_char(&text, '"');
    CHECK_ERR(json_parse(&a, buf_str(&text), NULL, &v, NULL), -EMSGSIZE);
    arena_fini(&a);
    /* Tight, but enough: nodes are then taken one by one. */
    a.max_bytes = 5 * sizeof(struct json);
    CHECK_OK(json_parse(&a, STR("[1,2,3,4]"), NULL, &v, NULL));
    arena_fini(&a);
}

TEST(the_limit_of_the_buffer_is_exact_and_sticky)
{
    struct arena a = { 0 };
    struct json *v = parse(&a, "{\"a\":\"x\\ny\",\"b\":[1,true]}");
    scoped(buf_fini_scoped) struct buf whole = BUF_INIT(BUF_MAX_DEFAULT);
    CHECK_OK(json_write(&whole, v));
    for (size_t max = 0; max <= whole.n; max++) {
        scoped(buf_fini_scoped) struct buf out = BUF_INIT(max);
        CHECK_INT(json_write(&out, v), max < whole.n ? -EMSGSIZE : 0);
        CHECK(out.n <= max);
    }
    arena_fini(&a);
}

/* ---- repeated keys ---- */

static void collect(void *arg, struct str path)
{
    struct buf *b = arg;
    buf_add_str(b, path);
    buf_add_char(b, ';');
}

TEST(repeated_keys_are_reported_with_their_path)
{
    static const struct {
        const char *text, *want;
    } t[] = {
        { "{\"a\":1,\"b\":1}", "" },
        { "{\"a\":1,\"a\":1,\"a\":2}", "a;a;" },
        { "{\"spec\":{\"a\":1,\"b\":2,\"a\":3}}", "spec.a;" },
        { "{\"spec\":{\"c\":[{},{\"n\":1,\"n\":1}]}}", "spec.c[1].n;" },
        { "[[{\"a\":1}],[{\"a\":1,\"a\":1}]]", "[1][0].a;" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct arena a = { 0 };
        scoped(buf_fini_scoped) struct buf seen = BUF_INIT(1000);
        struct json_parse_opts opts = { .on_duplicate = collect, .arg = &seen };
        struct json *v;
        CHECK_OK(json_parse(&a, str_of(t[i].text), &opts, &v, NULL));
        CHECK_STR(buf_str(&seen), t[i].want);
        arena_fini(&a);
    }
}

TEST(random_objects_with_repeated_keys_agree_with_a_naive_merge)
{
    for (int round = 0; round < 3000; round++) {
        struct arena a = { 0 };
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
        unsigned n = (unsigned)test_random_below(60), spread = 1 + (unsigned)test_random_below(80);
        struct json *twin = json_new_object(&a), *got;
        buf_add_char(&text, '{');
        for (unsigned i = 0; i < n; i++) {
            unsigned key = (unsigned)test_random_below(spread);
            buf_printf(&text, "%s\"k%u\":%u", i ? "," : "", key, i);
            json_set_int(&a, twin, arena_printf(&a, "k%u", key), i);
        }
        buf_add_char(&text, '}');
        CHECK_OK(json_parse(&a, buf_str(&text), NULL, &got, NULL));
        scoped(buf_fini_scoped) struct buf x = BUF_INIT(BUF_MAX_DEFAULT), y = x;
        CHECK_OK(json_write(&x, got));
        CHECK_OK(json_write(&y, twin));
        CHECK_STR(buf_str(&x), buf_cstr(&y));
        json_set_int(&a, got, "appended", 1); /* the last link is right */
        CHECK(json_last(got) == json_getc(got, "appended"));
        arena_fini(&a);
    }
}

/* Quadratic behaviour would take minutes here. */
TEST(large_objects_take_linear_time)
{
    enum { N = 200000 };
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    buf_add_cstr(&text, "{\"all\":{");
    for (int i = 0; i < N; i++)
        buf_printf(&text, "%s\"key-%d\":%d", i ? "," : "", i % (N - 1), i);
    buf_add_cstr(&text, "}");
    for (int i = 0; i < 2000; i++) { /* small ones must not pay for the large one */
        buf_printf(&text, ",\"o%d\":{", i);
        for (int k = 0; k < 17; k++)
            buf_printf(&text, "%s\"k%d\":1", k ? "," : "", k % 16);
        buf_add_char(&text, '}');
    }
    buf_add_char(&text, '}');
    uint64_t before = clock_mono_ms();
    struct json *v, *w;
    CHECK_OK(json_parse(&a, buf_str(&text), NULL, &v, NULL));
    CHECK_INT(v->first->n, N - 1);
    CHECK_INT(json_last(v)->n, 16);
    CHECK_INT(json_int_or(v->first->first, 0), N - 1);
    /* Equality of the same members in reverse order. */
    w = json_new_object(&a);
    json_each (c, v->first) {
        struct json *copy = json_clone(&a, c);
        copy->key = c->key;
        json_insert_before(w, json_first(w), copy);
    }
    CHECK(json_equal(v->first, w));
    /* Set, looked up and deleted one by one, from a place that a walk takes long to. */
    json_each (c, v->first)
        json_set(&a, w, c->key, json_new_null(&a));
    json_each (c, v->first)
        CHECK(json_get(w, c->key)->type == JSON_NULL);
    struct json *copy = json_new_object(&a), *keys = json_clone(&a, v->first);
    json_each (c, v->first)
        json_set_str(&a, copy, str_dup_arena(&a, c->key), c->key);
    CHECK_INT(copy->n, N - 1);
    json_each (c, keys) {
        struct json *gone = json_get(v->first, c->key);
        if (c->next && json_int_or(c, 0) % 2)
            CHECK(json_remove(v->first, gone));
        else if (c->next)
            CHECK(json_del(v->first, c->key));
    }
    CHECK_INT(v->first->n, 1);
    CHECK(json_last(v->first) == json_first(v->first));
    CHECK(clock_mono_ms() - before < 20000);
    arena_fini(&a);
}

/* ---- numbers ---- */

TEST(integers_are_read_by_value)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t want;
    } t[] = {
        { "0", true, 0 },
        { "-0", true, 0 },
        { "0.000", true, 0 },
        { "0e99999999999999999999", true, 0 },
        { "42", true, 42 },
        { "1.0", true, 1 },
        { "1e3", true, 1000 },
        { "1E+3", true, 1000 },
        { "12.50e2", true, 1250 },
        { "1000e-3", true, 1 },
        { "-1.20e1", true, -12 },
        { "100000000000000000000e-5", true, 1000000000000000 },
        { "9223372036854775807", true, INT64_MAX },
        { "9223372036854775807.0", true, INT64_MAX },
        { "-9223372036854775808", true, INT64_MIN },
        { "-9223372036854775808.00", true, INT64_MIN },
        { "9.223372036854775807e18", true, INT64_MAX },
        { "9223372036854775808", false, 0 },
        { "-9223372036854775809", false, 0 },
        { "9223372036854775808.0", false, 0 },
        { "1.5", false, 0 },
        { "1e-1", false, 0 },
        { "1e19", false, 0 },
        { "1e99999999999999999999", false, 0 },
        { "1e-99999999999999999999", false, 0 },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        int64_t n = 7;
        int r = json_int(parse(&a, t[i].text), &n);
        if (r != (t[i].ok ? 0 : -EINVAL) || n != (t[i].ok ? t[i].want : 7))
            TEST_FAIL("'%s' is %lld, %d", t[i].text, (long long)n, r);
    }
    int64_t n;
    CHECK_ERR(json_int(NULL, &n), -EINVAL);
    CHECK_ERR(json_int(parse(&a, "\"1\""), &n), -EINVAL);
    CHECK_INT(json_int_or(parse(&a, "[]"), 5), 5);
    arena_fini(&a);
}

TEST(floats_are_read_exactly)
{
    static const struct {
        const char *text;
        double want;
    } t[] = {
        { "0", 0.0 },
        { "0.1", 0.1 },
        { "-2.5e-3", -2.5e-3 },
        { "123456789.125", 123456789.125 },
        { "1e22", 1e22 },
        { "1e23", 1e23 },
        { "9007199254740993", 9007199254740992.0 },
        { "9007199254740993.0000000000000000000000001", 9007199254740994.0 },
        { "2.2250738585072011e-308", 0x0.fffffffffffffp-1022 },
        { "5e-324", 0x1p-1074 },
        { "1e-400", 0.0 },
        { "1e-99999999999999999999", 0.0 },
        { "1.7976931348623157e308", 0x1.fffffffffffffp+1023 },
        { "0.000000000000000000000000000000000000000000000000000001e60", 1e6 },
    };
    struct arena a = { 0 };
    double v;
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        CHECK_OK(json_float(parse(&a, t[i].text), &v));
        if (v != t[i].want)
            TEST_FAIL("'%s' is %a", t[i].text, v);
    }
    CHECK_ERR(json_float(parse(&a, "1e309"), &v), -EINVAL);
    CHECK_ERR(json_float(parse(&a, "-1e999999999999"), &v), -EINVAL);
    CHECK_ERR(json_float(parse(&a, "true"), &v), -EINVAL);
    CHECK_OK(json_float(parse(&a, "-0"), &v));
    CHECK(v == 0 && signbit(v));
    /* Half way between 1 and the next double, then a digit far away decides. */
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    buf_add_cstr(&text, "1.00000000000000011102230246251565404236316680908203125");
    CHECK_OK(json_float(parse(&a, text.p), &v));
    CHECK(v == 1.0);
    for (int i = 0; i < 2000; i++)
        buf_add_char(&text, '0');
    buf_add_char(&text, '1');
    CHECK_OK(json_float(parse(&a, text.p), &v));
    CHECK(v == 1.0 + 0x1p-52);
    arena_fini(&a);
}

TEST(floats_are_written_as_go_writes_them)
{
    static const struct {
        double v;
        const char *want;
    } t[] = {
        { 0.0, "0" },
        { -0.0, "-0" },
        { 1.0, "1" },
        { -1.5, "-1.5" },
        { 0.1, "0.1" },
        { 1.0 / 3, "0.3333333333333333" },
        { 100.0, "100" },
        { 123456.789, "123456.789" },
        { 1e20, "100000000000000000000" },
        { 123456789012345680000.0, "123456789012345680000" },
        { 1e21, "1e+21" },
        { 1.5e300, "1.5e+300" },
        { 1e-6, "0.000001" },
        { 1.25e-6, "0.00000125" },
        { 9.99e-7, "9.99e-7" },
        { 1e-7, "1e-7" },
        { -1e-10, "-1e-10" },
        { 0x1p-1074, "5e-324" },
        { 0x1.fffffffffffffp+1023, "1.7976931348623157e+308" },
        { 0x1p-44, "5.684341886080802e-14" }, /* above a power of two */
        { 9007199254740993.0, "9007199254740992" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 5e-324 * 3, "1.5e-323" },
        { 9.5367431640625e-07, "9.5367431640625e-7" },
        { 2.2250738585072014e-308, "2.2250738585072014e-308" },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        CHECK_STR(json_new_float(&a, t[i].v)->s, t[i].want);
    CHECK(json_is(json_new_float(&a, NAN), JSON_NULL));
    CHECK(json_is(json_new_float(&a, -INFINITY), JSON_NULL));
    arena_fini(&a);
}

TEST(random_floats_read_back_equal)
{
    for (int i = 0; i < 20000; i++) {
        struct arena a = { 0 };
        uint64_t bits = test_random();
        if (i % 4 == 0)
            bits &= ~UINT64_C(0) << 52; /* powers of two */
        double v, back;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        struct json *text = json_new_float(&a, v);
        CHECK_OK(json_float(text, &back));
        CHECK(memcmp(&v, &back, sizeof v) == 0);
        CHECK_OK(json_float(parse(&a, str_dup_arena(&a, text->s)), &back));
        CHECK(v == back);
        CHECK(text->s.n <= strlen("-2.2250738585072014e-308") + 1);
        arena_fini(&a);
    }
}

/* ---- reading ---- */

TEST(getters_accept_anything)
{
    struct arena a = { 0 };
    struct json *v = parse(&a, "{\"m\":{\"n\":\"x\",\"t\":true,\"f\":false,\"z\":null},\"l\":[1]}");
    CHECK_STR(json_str(json_path(v, "m", "n", NULL)), "x");
    CHECK(json_path(v, "m", "n", "o", NULL) == NULL);
    CHECK(json_path(v, "l", "0", NULL) == NULL);
    CHECK(json_path(v, NULL) == v);
    CHECK(json_path(NULL, "a", NULL) == NULL);
    CHECK_STR(json_get_str(v, "l"), "");
    CHECK_STR(json_get_str(NULL, "l"), "");
    CHECK(json_bool(json_path(v, "m", "t", NULL)) && !json_bool(json_path(v, "m", "f", NULL)));
    CHECK(json_is_bool(json_path(v, "m", "f", NULL)) &&
          !json_is_bool(json_path(v, "m", "z", NULL)));
    CHECK(json_is(json_path(v, "m", "z", NULL), JSON_NULL) && !json_is(NULL, JSON_NULL));
    CHECK(json_get(json_getc(v, "l"), STR("")) == NULL);
    int n = 0;
    json_each (c, json_getc(v, "m"))
        n++;
    json_each (c, NULL)
        n++;
    json_each (c, json_path(v, "m", "n", NULL))
        n++;
    CHECK_INT(n, 4);
    arena_fini(&a);
}

TEST(strings_without_escapes_are_borrowed)
{
    struct arena a = { 0 };
    struct str text = STR("{\"plain\":\"value\",\"n\":12}");
    struct json *v;
    CHECK_OK(json_parse(&a, text, NULL, &v, NULL));
    CHECK(json_getc(v, "plain")->s.p == text.p + 10);
    CHECK(v->first->key.p == text.p + 2);
    arena_fini(&a);
}

TEST(equality_is_by_value)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } t[] = {
        { "1", "1.0", true },
        { "10", "1e1", true },
        { "0.10", "1e-1", true },
        { "-0", "0", true },
        { "0e5", "0.0", true },
        { "1", "-1", false },
        { "123456789012345678901", "123456789012345678902", false },
        { "1e1000000000", "1e1000000001", true }, /* past the cap for exponents */
        { "1", "\"1\"", false },
        { "null", "false", false },
        { "[1,2]", "[2,1]", false },
        { "[1]", "[1,1]", false },
        { "{\"a\":1,\"b\":[{}]}", "{\"b\":[{}],\"a\":1.0}", true },
        { "{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false },
        { "{\"a\":1}", "{\"a\":1,\"b\":2}", false },
        { "\"\\u0061\"", "\"a\"", true },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        bool equal = json_equal(parse(&a, t[i].a), parse(&a, t[i].b));
        if (equal != t[i].equal)
            TEST_FAIL("%s and %s: %d", t[i].a, t[i].b, equal);
    }
    CHECK(json_equal(NULL, NULL));
    CHECK(!json_equal(NULL, parse(&a, "null")));
    arena_fini(&a);
}

/* ---- building ---- */

static void check_written(const struct json *v, const char *want)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    CHECK_OK(json_write(&out, v));
    CHECK_STR(buf_str(&out), want);
}

TEST(trees_are_built_and_changed)
{
    struct arena a = { 0 };
    struct json *v = json_new_object(&a);
    json_set_str(&a, v, "s", STR("x"));
    json_set_int(&a, v, "min", INT64_MIN);
    json_set_bool(&a, v, "b", true);
    json_setc(&a, v, "n", json_new_null(&a));
    json_set_int(&a, json_obj(&a, json_obj(&a, v, "o"), "p"), "q", 0);
    check_written(v, "{\"s\":\"x\",\"min\":-9223372036854775808,\"b\":true,\"n\":null,"
                     "\"o\":{\"p\":{\"q\":0}}}");
    json_set_int(&a, v, "s", -1); /* replaced at its place */
    json_obj(&a, v, "n");
    CHECK(json_del(v, STR("o")) && !json_del(v, STR("o")) && json_del(v, STR("min")));
    CHECK(!json_del(NULL, STR("o")));
    json_set(&a, v, STR("b"), json_getc(v, "b"));
    check_written(v, "{\"s\":-1,\"b\":true,\"n\":{}}");

    struct json *list = json_new_array(&a), *two = json_new_cstr(&a, "two");
    json_add(list, two);
    json_insert_before(list, two, json_new_bool(&a, false));
    json_insert_before(list, NULL, json_new_float(&a, 2.5));
    check_written(list, "[false,\"two\",2.5]");
    CHECK(json_remove(list, json_last(list)) && json_remove(list, list->first));
    CHECK(!json_remove(list, v) && !json_remove(list, NULL) && !json_remove(NULL, two));
    json_add(list, json_clone(&a, v));
    json_replace(json_getc(v, "b"), list);
    check_written(v, "{\"s\":-1,\"b\":[\"two\",{\"s\":-1,\"b\":true,\"n\":{}}],\"n\":{}}");
    json_replace(v, json_getc(v, "n"));
    check_written(v, "{}");
    arena_fini(&a);
}

/* An ordered list of (key, number), changed in the plainest way. */
struct twin {
    struct {
        unsigned key;
        int64_t value;
    } at[400];
    size_t n;
};

static void twin_remove(struct twin *t, size_t i)
{
    memmove(&t->at[i], &t->at[i + 1], (t->n - i - 1) * sizeof t->at[0]);
    t->n--;
}

static size_t twin_find(const struct twin *t, unsigned key)
{
    size_t i = 0;
    while (i < t->n && t->at[i].key != key)
        i++;
    return i;
}

static struct json *child_at(struct json *v, size_t i)
{
    struct json *c = v->first;
    while (i--)
        c = c->next;
    return c;
}

static void check_twin(const struct json *v, const struct twin *t)
{
    size_t i = 0;
    CHECK_INT(v->n, t->n);
    json_each (c, v) {
        char key[16];
        (void)snprintf(key, sizeof key, "k%u", t->at[i].key);
        if (v->type == JSON_OBJECT)
            CHECK_STR(c->key, key);
        CHECK_INT(json_int_or(c, -1), t->at[i].value);
        CHECK((c == json_last(v)) == (++i == t->n));
    }
    CHECK_INT(i, t->n);
}

static void twin_insert(struct twin *t, size_t i, unsigned key, int64_t value)
{
    memmove(&t->at[i + 1], &t->at[i], (t->n - i) * sizeof t->at[0]);
    t->at[i].key = key;
    t->at[i].value = value;
    t->n++;
}

static void change_object(struct arena *a, struct json **v, struct twin *t, unsigned key, int step)
{
    struct str name = str_of(arena_printf(a, "k%u", key));
    size_t i = twin_find(t, key), at = t->n ? (size_t)test_random_below(t->n) : 0;
    struct json *own = json_get(*v, name), *item = json_new_int(a, step);
    CHECK((own != NULL) == (i < t->n));
    switch (test_random_below(10)) {
    case 0:
        CHECK(json_del(*v, name) == (i < t->n));
        if (i < t->n)
            twin_remove(t, i);
        break;
    case 1:
        CHECK(json_remove(*v, own) == (i < t->n));
        if (i < t->n)
            twin_remove(t, i);
        break;
    case 2:
        if (!own)
            break;
        json_replace(own, item);
        t->at[i].value = step;
        break;
    case 3:
        if (own)
            break;
        json_add_member(*v, name, item);
        twin_insert(t, t->n, key, step);
        break;
    case 4:
        if (own || test_random_below(10))
            break;
        item->key = name;
        json_insert_before(*v, t->n ? child_at(*v, at) : NULL, item);
        twin_insert(t, at, key, step);
        break;
    case 5:
        if (test_random_below(50))
            break;
        item = json_new_object(a);
        json_replace(item, test_random_below(2) ? *v : json_clone(a, *v));
        *v = item;
        break;
    default:
        json_set(a, *v, name, item);
        if (i < t->n)
            t->at[i].value = step;
        else
            twin_insert(t, i, key, step);
    }
}

/* Of all sizes around that from which objects have an index. */
TEST(random_changes_of_an_object_agree_with_a_plain_list)
{
    for (int round = 0; round < 200; round++) {
        struct arena a = { 0 };
        struct json *v = json_new_object(&a);
        struct twin t = { .n = 0 };
        unsigned spread = 1 + (unsigned)test_random_below(ARRAY_LEN(t.at));
        for (int step = 0; step < 2000; step++) {
            change_object(&a, &v, &t, (unsigned)test_random_below(spread), step);
            if (step % 50 == 0)
                check_twin(v, &t);
        }
        check_twin(v, &t);
        arena_fini(&a);
    }
}

TEST(random_changes_of_an_array_agree_with_a_plain_list)
{
    struct arena a = { 0 };
    struct json *v = json_new_array(&a);
    struct twin t = { .n = 0 };
    for (int step = 0; step < 30000; step++) {
        size_t i = test_random_below(t.n + 1);
        if (t.n < ARRAY_LEN(t.at) && test_random_below(2)) {
            json_insert_before(v, i < t.n ? child_at(v, i) : NULL, json_new_int(&a, step));
            memmove(&t.at[i + 1], &t.at[i], (t.n - i) * sizeof t.at[0]);
            t.at[i].value = step;
            t.n++;
        } else if (i < t.n) {
            CHECK(json_remove(v, child_at(v, i)));
            twin_remove(&t, i);
        }
        check_twin(v, &t);
    }
    arena_fini(&a);
}

/* ---- round trips ---- */

static struct str random_string(struct arena *a)
{
    static const char *const pieces[] = { "a",   "bcdefghij",    "\"",   "\\",
                                          "\n",  "\x01",         "\x7f", "\xc3\xa9",
                                          "</>", "\xe2\x80\xa8", "/",    "\xf0\x9f\x98\x80",
                                          " ",   "0123456",      "\x1f", "\xed\x9f\xbf" };
    struct buf b = BUF_INIT(10000);
    for (uint64_t n = test_random_below(12); n; n--) {
        buf_add_cstr(&b, pieces[test_random_below(ARRAY_LEN(pieces))]);
        if (test_random_below(20) == 0)
            buf_add_char(&b, '\0');
    }
    struct str s = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    return s;
}

static struct json *random_tree(struct arena *a, unsigned depth)
{
    struct json *v;
    uint64_t n = test_random_below(6);
    switch (test_random_below(depth ? 8 : 6)) {
    case 0:
        return json_new_null(a);
    case 1:
        return json_new_bool(a, test_random_below(2));
    case 2:
        return json_new_int(a, (int64_t)test_random() >> test_random_below(64));
    case 3:
        return json_new_float(a, (double)(int64_t)test_random() / (double)(test_random() | 1));
    case 4:
    case 5:
        return json_new_str(a, random_string(a));
    case 6:
        v = json_new_array(a);
        while (n--)
            json_add(v, random_tree(a, depth - 1));
        return v;
    default:
        v = json_new_object(a);
        if (test_random_below(10) == 0)
            n = 40;
        while (n--)
            json_set(a, v, random_string(a), random_tree(a, depth - 1));
        return v;
    }
}

TEST(random_trees_survive_every_writer)
{
    static int (*const writers[])(struct buf *, const struct json *) = { json_write,
                                                                         json_write_sorted };
    for (int round = 0; round < 2000; round++) {
        struct arena a = { 0 };
        struct json *v = random_tree(&a, 5), *back;
        struct err err = { 0 };
        for (size_t i = 0; i <= ARRAY_LEN(writers); i++) {
            scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT), again = text;
            CHECK_OK(i < ARRAY_LEN(writers) ? writers[i](&text, v)
                                            : json_write_pretty(&text, v, 3));
            if (json_parse(&a, buf_str(&text), NULL, &back, &err) < 0)
                TEST_FAIL("%s: %s", err.text, text.p);
            CHECK(json_equal(v, back));
            CHECK_OK(i < ARRAY_LEN(writers) ? writers[i](&again, back)
                                            : json_write_pretty(&again, back, 3));
            CHECK_STR(buf_str(&again), text.p);
        }
        CHECK(json_equal(v, json_clone(&a, v)));
        arena_fini(&a);
    }
}

TEST(equal_values_give_equal_sorted_bytes)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    CHECK_OK(
        json_write_sorted(&out, parse(&a, "{\"b\":[{\"z\":1,\"y\":2}],\"a\":0,\"\":1,\"aa\":2}")));
    CHECK_STR(buf_str(&out), "{\"\":1,\"a\":0,\"aa\":2,\"b\":[{\"y\":2,\"z\":1}]}");
    arena_fini(&a);
}

TEST(sorted_objects_can_be_changed)
{
    enum { MANY = 500 };
    struct arena a = { 0 };
    struct json *v = json_new_object(&a), *part = json_obj(&a, v, "part");
    scoped(buf_fini_scoped) struct buf sorted = BUF_INIT(1 << 16), text = BUF_INIT(1 << 16);
    json_set_int(&a, part, "b", 1);
    json_set_int(&a, part, "a", 2);
    for (int i = 0; i < MANY; i++)
        json_set_int(&a, v, arena_printf(&a, "k%d", i * 37 % MANY), i);
    CHECK_OK(json_write_sorted(&sorted, v));
    json_sort(&a, v);
    CHECK_OK(json_write(&text, v));
    CHECK_STR(buf_str(&text), buf_cstr(&sorted));
    for (int i = 0; i < MANY; i += 2)
        CHECK(json_del(v, str_of(arena_printf(&a, "k%d", i))));
    json_set_int(&a, v, "z", 1);
    CHECK_INT(v->n, MANY / 2 + 2);
    CHECK_STR(json_last(v)->key, "z");
    CHECK(json_getc(v, "k499") && !json_getc(v, "k498"));
    arena_fini(&a);
}

TEST(pretty_text_looks_as_kubectl_prints_it)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    CHECK_OK(json_write_pretty(&out, parse(&a, "{\"a\":[1,{\"b\":{}}],\"c\":[]}"), 4));
    CHECK_STR(buf_str(&out), "{\n    \"a\": [\n        1,\n        {\n            \"b\": {}\n"
                             "        }\n    ],\n    \"c\": []\n}");
    arena_fini(&a);
}

TEST(strings_with_malformed_bytes_are_written_as_go_writes_them)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    CHECK_OK(json_write_str(&out, STR("a\xff\xc3(\xe2\x82")));
    CHECK_STR(buf_str(&out), "\"a\\ufffd\\ufffd(\\ufffd\\ufffd\"");
    buf_reset(&out);
    CHECK_OK(json_write_str(&out, STR_NULL));
    CHECK_STR(buf_str(&out), "\"\"");
}

/* ---- a second opinion ---- */

struct jansson_error {
    int line, column, position;
    char source[80], text[160]; /* the last byte of text is the error code */
};

enum {
    JANSSON_DECODE_ANY = 0x4,
    JANSSON_ALLOW_NUL = 0x10,
    JANSSON_INVALID_UTF8 = 5,
    JANSSON_NUMERIC_OVERFLOW = 15
};

struct jansson {
    void *(*loadb)(const char *p, size_t n, size_t flags, struct jansson_error *error);
    int (*equal)(const void *a, const void *b);
    void (*delete)(void *v); /* of values with one reference */
};

static bool jansson_open(struct jansson *ret)
{
    void *lib = dlopen("libjansson.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!lib)
        return false;
    *(void **)&ret->loadb = dlsym(lib, "json_loadb");
    *(void **)&ret->equal = dlsym(lib, "json_equal");
    *(void **)&ret->delete = dlsym(lib, "json_delete");
    return ret->loadb && ret->equal && ret->delete;
}

static void *jansson_parse(const struct jansson *j, struct str text, struct jansson_error *error)
{
    return j->loadb(text.p, text.n, JANSSON_DECODE_ANY | JANSSON_ALLOW_NUL, error);
}

/* Whether jansson refuses for a reason that is none for us. */
static bool is_stricter(const struct jansson_error *error)
{
    int code = error->text[sizeof error->text - 1];
    return code == JANSSON_NUMERIC_OVERFLOW || code == JANSSON_INVALID_UTF8 ||
           strstr(error->text, "Unicode") || strstr(error->text, "overflow") ||
           strstr(error->text, "NUL");
}

static void compare_with(const struct jansson *j, struct str text)
{
    struct arena a = { 0 };
    struct json *ours = NULL;
    struct jansson_error error = { 0 };
    int r = json_parse(&a, text, NULL, &ours, NULL);
    void *theirs = jansson_parse(j, text, &error);
    if (!theirs && r >= 0 && !is_stricter(&error))
        TEST_FAIL("jansson refuses '" STR_FMT "': %s", STR_ARG(text), error.text);
    if (theirs && r < 0)
        TEST_FAIL("jansson accepts '" STR_FMT "'", STR_ARG(text));
    if (theirs) {
        scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
        CHECK_OK(json_write(&out, ours));
        void *again = jansson_parse(j, buf_str(&out), &error);
        if (!again || !j->equal(theirs, again))
            TEST_FAIL("'" STR_FMT "' became '%s'", STR_ARG(text), out.p);
        j->delete (again);
        j->delete (theirs);
    }
    arena_fini(&a);
}

TEST(jansson_agrees_on_random_and_damaged_documents)
{
    static const char damage[] = "{}[]:,\"\\ \n0123456789.eE+-truefalsn\x01u/";
    struct jansson j;
    if (!jansson_open(&j))
        SKIP("libjansson.so.4 is not installed");
    for (int round = 0; round < 3000; round++) {
        struct arena a = { 0 };
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
        CHECK_OK(json_write_pretty(&text, random_tree(&a, 4), 0));
        compare_with(&j, buf_str(&text));
        for (int i = 0; i < 20; i++) {
            size_t at = test_random_below(text.n);
            char was = text.p[at];
            text.p[at] = damage[test_random_below(sizeof damage - 1)];
            compare_with(&j, buf_str(&text));
            if (test_random_below(3))
                text.p[at] = was;
        }
        arena_fini(&a);
    }
}

/* Text of a few hundred bytes with brackets, quotes and backslashes in its strings. */
static struct json *random_tangle(struct arena *a, unsigned depth)
{
    static const char bytes[] = "{}[]\"\\:,ab \xc3\xa9\n";
    struct json *v = json_new_object(a), *list = json_new_array(a);
    for (size_t n = test_random_below(6); n; n--) {
        char key[40];
        size_t used = test_random_below(sizeof key);
        for (size_t i = 0; i < used; i++)
            key[i] = bytes[test_random_below(sizeof bytes - 1)];
        json_add(list, json_new_str(a, str_n(key, used)));
        json_set(a, v, str_n(key, used),
                 depth ? random_tangle(a, depth - 1) : json_new_int(a, (int64_t)n));
    }
    json_setc(a, v, "list", list);
    return v;
}

TEST(a_cursor_passes_over_values_whatever_their_strings_hold)
{
    for (int round = 0; round < 500; round++) {
        struct arena a = { 0 };
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
        struct str value;
        CHECK_OK(json_write(&text, random_tangle(&a, 3)));
        size_t n = text.n;
        for (size_t behind = test_random_below(100); behind; behind--)
            (void)buf_add_char(&text, "]}\","[test_random_below(4)]);
        struct json_scan s = json_scan_init(buf_str(&text));
        CHECK(json_scan_value(&s, &value));
        CHECK_INT(value.n, n);
        scoped(free_scoped) char *cut = str_dup(str_n(text.p, n - 1));
        s = json_scan_init(str_n(cut, n - 1));
        CHECK(!json_scan_value(&s, &value));
        arena_fini(&a);
    }
}

TEST(a_cursor_takes_strings_of_any_length)
{
    for (size_t n = 0; n < 70; n++) {
        char text[80];
        struct str s;
        bool escaped;
        memset(text, 0xe9, sizeof text);
        text[0] = text[n + 1] = '"';
        struct json_scan scan = json_scan_init(str_n(text, n + 2));
        CHECK(json_scan_string(&scan, &s, &escaped) && !escaped && s.n == n);
        scan = json_scan_init(str_n(text, n + 1));
        CHECK(!json_scan_string(&scan, &s, &escaped));
        for (size_t i = 1; i <= n; i++) {
            text[i] = 0x1f;
            scan = json_scan_init(str_n(text, n + 2));
            CHECK(!json_scan_string(&scan, &s, &escaped));
            text[i] = (char)0xe9;
        }
    }
}

TEST_MAIN
