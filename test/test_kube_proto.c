/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube/proto: hand-made messages, malformed ones, and upstream's golden data (the testdata of the
 * k8s.io/api module in the version of the tables, found in Go's module cache or by
 * K8S_API_TESTDATA; skipped without).
 */
#include "test.h"

#include "base/mem.h"
#include "base/sys.h"
#include "kube/builtin.h"
#include "kube/builtin_tables.h"
#include "kube/object.h"
#include "kube/proto.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

static const struct schema *config_map(void)
{
    return builtin_schema(STR(""), STR("v1"), STR("ConfigMap"));
}

/* k8s\0, Unknown{TypeMeta{v1, ConfigMap}, raw = ConfigMap{metadata{name "a"}, data{"k": "v"}}, "",
 * ""} */
#define CONFIG_MAP_RAW                                                                             \
    "\x0a\x03\x0a\x01"                                                                             \
    "a"                                                                                            \
    "\x12\x06\x0a\x01"                                                                             \
    "k"                                                                                            \
    "\x12\x01"                                                                                     \
    "v"
static const char envelope[] = "k8s\0"
                               "\x0a\x0f\x0a\x02"
                               "v1"
                               "\x12\x09"
                               "ConfigMap"
                               "\x12\x0d" CONFIG_MAP_RAW "\x1a\x00\x22\x00";

TEST(a_message_in_its_envelope_becomes_an_object)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct proto_envelope env;
    struct json *obj;
    CHECK_OK(proto_open(str_n(envelope, sizeof envelope - 1), &env, &err));
    CHECK_STR(env.api_version, "v1");
    CHECK_STR(env.kind, "ConfigMap");
    CHECK_OK(proto_decode(&a, config_map(), env.raw, &obj, &err));
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1000);
    CHECK_OK(json_write(&b, obj));
    CHECK_STR(buf_str(&b), "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}");
    arena_fini(&a);
}

TEST(malformed_messages_are_refused)
{
    struct err err = { 0 };
    struct proto_envelope env;
    CHECK_ERR(proto_open(STR("{}"), &env, &err), E_PARSE);
    CHECK_ERR(proto_open(STR(""), &env, &err), E_PARSE);
    for (size_t n = 4; n < sizeof envelope - 1;
         n++) { /* every cut, and every flipped byte, ends in an answer */
        struct arena a = { 0 };
        struct json *obj;
        if (proto_open(str_n(envelope, n), &env, &err) >= 0)
            (void)proto_decode(&a, config_map(), env.raw, &obj, &err);
        char copy[sizeof envelope];
        memcpy(copy, envelope, sizeof copy);
        copy[n] = (char)(copy[n] ^ (char)(1 + test_random_below(255)));
        if (proto_open(str_n(copy, sizeof envelope - 1), &env, &err) >= 0)
            (void)proto_decode(&a, config_map(), env.raw, &obj, &err);
        arena_fini(&a);
    }
    struct arena a = { 0 };
    struct json *obj;
    CHECK_ERR(proto_decode(&a, config_map(), STR("\x0a\x7f"), &obj, &err),
              E_PARSE); /* longer than it is */
    CHECK_ERR(proto_decode(&a, config_map(), STR("\x08\x01"), &obj, &err),
              E_PARSE); /* a number where a message is due */
    CHECK_ERR(proto_decode(&a, config_map(), STR("\x0b\x0c"), &obj, &err), E_PARSE); /* a group */
    CHECK_OK(proto_decode(&a, config_map(), STR("\x98\x06\x01"), &obj,
                          &err)); /* a field of the future */
    arena_fini(&a);
}

/* ------------------------------------------------------------------ encoding by hand */

static struct json *parsed(struct arena *a, const char *text)
{
    struct json *v;
    CHECK_OK(json_parse(a, str_of(text), NULL, &v, NULL));
    return v;
}

static const struct schema *crd_kind(void)
{
    return builtin_schema(STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition"));
}

TEST(an_object_becomes_a_message_in_its_envelope)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1000);
    const struct json *v = parsed(
        &a, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{\"b\":\"2\",\"a\":\"1\"}}");
    static const char want[] = "k8s\0"
                               "\x0a\x0f\x0a\x02v1\x12\x09"
                               "ConfigMap"
                               "\x12\x22" /* raw */
                               "\x0a\x10\x0a\x00\x12\x00\x1a\x00\x22\x00\x2a\x00\x32\x00\x38\x00"
                               "\x42\x00" /* metadata: all zero */
                               "\x12\x06\x0a\x01"
                               "a\x12\x01"
                               "1\x12\x06\x0a\x01"
                               "b\x12\x01"
                               "2\x1a\x00\x22\x00";
    CHECK_OK(proto_encode_object(&a, config_map(), v, &b));
    CHECK_INT(b.n, sizeof want - 1);
    CHECK(memcmp(b.p, want, b.n) == 0);
    arena_fini(&a);
}

