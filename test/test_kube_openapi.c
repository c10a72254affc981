/* SPDX-License-Identifier: Apache-2.0 */
/* kube/: OpenAPI documents hang together: every reference resolves, every served kind is described.
 */
#include "test_kube.h"

#include "kube/model/builtin_docs.h"
#include "kube/model/builtin_tables.h"
#include "kube/model/openapi.h"
#include "kube/rules/rules.h"

#include <errno.h>

static const char crd_text[] = "{'metadata':{'name':'rings.example.com'},'spec':{'group':'example."
                               "com','scope':'Namespaced','names':"
                               "{'plural':'rings','kind':'Ring','listKind':'RingList','singular':'"
                               "ring'},'versions':[{'name':'v1','served':"
                               "true,'storage':true,'subresources':{'status':{},'scale':{'"
                               "specReplicasPath':'.spec.n','statusReplicasPath':"
                               "'.status.n'}},'schema':{'openAPIV3Schema':{'description':'A "
                               "ring.','type':'object','properties':{'spec':"
                               "{'type':'object','properties':{'n':{'type':'integer','nullable':"
                               "true,'description':'How many.'}}}}}}}]}}";

static void check_refs(struct arena *a, const struct json *root, const struct json *v)
{
    struct str r = json_get_str(v, "$ref");
    if (r.n) {
        const struct json *at = root;
        struct str head, rest = str_slice(r, 2, r.n);
        CHECK(str_has_prefix(r, STR("#/")));
        for (bool more = true; more;) {
            more = str_cut(rest, '/', &head, &rest);
            at = json_get(at, head);
            if (!at)
                TEST_FAIL("reference '" STR_FMT "' leads nowhere", STR_ARG(r));
        }
    }
    json_each (c, v) {
        check_refs(a, root, c);
    }
}

