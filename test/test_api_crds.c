/* SPDX-License-Identifier: Apache-2.0 */
/* Custom resources through the API: what definitions promise about versions, selectors, columns. */
#include "api_fixture.h"

#include "kube/model/builtin.h"
#include "kube/model/proto.h"

#include <errno.h>

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

#define OBJECT(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"
#define SCHEMA(properties) "\"schema\":{\"openAPIV3Schema\":" OBJECT(properties) "}"

/* A namespaced definition of group g.io with these versions. */
static struct json *define(struct fixture *f, const char *plural, const char *kind,
                           const char *more_names, const char *versions)
{
    scoped(free_scoped) char *body = xasprintf(
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
        "\"metadata\":{\"name\":\"%s.g.io\"},\"spec\":{\"group\":\"g.io\",\"scope\":\"Namespaced\","
        "\"names\":{\"plural\":\"%s\",\"kind\":\"%s\"%s},\"versions\":[%s]}}",
        plural, plural, kind, more_names, versions);
    return want(f, 201, "POST", CRDS, body);
}

static struct json *make(struct fixture *f, int status, const char *plural, const char *kind,
                         const char *name, const char *rest)
{
    scoped(free_scoped) char *path = xasprintf("/apis/g.io/v1/namespaces/default/%s", plural);
    scoped(free_scoped) char *body =
        xasprintf("{\"apiVersion\":\"g.io/v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\"}%s}",
                  kind, name, rest);
    return want(f, status, "POST", path, body);
}

static void check_message(const struct json *status, const char *message)
{
    CHECK_STR(json_get_str(status, "message"), message);
}

/* ------------------------------------------------------------------ rules */

#define PLANS "/apis/g.io/v1/namespaces/default/plans"

TEST(objects_obey_the_rules_of_their_definition)
{
    struct fixture f;
    fixture_init(&f);
    (void)define(
        &f, "plans", "Plan", "",
        "{\"name\":\"v1\",\"served\":true,\"storage\":true,\"subresources\":{\"status\":{}},"
        "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-validations\":[{"
        "\"rule\":\"self.metadata.name.startsWith('p')\",\"message\":\"names begin with p\"}],"
        "\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{\"size\":{\"type\":"
        "\"integer\",\"default\":1,\"x-kubernetes-validations\":[{\"rule\":\"self >= oldSelf\","
        "\"messageExpression\":\"'not below %d'.format([oldSelf])\"}]},\"limit\":{\"type\":"
        "\"integer\"}},\"x-kubernetes-validations\":[{\"rule\":\"!has(self.limit) || self.size <= "
        "self.limit\"}]},\"status\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":"
        "\"integer\",\"x-kubernetes-validations\":[{\"rule\":\"self > 0\"}]}}}}}}}");
    check_message(make(&f, 422, "plans", "Plan", "x", ""),
                  "Plan.g.io \"x\" is invalid: <nil>: Invalid value: names begin with p");
    check_message(make(&f, 422, "plans", "Plan", "p", ",\"spec\":{\"limit\":0}"),
                  "Plan.g.io \"p\" is invalid: spec: Invalid value: failed rule: "
                  "!has(self.limit) || self.size <= self.limit");
    (void)make(&f, 201, "plans", "Plan", "p", ",\"spec\":{\"size\":2,\"limit\":4}");
    (void)want(&f, 200, "PATCH", PLANS "/p", "{\"spec\":{\"size\":3}}");
    check_message(want(&f, 422, "PATCH", PLANS "/p", "{\"spec\":{\"size\":1}}"),
                  "Plan.g.io \"p\" is invalid: spec.size: Invalid value: 1: not below 3");
    check_message(want(&f, 422, "PATCH", PLANS "/p/status", "{\"status\":{\"n\":0}}"),
                  "Plan.g.io \"p\" is invalid: status.n: Invalid value: 0: failed rule: self > 0");
    (void)want(&f, 200, "PATCH", PLANS "/p/status", "{\"status\":{\"n\":1}}");
    fixture_fini(&f);
}