TEST(long_messages_have_long_lengths)
{
    for (size_t n = 1; n <= 1 << 22; n = n * 2 + 1) {
        struct arena a = { 0 };
        struct err err = { 0 };
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(16 << 20), text = BUF_INIT(16 << 20);
        struct proto_envelope env;
        struct json *back, *v = json_new_object(&a);
        char *room;
        CHECK_OK(buf_reserve(&text, n, &room));
        memset(room, 'x', n);
        buf_advance(&text, n);
        json_set_str(&a, json_obj(&a, v, "data"), "k", buf_str(&text));
        CHECK_OK(proto_encode_object(&a, config_map(), v, &b));
        CHECK_OK(proto_open(buf_str(&b), &env, &err));
        CHECK_OK(proto_decode(&a, config_map(), env.raw, &back, &err));
        CHECK(json_equal(json_getc(back, "data"), json_getc(v, "data")));
        arena_fini(&a);
    }
}

TEST(a_watch_event_is_a_frame_with_its_length)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1000);
    const struct json *v = parsed(&a, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}");
    (void)buf_add_cstr(&b, "before");
    CHECK_OK(proto_encode_event(&a, "ADDED", config_map(), v, &b));
    struct rd r = rd_init(b.p + 6, b.n - 6);
    CHECK_INT(rd_be32(&r), b.n - 10);
    CHECK_STR(rd_str(&r, 7), "\x0a\x05"
                             "ADDED");
    CHECK_INT(rd_u8(&r), 0x12); /* RawExtension */
    CHECK_INT(rd_u8(&r), rd_left(&r) - 1 + 1);
    CHECK_INT(rd_u8(&r), 0x0a);
    CHECK_INT(rd_u8(&r), rd_left(&r));
    CHECK(rd_left(&r) > 4 && memcmp(b.p + b.n - rd_left(&r), "k8s", 4) == 0);
    arena_fini(&a);
}

/* Unions of schemas and other things travel as messages of their own. */
TEST(definitions_survive_the_way_there_and_back)
{
    static const char text[] =
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
        "\"metadata\":{\"name\":\"a\"},\"spec\":{\"group\":\"g\",\"names\":{\"plural\":\"p\","
        "\"kind\":\"K\"},"
        "\"scope\":\"Namespaced\",\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
        "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"maximum\":1.5,\"default\":{\"b\":["
        "1,null]},"
        "\"enum\":[\"x\",2,null],\"items\":[{\"type\":\"string\"},{\"type\":\"integer\"}],"
        "\"properties\":{\"l\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
        "\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"
        "\"n\":{\"type\":\"object\",\"additionalProperties\":true},"
        "\"o\":{\"type\":\"object\",\"additionalProperties\":false}},"
        "\"dependencies\":{\"d\":[\"e\",\"f\"],\"g\":{\"type\":\"string\"}}}}}]},"
        "\"status\":{\"conditions\":null,\"acceptedNames\":{\"plural\":\"\",\"kind\":\"\"},"
        "\"storedVersions\":null}}";
    struct arena a = { 0 };
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(10000);
    struct proto_envelope env;
    struct json *back, *v = parsed(&a, text);
    CHECK_OK(schema_normalize(&a, crd_kind(), v, "", NULL, NULL, &err));
    CHECK_OK(proto_encode_object(&a, crd_kind(), v, &b));
    CHECK_OK(proto_open(buf_str(&b), &env, &err));
    CHECK_OK(proto_decode(&a, crd_kind(), env.raw, &back, &err));
    json_set_str(&a, back, "apiVersion", env.api_version);
    json_set_str(&a, back, "kind", env.kind);
    CHECK_OK(schema_normalize(&a, crd_kind(), back, "", NULL, NULL, &err));
    scoped(buf_fini_scoped) struct buf got = BUF_INIT(10000), want = BUF_INIT(10000);
    (void)json_write_sorted(&got, back);
    (void)json_write_sorted(&want, v);
    CHECK_STR(buf_str(&got), buf_cstr(&want));
    arena_fini(&a);
}

/* ------------------------------------------------------------------ golden data */