static struct json *document(struct arena *a, const struct buf *b)
{
    struct json *root;
    struct err err = { 0 };
    if (json_parse(a, str_copy_arena(a, buf_str(b)), NULL, &root, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    check_refs(a, root, root);
    return root;
}

TEST(version_3_describes_what_is_served)
{
    struct arena a = { 0 };
    struct kube_registry *reg = test_registry();
    struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    CHECK_OK(openapi_v3(reg, STR(""), STR("v1"), OPENAPI_JSON, &b));
    struct json *root = document(&a, &b);
    const struct json *cm =
        json_path(root, "components", "schemas", "io.k8s.api.core.v1.ConfigMap", NULL);
    CHECK_JSON(&a, json_getc(cm, "x-kubernetes-group-version-kind"),
               "[{'group':'','kind':'ConfigMap','version':'v1'}]");
    CHECK_STR(json_str(json_path(cm, "properties", "data", "additionalProperties", "type", NULL)),
              "string");
    CHECK(json_get_str(cm, "description").n > 0);
    const struct json *patch = json_path(root, "paths", "/api/v1/namespaces/{name}", "patch", NULL);
    CHECK_JSON(&a, json_getc(patch, "x-kubernetes-group-version-kind"),
               "{'group':'','kind':'Namespace','version':'v1'}");
    bool verifies = false;
    json_each (p, json_getc(patch, "parameters")) {
        verifies = verifies || str_is(json_get_str(p, "name"), "fieldValidation");
    }
    CHECK(verifies);
    buf_fini(&b);
    b = BUF_INIT(OPENAPI_MAX_BYTES);
    CHECK_ERR(openapi_v3(reg, STR("none"), STR("v1"), OPENAPI_JSON, &b), -ENOENT);
    static const char *const groups[] = { "apiextensions.k8s.io", "coordination.k8s.io",
                                          "events.k8s.io" };
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        buf_reset(&b);
        CHECK_OK(openapi_v3(reg, str_of(groups[i]), STR("v1"), OPENAPI_JSON, &b));
        (void)document(&a, &b);
    }
    buf_fini(&b);
    arena_fini(&a);
}

TEST(definitions_are_described_in_both_versions)
{
    struct arena a = { 0 };
    struct kube_registry reg;
    struct crd *c;
    struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    char before[OPENAPI_HASH_MAX], after[OPENAPI_HASH_MAX];
    kube_registry_init(&reg);
    rules_register(&reg);
    struct json *obj = parse(&a, crd_text);
    CHECK_OK(crd_new(obj, &c, NULL));
    const struct kube_resource *const *served;
    CHECK_INT(crd_resources(c, &served), 1);
    CHECK_OK(kube_registry_add(&reg, served[0], NULL));
    CHECK_OK(openapi_v3(&reg, STR("example.com"), STR("v1"), OPENAPI_JSON, &b));
    struct json *root = document(&a, &b);
    const struct json *ring = json_path(root, "components", "schemas", "com.example.v1.Ring", NULL);
    CHECK_STR(
        json_str(json_path(ring, "properties", "spec", "properties", "n", "description", NULL)),
        "How many.");
    CHECK(json_path(root, "paths", "/apis/example.com/v1/namespaces/{namespace}/rings/{name}/scale",
                    "put", NULL));
    CHECK(json_path(root, "components", "schemas", "io.k8s.api.autoscaling.v1.Scale", NULL));

    buf_reset(&b);
    CHECK_OK(openapi_v2(&reg, OPENAPI_JSON, &b));
    root = document(&a, &b);
    ring = json_path(root, "definitions", "com.example.v1.Ring", NULL);
    const struct json *n = json_path(ring, "properties", "spec", "properties", "n", NULL);
    CHECK(n && !json_getc(n, "nullable"));

    buf_reset(&b);
    CHECK_OK(openapi_v3_index(&reg, &b));
    root = document(&a, &b);
    CHECK(json_path(root, "paths", "api/v1", NULL));
    CHECK(json_path(root, "paths", "apis/rbac.authorization.k8s.io/v1", NULL));
    CHECK(str_has_prefix(
        json_str(json_path(root, "paths", "apis/example.com/v1", "serverRelativeURL", NULL)),
        STR("/openapi/v3/apis/example.com/v1?hash=")));

    CHECK_OK(openapi_v3_hash(&reg, STR("example.com"), STR("v1"), before));
    CHECK(kube_registry_remove(&reg, served[0]));
    crd_unref(c);
    json_set_str(&a, json_path(obj, "spec", "versions", NULL)->first, "name", STR("v1"));
    json_set_str(&a,
                 json_path(json_path(obj, "spec", "versions", NULL)->first, "schema",
                           "openAPIV3Schema", NULL),
                 "description", STR("Another ring."));
    CHECK_OK(crd_new(obj, &c, NULL));
    CHECK_INT(crd_resources(c, &served), 1);
    CHECK_OK(kube_registry_add(&reg, served[0], NULL));
    CHECK_OK(openapi_v3_hash(&reg, STR("example.com"), STR("v1"), after));
    CHECK(strcmp(before, after) != 0);

    /* What keeps unknown fields at its root is any object at all in version 2. */
    CHECK(kube_registry_remove(&reg, served[0]));
    crd_unref(c);
    json_setc(&a,
              json_path(json_path(obj, "spec", "versions", NULL)->first, "schema",
                        "openAPIV3Schema", NULL),
              "x-kubernetes-preserve-unknown-fields", json_new_bool(&a, true));
    CHECK_OK(crd_new(obj, &c, NULL));
    CHECK_INT(crd_resources(c, &served), 1);
    CHECK_OK(kube_registry_add(&reg, served[0], NULL));
    buf_reset(&b);
    CHECK_OK(openapi_v2(&reg, OPENAPI_JSON, &b));
    ring = json_path(document(&a, &b), "definitions", "com.example.v1.Ring", NULL);
    CHECK_STR(json_get_str(ring, "type"), "object");
    CHECK(!json_getc(ring, "properties"));
    CHECK(!json_getc(ring, "x-kubernetes-preserve-unknown-fields"));
    CHECK(json_getc(ring, "x-kubernetes-group-version-kind"));
    kube_registry_fini(&reg);
    crd_unref(c);
    buf_fini(&b);
    arena_fini(&a);
}

/* ------------------------------------------------------------------ descriptions */

/* A text names all values that its field may have, unless these are many. */
static void check_values_named(const char *in, struct str type, const struct json *field,
                               const struct json *values, struct str text)
{
    enum { MANY = 8 };
    if (!values || values->n > MANY)
        return;
    json_each (v, values) {
        bool found = v->s.n == 0; /* "" may go without words */
        for (size_t i = 0; !found && i + v->s.n <= text.n; i++)
            found = str_eq(str_slice(text, i, i + v->s.n), v->s);
        if (!found)
            TEST_FAIL("%s: %.*s.%.*s does not name %.*s", in, STR_ARG(type), STR_ARG(field->key),
                      STR_ARG(v->s));
    }
}

static void check_described(const char *in, const struct json *schemas)
{
    size_t n = 0;
    json_each (s, schemas) {
        if (json_get_str(s, "description").n == 0)
            TEST_FAIL("%s: no description of %.*s", in, STR_ARG(s->key));
        json_each (p, json_getc(s, "properties")) {
            struct str text = json_get_str(p, "description");
            if (text.n == 0)
                TEST_FAIL("%s: no description of %.*s.%.*s", in, STR_ARG(s->key), STR_ARG(p->key));
            check_values_named(in, s->key, p, json_getc(p, "enum"), text);
            check_values_named(in, s->key, p, json_path(p, "items", "enum", NULL), text);
            n++;
        }
    }
    CHECK(n > 0);
}

TEST(every_type_and_field_that_is_served_is_described)
{
    struct arena a = { 0 };
    const struct kube_registry *reg = test_registry();
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    CHECK_OK(openapi_v2(reg, OPENAPI_JSON, &b));
    check_described("version 2", json_getc(document(&a, &b), "definitions"));
    kube_registry_each(r, reg)
    {
        arena_reset(&a);
        buf_reset(&b);
        CHECK_OK(openapi_v3(reg, (*r)->group, (*r)->version, OPENAPI_JSON, &b));
        struct json *root = document(&a, &b);
        const char *name =
            arena_printf(&a, STR_FMT "/" STR_FMT, STR_ARG((*r)->group), STR_ARG((*r)->version));
        check_described(name, json_path(root, "components", "schemas", NULL));
    }
    arena_fini(&a);
}

/* What the generator adds to every kind, served or not. */
static bool is_common(struct str field)
{
    return str_is(field, "apiVersion") || str_is(field, "kind") || str_is(field, "metadata") ||
           str_is(field, "items");
}

/* Their fields are parameters of paths, and they themselves are in no document. */
static bool is_query(struct str type)
{
    return str_has_prefix(type, STR("io.k8s.api.core.v1.")) &&
           (str_has_suffix(type, STR("ProxyOptions")) ||
            str_has_suffix(type, STR("AttachOptions")) ||
            str_has_suffix(type, STR("ExecOptions")) ||
            str_has_suffix(type, STR("PortForwardOptions")));
}

TEST(streams_have_their_options_in_the_query)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    CHECK_OK(openapi_v3(test_registry(), STR(""), STR("v1"), OPENAPI_JSON, &b));
    const struct json *root = document(&a, &b);
    const struct json *post =
        json_path(root, "paths", "/api/v1/namespaces/{namespace}/pods/{name}/exec", "post", NULL);
    CHECK_STR(json_get_str(post, "x-kubernetes-action"), "connect");
    CHECK(!json_getc(post, "requestBody"));
    bool has_command = false;
    json_each (p, json_getc(post, "parameters"))
        has_command |= str_is(json_get_str(p, "name"), "command");
    CHECK(has_command);
    CHECK(!json_path(root, "components", "schemas", "io.k8s.api.core.v1.PodExecOptions", NULL));
    arena_fini(&a);
}

