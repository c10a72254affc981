/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf answers of the API server, and how clients ask for them. */
#include "api_fixture.h"

#include "codec/yaml.h"
#include "kube/model/builtin.h"
#include "kube/model/proto.h"

#include <errno.h>

#define PROTO         "application/vnd.kubernetes.protobuf"
#define PROTO_OR_JSON PROTO ",application/json"
#define META          "io.k8s.apimachinery.pkg.apis.meta.v1."

/* ------------------------------------------------------------------ reading answers */

static bool has_type(const struct answer *a, const char *want_type)
{
    return str_is(headers_get(&a->headers, "content-type"), want_type);
}

/* The message in an envelope as a normalized tree. */
static struct json *tree_of(struct fixture *f, struct str body, const struct schema *s)
{
    struct err err = { 0 };
    struct proto_envelope env;
    struct json *v;
    struct str bytes = str_copy_arena(&f->arena, body);
    CHECK_OK(proto_open(bytes, &env, &err));
    CHECK_OK(proto_decode(&f->arena, s, env.raw, &v, &err));
    if (env.api_version.n)
        json_set_str(&f->arena, v, "apiVersion", env.api_version);
    json_set_str(&f->arena, v, "kind", env.kind);
    CHECK_OK(schema_normalize(&f->arena, s, v, "", NULL, NULL, &err));
    return v;
}

static const struct schema *core(const char *kind)
{
    return builtin_schema(STR(""), STR("v1"), str_of(kind));
}

static void check_same(const struct json *got, const struct json *expected)
{
    scoped(buf_fini_scoped) struct buf g = BUF_INIT(64 << 20), w = BUF_INIT(64 << 20);
    (void)json_write_sorted(&g, got);
    (void)json_write_sorted(&w, expected);
    CHECK_STR(buf_str(&g), buf_cstr(&w));
}

/* The same answer in protobuf and in JSON. */
static struct json *check_both(struct fixture *f, const char *target, const struct schema *s)
{
    struct answer pb = ask(f, "GET", target, NULL, PROTO_OR_JSON, NULL);
    CHECK_INT(pb.status, 200);
    CHECK(has_type(&pb, PROTO));
    struct json *got = tree_of(f, buf_str(&pb.body), s), *plain = want(f, 200, "GET", target, NULL);
    if (json_is(json_getc(got, "items"), JSON_NULL)) /* protobuf has no empty lists */
        json_setc(&f->arena, got, "items", json_new_array(&f->arena));
    CHECK_OK(schema_normalize(&f->arena, s, plain, "", NULL, NULL, NULL));
    check_same(got, plain);
    answer_fini(&pb);
    return got;
}

/* ------------------------------------------------------------------ objects and lists */

TEST(an_object_in_protobuf_is_the_object_in_json)
{
    struct fixture f;
    fixture_init(&f);
    (void)make_map(&f, "a", "v");
    (void)check_both(&f, MAPS "/a", core("ConfigMap"));
    (void)check_both(&f, "/api/v1/namespaces/default", core("Namespace"));
    fixture_fini(&f);
}

TEST(what_is_written_in_protobuf_is_answered_in_it)
{
    struct fixture f;
    fixture_init(&f);
    struct json *v;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(10000);
    const char *text =
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"p\"},"
        "\"data\":{\"k\":\"v\"},\"binaryData\":{\"b\":\"AAE=\"}}";
    CHECK_OK(json_parse(&f.arena, str_of(text), NULL, &v, NULL));
    CHECK_OK(proto_encode_object(&f.arena, core("ConfigMap"), v, &b));
    struct answer made = ask_bytes(&f, "POST", MAPS, PROTO, PROTO, buf_str(&b));
    CHECK_INT(made.status, 201);
    v = tree_of(&f, buf_str(&made.body), core("ConfigMap"));
    CHECK_STR(text_at(v, "metadata", "namespace"), "default");
    CHECK_STR(text_at(v, "binaryData", "b"), "AAE=");
    answer_fini(&made);

    struct answer gone = ask(&f, "DELETE", MAPS "/p", NULL, PROTO, NULL);
    CHECK_INT(gone.status, 200);
    v = tree_of(&f, buf_str(&gone.body), builtin_type(META "Status"));
    CHECK_STR(json_get_str(v, "status"), "Success");
    answer_fini(&gone);
    fixture_fini(&f);
}

