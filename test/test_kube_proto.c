/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube/proto: hand-made messages, malformed ones, and upstream's golden data (the testdata of the
 * k8s.io/api module in the version of the tables, found in Go's module cache or by
 * K8S_API_TESTDATA; skipped without).
 */
#include "test.h"

#include "base/mem.h"
#include "base/sys.h"
#include "kube/model/builtin.h"
#include "kube/model/builtin_tables.h"
#include "kube/model/proto.h"
#include "kube/model/proto_memory.h"
#include "kube/model/proto_transcode.h"
#include "kube/rules/object_rules.h"

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

/* ------------------------------------------------------------------ without a tree */

static void check_same_bytes(const char *what, struct str got, struct str want)
{
    size_t i = 0;
    while (i < got.n && i < want.n && got.p[i] == want.p[i])
        i++;
    if (got.n != want.n || i < want.n)
        TEST_FAIL("%s: %zu bytes instead of %zu, differs at %zu", what, got.n, want.n, i);
}

/* Text and tree give the same bytes, with and without a revision to add. */
static void check_transcoded(const char *what, const struct schema *s, struct str text)
{
    struct proto_transcoder t = PROTO_TRANSCODER_INIT;
    for (int round = 0; round < 4; round++) { /* the last two with values kept from before */
        bool revised = round % 2;
        t.remembers = round > 0;
        struct arena a = { 0 };
        scoped(buf_fini_scoped) struct buf got = BUF_INIT(16 << 20), want = BUF_INIT(16 << 20);
        struct proto_source from = { s, text, revised ? STR("4711") : STR("") };
        struct json *v;
        CHECK_OK(json_parse(&a, text, NULL, &v, NULL));
        if (revised && !json_is(json_getc(v, "metadata"), JSON_OBJECT)) {
            arena_fini(&a);
            continue; /* a kind that is never stored */
        }
        if (revised)
            json_set_str(&a, json_obj(&a, v, "metadata"), "resourceVersion", STR("4711"));
        struct str api_version = json_get_str(v, "apiVersion"), kind = json_get_str(v, "kind");
        CHECK_OK(proto_encode_event(&a, "ADDED", s, v, &want));
        CHECK_OK(proto_transcode_event(&t, "ADDED", api_version, kind, &from, &got));
        check_same_bytes(what, buf_str(&got), buf_str(&want));
        arena_fini(&a);
    }
    proto_transcoder_fini(&t);
}

static const struct schema *pod_kind(void)
{
    return builtin_schema(STR(""), STR("v1"), STR("Pod"));
}

