/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads of the published operator ABIs: known bytes, damage, round trips. */
#include "codec/bincode.h"

#include "base/mem.h"
#include "test.h"

#include <errno.h>

static void add_hex(struct buf *to, const char *hex)
{
    for (const char *p = hex; *p; p++) {
        if (*p == ' ')
            continue;
        unsigned v = 0;
        for (int i = 0; i < 2; i++, p += i < 2)
            v = v * 16 + (unsigned)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
        buf_add_u8(to, (uint8_t)v);
    }
}

static struct buf from_hex(const char *hex)
{
    struct buf b = BUF_INIT(10000);
    add_hex(&b, hex);
    return b;
}

#define GET_VERSION                                                                                \
    "0300000000000000 474554 0800000000000000 2f76657273696f6e 0000000000000000 0000000000000000"
#define POST_CONFIGMAP                                                                             \
    "0400000000000000 504f5354 2000000000000000 "                                                  \
    "2f6170692f76312f6e616d657370616365732f782f636f6e6669676d6170733f "                            \
    "0100000000000000 0c00000000000000 636f6e74656e742d74797065 "                                  \
    "0100000000000000 1000000000000000 6170706c69636174696f6e2f6a736f6e "                          \
    "0200000000000000 7b7d"
#define META_OK                                                                                    \
    "c800 0100000000000000 0c00000000000000 636f6e74656e742d74797065 "                             \
    "0100000000000000 1000000000000000 6170706c69636174696f6e2f6a736f6e"
#define WATCH_PODS                                                                                 \
    "0200000000000000 7631 0000000000000000 0300000000000000 506f64 0200000000000000 7631 "        \
    "01 0700000000000000 64656661756c74 0200000000000000 3432 00 00 00 00"

TEST(a_request_without_headers_is_43_bytes)
{
    scoped(buf_fini_scoped) struct buf want = from_hex(GET_VERSION), got = BUF_INIT(1000);
    struct bincode_request r;
    CHECK_INT(want.n, 43);
    CHECK_OK(bincode_request_decode(buf_str(&want), &r, NULL));
    CHECK_STR(r.method, "GET");
    CHECK_STR(r.uri, "/version");
    CHECK_STR(r.target, "/version");
    CHECK_INT(r.headers.n, 0);
    CHECK_STR(r.body, "");
    CHECK_OK(bincode_request_encode(&got, &r));
    CHECK(str_eq(buf_str(&got), buf_str(&want)));
    bincode_request_fini(&r);
}

TEST(a_request_with_a_body_is_122_bytes)
{
    scoped(buf_fini_scoped) struct buf want = from_hex(POST_CONFIGMAP), got = BUF_INIT(1000);
    struct bincode_request r;
    CHECK_INT(want.n, 122);
    CHECK_OK(bincode_request_decode(buf_str(&want), &r, NULL));
    CHECK_STR(r.method, "POST");
    CHECK_STR(r.target, "/api/v1/namespaces/x/configmaps?");
    CHECK_STR(headers_get(&r.headers, "content-type"), "application/json");
    CHECK_STR(r.body, "{}");
    CHECK(r.body.p == want.p + 120); /* borrowed */
    CHECK_OK(bincode_request_encode(&got, &r));
    CHECK(str_eq(buf_str(&got), buf_str(&want)));
    bincode_request_fini(&r);
}

TEST(a_response_head_is_62_bytes)
{
    scoped(buf_fini_scoped) struct buf want = from_hex(META_OK), got = BUF_INIT(1000);
    struct bincode_response r = { .status = 200, .body = STR("body") }, back;
    CHECK_INT(want.n, 62);
    CHECK_OK(headers_addc(&r.headers, "Content-Type", "application/json"));
    CHECK_OK(bincode_response_meta_encode(&got, &r));
    CHECK(str_eq(buf_str(&got), buf_str(&want)));
    CHECK_OK(bincode_response_meta_decode(buf_str(&got), &back, NULL));
    CHECK_INT(back.status, 200);
    CHECK_STR(headers_get(&back.headers, "content-type"), "application/json");
    bincode_response_fini(&back);

    add_hex(&want, "0400000000000000 626f6479");
    buf_reset(&got);
    CHECK_OK(bincode_response_encode(&got, &r));
    CHECK(str_eq(buf_str(&got), buf_str(&want)));
    CHECK_OK(bincode_response_decode(buf_str(&got), &back, NULL));
    CHECK_STR(back.body, "body");
    bincode_response_fini(&back);
    bincode_response_fini(&r);
}

