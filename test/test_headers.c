/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/headers.h"

#include "base/mem.h"
#include "test.h"

#include <errno.h>

TEST(names_are_stored_in_lower_case_and_found_in_any)
{
    struct headers h = { 0 };
    CHECK_OK(headers_addc(&h, "Content-Type", " text/plain\t"));
    CHECK_STR(headers_name(&h, 0), "content-type");
    CHECK_STR(headers_value(&h, 0), "text/plain");
    CHECK_STR(headers_get(&h, "CONTENT-TYPE"), "text/plain");
    CHECK(headers_get(&h, "content").p == NULL);
    headers_fini(&h);
}

TEST(repeated_names_stay_apart_and_set_replaces_all_at_the_first_place)
{
    struct headers h = { 0 };
    CHECK_OK(headers_addc(&h, "a", "1"));
    CHECK_OK(headers_addc(&h, "b", "2"));
    CHECK_OK(headers_addc(&h, "A", "3"));
    CHECK_INT(h.n, 3);
    CHECK_STR(headers_get(&h, "a"), "1");
    CHECK_OK(headers_set(&h, STR("A"), STR("")));
    CHECK_INT(h.n, 2);
    CHECK_STR(headers_name(&h, 0), "a");
    CHECK(headers_get(&h, "a").p != NULL && headers_get(&h, "a").n == 0);
    headers_del(&h, STR("B"));
    CHECK_INT(h.n, 1);
    CHECK_OK(headers_set(&h, STR("c"), STR("4")));
    CHECK_STR(headers_value(&h, 1), "4");
    headers_reset(&h);
    CHECK_INT(h.n, 0);
    headers_fini(&h);
}

TEST(bytes_that_could_split_a_message_are_refused)
{
    static const char *const names[] = { "", "a b", "a:", "a\r", "\x80", "a\n", ":path" };
    static const char *const values[] = { "a\nb", "a\rb", "a\x01", "a\x7f" };
    struct headers h = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        CHECK_ERR(headers_addc(&h, names[i], "v"), -EINVAL);
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        CHECK_ERR(headers_addc(&h, "n", values[i]), -EINVAL);
    CHECK_ERR(headers_add(&h, STR("n"), STR("a\0b")), -EINVAL);
    CHECK_OK(headers_addc(&h, "n", "caf\xc3\xa9 \xff"));
    CHECK_ERR(headers_set(&h, STR("n"), STR("a\nb")), -EINVAL);
    CHECK_STR(headers_get(&h, "n"), "caf\xc3\xa9 \xff");
    headers_fini(&h);
}

TEST(every_byte_is_judged_alike_wherever_it_stands)
{
    for (int c = 0; c < 256; c++)
        for (size_t at = 1; at < 20; at++) {
            char text[22] = "abcdefghijklmnopqrstu";
            struct headers h = { 0 };
            text[at] = (char)c;
            bool control = (c < 0x20 && c != '\t') || c == 0x7f;
            CHECK_INT(headers_add(&h, STR("n"), str_n(text, 21)), control ? -EINVAL : 0);
            bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            bool token = alnum || (c && strchr("!#$%&'*+-.^_`|~", c));
            CHECK_INT(headers_add(&h, str_n(text, 21), STR("v")), token ? 0 : -EINVAL);
            if (token)
                CHECK_INT(headers_name(&h, h.n - 1).p[at], c >= 'A' && c <= 'Z' ? c + 32 : c);
            headers_fini(&h);
        }
}

TEST(limits_refuse_and_change_nothing)
{
    struct headers h = { 0 };
    for (int i = 0; i < HEADERS_MAX; i++)
        CHECK_OK(headers_addc(&h, "n", "v"));
    CHECK_ERR(headers_addc(&h, "n", "v"), -EMSGSIZE);
    CHECK_INT(h.n, HEADERS_MAX);
    headers_fini(&h);

    char *big = xalloc(HEADERS_MAX_BYTES + 1);
    memset(big, 'x', HEADERS_MAX_BYTES);
    CHECK_ERR(headers_add(&h, STR("n"), str_n(big, HEADERS_MAX_BYTES)), -EMSGSIZE);
    CHECK_OK(headers_add(&h, STR("n"), str_n(big, HEADERS_MAX_BYTES - 1)));
    CHECK_ERR(headers_addc(&h, "m", ""), -EMSGSIZE);
    CHECK_INT(h.n, 1);
    headers_fini(&h);
    free(big);
}