TEST(text_is_transcoded_as_its_tree_is_encoded)
{
    static const char *const pods[] = {
        "{\"metadata\":{}}",
        /* Not in the order of the numbers, fields that protobuf does not have, zero values. */
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\","
        "\"creationTimestamp\":"
        "\"2026-01-02T03:04:05Z\"},\"spec\":{\"initContainers\":[{\"name\":\"i\",\"resources\":{}}]"
        ","
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":2}},"
        "\"livenessProbe\":{\"httpGet\":{\"path\":\"/\",\"port\":\"web\"},\"timeoutSeconds\":1},"
        "\"env\":[{\"name\":\"A\",\"value\":\"b\\n\\u00e9\xc3\xa9\"}]}],\"volumes\":[{\"name\":"
        "\"v\","
        "\"emptyDir\":{}}],\"unheard\":{\"of\":[1,\"}\"]}},\"status\":{\"phase\":\"Running\","
        "\"observedGeneration\":3}}",
        /* Maps are sorted by key, whatever the keys hold. */
        "{\"metadata\":{\"labels\":{\"b\":\"1\",\"a\":\"2\",\"\\t\":\"3\",\"c\":\"4\"},"
        "\"annotations\":"
        "{\"x\":null},\"finalizers\":null,\"ownerReferences\":[]}}",
        /* What is of another type than it should be. */
        "{\"metadata\":{\"labels\":[],\"generation\":\"x\",\"name\":{},\"uid\":[{}],\"finalizers\":"
        "{}},"
        "\"spec\":{\"containers\":[null,3],\"hostNetwork\":\"yes\",\"priority\":1.5},\"status\":7}",
        /* In the order in which a server completes them; nulls before and after their fields. */
        "{\"metadata\":{\"name\":\"p\",\"managedFields\":[],\"namespace\":\"n\",\"uid\":\"u\","
        "\"generation\":2},\"spec\":{\"volumes\":null,\"priority\":-7,\"containers\":[{\"name\":"
        "\"c\"}],\"nodeName\":null,\"tolerations\":null},\"status\":{\"conditions\":[{"
        "\"status\":\"True\",\"lastProbeTime\":null,\"type\":null}],\"qosClass\":null,"
        "\"startTime\":\"2026-02-30T00:00:00Z\",\"podIP\":\"1.2.3.4\"}}",
        /* Numbers and times in all their forms. */
        "{\"metadata\":{\"generation\":-12,\"creationTimestamp\":\"2026-01-02T03:04:60Z\","
        "\"deletionTimestamp\":\"1969-12-31T23:59:59Z\",\"deletionGracePeriodSeconds\":1e1,"
        "\"managedFields\":[{\"time\":\"2026-01-02T03:04:05.25+01:00\"},{\"time\":\"x\"}]},"
        "\"spec\":{\"terminationGracePeriodSeconds\":9223372036854775807,\"priority\":1.0,"
        "\"activeDeadlineSeconds\":123456789012345678,\"securityContext\":{\"runAsUser\":-0}}}",
        /* managedFields are text within. */
        "{\"metadata\":{\"managedFields\":[{\"manager\":\"m\",\"fieldsV1\":{\"f:metadata\":{\"f:"
        "labels\":{"
        "\".\":{},\"k:{\\\"name\\\":\\\"x\\\"}\":{}}}}},{\"fieldsV1\":null}]}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(pods); i++)
        check_transcoded(pods[i], pod_kind(), str_of(pods[i]));
    check_transcoded("bytes", builtin_schema(STR(""), STR("v1"), STR("Secret")),
                     STR("{\"metadata\":{},\"data\":{\"b\":null,\"a\":\"aGk=\"}}"));
    check_transcoded(
        "unions", crd_kind(),
        STR("{\"metadata\":{},\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":{"
            "\"maximum\":1.5,\"default\":{\"b\":[1,null]},\"items\":{\"type\":\"string\"},"
            "\"properties\":{\"z\":{\"additionalProperties\":true},\"a\":{\"items\":[{}],"
            "\"dependencies\":{\"d\":[\"e\"],\"g\":{}}}}}}}]}}"));
}

TEST(text_that_is_no_normalized_object_is_not_transcoded)
{
    static const char *const bad[] = {
        "",
        "[]",
        "null",
        "{",
        "{\"metadata\"",
        "{\"metadata\":{\"name\":\"x}}",
        "{\"metadata\":{}}x",
        "{\"metadata\":{\"labels\":{\"a\":\"1\",\"b\":\"2\",\"a\":\"3\"}}}", /* repeated */
        "{\"metadata\":{\"generation\":}}",
        "{\"metadata\":{\"name\":nul}}",
        "{\"metadata\":null}",
        "{\"spec\":{}}" /* nowhere to put the revision */
    };
    struct proto_transcoder t = PROTO_TRANSCODER_INIT;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1000);
    (void)buf_add_cstr(&b, "before");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct proto_source from = { pod_kind(), str_of(bad[i]), STR("1") };
        CHECK_ERR(proto_transcode_object(&t, STR("v1"), STR("Pod"), &from, &b), E_UNSUPPORTED);
        CHECK_STR(buf_str(&b), "before");
    }
    struct proto_source from = { config_map(), STR("{\"metadata\":{},\"data\":{\"a\":\"b\"}}"),
                                 STR("") };
    scoped(buf_fini_scoped) struct buf small = BUF_INIT(20);
    CHECK_ERR(proto_transcode_object(&t, STR("v1"), STR("ConfigMap"), &from, &small), -EMSGSIZE);
    proto_transcoder_fini(&t);
}