TEST(a_watch_request_is_69_bytes)
{
    scoped(buf_fini_scoped) struct buf want = from_hex(WATCH_PODS), got = BUF_INIT(1000);
    struct bincode_watch w;
    CHECK_INT(want.n, 69);
    CHECK_OK(bincode_watch_decode(buf_str(&want), &w, NULL));
    CHECK_STR(w.api_version, "v1");
    CHECK_STR(w.group, "");
    CHECK_STR(w.kind, "Pod");
    CHECK_STR(w.version, "v1");
    CHECK_STR(w.ns, "default");
    CHECK_STR(w.resource_version, "42");
    CHECK(!w.field_selector.p && !w.label_selector.p);
    CHECK(!w.include_uninitialized && !w.allow_bookmarks);
    CHECK_OK(bincode_watch_encode(&got, &w));
    CHECK(str_eq(buf_str(&got), buf_str(&want)));
}

TEST(truncation_is_refused_and_trailing_bytes_are_not)
{
    static const char *const vectors[] = { GET_VERSION, POST_CONFIGMAP, META_OK, WATCH_PODS };
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        scoped(buf_fini_scoped) struct buf whole = from_hex(vectors[i]);
        size_t needed = whole.n;
        buf_add_cstr(&whole, "tail");
        for (size_t n = 0; n <= whole.n; n++) {
            struct bincode_request q = { 0 };
            struct bincode_response s = { 0 };
            struct bincode_watch w;
            struct err err = { 0 };
            char *copy = xstrndup(whole.p, n);
            struct str bytes = str_n(copy, n);
            int r = i < 2    ? bincode_request_decode(bytes, &q, &err)
                    : i == 2 ? bincode_response_meta_decode(bytes, &s, &err)
                             : bincode_watch_decode(bytes, &w, &err);
            CHECK_ERR(r, n < needed ? E_PARSE : 0);
            CHECK(n >= needed || strstr(err.text, "truncated"));
            bincode_request_fini(&q);
            bincode_response_fini(&s);
            free(copy);
        }
    }
}

/* Encode a request by hand with these parts; decode it. */
static int decode_parts(struct str method, struct str uri, struct str name, struct str value,
                        struct bincode_request *ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    struct str parts[] = { method, uri };
    for (size_t i = 0; i < 2; i++) {
        buf_add_le64(&b, parts[i].n);
        buf_add_str(&b, parts[i]);
    }
    buf_add_le64(&b, 1);
    buf_add_le64(&b, name.n);
    buf_add_str(&b, name);
    buf_add_le64(&b, 1);
    buf_add_le64(&b, value.n);
    buf_add_str(&b, value);
    buf_add_le64(&b, 0);
    return bincode_request_decode(buf_str(&b), ret, err);
}

TEST(what_http_does_not_allow_is_refused)
{
    static const struct {
        const char *method, *uri, *name, *value;
        int want;
    } t[] = {
        { "GET", "/", "a", "b", 0 },
        { "", "/", "a", "b", E_PARSE },
        { "GE T", "/", "a", "b", E_PARSE },
        { "GET\n", "/", "a", "b", E_PARSE },
        { "G\xff", "/", "a", "b", E_PARSE },
        { "ABCDEFGHABCDEFGHABCDEFGHABCDEFGHX", "/", "a", "b", E_LIMIT },
        { "GET", "", "a", "b", E_PARSE },
        { "GET", "*", "a", "b", E_PARSE },
        { "GET", "version", "a", "b", E_PARSE },
        { "GET", "/a b", "a", "b", E_PARSE },
        { "GET", "/a\r\nx: y", "a", "b", E_PARSE },
        { "GET", "/a#b", "a", "b", E_PARSE },
        { "GET", "/\xc3\xa9", "a", "b", E_PARSE },
        { "GET", "ftp://host/", "a", "b", E_PARSE },
        { "GET", "http://host?q=/", "a", "b", E_PARSE },
        { "GET", "/", "", "b", E_PARSE },
        { "GET", "/", "a b", "b", E_PARSE },
        { "GET", "/", "a\xff", "b", E_PARSE },
        { "GET", "/", "a", "b\r\nc: d", E_PARSE },
        { "GET", "/", "a", "\xff\tb", 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct bincode_request r = { 0 };
        CHECK_ERR(decode_parts(str_of(t[i].method), str_of(t[i].uri), str_of(t[i].name),
                               str_of(t[i].value), &r, NULL),
                  t[i].want);
        bincode_request_fini(&r);
    }
}

TEST(the_authority_of_an_absolute_uri_is_ignored)
{
    static const struct {
        const char *uri, *target;
    } t[] = {
        { "http://h:1/a?b=/c", "/a?b=/c" },
        { "HTTPS://[::1]/x", "/x" },
        { "http://host", "/" },
        { "/http://x/y", "/http://x/y" },
        { "//double/slash?&watch=true", "//double/slash?&watch=true" },
    };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1000);
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct bincode_request r = { .method = STR("GET"), .uri = str_of(t[i].uri) };
        buf_reset(&b);
        CHECK_OK(bincode_request_encode(&b, &r));
        CHECK_OK(bincode_request_decode(buf_str(&b), &r, NULL));
        CHECK_STR(r.uri, t[i].uri);
        CHECK_STR(r.target, t[i].target);
        bincode_request_fini(&r);
    }
}