TEST(every_description_belongs_to_something_that_is_served)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    CHECK_OK(openapi_v2(test_registry(), OPENAPI_JSON, &b));
    const struct json *served = json_getc(document(&a, &b), "definitions");
    const struct builtin_docs *docs = builtin_docs_new(&a);
    for (uint16_t i = 0; i < builtin_n_types; i++) {
        const char *name = builtin_strings + builtin_types[i].name;
        const struct schema *s = builtin_type(name);
        if (json_getc(served, name) || is_query(str_of(name)))
            continue;
        if (builtin_doc_type(docs, s).n && !str_has_suffix(str_of(name), STR("List")))
            TEST_FAIL("%s is described and not served", name);
        size_t n;
        const struct schema_field *f = schema_fields(s, &n);
        for (size_t j = 0; j < n; j++)
            if (builtin_doc_field(docs, s, j).n && !is_common(f[j].name))
                TEST_FAIL("%s.%.*s is described and not served", name, STR_ARG(f[j].name));
    }
#define CHECK_LEAF(type, name)                                                                     \
    CHECK_INT(builtin_doc_leaf(docs, type).n > 0, json_getc(served, name) != NULL);
    BUILTIN_LEAVES(CHECK_LEAF)
#undef CHECK_LEAF
    arena_fini(&a);
}