static void add_map(struct buf *to, size_t n, char value)
{
    for (size_t i = 0; i < n; i++)
        (void)buf_printf(to, "%s\"key-%zu\":\"%c%c%c\"", i ? "," : "", i, value, value, value);
}

static void add_pod(struct buf *to, size_t n, char a, char b)
{
    (void)buf_printf(to, "{\"metadata\":{\"name\":\"%c%c\",\"annotations\":{", a, b);
    add_map(to, n, a);
    (void)buf_add_cstr(to, "},\"labels\":{");
    add_map(to, 4, b);
    (void)buf_printf(to,
                     "}},\"spec\":{\"containers\":[{\"name\":\"%c\",\"env\":[{\"name\":\"N\","
                     "\"value\":\"as long as is worth it: %c\"}]},{\"name\":\"%c\",\"env\":[{"
                     "\"name\":\"N\",\"value\":\"as long as is worth it: %c\"}]}]}}",
                     a, a, b, b);
}

/* Values of the objects before, the same, shorter, longer, and too long to be kept. */
TEST(values_that_are_kept_from_object_to_object_change_no_bytes)
{
    static const size_t sizes[] = { 0, 1, 4, 5, 300, 5000 };
    struct proto_transcoder kept = PROTO_TRANSCODER_INIT, fresh = PROTO_TRANSCODER_INIT;
    kept.remembers = true;
    for (int i = 0; i < 3000; i++) {
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20), got = BUF_INIT(1 << 20),
                                           want = BUF_INIT(1 << 20);
        add_pod(&text, sizes[test_random_below(ARRAY_LEN(sizes))],
                (char)('a' + test_random_below(2)), (char)('a' + test_random_below(2)));
        struct proto_source from = { pod_kind(), buf_str(&text), STR("1") };
        CHECK_OK(proto_transcode_field(&fresh, 2, &from, &want));
        CHECK_OK(proto_transcode_field(&kept, 2, &from, &got));
        check_same_bytes("kept", buf_str(&got), buf_str(&want));
    }
    proto_transcoder_fini(&kept);
    proto_transcoder_fini(&fresh);
}

TEST(memory_of_values_is_bounded)
{
    struct proto_memory *m = proto_memory_new();
    scoped(free_scoped) char *text = xalloc(PROTO_MEMORY_VALUE_MAX_BYTES);
    size_t n = PROTO_MEMORY_VALUE_MAX_BYTES / 2, found = 0, got;
    struct str bytes;
    for (int i = 0; i < 1000; i++) {
        struct proto_place at = { &text[i], 0 };
        proto_memory_keep(m, at, str_n(text, n), str_n(text, n));
        at = (struct proto_place){ &text[i], 1 };
        proto_memory_keep(m, at, str_n(text, n), str_n(text, n + 1));
        CHECK(!proto_memory_find(m, at, str_n(text, 2 * n), &got, &bytes));
    }
    for (int i = 0; i < 1000; i++)
        found += proto_memory_find(m, (struct proto_place){ &text[i], 0 }, str_n(text, 2 * n), &got,
                                   &bytes);
    CHECK(found > 0 && found * 2 * n <= PROTO_MEMORY_MAX_BYTES);
    proto_memory_free(m);
}

/* ---- random objects ---- */

static struct json *random_text(struct arena *a)
{
    static const char *const texts[] = {
        "",
        "x",
        "100m",
        "1.5Gi",
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.000006Z",
        "1h",
        "aGk=",
        "\n\"\\",
        "\xc3\xa9",
        "as long as a text that is worth to be kept",
    };
    return json_new_cstr(a, texts[test_random_below(ARRAY_LEN(texts))]);
}