static char *golden_dir(void)
{
    const char *env = getenv("K8S_API_TESTDATA"), *cache = getenv("GOMODCACHE"),
               *path = getenv("GOPATH"), *home = getenv("HOME");
    if (env)
        return xstrdup(env);
    scoped(free_scoped) char *root = cache  ? xstrdup(cache)
                                     : path ? xasprintf("%s/pkg/mod", path)
                                            : xasprintf("%s/go/pkg/mod", home ? home : "");
    return xasprintf("%s/k8s.io/api@%s/testdata/HEAD", root, builtin_api_version);
}

/* "core.v1.ConfigMap.pb" */
static const struct schema *schema_of(struct str file)
{
    struct str kind, version, rest = str_slice(file, 0, file.n - 3);
    size_t dot = rest.n;
    while (dot && rest.p[dot - 1] != '.')
        dot--;
    kind = str_slice(rest, dot, rest.n);
    rest = str_slice(rest, 0, dot ? dot - 1 : 0);
    for (dot = rest.n; dot && rest.p[dot - 1] != '.'; dot--)
        ;
    version = str_slice(rest, dot, rest.n);
    struct str group = str_slice(rest, 0, dot ? dot - 1 : 0);
    const struct schema *s = builtin_schema(str_is(group, "core") ? STR("") : group, version, kind);
    return s || !str_is(group, "core") ? s : builtin_schema(STR("meta.k8s.io"), STR("v1"), kind);
}

static void check_same_tree(const char *name, const struct json *got, const struct json *want)
{
    scoped(buf_fini_scoped) struct buf g = BUF_INIT(8 << 20), w = BUF_INIT(8 << 20);
    if (json_equal(got, want))
        return;
    (void)json_write_sorted(&g, got);
    (void)json_write_sorted(&w, want);
    size_t i = 0;
    while (i < g.n && i < w.n && g.p[i] == w.p[i])
        i++;
    i = i > 60 ? i - 60 : 0;
    TEST_FAIL("%s differs: got ...%.200s, want ...%.200s", name, g.p + i, w.p + i);
}

static void check_bytes(const char *name, const char *from, const struct schema *s,
                        const struct json *v, struct str want)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf got = BUF_INIT(8 << 20);
    CHECK_OK(proto_encode_object(&a, s, v, &got));
    size_t i = 0;
    while (i < got.n && i < want.n && got.p[i] == want.p[i])
        i++;
    if (got.n != want.n || i < want.n)
        TEST_FAIL("%s from %s: %zu bytes instead of %zu, differs at %zu", name, from, got.n, want.n,
                  i);
    arena_fini(&a);
}

static void check_golden(int dir, struct str file, const struct schema *s)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf pb = BUF_INIT(8 << 20), js = BUF_INIT(8 << 20);
    scoped(free_scoped) char *pb_name = str_dup(file);
    scoped(free_scoped) char *js_name = xasprintf("%.*s.json", (int)file.n - 3, file.p);
    struct proto_envelope env;
    struct json *got, *want;
    CHECK_OK(sys_read_file(dir, pb_name, &pb, &err));
    CHECK_OK(sys_read_file(dir, js_name, &js, &err));
    CHECK_OK(proto_open(buf_str(&pb), &env, &err));
    CHECK_OK(proto_decode(&a, s, env.raw, &got, &err));
    CHECK_OK(json_parse(&a, buf_str(&js), NULL, &want, &err));
    json_set_str(&a, got, "apiVersion", env.api_version);
    json_set_str(&a, got, "kind", env.kind);
    struct json *untouched = json_clone(&a, want);
    CHECK_OK(schema_normalize(&a, s, got, "Object", NULL, NULL, &err));
    CHECK_OK(schema_normalize(&a, s, want, "Object", NULL, NULL, &err));
    check_same_tree(pb_name, got, untouched);
    check_same_tree(js_name, want, untouched);
    check_bytes(pb_name, "protobuf", s, got, buf_str(&pb));
    check_bytes(pb_name, "JSON", s, want, buf_str(&pb));
    arena_fini(&a);
}

TEST(upstreams_golden_messages_and_golden_json_become_each_other)
{
    scoped(free_scoped) char *path = golden_dir();
    DIR *d = opendir(path);
    if (!d)
        SKIP("no testdata of the module k8s.io/api in the version of the tables (go mod download, "
             "or K8S_API_TESTDATA)");
    size_t n = 0;
    for (struct dirent *e; (e = readdir(d));) {
        struct str file = str_of(e->d_name);
        const struct schema *s = str_has_suffix(file, STR(".pb")) ? schema_of(file) : NULL;
        if (!s)
            continue;
        check_golden(dirfd(d), file, s);
        n++;
    }
    (void)closedir(d);
    (void)printf("# %zu kinds\n", n);
    CHECK(n > 90);
}

TEST_MAIN