TEST(an_applied_null_is_no_value)
{
    struct fixture f;
    fixture_init(&f);
    (void)define(&f, "plans", "Plan", "",
                 "{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
                 "\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":"
                 "\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":"
                 "\"string\",\"default\":\"d\"},\"c\":{\"type\":\"string\",\"nullable\":true}}"
                 "}}}}}");
    const char *type = "application/apply-patch+yaml", *path = PLANS "/p?fieldManager=m";
    struct answer a =
        ask(&f, "PATCH", path, type, NULL,
            "{\"apiVersion\":\"g.io/"
            "v1\",\"kind\":\"Plan\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"a\":null}}");
    CHECK_INT(a.status, 422);
    check_message(a.json, "Plan.g.io \"p\" is invalid: spec.a: Invalid value: \"null\": spec.a in "
                          "body must be of type string: \"null\"");
    answer_fini(&a);
    a = ask(
        &f, "PATCH", path, type, NULL,
        "{\"apiVersion\":\"g.io/"
        "v1\",\"kind\":\"Plan\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"b\":null,\"c\":null}}");
    CHECK_INT(a.status, 201);
    CHECK_STR(text_at(a.json, "spec", "b"), "d");
    CHECK(json_path(a.json, "spec", "c", NULL)->type == JSON_NULL);
    answer_fini(&a);
    (void)make(&f, 201, "plans", "Plan", "q", ",\"spec\":{\"a\":null}"); /* a create drops it */
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ stored by other versions */

#define OLD      "/apis/g.io/v1/namespaces/default/olds"
#define OLD_CRD  CRDS "/olds.g.io"
#define ADMIT    "/apis/admissionregistration.k8s.io/v1"
#define REGISTRY "/registry/apiextensions.k8s.io/customresourcedefinitions/olds.g.io"

/* What an earlier version has left in the store, for the next start. */
static struct {
    const char *key;
    struct buf value;
} left;

static void on_left(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct fixture *f = arg;
    (void)err;
    CHECK_OK(res->r);
    f->done = true;
}

static void leave(struct fixture *f)
{
    const struct store_op op = { .kind = STORE_PUT,
                                 .key = str_of(left.key),
                                 .value = buf_str(&left.value) };
    CHECK_OK(store_txn(f->store, &op, 1, on_left, f, NULL));
    wait_done(f);
}

/* Start again with the object at `path` as it would be with other text in it. */
static void restart_with(struct fixture *f, const char *path, const char *key, const char *old,
                         const char *new)
{
    struct json *obj = want(f, 200, "GET", path, NULL);
    struct buf text = BUF_INIT(1 << 20);
    (void)json_del(json_getc(obj, "metadata"), STR("resourceVersion"));
    CHECK_OK(json_write(&text, obj));
    ptrdiff_t at = str_find(buf_str(&text), str_of(old));
    CHECK(at > 0);
    left.key = key;
    left.value = BUF_INIT(1 << 20);
    (void)buf_add_str(&left.value, str_slice(buf_str(&text), 0, (size_t)at));
    (void)buf_add_cstr(&left.value, new);
    (void)buf_add_str(&left.value,
                      str_slice(buf_str(&text), (size_t)at + strlen(old), buf_str(&text).n));
    close_server(f);
    f->opened = leave;
    open_server(f);
    f->opened = NULL;
    settle(f);
    buf_fini(&text);
    buf_fini(&left.value);
}

/* A definition with this in its "spec.size", and an object "old" of it. */
static void define_old(struct fixture *f, const char *size)
{
    scoped(free_scoped) char *version = xasprintf(
        "{\"name\":\"v1\",\"served\":true,\"storage\":true," SCHEMA(
            "\"spec\":{\"type\":\"object\",\"properties\":{\"size\":{\"type\":\"string\",%s},"
            "\"n\":{\"type\":\"integer\"}}}") "}",
        size);
    (void)define(f, "olds", "Old", "", version);
    (void)make(f, 201, "olds", "Old", "old", ",\"spec\":{\"size\":\"aa\"}");
}

static void check_it_lives_on(struct fixture *f)
{
    CHECK_INT(json_getc(want(f, 200, "GET", OLD, NULL), "items")->n, 1);
    (void)want(f, 200, "PATCH", OLD "/old", "{\"spec\":{\"n\":7}}");
    (void)want(f, 200, "PATCH", OLD_CRD, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    (void)want(f, 200, "PATCH", OLD_CRD, "{\"spec\":{\"names\":{\"shortNames\":[\"o\"]}}}");
    CHECK_INT(json_getc(want(f, 200, "GET", OLD, NULL), "items")->n, 1);
}

/* Another schema: the description of spec, and all of spec.size. */
static void redefine(struct fixture *f, int status, const char *size)
{
    scoped(free_scoped) char *body = xasprintf(
        "{\"spec\":{\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true," SCHEMA(
            "\"spec\":{\"type\":\"object\",\"description\":\"of %s\",\"properties\":{\"size\":{"
            "\"type\":\"string\",%s},\"n\":{\"type\":\"integer\"}}}") "}]}}",
        status == 200 ? "old" : "new", size);
    (void)want(f, status, "PATCH", OLD_CRD, body);
}

TEST(a_stored_pattern_that_is_refused_today_goes_on_matching)
{
    static const char pattern[] = "\"pattern\":\"^(a{40}){0,40}(?=a)a*$\"";
    struct fixture f;
    fixture_init(&f);
    define_old(&f, "\"pattern\":\"^a*$\"");
    restart_with(&f, OLD_CRD, REGISTRY, "\"pattern\":\"^a*$\"", pattern);
    check_it_lives_on(&f);
    (void)make(&f, 201, "olds", "Old", "more", ",\"spec\":{\"size\":\"aaa\"}");
    (void)make(&f, 422, "olds", "Old", "no", ",\"spec\":{\"size\":\"b\"}");
    redefine(&f, 200, pattern);
    redefine(&f, 422, "\"pattern\":\"^(?=b)\"");
    fixture_fini(&f);
}

TEST(a_stored_pattern_that_cannot_be_compiled_matches_nothing_new)
{
    struct fixture f;
    fixture_init(&f);
    define_old(&f, "\"pattern\":\"^a*$\"");
    restart_with(&f, OLD_CRD, REGISTRY, "^a*$", "(");
    check_it_lives_on(&f);
    check_message(make(&f, 422, "olds", "Old", "no", ",\"spec\":{\"size\":\"aa\"}"),
                  "Old.g.io \"no\" is invalid: spec.size: Invalid value: \"aa\": spec.size in body "
                  "should match '('");
    (void)want(&f, 200, "DELETE", OLD "/old", NULL);
    redefine(&f, 200, "\"pattern\":\"^b$\"");
    (void)make(&f, 201, "olds", "Old", "b", ",\"spec\":{\"size\":\"b\"}");
    fixture_fini(&f);
}

TEST(a_stored_schema_that_makes_no_sense_keeps_its_objects)
{
    static const char *const others[] = {
        "\"type\":\"array\"",
        "\"type\":\"array\",\"items\":[{\"type\":\"string\"}]",
        "\"type\":\"array\",\"x-kubernetes-list-type\":\"map\"",
        "\"type\":\"strange\",\"default\":7,\"$ref\":\"x\"",
        "\"type\":\"object\",\"additionalProperties\":true,\"properties\":{\"a\":{}}",
        "\"anyOf\":[{\"properties\":{\"x\":{\"type\":\"object\"}}}]",
    };
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct fixture f;
        fixture_init(&f);
        define_old(&f, "\"title\":\"t\"");
        restart_with(&f, OLD_CRD, REGISTRY, "\"type\":\"string\",\"title\":\"t\"", others[i]);
        CHECK_INT(json_getc(want(&f, 200, "GET", OLD, NULL), "items")->n, 1);
        (void)want(&f, 200, "PATCH", OLD_CRD, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
        (void)want(&f, 200, "GET", "/openapi/v2", NULL);
        (void)want(&f, 200, "GET", "/openapi/v3/apis/g.io/v1", NULL);
        struct answer a =
            ask(&f, "PATCH", OLD "/old?fieldManager=m", "application/apply-patch+yaml", NULL,
                "{\"apiVersion\":\"g.io/v1\",\"kind\":\"Old\",\"metadata\":{"
                "\"name\":\"old\"},\"spec\":{\"size\":[{\"a\":1},{\"a\":1}]}}");
        CHECK(a.status == 200 || a.status == 422 || a.status == 409 || a.status == 500);
        answer_fini(&a);
        (void)want(&f, 200, "DELETE", OLD "/old", NULL);
        fixture_fini(&f);
    }
}

/* Nothing serves the objects then, and they must not come back with the next definition. */
TEST(a_definition_without_a_storage_version_takes_its_objects_with_it)
{
    static const char *const others[][2] = {
        { "\"storage\":true", "\"storage\":false" },
        { "\"served\":true,\"storage\":true", "\"served\":false,\"storage\":true" },
        { "\"versions\":[{", "\"versions\":[],\"was\":[{" },
    };
    struct fixture f;
    fixture_init(&f);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        define_old(&f, "\"maxLength\":2");
        restart_with(&f, OLD_CRD, REGISTRY, others[i][0], others[i][1]);
        CHECK(!there(&f, OLD "/old"));
        (void)want(&f, 200, "DELETE", OLD_CRD, NULL);
        settle(&f);
        CHECK(!there(&f, OLD_CRD));
        define_old(&f, "\"maxLength\":2");
        CHECK_INT(json_getc(want(&f, 200, "GET", OLD, NULL), "items")->n, 1);
        (void)want(&f, 200, "DELETE", OLD_CRD, NULL);
        settle(&f);
    }
    fixture_fini(&f);
}

TEST(a_stored_rule_that_is_refused_today_does_not_keep_its_definition_from_changes)
{
    static const char rule[] = "\"x-kubernetes-validations\":[{\"rule\":\"self.nothing() == 1\"}]";
    struct fixture f;
    fixture_init(&f);
    define_old(&f, "\"x-kubernetes-validations\":[{\"rule\":\"self == self\"}]");
    restart_with(&f, OLD_CRD, REGISTRY, "self == self", "self.nothing() == 1");
    CHECK_INT(json_getc(want(&f, 200, "GET", OLD, NULL), "items")->n, 1);
    (void)want(&f, 200, "PATCH", OLD_CRD, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    redefine(&f, 200, rule);
    redefine(&f, 422, "\"x-kubernetes-validations\":[{\"rule\":\"self.nobody() == 1\"}]");
    (void)want(&f, 200, "PATCH", OLD "/old", "{\"spec\":{\"n\":7}}");
    (void)want(&f, 422, "PATCH", OLD "/old", "{\"spec\":{\"size\":\"b\"}}");
    (void)make(&f, 422, "olds", "Old", "no", ",\"spec\":{\"size\":\"aa\"}");
    (void)want(&f, 200, "DELETE", OLD "/old", NULL);
    fixture_fini(&f);
}

TEST(a_stored_policy_that_is_refused_today_forbids_until_it_is_mended)
{
    static const char name[] = ADMIT "/validatingadmissionpolicies/old";
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", ADMIT "/validatingadmissionpolicies",
               "{\"metadata\":{\"name\":\"old\"},\"spec\":{\"validations\":[{\"expression\":"
               "\"object != null\"}],\"matchConstraints\":{\"resourceRules\":[{\"apiGroups\":["
               "\"\"],\"apiVersions\":[\"v1\"],\"operations\":[\"CREATE\"],\"resources\":["
               "\"configmaps\"]}]}}}");
    (void)want(&f, 201, "POST", ADMIT "/validatingadmissionpolicybindings",
               "{\"metadata\":{\"name\":\"old\"},\"spec\":{\"policyName\":\"old\","
               "\"validationActions\":[\"Deny\"]}}");
    (void)make_map(&f, "before", "1");
    settle(&f);
    restart_with(&f, name, "/registry/admissionregistration.k8s.io/validatingadmissionpolicies/old",
                 "object != null", "nothing() == 1");
    (void)want(&f, 422, "POST", MAPS, "{\"metadata\":{\"name\":\"no\"}}");
    (void)want(&f, 200, "PATCH", name, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    (void)want(&f, 422, "PATCH", name,
               "{\"spec\":{\"validations\":[{\"expression\":\"nobody() == 1\"}]}}");
    (void)want(&f, 200, "PATCH", name, "{\"spec\":{\"failurePolicy\":\"Ignore\"}}");
    (void)make_map(&f, "after", "1");
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ versions */

static void check_warning(struct fixture *f, const char *target, const char *expected)
{
    struct answer a = ask(f, "GET", target, NULL, NULL, NULL);
    CHECK_INT(a.status, 200);
    struct str got = headers_get(&a.headers, "warning");
    CHECK_STR(got.p ? got : STR(""), expected);
    answer_fini(&a);
}

TEST(deprecated_versions_warn_and_say_what_to_use)
{
    struct fixture f;
    fixture_init(&f);
    (void)define(
        &f, "things", "Thing", "",
        "{\"name\":\"v1\",\"served\":true,\"storage\":true," SCHEMA(
            "") "},"
                "{\"name\":\"v1beta1\",\"served\":true,\"storage\":false,\"deprecated\":"
                "true," SCHEMA(
                    "") "},"
                        "{\"name\":\"v1alpha1\",\"served\":true,\"storage\":false,\"deprecated\":"
                        "true,"
                        "\"deprecationWarning\":\"do not\"," SCHEMA(
                            "") "},"
                                "{\"name\":\"v2\",\"served\":false,\"storage\":false," SCHEMA(
                                    "") "}");
    check_warning(&f, "/apis/g.io/v1/things", "");
    check_warning(&f, "/apis/g.io/v1beta1/things",
                  "299 - \"g.io/v1beta1 Thing is deprecated; use g.io/v1 Thing\"");
    check_warning(&f, "/apis/g.io/v1alpha1/things", "299 - \"do not\"");
    (void)want(&f, 404, "GET", "/apis/g.io/v2/things", NULL);
    const struct json *group = want(&f, 200, "GET", "/apis/g.io", NULL);
    CHECK_INT(json_getc(group, "versions")->n, 3);
    CHECK_STR(text_at(group, "preferredVersion", "version"), "v1");

    (void)define(
        &f, "olds", "Old", "",
        "{\"name\":\"v1\",\"served\":true,\"storage\":true,\"deprecated\":true," SCHEMA("") "}");
    check_warning(&f, "/apis/g.io/v1/olds", "299 - \"g.io/v1 Old is deprecated\"");
    fixture_fini(&f);
}

TEST(a_new_default_is_in_what_was_stored_before)
{
    struct fixture f;
    fixture_init(&f);
    struct json *crd = define(&f, "things", "Thing", "",
                              "{\"name\":\"v1\",\"served\":true,\"storage\":true," SCHEMA(
                                  "\"spec\":" OBJECT("\"a\":{\"type\":\"string\"}")) "}");
    (void)make(&f, 201, "things", "Thing", "x", ",\"spec\":{\"a\":\"1\"}");
    (void)crd;
    (void)want(
        &f, 200, "PATCH", CRDS "/things.g.io",
        "{\"spec\":{\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true," SCHEMA(
            "\"spec\":" OBJECT(
                "\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"integer\",\"default\":7}")) "}]}}");
    const struct json *got =
        want(&f, 200, "GET", "/apis/g.io/v1/namespaces/default/things/x", NULL);
    CHECK_INT(json_int_or(json_path(got, "spec", "b", NULL), 0), 7);
    const struct json *list = want(&f, 200, "GET", "/apis/g.io/v1/things", NULL);
    const struct json *item = json_getc(list, "items")->first;
    CHECK_INT(json_int_or(json_path(item, "spec", "b", NULL), 0), 7);
    CHECK_STR(json_get_str(item, "kind"), "Thing"); /* items of custom lists say what they are */
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ selectors */

TEST(selectable_fields_select)
{
    struct fixture f;
    struct watching w;
    fixture_init(&f);
    (void)define(
        &f, "things", "Thing", "",
        "{\"name\":\"v1\",\"served\":true,\"storage\":true,"
        "\"selectableFields\":[{\"jsonPath\":\".spec.color\"},{\"jsonPath\":\".spec.n\"}]," SCHEMA(
            "\"spec\":" OBJECT(
                "\"color\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"}")) "}");
    (void)make(&f, 201, "things", "Thing", "a", ",\"spec\":{\"color\":\"red\",\"n\":1}");
    (void)make(&f, 201, "things", "Thing", "b", ",\"spec\":{\"color\":\"blue\",\"n\":2}");
    const char *red = "/apis/g.io/v1/things?fieldSelector=spec.color%3Dred";
    CHECK_INT(json_getc(want(&f, 200, "GET", red, NULL), "items")->n, 1);
    const char *two = "/apis/g.io/v1/things?fieldSelector=spec.n%3D2,metadata.name!%3Dz";
    CHECK_INT(json_getc(want(&f, 200, "GET", two, NULL), "items")->n, 1);
    check_message(want(&f, 400, "GET", "/apis/g.io/v1/things?fieldSelector=spec.size%3D1", NULL),
                  "field label not supported: spec.size");
    const struct json *doc = want(&f, 200, "GET", "/openapi/v3/apis/g.io/v1", NULL);
    const struct json *reported = json_path(doc, "components", "schemas", "io.g.v1.Thing",
                                            "x-kubernetes-selectable-fields", NULL);
    CHECK_STR(json_get_str(json_first(reported), "fieldPath"), "spec.color");
    check_message(want(&f, 422, "PATCH", CRDS "/things.g.io",
                       "{\"spec\":{\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
                       "\"selectableFields\":[{\"jsonPath\":\".spec.none\"}]," SCHEMA("") "}]}}"),
                  "CustomResourceDefinition.apiextensions.k8s.io \"things.g.io\" is invalid: "
                  "spec.selectableFields[0].jsonPath: Invalid value: \".spec.none\": is an invalid "
                  "path: does "
                  "not refer to a valid field");
    watch(&f, &w, "/apis/g.io/v1/things?watch=1&fieldSelector=spec.color%3Dred");
    (void)expect(&w, "ADDED", "a");
    const char *a = "/apis/g.io/v1/namespaces/default/things/a";
    (void)want(&f, 200, "PATCH", a, "{\"spec\":{\"color\":\"green\"}}");
    const struct json *gone = expect(&w, "DELETED", "a"); /* it left the view */
    CHECK_STR(text_at(gone, "spec", "color"), "red");
    (void)want(&f, 200, "PATCH", a, "{\"spec\":{\"color\":\"red\"}}");
    (void)expect(&w, "ADDED", "a");
    unwatch(&w);
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ what is said about them */

TEST(discovery_and_columns_are_the_definitions)
{
    struct fixture f;
    fixture_init(&f);
    (void)define(
        &f, "things", "Thing",
        ",\"shortNames\":[\"th\",\"tg\"],\"categories\":[\"all\"],\"singular\":\"thing\","
        "\"listKind\":\"ThingList\"",
        "{\"name\":\"v1\",\"served\":true,\"storage\":true,\"subresources\":{\"status\":{},"
        "\"scale\":{"
        "\"specReplicasPath\":\".spec.replicas\",\"statusReplicasPath\":\".status.replicas\"}},"
        "\"additionalPrinterColumns\":[{\"name\":\"Want\",\"type\":\"integer\",\"jsonPath\":\"."
        "spec.replicas\"},"
        "{\"name\":\"Since\",\"type\":\"date\",\"jsonPath\":\".metadata.creationTimestamp\","
        "\"priority\":1}]," SCHEMA(
            "\"spec\":" OBJECT("\"replicas\":{\"type\":\"integer\"}") ",\"status\":" OBJECT(
                "\"replicas\":{\"type\":\"integer\"}")) "}");
    const struct json *doc = want(&f, 200, "GET", "/apis/g.io/v1", NULL);
    const struct json *r = json_getc(doc, "resources")->first;
    CHECK_STR(json_get_str(r, "name"), "things");
    CHECK_STR(json_get_str(r, "singularName"), "thing");
    CHECK_STR(json_str(json_getc(r, "verbs")->first), "delete"); /* an order of their own */
    CHECK_INT(json_getc(r, "shortNames")->n, 2);
    CHECK_STR(json_str(json_getc(r, "categories")->first), "all");
    CHECK_STR(json_get_str(r->next, "name"), "things/status");
    CHECK_STR(json_get_str(r->next->next, "name"), "things/scale");
    CHECK_STR(json_get_str(r->next->next, "group"), "autoscaling");
    CHECK_STR(json_get_str(r->next->next, "kind"), "Scale");

    (void)make(&f, 201, "things", "Thing", "a", ",\"spec\":{\"replicas\":3}");
    struct answer a = ask(&f, "GET", "/apis/g.io/v1/things", NULL,
                          "application/json;as=Table;g=meta.k8s.io;v=v1", NULL);
    const struct json *columns = json_getc(a.json, "columnDefinitions");
    CHECK_INT(columns->n, 3);
    CHECK_STR(json_get_str(columns->first->next, "name"), "Want");
    CHECK_INT(json_int_or(json_getc(columns->first->next->next, "priority"), 0), 1);
    const struct json *cells = json_getc(json_getc(a.json, "rows")->first, "cells");
    CHECK_STR(json_str(cells->first), "a");
    CHECK_INT(json_int_or(cells->first->next, 0), 3);
    answer_fini(&a);
    fixture_fini(&f);
}

TEST(values_are_checked_in_upstreams_words)
{
    struct fixture f;
    fixture_init(&f);
    (void)define(
        &f, "things", "Thing", "",
        "{\"name\":\"v1\",\"served\":true,\"storage\":true," SCHEMA("\"spec\":" OBJECT(
            "\"port\":{\"x-kubernetes-int-or-string\":true},"
            "\"set\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":"
            "\"string\"}},"
            "\"map\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-"
            "map-keys\":[\"k\"],"
            "\"items\":{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":{\"type\":"
            "\"string\"}}}},"
            "\"maybe\":{\"type\":\"string\",\"nullable\":true},\"plain\":{\"type\":\"string\"},"
            "\"when\":{\"type\":\"string\",\"format\":\"date-time\"},"
            "\"any\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true},"
            "\"pod\":{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,"
            "\"x-kubernetes-preserve-unknown-fields\":true}")) "}");
    struct json *ok =
        make(&f, 201, "things", "Thing", "ok",
             ",\"spec\":{\"port\":\"http\",\"set\":[\"a\",\"b\"],\"map\":[{\"k\":\"a\"}],"
             "\"maybe\":null,\"plain\":null,\"any\":{\"x\":{\"y\":1}},\"extra\":1,"
             "\"pod\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
             "\"unknown\":1},\"spec\":{\"z\":1}}}");
    const struct json *spec = json_getc(ok, "spec");
    CHECK(json_is(json_getc(spec, "maybe"), JSON_NULL));
    CHECK(!json_getc(spec, "plain")); /* no null where none is allowed */
    CHECK(!json_getc(spec, "extra"));
    CHECK_INT(json_int_or(json_path(spec, "any", "x", "y", NULL), 0), 1);
    CHECK(!json_path(spec, "pod", "metadata", "unknown", NULL));
    CHECK_INT(json_int_or(json_path(spec, "pod", "spec", "z", NULL), 0), 1);
#define REFUSED(spec, message)                                                                     \
    check_message(make(&f, 422, "things", "Thing", "no", ",\"spec\":" spec), message)
    REFUSED(
        "{\"port\":true}",
        "Thing.g.io \"no\" is invalid: spec.port: Invalid value: \"boolean\": spec.port in body "
        "must be of type integer,string: \"boolean\"");
    REFUSED("{\"set\":[\"a\",\"a\"]}",
            "Thing.g.io \"no\" is invalid: spec.set[1]: Duplicate value: \"a\"");
    REFUSED("{\"map\":[{\"k\":\"a\"},{\"k\":\"a\"}]}",
            "Thing.g.io \"no\" is invalid: spec.map[1]: Duplicate value: {\"k\":\"a\"}");
    REFUSED("{\"when\":\"today\"}",
            "Thing.g.io \"no\" is invalid: spec.when: Invalid value: \"today\": spec.when in body "
            "must be of type date-time: \"today\"");
    REFUSED("{\"pod\":{\"kind\":\"Pod\"}}",
            "Thing.g.io \"no\" is invalid: spec.pod.apiVersion: Required value");
    REFUSED(
        "{\"pod\":{\"apiVersion\":\"v1\",\"kind\":\"\",\"metadata\":{\"labels\":{\"a b\":\"\"}}}}",
        "Thing.g.io \"no\" is invalid: [spec.pod.kind: Invalid value: \"\": must not be empty, "
        "spec.pod.metadata.labels: Invalid value: \"a b\": name part must consist of "
        "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]");
    fixture_fini(&f);
}

TEST(custom_resources_say_what_they_are)
{
    struct fixture f;
    fixture_init(&f);
    (void)define(&f, "things", "Thing", "",
                 "{\"name\":\"v1\",\"served\":true,\"storage\":true," SCHEMA(
                     "\"pod\":{\"type\":\"object\",\"x-kubernetes-embedded-resource\":true,"
                     "\"x-kubernetes-preserve-unknown-fields\":true}") "}");
    const char *things = "/apis/g.io/v1/namespaces/default/things";
    check_message(
        want(&f, 400, "POST", things, "{\"apiVersion\":\"g.io/v1\"}"),
        "Thing in version \"v1\" cannot be handled as a Thing: Object 'Kind' is missing in "
        "'{\"apiVersion\":\"g.io/v1\"}'");
    check_message(
        want(&f, 400, "POST", things, "{\"kind\":\"Thing\"}"),
        "the API version in the data () does not match the expected API version (g.io/v1)");
    check_message(
        want(&f, 422, "POST", things,
             "{\"apiVersion\":\"g.io/v1\",\"kind\":\"Rat\",\"metadata\":{\"name\":\"n\"}}"),
        "Rat.g.io \"n\" is invalid: kind: Invalid value: \"Rat\": must be Thing");
    check_message(
        make(&f, 400, "things", "Thing", "n",
             ",\"pod\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"labels\":{\"a\":1}}"
             "}"),
        "Thing in version \"v1\" cannot be handled as a Thing: pod.metadata: Invalid value: "
        "{\"labels\":{\"a\":1}}: json: cannot unmarshal number into Go struct field "
        "ObjectMeta.labels of type string");
    fixture_fini(&f);
}

TEST(replicas_are_a_number_wherever_they_are)
{
    struct fixture f;
    fixture_init(&f);
    (void)define(
        &f, "things", "Thing", "",
        "{\"name\":\"v1\",\"served\":true,\"storage\":true,\"subresources\":{\"scale\":{"
        "\"specReplicasPath\":\".spec.n\",\"statusReplicasPath\":\".status.n\"}}," SCHEMA(
            "\"spec\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}") "}");
    (void)make(&f, 201, "things", "Thing", "ok", ",\"spec\":{\"n\":3}");
    check_message(
        make(&f, 422, "things", "Thing", "n", ",\"spec\":{\"n\":-1}"),
        "Thing.g.io \"n\" is invalid: .spec.n: Invalid value: -1: should be a non-negative "
        "integer");
    check_message(
        make(&f, 422, "things", "Thing", "n", ",\"spec\":{\"n\":\"x\"}"),
        "Thing.g.io \"n\" is invalid: .spec.n: Invalid value: 0: .spec.n accessor error: x "
        "is of the type string, expected int64");
    fixture_fini(&f);
}

TEST(a_custom_resource_in_protobuf_is_refused)
{
    struct fixture f;
    fixture_init(&f);
    (void)define(&f, "things", "Thing", "",
                 "{\"name\":\"v1\",\"served\":true,\"storage\":true," SCHEMA("") "}");
    static const char body[] = "k8s\0"
                               "\x0a\x10\x0a\x07"
                               "g.io/v1\x12\x05"
                               "Thing\x12\x00\x1a\x00\x22\x00";
    struct answer a =
        ask_bytes(&f, "POST", "/apis/g.io/v1/namespaces/default/things",
                  "application/vnd.kubernetes.protobuf", NULL, str_n(body, sizeof body - 1));
    CHECK_INT(a.status, 400);
    check_message(
        a.json, "Thing in version \"v1\" cannot be handled as a Thing: object "
                "*unstructured.Unstructured does not implement the protobuf marshalling interface "
                "and cannot be encoded to a protobuf message");
    answer_fini(&a);
    a = ask(&f, "POST", "/apis/g.io/v1/namespaces/default/things", "application/merge-patch+json",
            NULL, "{}");
    CHECK_INT(a.status, 415);
    answer_fini(&a);
    fixture_fini(&f);
}

static size_t n_documents(const struct fixture *f)
{
    size_t n = 0;
    list_each (node, &f->api->documents.all)
        n++;
    return n;
}

TEST(discovery_is_made_once_until_a_definition_changes)
{
    static const char accept[] =
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    static const struct {
        const char *path, *accept;
    } rows[] = { { "/apis", accept }, { "/apis", NULL }, { "/apis/apps/v1", NULL } };
    struct fixture f;
    fixture_init(&f);
    char tags[2][80];
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 3 * ARRAY_LEN(rows); i++) {
            size_t row = i % ARRAY_LEN(rows);
            struct answer a = ask(&f, "GET", rows[row].path, NULL, rows[row].accept, NULL);
            CHECK_INT(a.status, 200);
            if (row < 2)
                CHECK_INT(str_find(buf_str(&a.body), STR("made.io")) >= 0, round);
            if (row == 0)
                (void)snprintf(tags[round], sizeof tags[round], STR_FMT,
                               STR_ARG(headers_get(&a.headers, "etag")));
            answer_fini(&a);
        }
        CHECK_INT(n_documents(&f), ARRAY_LEN(rows));
        if (round == 0)
            (void)want(&f, 201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                       "{\"metadata\":{\"name\":\"as.made.io\"},\"spec\":{\"group\":\"made.io\","
                       "\"scope\":\"Namespaced\",\"names\":{\"plural\":\"as\",\"kind\":\"A\"},"
                       "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
                       "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}");
    }
    CHECK(strcmp(tags[0], tags[1]) != 0);
    (void)want(&f, 404, "GET", "/apis/apps/v9", NULL);
    (void)want(&f, 404, "GET", "/apis/none", NULL);
    fixture_fini(&f);
}

TEST_MAIN