TEST(a_scale_in_protobuf_scales)
{
    struct fixture f;
    fixture_init(&f);
    const char *deployments = "/apis/apps/v1/namespaces/default/deployments";
    (void)want(&f, 201, "POST", deployments,
               "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\"},"
               "\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{"
               "\"labels\":{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
               "\"i\"}]}}}}");
    const struct schema *scale = builtin_schema(STR("autoscaling"), STR("v1"), STR("Scale"));
    struct json *v = check_both(&f, "/apis/apps/v1/namespaces/default/deployments/d/scale", scale);
    json_set_int(&f.arena, json_obj(&f.arena, v, "spec"), "replicas", 4);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(10000);
    CHECK_OK(proto_encode_object(&f.arena, scale, v, &b));
    struct answer a = ask_bytes(&f, "PUT", "/apis/apps/v1/namespaces/default/deployments/d/scale",
                                PROTO, PROTO, buf_str(&b));
    CHECK_INT(a.status, 200);
    v = tree_of(&f, buf_str(&a.body), scale);
    CHECK_INT(json_int_or(json_path(v, "spec", "replicas", NULL), 0), 4);
    answer_fini(&a);
    fixture_fini(&f);
}

TEST(lists_in_protobuf_short_empty_and_paged)
{
    struct fixture f;
    fixture_init(&f);
    const struct schema *list = core("ConfigMapList");
    (void)check_both(&f, MAPS, list);
    for (int i = 0; i < 5; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "m%d", i);
        (void)make_map(&f, name, "v");
    }
    CHECK_INT(json_getc(check_both(&f, MAPS, list), "items")->n, 5);
    const struct json *page = check_both(&f, MAPS "?limit=2", list);
    CHECK_INT(json_getc(page, "items")->n, 2);
    CHECK_INT(json_int_or(json_path(page, "metadata", "remainingItemCount", NULL), 0), 3);
    CHECK(text_at(page, "metadata", "continue").n > 0);
    CHECK_INT(json_getc(check_both(&f, MAPS "?labelSelector=a%3Db", list), "items")->n, 0);
    fixture_fini(&f);
}

/* It is measured first. Of what was encoded for that all is kept, or some, or nothing. */
TEST(a_long_list_in_protobuf_says_its_length_in_front)
{
    struct fixture f;
    fixture_init(&f);
    scoped(free_scoped) char *value = xalloc(200001); /* in pages of 4 MiB */
    memset(value, 'x', 200000);
    for (int i = 0; i < 40; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "m%d", i);
        (void)make_map(&f, name, value);
    }
    static const size_t others[] = { 0, API_LISTS_KEPT_MAX_BYTES - (1 << 20),
                                     API_LISTS_KEPT_MAX_BYTES };
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        f.api->lists_kept_bytes = others[i];
        const struct json *all = check_both(&f, MAPS, core("ConfigMapList"));
        CHECK_INT(json_getc(all, "items")->n, 40);
        CHECK_INT(f.api->lists_kept_bytes, others[i]);
    }
    f.api->lists_kept_bytes = 0;
    fixture_fini(&f);
}