TEST(replacing_for_ever_stays_within_the_limit)
{
    struct headers h = { 0 };
    char value[600];
    for (int i = 0; i < 2000; i++) {
        memset(value, 'a' + i % 26, sizeof value);
        CHECK_OK(headers_set(&h, STR("x"), str_n(value, sizeof value)));
        CHECK_OK(headers_set(&h, STR("y"), headers_get(&h, "x"))); /* borrowed from the same list */
        CHECK(str_eq(headers_get(&h, "y"), str_n(value, sizeof value)));
        CHECK(str_eq(headers_get(&h, "x"), str_n(value, sizeof value)));
    }
    CHECK(h.cap <= HEADERS_MAX_BYTES);
    headers_fini(&h);
}

TEST(a_copy_is_independent)
{
    struct headers a = { 0 }, b = { 0 };
    CHECK_OK(headers_addc(&a, "x", "1"));
    CHECK_OK(headers_addc(&b, "old", "0"));
    CHECK_OK(headers_copy(&b, &a));
    CHECK_OK(headers_set(&a, STR("x"), STR("2")));
    CHECK_INT(b.n, 1);
    CHECK_STR(headers_get(&b, "x"), "1");
    headers_fini(&a);
    CHECK_STR(headers_get(&b, "x"), "1");
    headers_fini(&b);
}

TEST(tokens_are_found_in_comma_separated_lists)
{
    struct headers h = { 0 };
    CHECK_OK(headers_addc(&h, "connection", "keep-alive , Upgrade"));
    CHECK_OK(headers_addc(&h, "connection", "close"));
    CHECK(headers_has_token(&h, "Connection", "upgrade"));
    CHECK(headers_has_token(&h, "connection", "close"));
    CHECK(!headers_has_token(&h, "connection", "keep"));
    CHECK(!headers_has_token(&h, "upgrade", "close"));
    headers_fini(&h);
}

TEST(random_changes_agree_with_a_plain_list)
{
    struct {
        char name, value[4];
    } twin[HEADERS_MAX];
    size_t n = 0;
    struct headers h = { 0 };
    for (int step = 0; step < 20000; step++) {
        char name[2] = { (char)('a' + test_random_below(5)), 0 }, value[4];
        (void)snprintf(value, sizeof value, "%u", (unsigned)test_random_below(1000));
        size_t kept = 0, first = n;
        switch (test_random_below(4)) {
        case 0:
        case 1:
            if (n == 60)
                break;
            CHECK_OK(headers_addc(&h, name, value));
            twin[n].name = name[0];
            memcpy(twin[n++].value, value, sizeof value);
            break;
        case 2:
            CHECK_OK(headers_set(&h, str_of(name), str_of(value)));
            for (size_t i = 0; i < n; i++) {
                if (twin[i].name == name[0] && first < n)
                    continue;
                if (twin[i].name == name[0]) {
                    first = i;
                    memcpy(twin[i].value, value, sizeof value);
                }
                twin[kept++] = twin[i];
            }
            if (first == n) {
                twin[kept].name = name[0];
                memcpy(twin[kept++].value, value, sizeof value);
            }
            n = kept;
            break;
        default:
            headers_del(&h, str_of(name));
            for (size_t i = 0; i < n; i++)
                if (twin[i].name != name[0])
                    twin[kept++] = twin[i];
            n = kept;
        }
        CHECK_INT(h.n, n);
        for (size_t i = 0; i < n; i++) {
            CHECK(headers_name(&h, i).p[0] == twin[i].name);
            CHECK_STR(headers_value(&h, i), twin[i].value);
        }
    }
    headers_fini(&h);
}

TEST_MAIN
