/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/test_match: what tests of operators expect of objects. */
#include "lab/cmd/test_match.h"

#include "test.h"

static struct arena arena;

static struct json *parse(const char *text)
{
    struct json *v;
    struct err err = { 0 };
    CHECK_OK(json_parse(&arena, str_of(text), NULL, &v, &err));
    return v;
}

/* why: "" when it is to match. */
static void check(const char *wanted, const char *got, const char *why)
{
    struct buf text = BUF_INIT(4096);
    bool same = test_match(parse(wanted), parse(got), &text);
    CHECK_STR(buf_str(&text), why);
    CHECK(same == (why[0] == '\0'));
    buf_fini(&text);
    arena_fini(&arena);
}

TEST(an_object_may_have_more_than_is_expected)
{
    check("{\"a\":1}", "{\"a\":1,\"b\":2}", "");
    check("{\"a\":{\"b\":\"x\"}}", "{\"a\":{\"b\":\"x\",\"c\":[]}}", "");
    check("{\"a\":1}", "{\"b\":1}", ".a is not there, expected 1");
    check("{\"a\":{\"b\":2}}", "{\"a\":{\"b\":3}}", ".a.b is 3, expected 2");
    check("{\"a\":{}}", "{\"a\":\"x\"}", ".a is \"x\", expected {}");
}

TEST(a_list_is_compared_element_by_element)
{
    check("[1,{\"a\":2}]", "[1,{\"a\":2,\"b\":3}]", "");
    check("{\"l\":[1,2]}", "{\"l\":[1,3]}", ".l[1] is 3, expected 2");
    check("{\"l\":[1,2]}", "{\"l\":[1]}", ".l[1] is not there, expected 2");
    check("{\"l\":[1]}", "{\"l\":[1,2]}", ".l is [1,2], expected [1]");
}

TEST(a_star_is_any_value_and_null_none)
{
    check("{\"a\":\"*\"}", "{\"a\":{\"b\":1}}", "");
    check("{\"a\":\"*\"}", "{}", ".a is not there, expected \"*\"");
    check("{\"a\":null}", "{}", "");
    check("{\"a\":null}", "{\"a\":null}", "");
    check("{\"a\":null}", "{\"a\":false}", ".a is false, expected null");
    check("1.0", "1", "");
    check("\"1\"", "1", "it is 1, expected \"1\"");
}

TEST(what_differs_from_run_to_run_is_replaced)
{
    struct json *v = parse("{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"7\",\"name\":\"n\"},"
                           "\"list\":[{\"at\":\"2026-01-02T03:04:05Z\",\"n\":5}]}");
    struct buf text = BUF_INIT(4096);
    test_normalize(&arena, v);
    (void)json_write(&text, v);
    CHECK_STR(buf_str(&text),
              "{\"metadata\":{\"uid\":\"*\",\"resourceVersion\":\"*\",\"name\":\"n\"},"
              "\"list\":[{\"at\":\"*\",\"n\":5}]}");
    buf_fini(&text);
    arena_fini(&arena);
}

TEST_MAIN