TEST(descriptions_are_those_of_the_place_of_use_and_of_the_type)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    CHECK_OK(openapi_v3(test_registry(), STR("apps"), STR("v1"), OPENAPI_JSON, &b));
    const struct json *all = json_path(document(&a, &b), "components", "schemas", NULL);
    const struct json *spec = json_getc(all, "io.k8s.api.apps.v1.DeploymentSpec");
    CHECK_STR(json_get_str(spec, "description"), "The pods that are wanted, and how they are "
                                                 "replaced.");
    CHECK_JSON(&a, json_path(spec, "properties", "strategy", NULL),
               "{'allOf':[{'$ref':'#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy'}],"
               "'description':'How old pods are replaced by new ones.',"
               "'x-kubernetes-patch-strategy':'retainKeys'}");
    CHECK_STR(json_str(json_path(all, "io.k8s.api.apps.v1.DeploymentList", "description", NULL)),
              "A list of Deployment objects.");
    struct str alike[] = {
        json_str(json_path(all, "io.k8s.api.core.v1.EphemeralContainer", "properties", "image",
                           "description", NULL)),
        json_str(json_path(all, "io.k8s.api.core.v1.Container", "properties", "image",
                           "description", NULL)),
    };
    CHECK(alike[0].n > 0 && str_eq(alike[0], alike[1]));
    arena_fini(&a);
}

/* ------------------------------------------------------------------ protobuf */

/* The n-th field of this number in a message; n counts from 0. */
static bool field_at(struct str message, uint32_t number, size_t n, struct str *ret)
{
    struct rd r = rd_init(message.p, message.n);
    while (rd_left(&r) && rd_ok(&r)) {
        uint64_t v[2] = { 0 }; /* tag; length or number */
        for (size_t i = 0; i < 2; i++) {
            uint8_t byte = 0x80;
            for (unsigned shift = 0; byte & 0x80 && shift < 64; shift += 7) {
                byte = rd_u8(&r);
                v[i] |= (uint64_t)(byte & 0x7f) << shift;
            }
            if (i == 0 && (v[0] & 7) == 1)
                (void)rd_le64(&r);
            if (i == 0 && (v[0] & 7) == 1)
                break;
        }
        struct str s = (v[0] & 7) == 2 ? rd_str(&r, v[1]) : STR("");
        if (v[0] >> 3 == number && n-- == 0 && rd_ok(&r)) {
            *ret = s;
            return true;
        }
    }
    CHECK(rd_ok(&r));
    return false;
}

static struct str only(struct str message, uint32_t number)
{
    struct str s = STR("");
    CHECK(field_at(message, number, 0, &s));
    return s;
}

/* The value of a list of {1: name, 2: value}. */
static struct str named(struct str message, uint32_t number, const char *name)
{
    struct str item;
    for (size_t i = 0; field_at(message, number, i, &item); i++)
        if (str_is(only(item, 1), name))
            return only(item, 2);
    TEST_FAIL("no %s", name);
}

TEST(documents_in_protobuf_have_what_those_in_json_have)
{
    struct kube_registry reg;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    kube_registry_init(&reg);
    rules_register(&reg);
    CHECK_OK(openapi_v2(&reg, OPENAPI_PROTOBUF, &b));
    struct str doc = buf_str(&b);
    CHECK_STR(only(doc, 1), "2.0");
    struct str map = named(only(doc, 9), 1, "io.k8s.api.core.v1.ConfigMap");
    CHECK_STR(only(only(map, 22), 1), "object");
    CHECK_STR(only(named(map, 31, "x-kubernetes-group-version-kind"), 2),
              "[{\"group\":\"\",\"kind\":\"ConfigMap\",\"version\":\"v1\"}]");
    struct str data = named(only(map, 25), 1, "data");
    CHECK_STR(only(only(only(only(data, 21), 1), 22), 1), "string");
    struct str path = named(only(doc, 8), 2, "/api/v1/namespaces/{namespace}/configmaps");
    struct str created = named(only(only(path, 4), 9), 1, "201");
    CHECK_STR(only(only(only(only(created, 1), 2), 1), 1),
              "#/definitions/io.k8s.api.core.v1.ConfigMap");
    struct str in_path = only(only(only(only(path, 9), 1), 2), 4);
    CHECK_STR(only(in_path, 4), "namespace");

    buf_reset(&b);
    CHECK_OK(openapi_v3(&reg, STR(""), STR("v1"), OPENAPI_PROTOBUF, &b));
    doc = buf_str(&b);
    CHECK_STR(only(doc, 1), "3.0.0");
    map = only(named(only(only(doc, 5), 1), 1, "io.k8s.api.core.v1.ConfigMap"), 1);
    CHECK_STR(only(map, 25), "object");
    kube_registry_fini(&reg);
}

TEST_MAIN