/* Of a type that may be due. */
static struct json *random_scalar(struct arena *a)
{
    static const int64_t numbers[] = { 0, -1, 7, 4000, INT32_MAX, INT64_MIN, INT64_MAX };
    switch (test_random_below(6)) {
    case 0:
        return json_new_null(a);
    case 1:
        return json_new_bool(a, test_random_below(2));
    case 2:
        return json_new_int(a, numbers[test_random_below(ARRAY_LEN(numbers))]);
    case 3:
        return json_new_float(a, 1.5);
    default:
        return random_text(a);
    }
}

static struct json *random_any(struct arena *a, unsigned depth)
{
    struct json *v = test_random_below(2) ? json_new_array(a) : json_new_object(a);
    if (depth == 0 || test_random_below(3) == 0)
        return random_scalar(a);
    for (size_t n = test_random_below(4); n; n--) {
        if (v->type == JSON_ARRAY)
            json_add(v, random_any(a, depth - 1));
        else
            json_set(a, v, json_str(random_text(a)), random_any(a, depth - 1));
    }
    return v;
}

static struct json *random_of(struct arena *a, const struct schema *s, unsigned depth);

/* Some of its fields, in any order. */
static struct json *random_object(struct arena *a, const struct schema *s, unsigned depth)
{
    size_t n, part = 1 + test_random_below(6);
    const struct schema_field *f = schema_fields(s, &n);
    struct json *v = json_new_object(a), *mixed = json_new_object(a);
    for (size_t i = 0; i < n; i++)
        if (test_random_below(6) < part)
            json_set(a, v, f[i].name, random_of(a, f[i].schema, depth));
    if (test_random_below(2))
        json_set(a, v, STR("unheardOf"), random_any(a, 2));
    if (test_random_below(2))
        return v;
    while (v->n) {
        struct json *m = v->first;
        for (size_t i = test_random_below(v->n); i; i--)
            m = m->next;
        struct str key = m->key;
        (void)json_remove(v, m);
        json_set(a, mixed, key, m);
    }
    return mixed;
}

static struct json *random_of(struct arena *a, const struct schema *s, unsigned depth)
{
    bool is_map = s->type == SCHEMA_MAP, is_list = s->type == SCHEMA_ARRAY;
    if (test_random_below(16) == 0 || depth == 0)
        return random_any(a, MIN(depth, 2));
    if (s->type == SCHEMA_OBJECT && s->builtin)
        return random_object(a, s, depth - 1);
    if (!is_map && !is_list)
        return s->type == SCHEMA_BOOL || s->type == SCHEMA_INT32 || s->type == SCHEMA_INT64
                   ? random_scalar(a)
               : s->type == SCHEMA_ANY || s->type == SCHEMA_RAW || s->type == SCHEMA_FIELDS
                   ? random_any(a, 2)
                   : random_text(a);
    struct json *v = is_map ? json_new_object(a) : json_new_array(a);
    for (size_t n = test_random_below(4); n; n--) {
        struct json *item = random_of(a, s->items, depth - 1);
        if (is_list)
            json_add(v, item);
        else
            json_set(a, v, json_str(random_text(a)), item);
    }
    return v;
}

/* Take values from the object before. */
static struct json *mixed_with(struct arena *a, const struct json *v, const struct json *before)
{
    if (test_random_below(3) == 0 || v->type != before->type || v->type < JSON_ARRAY)
        return json_clone(a, test_random_below(2) ? v : before);
    struct json *to = v->type == JSON_ARRAY ? json_new_array(a) : json_new_object(a);
    const struct json *old = before->first;
    json_each (m, v) {
        const struct json *was = v->type == JSON_ARRAY ? old : json_get(before, m->key);
        struct json *one = was ? mixed_with(a, m, was) : json_clone(a, m);
        if (v->type == JSON_ARRAY)
            json_add(to, one);
        else
            json_set(a, to, m->key, one);
        old = old ? old->next : NULL;
    }
    return to;
}