TEST(metadata_alone_in_protobuf)
{
    struct fixture f;
    fixture_init(&f);
    (void)make_map(&f, "a", "v");
    struct answer one =
        ask(&f, "GET", MAPS "/a", NULL, PROTO ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1", NULL);
    CHECK_INT(one.status, 200);
    struct json *v = tree_of(&f, buf_str(&one.body), builtin_type(META "PartialObjectMetadata"));
    CHECK_STR(json_get_str(v, "kind"), "PartialObjectMetadata");
    CHECK_STR(text_at(v, "metadata", "name"), "a");
    answer_fini(&one);

    struct answer all =
        ask(&f, "GET", MAPS, NULL, PROTO ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", NULL);
    CHECK_INT(all.status, 200);
    v = tree_of(&f, buf_str(&all.body), builtin_type(META "PartialObjectMetadataList"));
    CHECK_STR(text_at(json_getc(v, "items")->first, "metadata", "name"), "a");
    answer_fini(&all);

    all = ask(&f, "GET", MAPS, NULL, "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
              NULL);
    CHECK_INT(all.status, 406);
    CHECK_STR(json_get_str(all.json, "message"),
              "you requested PartialObjectMetadata, but the requested object is a list "
              "(*core.ConfigMapList)");
    answer_fini(&all);
    one = ask(&f, "GET", MAPS "/a", NULL,
              "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", NULL);
    CHECK_STR(json_get_str(one.json, "message"),
              "you requested PartialObjectMetadataList, but the requested object is not a list "
              "(*core.ConfigMap)");
    answer_fini(&one);
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ refusals */

TEST(refusals_come_in_what_the_client_takes)
{
    struct fixture f;
    fixture_init(&f);
    struct answer a = ask(&f, "GET", MAPS "/none", NULL, PROTO, NULL);
    CHECK_INT(a.status, 404);
    CHECK(has_type(&a, PROTO));
    const struct json *v = tree_of(&f, buf_str(&a.body), builtin_type(META "Status"));
    CHECK_STR(json_get_str(v, "apiVersion"), "v1");
    CHECK_STR(json_get_str(v, "message"), "configmaps \"none\" not found");
    answer_fini(&a);

    a = ask(&f, "GET", MAPS "/none", NULL, "application/json;as=Table;g=meta.k8s.io;v=v1," PROTO,
            NULL);
    CHECK(has_type(&a, PROTO));
    answer_fini(&a);

    a = ask(&f, "GET", MAPS, NULL, "text/html", NULL);
    CHECK_INT(a.status, 406);
    CHECK(has_type(&a, "application/json"));
    CHECK_STR(json_get_str(a.json, "reason"), "NotAcceptable");
    CHECK_STR(
        json_get_str(a.json, "message"),
        "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf, application/json;stream=watch, "
        "application/vnd.kubernetes.protobuf;stream=watch");
    answer_fini(&a);

    a = ask(&f, "GET", MAPS "?watch=1", NULL, "application/yaml", NULL);
    CHECK_INT(a.status, 406);
    CHECK(str_find(buf_str(&a.body), STR("application/json;stream=watch, "
                                         "application/vnd.kubernetes.protobuf;stream=watch")) >= 0);
    answer_fini(&a);

    a = ask(&f, "POST", MAPS, "text/plain", NULL, "{}");
    CHECK_INT(a.status, 415);
    CHECK_STR(json_get_str(a.json, "message"),
              "the body of the request was in an unknown format - accepted media types include: "
              "application/json, application/yaml, application/vnd.kubernetes.protobuf");
    answer_fini(&a);

    a = ask(&f, "GET", MAPS "?includeObject=x", NULL,
            "application/json;as=Table;g=meta.k8s.io;v=v1", NULL);
    CHECK_INT(a.status, 400);
    CHECK_STR(json_get_str(a.json, "message"),
              "Unable to convert to Table as requested: includeObject: Invalid value: \"x\": must "
              "be 'Metadata', 'Object', 'None', or empty");
    answer_fini(&a);
    fixture_fini(&f);
}

TEST(custom_resources_have_no_protobuf)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(
        &f, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
        "\"metadata\":{\"name\":\"things.g.io\"},\"spec\":{\"group\":\"g.io\",\"scope\":"
        "\"Namespaced\","
        "\"names\":{\"plural\":\"things\",\"kind\":\"Thing\"},\"versions\":[{\"name\":\"v1\","
        "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}"
        "}");
    const char *things = "/apis/g.io/v1/namespaces/default/things";
    struct answer a = ask(&f, "GET", things, NULL, PROTO, NULL);
    CHECK_INT(a.status, 406);
    answer_fini(&a);
    a = ask(&f, "GET", things, NULL, PROTO_OR_JSON, NULL);
    CHECK_INT(a.status, 200);
    CHECK(has_type(&a, "application/json"));
    answer_fini(&a);
    a = ask(&f, "GET", things, NULL, PROTO ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            NULL);
    CHECK_INT(a.status, 200);
    CHECK(has_type(&a, PROTO));
    answer_fini(&a);
    (void)check_both(
        &f, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.g.io",
        builtin_schema(STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition")));
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ watches */

/* The object of the next frame; its type is checked. */
static struct json *next_frame(struct watching *w, const char *type, const struct schema *s)
{
    uint32_t n = 0;
    for (;; (void)loop_turn(&w->f->loop, true)) {
        struct rd r = rd_init(w->text.p, w->text.n);
        n = rd_be32(&r);
        if (rd_ok(&r) && rd_left(&r) >= n)
            break;
        CHECK(!w->ended);
    }
    struct rd r = rd_init(w->text.p + 4, n);
    CHECK_INT(rd_u8(&r), 0x0a);
    struct str got = rd_str(&r, rd_u8(&r));
    CHECK_STR(got, type);
    ptrdiff_t at = str_find(buf_str(&w->text), (struct str){ "k8s\0", 4 });
    CHECK(at > 0);
    struct json *v = tree_of(w->f, str_slice(buf_str(&w->text), (size_t)at, n + 4), s);
    buf_consume(&w->text, n + 4);
    return v;
}

TEST(a_watch_in_protobuf_is_a_row_of_frames)
{
    struct fixture f;
    struct watching w, plain;
    fixture_init(&f);
    const struct schema *map = core("ConfigMap");
    (void)make_map(&f, "a", "v");
    watch_as(&f, &w,
             MAPS "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true&"
                  "resourceVersionMatch=NotOlderThan",
             PROTO ";stream=watch");
    CHECK_INT(w.status, 200);
    watch(&f, &plain, MAPS "?watch=1");
    CHECK_STR(text_at(next_frame(&w, "ADDED", map), "metadata", "name"), "a");
    const struct json *mark = next_frame(&w, "BOOKMARK", map);
    CHECK_STR(text_at(json_getc(mark, "metadata"), "annotations", "k8s.io/initial-events-end"),
              "true");
    (void)make_map(&f, "b", "v");
    CHECK_STR(text_at(next_frame(&w, "ADDED", map), "metadata", "name"), "b");
    (void)expect(&plain, "ADDED", "a");
    (void)expect(&plain, "ADDED", "b");
    (void)want(&f, 200, "DELETE", MAPS "/b", NULL);
    CHECK_STR(text_at(next_frame(&w, "DELETED", map), "metadata", "name"), "b");
    unwatch(&w);
    unwatch(&plain);

    watch_as(&f, &w,
             MAPS "?watch=1&resourceVersion=1000000&sendInitialEvents=true&"
                  "resourceVersionMatch=NotOlderThan",
             PROTO);
    struct json *status = next_frame(&w, "ERROR", builtin_type(META "Status"));
    CHECK_STR(json_get_str(status, "reason"), "Timeout");
    wait_end(&w);
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ other documents */

/* A named list type is a message of its own: 22, its size, and in it 0a for each verb. */
TEST(verbs_are_a_message)
{
    struct fixture f;
    fixture_init(&f);
    struct answer a = ask(&f, "GET", "/apis/coordination.k8s.io/v1", NULL, PROTO, NULL);
    CHECK_INT(a.status, 200);
    struct str body = buf_str(&a.body), verb = STR("\x0a\x06"
                                                   "create\x0a\x06"
                                                   "delete");
    CHECK(memmem(body.p, body.n, verb.p, verb.n) != NULL);
    answer_fini(&a);
    fixture_fini(&f);
}

TEST(discovery_in_protobuf)
{
    struct fixture f;
    fixture_init(&f);
    (void)check_both(&f, "/api", builtin_type(META "APIVersions"));
    (void)check_both(&f, "/apis", builtin_type(META "APIGroupList"));
    (void)check_both(&f, "/apis/coordination.k8s.io", builtin_type(META "APIGroup"));
    (void)check_both(&f, "/api/v1", builtin_type(META "APIResourceList"));
    (void)check_both(&f, "/apis/coordination.k8s.io/v1", builtin_type(META "APIResourceList"));
    struct answer a = ask(&f, "GET", "/apis", NULL,
                          PROTO ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", NULL);
    CHECK_INT(a.status, 200);
    CHECK(has_type(&a, PROTO ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"));
    answer_fini(&a);
    fixture_fini(&f);
}

static struct str header(const struct answer *a, const char *name)
{
    return headers_get(&a->headers, name);
}

TEST(lists_in_yaml_are_lists)
{
    struct fixture f;
    fixture_init(&f);
    struct answer none = ask(&f, "GET", MAPS, NULL, "application/yaml", NULL);
    CHECK(str_has_suffix(buf_str(&none.body), STR("\nitems: []\n")));
    answer_fini(&none);
    (void)make_map(&f, "a", "one\\n\\n  two\\n");
    (void)make_map(&f, "b", "- x");
    static const char *const accepts[] = { "application/yaml",
                                           "application/yaml;as=Table;g=meta.k8s.io;v=v1" };
    static const char *const plain[] = { NULL, "application/json;as=Table;g=meta.k8s.io;v=v1" };
    for (size_t i = 0; i < ARRAY_LEN(accepts); i++) {
        struct answer y = ask(&f, "GET", MAPS, NULL, accepts[i], NULL);
        struct answer j = ask(&f, "GET", MAPS, NULL, plain[i], NULL);
        struct json *v;
        struct err err = { 0 };
        CHECK(has_type(&y, "application/yaml"));
        CHECK_OK(yaml_parse(&f.arena, buf_str(&y.body), NULL, &v, &err));
        if (i == 0)
            check_same(v, j.json);
        else /* the age of a row moves on */
            CHECK_INT(json_getc(v, "rows")->n, json_getc(j.json, "rows")->n);
        answer_fini(&y);
        answer_fini(&j);
    }
    fixture_fini(&f);
}

TEST(openapi_is_tagged_and_kept_by_its_hash)
{
    struct fixture f;
    fixture_init(&f);
    struct json *index = want(&f, 200, "GET", "/openapi/v3", NULL);
    const char *url =
        str_dup_arena(&f.arena, text_at(json_getc(index, "paths"), "api/v1", "serverRelativeURL"));
    struct answer a = ask(&f, "GET", url, NULL, NULL, NULL);
    CHECK_INT(a.status, 200);
    CHECK_STR(header(&a, "cache-control"), "public, immutable");
    CHECK_STR(header(&a, "vary"), "Accept");
    CHECK(header(&a, "expires").n > 0);
    answer_fini(&a);

    a = ask(&f, "GET", "/openapi/v3/api/v1?hash=0", NULL, NULL, NULL);
    CHECK_INT(a.status, 301);
    CHECK_STR(header(&a, "location"), url);
    answer_fini(&a);

    const char *v2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    a = ask(&f, "GET", "/openapi/v2", NULL, v2, NULL);
    CHECK_INT(a.status, 200);
    CHECK(has_type(&a, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"));
    answer_fini(&a);
    a = ask(&f, "GET", "/openapi/v2", NULL, "text/plain", NULL);
    CHECK_INT(a.status, 406);
    answer_fini(&a);
    fixture_fini(&f);
}

/* A request that is answered while the test goes on. */
struct late {
    int status;
    struct str tag;
    struct arena *a;
    bool ended;
};

static void late_head(void *arg, int status, const struct headers *headers)
{
    struct late *l = arg;
    l->status = status;
    l->tag = str_copy_arena(l->a, headers_get(headers, "etag"));
}

static void late_end(void *arg, int r, const struct err *err)
{
    struct late *l = arg;
    (void)err;
    CHECK_OK(r);
    l->ended = true;
}

TEST(a_document_is_tagged_as_what_it_was_made_of)
{
    static const struct exchange_events events = { .on_head = late_head, .on_end = late_end };
    struct fixture f;
    fixture_init(&f);
    struct late l = { .a = &f.arena };
    struct exchange *call;
    struct err err = { 0 };
    const struct kube_request req = { .method = STR("GET"), .target = STR("/openapi/v3/api/v1") };
    CHECK_OK(transport_start(api_transport(f.api), &req, &events, &l, &call, &err));
    while (list_is_empty(&f.api->documents.all))
        (void)loop_turn(&f.loop, false);
    CHECK_INT(l.status, 0); /* it waits for its turn */
    const struct kube_resource *gone =
        kube_registry_find(&f.api->reg, STR(""), STR("v1"), STR("podtemplates"));
    CHECK(kube_registry_remove(&f.api->reg, gone));
    while (!l.ended)
        (void)loop_turn(&f.loop, true);
    CHECK_INT(l.status, 200);
    struct answer a = ask(&f, "GET", "/openapi/v3/api/v1", NULL, NULL, NULL);
    CHECK_STR(l.tag, str_dup_arena(&f.arena, header(&a, "etag")));
    CHECK(str_find(buf_str(&a.body), STR("/podtemplates")) < 0);
    answer_fini(&a);
    fixture_fini(&f);
}

TEST(people_get_indented_answers)
{
    struct fixture f;
    fixture_init(&f);
    (void)make_map(&f, "a", "v");
    struct answer a = ask(&f, "GET", MAPS "?pretty=true&limit=1&fieldSelector=metadata.name%3Dnone",
                          NULL, NULL, NULL);
    CHECK(str_find(buf_str(&a.body), STR("{\n  \"kind\": \"ConfigMapList\",\n")) == 0);
    CHECK(str_has_suffix(buf_str(&a.body), STR(",\n  \"items\": []\n}")));
    answer_fini(&a);
    a = ask(&f, "GET", MAPS "?pretty=1", NULL, NULL, NULL);
    CHECK(str_find(buf_str(&a.body), STR("  \"items\": [\n    {\n      \"metadata\": {\n")) > 0);
    CHECK(str_has_suffix(buf_str(&a.body), STR("\n      }\n    }\n  ]\n}")));
    CHECK(a.json != NULL);
    answer_fini(&a);
    a = ask(&f, "GET", MAPS "/a", NULL, "application/json;pretty=1", NULL);
    CHECK(str_find(buf_str(&a.body), STR("{\n  \"apiVersion\": \"v1\",\n")) == 0);
    answer_fini(&a);
    fixture_fini(&f);
}

TEST_MAIN
