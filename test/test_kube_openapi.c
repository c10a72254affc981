/* SPDX-License-Identifier: Apache-2.0 */
/* kube/: OpenAPI documents hang together: every reference resolves, every served kind is described.
 */
#include "test_kube.h"

#include "kube/openapi.h"

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
    struct registry *reg = test_registry();
    struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    CHECK_OK(openapi_v3(reg, STR(""), STR("v1"), &b));
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
    CHECK_ERR(openapi_v3(reg, STR("none"), STR("v1"), &b), -ENOENT);
    static const char *const groups[] = { "apiextensions.k8s.io", "coordination.k8s.io",
                                          "events.k8s.io" };
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        buf_reset(&b);
        CHECK_OK(openapi_v3(reg, str_of(groups[i]), STR("v1"), &b));
        (void)document(&a, &b);
    }
    buf_fini(&b);
    arena_fini(&a);
}

TEST(definitions_are_described_in_both_versions)
{
    struct arena a = { 0 };
    struct registry reg;
    struct crd *c;
    struct buf b = BUF_INIT(OPENAPI_MAX_BYTES);
    char before[OPENAPI_HASH_MAX], after[OPENAPI_HASH_MAX];
    registry_init(&reg);
    builtin_register(&reg);
    struct json *obj = parse(&a, crd_text);
    CHECK_OK(crd_new(obj, &c, NULL));
    const struct kube_resource *const *served;
    CHECK_INT(crd_resources(c, &served), 1);
    CHECK_OK(registry_add(&reg, served[0], NULL));
    CHECK_OK(openapi_v3(&reg, STR("example.com"), STR("v1"), &b));
    struct json *root = document(&a, &b);
    const struct json *ring = json_path(root, "components", "schemas", "com.example.v1.Ring", NULL);
    CHECK_STR(
        json_str(json_path(ring, "properties", "spec", "properties", "n", "description", NULL)),
        "How many.");
    CHECK(json_path(root, "paths", "/apis/example.com/v1/namespaces/{namespace}/rings/{name}/scale",
                    "put", NULL));
    CHECK(json_path(root, "components", "schemas", "io.k8s.api.autoscaling.v1.Scale", NULL));

    buf_reset(&b);
    CHECK_OK(openapi_v2(&reg, &b));
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
    CHECK(registry_remove(&reg, served[0]));
    crd_unref(c);
    json_set_str(&a, json_path(obj, "spec", "versions", NULL)->first, "name", STR("v1"));
    json_set_str(&a,
                 json_path(json_path(obj, "spec", "versions", NULL)->first, "schema",
                           "openAPIV3Schema", NULL),
                 "description", STR("Another ring."));
    CHECK_OK(crd_new(obj, &c, NULL));
    CHECK_INT(crd_resources(c, &served), 1);
    CHECK_OK(registry_add(&reg, served[0], NULL));
    CHECK_OK(openapi_v3_hash(&reg, STR("example.com"), STR("v1"), after));
    CHECK(strcmp(before, after) != 0);
    registry_fini(&reg);
    crd_unref(c);
    buf_fini(&b);
    arena_fini(&a);
}

TEST_MAIN