/* One text through a transcoder that remembers; whether it was transcoded. */
static bool transcode_random(struct proto_transcoder *t, const struct schema *s, struct str text)
{
    struct arena a = { 0 };
    struct json *v;
    scoped(buf_fini_scoped) struct buf got = BUF_INIT(16 << 20), want = BUF_INIT(16 << 20);
    struct proto_source from = { s, text, STR("") };
    CHECK_OK(json_parse(&a, text, NULL, &v, NULL));
    CHECK_OK(proto_encode_field(&a, 2, s, v, &want));
    int r = proto_transcode_field(t, 2, &from, &got);
    if (r < 0)
        CHECK_ERR(r, E_UNSUPPORTED);
    else
        check_same_bytes(buf_cstr(&want), buf_str(&got), buf_str(&want));
    arena_fini(&a);
    return r >= 0;
}

TEST(random_objects_are_transcoded_as_their_trees_are_encoded)
{
    static const char *const kinds[][3] = {
        { "", "v1", "Pod" },
        { "", "v1", "Secret" },
        { "", "v1", "Event" },
        { "", "v1", "Service" },
        { "", "v1", "Node" },
        { "apps", "v1", "Deployment" },
        { "batch", "v1", "CronJob" },
        { "networking.k8s.io", "v1", "NetworkPolicy" },
        { "apiextensions.k8s.io", "v1", "CustomResourceDefinition" },
    };
    size_t n = 0, n_done = 0;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        struct proto_transcoder t = PROTO_TRANSCODER_INIT;
        const struct schema *s =
            builtin_schema(str_of(kinds[k][0]), str_of(kinds[k][1]), str_of(kinds[k][2]));
        scoped(buf_fini_scoped) struct buf before = BUF_INIT(16 << 20);
        t.remembers = true;
        (void)buf_add_cstr(&before, "{}");
        for (int i = 0; i < 60; i++) {
            struct arena a = { 0 };
            struct json *old;
            scoped(buf_fini_scoped) struct buf text = BUF_INIT(16 << 20);
            CHECK_OK(json_parse(&a, buf_str(&before), NULL, &old, NULL));
            CHECK_OK(json_write(&text, mixed_with(&a, random_object(&a, s, 5), old)));
            n++;
            n_done += transcode_random(&t, s, buf_str(&text));
            buf_reset(&before);
            (void)buf_add_str(&before, buf_str(&text));
            arena_fini(&a);
        }
        proto_transcoder_fini(&t);
    }
    CHECK(n_done > n / 2); /* the tree is for a few only */
}

/* A chain of properties as deep as a definition may be. */
TEST(deep_text_is_transcoded_or_left_to_the_tree)
{
    for (size_t depth = 1; depth < 400; depth = depth * 2 + 1) {
        struct proto_transcoder t = PROTO_TRANSCODER_INIT;
        scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20), got = BUF_INIT(1 << 20);
        (void)buf_add_cstr(
            &text, "{\"metadata\":{},\"spec\":{\"versions\":[{\"schema\":{\"openAPIV3Schema\":");
        for (size_t i = 0; i < depth; i++)
            (void)buf_add_cstr(&text, "{\"properties\":{\"a\":");
        (void)buf_add_cstr(&text, "{}");
        for (size_t i = 0; i < depth; i++)
            (void)buf_add_cstr(&text, "}}");
        (void)buf_add_cstr(&text, "}}]}}");
        struct proto_source from = { crd_kind(), buf_str(&text), STR("") };
        int r = proto_transcode_field(&t, 2, &from, &got);
        CHECK(depth < 200 ? r == 0 : r == 0 || r == E_UNSUPPORTED);
        if (depth < 200)
            check_transcoded("deep", crd_kind(), buf_str(&text));
        proto_transcoder_fini(&t);
    }
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
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(8 << 20);
    scoped(free_scoped) char *what = xasprintf("%s from %s", name, from);
    CHECK_OK(proto_encode_object(&a, s, v, &got));
    check_same_bytes(what, buf_str(&got), want);
    CHECK_OK(json_write(&text, v));
    check_transcoded(what, s, buf_str(&text));
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
