/* SPDX-License-Identifier: Apache-2.0 */
/* The small codecs: base64, media types, request targets. */
#include "base/mem.h"
#include "codec/base64.h"
#include "codec/media.h"
#include "codec/url.h"
#include "test.h"

#include <errno.h>

/* ---- base64 ---- */

TEST(the_vectors_of_rfc_4648_hold)
{
    static const struct {
        const char *plain, *std, *url;
    } t[] = {
        { "", "", "" },
        { "f", "Zg==", "Zg" },
        { "fo", "Zm8=", "Zm8" },
        { "foo", "Zm9v", "Zm9v" },
        { "foob", "Zm9vYg==", "Zm9vYg" },
        { "fooba", "Zm9vYmE=", "Zm9vYmE" },
        { "foobar", "Zm9vYmFy", "Zm9vYmFy" },
        { "\xfb\xff\xbf", "+/+/", "-_-_" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        for (enum base64_form form = BASE64_STD; form <= BASE64_URL; form++) {
            const char *text = form == BASE64_STD ? t[i].std : t[i].url;
            scoped(buf_fini_scoped) struct buf b = BUF_INIT(1000);
            CHECK_OK(base64_encode(&b, str_of(t[i].plain), form));
            CHECK_STR(buf_str(&b), text);
            buf_reset(&b);
            CHECK_OK(base64_decode(&b, str_of(text), form));
            CHECK_STR(buf_str(&b), t[i].plain);
        }
    }
}

TEST(base64_is_read_strictly_unless_asked)
{
    static const struct {
        const char *text;
        bool std, url, lenient;
    } t[] = {
        { "Zg==", true, false, true },        { "Zg", false, true, false },
        { "Zg=", false, false, false },       { "Zg===", false, false, false },
        { "Zh==", false, false, true },       { "Zh", false, false, false },
        { "Zm9=", false, false, true },       { "Z", false, false, false },
        { "Z===", false, false, false },      { "Zm9vZ", false, false, false },
        { "Zm9v=", false, false, false },     { "=", false, false, false },
        { "Zm8=Zm8=", false, false, false },  { "Zm9v Zm9v", false, false, false },
        { "Zm9v\nZm9v", false, false, true }, { "Z\r\nm\n8\n=\n", false, false, true },
        { "Zm9v\n", false, false, true },     { "Zg=\n=", false, false, true },
        { "+/+/", true, false, true },        { "-_-_", false, true, false },
        { "Zm9\x80", false, false, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        for (enum base64_form form = BASE64_STD; form <= BASE64_LENIENT; form++) {
            bool ok = form == BASE64_STD ? t[i].std : form == BASE64_URL ? t[i].url : t[i].lenient;
            scoped(buf_fini_scoped) struct buf b = BUF_INIT(1000);
            buf_add_cstr(&b, "before");
            int r = base64_decode(&b, str_of(t[i].text), form);
            if (r != (ok ? 0 : -EINVAL))
                TEST_FAIL("'%s' form %d: %d", t[i].text, form, r);
            CHECK(str_has_prefix(buf_str(&b), STR("before")) && b.p[b.n] == '\0');
            CHECK(ok || b.n == 6);
        }
    }
}

TEST(random_bytes_survive_base64)
{
    for (int round = 0; round < 3000; round++) {
        char bytes[100];
        struct str s = { bytes, test_random_below(sizeof bytes) };
        for (size_t i = 0; i < s.n; i++)
            bytes[i] = (char)test_random();
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(1000), back = BUF_INIT(s.n);
        for (enum base64_form form = BASE64_STD; form <= BASE64_URL; form++) {
            buf_reset(&text);
            buf_reset(&back);
            CHECK_OK(base64_encode(&text, s, form));
            CHECK_OK(base64_decode(&back, buf_str(&text), form)); /* needs no more room than s.n */
            CHECK(str_eq(buf_str(&back), s));
        }
    }
}

/* ---- media types ---- */

TEST(a_media_type_has_parameters)
{
    struct media_type m;
    CHECK_OK(media_parse(STR("application/json;as=Table;v=v1;g=meta.k8s.io"), &m));
    CHECK(media_is(&m, "Application/JSON") && !media_is(&m, "application/jso"));
    CHECK_STR(media_param(&m, "as"), "Table");
    CHECK_STR(media_param(&m, "G"), "meta.k8s.io");
    CHECK(media_param(&m, "q").p == NULL);
    CHECK_INT(m.q_milli, 1000);
    CHECK_OK(media_parse(STR(" text/plain ; charset = \"utf-8; x,y\" ; "), &m));
    CHECK_STR(media_param(&m, "charset"), "utf-8; x,y");
    CHECK_OK(media_parse(STR("application/apply-patch+yaml"), &m));
    CHECK(media_is(&m, "application/apply-patch+yaml"));
}

TEST(malformed_media_types_are_refused)
{
    static const char *const bad[] = { "",          "text",          "/",           "text/",
                                       "/plain",    "te xt/plain",   "text/pl ain", "text/plain;a",
                                       "a/b;=c",    "a/b;c=",        "a/b;c=d e",   "a/b;c=\"d",
                                       "a/b;c=d\"", "a/b;c=\"\\d\"", "a/b/c",       "a/b,c/d" };
    struct media_type m;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK_ERR(media_parse(str_of(bad[i]), &m), E_PARSE);
    CHECK_ERR(media_parse(STR_NULL, &m), E_PARSE);
    CHECK_OK(media_parse(STR("a/b;a=1;b=2;c=3;d=4;e=5;f=6;g=7;h=8;q=0.5"), &m));
    CHECK_INT(m.q_milli, 500);
    CHECK_ERR(media_parse(STR("a/b;a=1;b=2;c=3;d=4;e=5;f=6;g=7;h=8;i=9"), &m), E_LIMIT);
}

TEST(ranges_are_sorted_by_preference)
{
    struct media_accept a;
    /* As kubectl asks for tables. */
    CHECK_OK(media_parse_accept(STR("application/json;as=Table;v=v1;g=meta.k8s.io,"
                                    "application/json;as=Table;v=v1beta1;g=meta.k8s.io,"
                                    "application/json"),
                                &a));
    CHECK_INT(a.n, 3);
    CHECK_STR(media_param(&a.at[0], "v"), "v1");
    CHECK_STR(media_param(&a.at[1], "v"), "v1beta1");
    CHECK_INT(a.at[2].n_params, 0);
    CHECK_OK(
        media_parse_accept(STR("*/*;q=0.8, text/*;q=.9, a/b;q=0.8, text/*;q=0.8, c/d;q=0, *"), &a));
    static const char *const order[] = { "*", "text", "a", "text", "*", "c" };
    static const unsigned q[] = { 1000, 900, 800, 800, 800, 0 };
    CHECK_INT(a.n, ARRAY_LEN(order));
    for (size_t i = 0; i < a.n; i++) {
        CHECK_STR(a.at[i].type, order[i]);
        CHECK_INT(a.at[i].q_milli, q[i]);
    }
    CHECK_OK(media_parse_accept(STR("x, a/b , ,/,c/d;e"), &a));
    CHECK_INT(a.n, 1);
    CHECK_OK(media_parse_accept(STR_NULL, &a));
    CHECK_INT(a.n, 0);
    static const struct {
        const char *text;
        unsigned q_milli;
    } qs[] = { { "1", 1000 },   { "1.000", 1000 }, { "0.001", 1 }, { "0.0009", 0 }, { "0.", 0 },
               { "1.5", 1000 }, { "2", 1000 },     { "x", 1000 },  { "0.x", 1000 } };
    for (size_t i = 0; i < ARRAY_LEN(qs); i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "a/b;q=%s", qs[i].text);
        CHECK_OK(media_parse_accept(str_of(text), &a));
        CHECK_INT(a.at[0].q_milli, qs[i].q_milli);
    }
}

TEST(accept_headers_are_bounded)
{
    struct media_accept a;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(10000);
    for (int i = 0; i < MEDIA_MAX_RANGES; i++)
        buf_add_cstr(&text, i ? ",a/b" : "a/b");
    CHECK_OK(media_parse_accept(buf_str(&text), &a));
    CHECK_INT(a.n, MEDIA_MAX_RANGES);
    buf_add_cstr(&text, ",a/b");
    CHECK_ERR(media_parse_accept(buf_str(&text), &a), E_LIMIT);
}

TEST(the_best_offer_is_chosen)
{
    static const char *const offers[] = { "application/json", "application/yaml",
                                          "application/vnd.kubernetes.protobuf" };
    static const struct {
        const char *accept;
        int want;
    } t[] = {
        { "", 0 },
        { "*/*", 0 },
        { "application/*", 0 },
        { "application/yaml", 1 },
        { "application/vnd.kubernetes.protobuf,application/json", 2 },
        { "application/json;q=0.5, application/yaml", 1 },
        { "application/json;q=0, */*", 1 },
        { "application/*;q=0.9, application/yaml;q=0.1", 0 },
        { "*/*;q=0.1, application/yaml;q=0.2", 1 },
        { "text/html", -1 },
        { "application/json;q=0", -1 },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct media_accept a;
        CHECK_OK(media_parse_accept(str_of(t[i].accept), &a));
        CHECK_INT(media_choose(&a, offers, ARRAY_LEN(offers)), t[i].want);
    }
    struct media_accept none = { .n = 0 };
    CHECK_INT(media_choose(&none, offers, 0), -1);
}

/* ---- request targets ---- */

TEST(a_target_is_taken_apart)
{
    struct arena a = { 0 };
    static struct url_target t;
    CHECK_OK(
        url_parse(&a,
                  STR("/api/v1//namespaces/a%20b/pods/?labelSelector=x%3Dy,z+in+(w)&watch=true&"
                      "flag&=skipped&&limit=5&limit=6&off=FALSE"),
                  &t, NULL));
    static const char *const segments[] = { "api", "v1", "namespaces", "a b", "pods" };
    CHECK_INT(t.n_segments, ARRAY_LEN(segments));
    for (size_t i = 0; i < t.n_segments; i++)
        CHECK_STR(t.segments[i], segments[i]);
    CHECK(t.trailing_slash);
    CHECK_STR(t.raw_path, "/api/v1//namespaces/a%20b/pods/");
    CHECK_STR(url_query_get(&t, "labelSelector"), "x=y,z in (w)");
    CHECK_STR(url_query_get(&t, "limit"), "5");
    CHECK(url_query_get(&t, "flag").p && url_query_get(&t, "flag").n == 0);
    CHECK(!url_query_get(&t, "absent").p);
    CHECK(url_query_bool(&t, "watch") && url_query_bool(&t, "flag"));
    CHECK(!url_query_bool(&t, "off") && !url_query_bool(&t, "absent"));
    CHECK_INT(t.n_pairs, 6);
    arena_fini(&a);
}

TEST(the_authority_of_an_absolute_target_is_ignored)
{
    static const struct {
        const char *text, *path, *query;
    } t[] = {
        { "https://h:6443/a/b?c", "/a/b", "c" },
        { "http://h", "/", "" },
        { "/a?u=http://x/y", "/a", "u=http://x/y" },
        { "/", "/", "" },
        { "/a?b#frag", "/a", "b" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct arena a = { 0 };
        static struct url_target target;
        CHECK_OK(url_parse(&a, str_of(t[i].text), &target, NULL));
        CHECK_STR(target.raw_path, t[i].path);
        CHECK_STR(target.raw_query, t[i].query);
        arena_fini(&a);
    }
}

TEST(targets_that_could_mean_another_path_are_refused)
{
    static const char *const bad[] = { "",        "?a",   "*",       "a/b",    "host:80",
                                       "/a/../b", "/a/.", "/%2e%2e", "/a%2Fb", "/a%00b",
                                       "/%",      "/%4",  "/%zz",    "/?a=%",  "/?%=a" };
    struct arena a = { 0 };
    static struct url_target t;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK_ERR(url_parse(&a, str_of(bad[i]), &t, NULL), E_INVALID);
    arena_fini(&a);
}

TEST(targets_are_bounded)
{
    struct arena a = { 0 };
    static struct url_target t;
    scoped(buf_fini_scoped) struct buf path = BUF_INIT(10000), query = BUF_INIT(10000);
    buf_add_cstr(&query, "/?");
    for (int i = 0; i < URL_MAX_SEGMENTS; i++)
        buf_add_cstr(&path, "/a");
    for (int i = 0; i < URL_MAX_PAIRS; i++)
        buf_add_cstr(&query, "a=b&");
    CHECK_OK(url_parse(&a, buf_str(&path), &t, NULL));
    CHECK_OK(url_parse(&a, buf_str(&query), &t, NULL));
    buf_add_cstr(&path, "/a");
    buf_add_cstr(&query, "a");
    CHECK_ERR(url_parse(&a, buf_str(&path), &t, NULL), E_LIMIT);
    CHECK_ERR(url_parse(&a, buf_str(&query), &t, NULL), E_LIMIT);
    arena_fini(&a);
}

TEST(every_byte_survives_percent_encoding)
{
    struct arena a = { 0 };
    char all[256];
    struct str back;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1000);
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    CHECK_OK(url_encode(&text, str_n(all, sizeof all)));
    for (size_t i = 0; i < text.n; i++)
        CHECK(strchr("%-._~", text.p[i]) || (text.p[i] | 0x20) >= 'a' || text.p[i] <= '9');
    CHECK_OK(url_decode(&a, buf_str(&text), false, &back));
    CHECK(str_eq(back, str_n(all, sizeof all)));
    CHECK_OK(url_decode(&a, STR("a+b%2b"), false, &back));
    CHECK_STR(back, "a+b+");
    CHECK_OK(url_decode(&a, STR("a+b%2b"), true, &back));
    CHECK_STR(back, "a b+");
    arena_fini(&a);
}

TEST_MAIN