TEST(limits_of_headers_and_strings)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    struct bincode_response r;
    struct err err = { 0 };
    /* One name with more values than struct headers holds. */
    add_hex(&b, "c800 0100000000000000 0100000000000000 61 0101000000000000");
    for (int i = 0; i <= HEADERS_MAX; i++)
        add_hex(&b, "0000000000000000");
    CHECK_ERR(bincode_response_meta_decode(buf_str(&b), &r, &err), E_LIMIT);
    CHECK_STR(str_of(err.text), "HttpResponseMeta: too many headers");
    /* A count that the input cannot hold ends with the input. */
    buf_reset(&b);
    add_hex(&b, "c800 ffffffffffffffff");
    CHECK_ERR(bincode_response_meta_decode(buf_str(&b), &r, NULL), E_PARSE);
    /* A name without values is no header. */
    buf_reset(&b);
    add_hex(&b, "c800 0100000000000000 0100000000000000 61 0000000000000000");
    CHECK_OK(bincode_response_meta_decode(buf_str(&b), &r, NULL));
    CHECK_INT(r.headers.n, 0);
    bincode_response_fini(&r);
    /* Status out of range. */
    for (int status = 99; status <= 1000; status += 901) {
        buf_reset(&b);
        buf_add_le16(&b, (uint16_t)status);
        buf_add_le64(&b, 0);
        CHECK_ERR(bincode_response_meta_decode(buf_str(&b), &r, NULL), E_PARSE);
    }
    char *big = xalloc(BINCODE_MAX_STRING_BYTES + 2);
    memset(big, 'x', BINCODE_MAX_STRING_BYTES + 1);
    for (unsigned more = 0; more < 2; more++) {
        struct bincode_watch w = { .kind = str_n(big, BINCODE_MAX_STRING_BYTES + more) };
        buf_reset(&b);
        CHECK_OK(bincode_watch_encode(&b, &w));
        CHECK_ERR(bincode_watch_decode(buf_str(&b), &w, &err), more ? E_LIMIT : 0);
    }
    CHECK_STR(str_of(err.text), "WatchRequest: kind is too long");
    free(big);
}

TEST(wrong_tags_and_malformed_utf8_are_refused)
{
    scoped(buf_fini_scoped) struct buf b = from_hex(WATCH_PODS);
    struct bincode_watch w;
    static const size_t flags[] = { 39, 65, 66, 67, 68 };
    b.p[9] = '\xff';
    CHECK_ERR(bincode_watch_decode(buf_str(&b), &w, NULL), E_PARSE);
    b.p[9] = '1';
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        char was = b.p[flags[i]];
        CHECK(was == (i == 0));
        b.p[flags[i]] = 2;
        CHECK_ERR(bincode_watch_decode(buf_str(&b), &w, NULL), E_PARSE);
        b.p[flags[i]] = was;
    }
    CHECK_OK(bincode_watch_decode(buf_str(&b), &w, NULL));
}

TEST(random_requests_survive_with_repeated_headers_grouped)
{
    for (int round = 0; round < 2000; round++) {
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT), again = b;
        struct bincode_request r = { .method = STR("PATCH"),
                                     .uri = STR("/x"),
                                     .body = STR("\0\xff") };
        struct bincode_request back;
        for (uint64_t n = test_random_below(12); n; n--) {
            char name[2] = { (char)('a' + test_random_below(4)), 0 }, value[24];
            (void)snprintf(value, sizeof value, "%" PRIx64, test_random() >> test_random_below(64));
            CHECK_OK(headers_addc(&r.headers, name, value));
        }
        CHECK_OK(bincode_request_encode(&b, &r));
        CHECK_OK(bincode_request_decode(buf_str(&b), &back, NULL));
        CHECK_INT(back.headers.n, r.headers.n);
        for (char c = 'a'; c < 'e'; c++) { /* per name the same values in the same order */
            char name[2] = { c, 0 };
            size_t k = 0;
            for (size_t i = 0; i < r.headers.n; i++) {
                if (!str_is(headers_name(&r.headers, i), name))
                    continue;
                while (!str_is(headers_name(&back.headers, k), name))
                    k++;
                CHECK(str_eq(headers_value(&r.headers, i), headers_value(&back.headers, k++)));
            }
        }
        CHECK(str_eq(back.body, r.body));
        CHECK_OK(bincode_request_encode(&again, &back));
        CHECK(str_eq(buf_str(&again), buf_str(&b)));
        bincode_request_fini(&r);
        bincode_request_fini(&back);
    }
}

TEST_MAIN
