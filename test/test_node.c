/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nodes may do: the rules of the Node authorizer, the index of placed pods that it reads, and
 * the admission of what nodes write. Certificates and kubectl are tried in
 * test/behaviour/test_node.py, kube-apiserver's answers in test/differential.
 */
#include "api/auth/node_graph.h"
#include "api/auth/rbac_bootstrap.h"
#include "api/identity.h"
#include "api/placed.h"
#include "api_fixture.h"
#include "codec/jwt.h"
#include "io/tls.h"

#define NS      "/api/v1/namespaces/default/"
#define PODS    NS "pods"
#define SECRETS NS "secrets"

/* ------------------------------------------------------------------ helpers */

/* Single quotes read better in C. */
static char *json_of(struct arena *a, const char *text)
{
    char *copy = arena_strndup(a, text, strlen(text));
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    return copy;
}

static struct json *parsed(struct arena *a, const char *text)
{
    struct json *v;
    CHECK_OK(json_parse(a, str_of(json_of(a, text)), NULL, &v, NULL));
    return v;
}

static const struct str node_groups[] = { { "system:nodes", 12 }, { "system:authenticated", 20 } };

static struct kube_identity node_user(struct arena *a, const char *node)
{
    return (struct kube_identity){ .user = str_of(arena_printf(a, "system:node:%s", node)),
                                   .groups = node_groups,
                                   .n_groups = ARRAY_LEN(node_groups) };
}

/* ------------------------------------------------------------------ rules alone */

static void take_node_role(void *arg, const struct rbac_default *d)
{
    if (d->kind == RBAC_CLUSTER_ROLE && str_is(d->name, "system:node"))
        CHECK_OK(rbac_rules_compile(arg, json_getc(d->obj, "rules")));
}

TEST(a_node_is_a_user_of_the_group_of_nodes)
{
    static const struct str others[] = { { "system:masters2", 15 } };
    struct arena a = { 0 };
    struct kube_identity who = node_user(&a, "n1");
    struct str node;
    CHECK(identity_is_node(&who, &node) && str_is(node, "n1"));
    who.user = STR("system:node:");
    CHECK(identity_is_node(&who, &node) && node.n == 0);
    who.user = STR("system:nodes:n1");
    CHECK(!identity_is_node(&who, &node));
    who = node_user(&a, "n1");
    who.groups = others;
    who.n_groups = 1;
    CHECK(!identity_is_node(&who, &node));
    arena_fini(&a);
}

#define LIST_ONE  "can only read resources of this type"
#define GET_ONE   "can only get individual resources of this type"
#define SLICES_BY "can only list/watch/deletecollection resourceslices with nodeName field selector"
#define PODS_BY   "can only list/watch pods with spec.nodeName field selector"
#define LEASES    "can only access node lease with the same name as the requesting node"
#define CSI_NODES "can only access CSINode with the same name as the requesting node"

TEST(a_request_of_a_node_is_allowed_or_left_to_a_question_or_to_rbac)
{
    static const struct {
        const char *verb, *group, *resource, *ns, *name, *fields;
        enum node_answer answer;
        enum node_thing what; /* of NODE_ASKS */
        const char *reason;
    } cases[] = {
        { "get", "", "secrets", "ns", "s", "", NODE_ASKS, NODE_SECRET, "" },
        { "list", "", "secrets", "ns", "s", "", NODE_ASKS, NODE_SECRET, "" },
        { "watch", "", "secrets", "ns", "s", "", NODE_ASKS, NODE_SECRET, "" },
        { "list", "", "secrets", "ns", "", "", NODE_SILENT, 0, "No Object name found" },
        { "list", "", "secrets", "", "s", "", NODE_SILENT, 0,
          "can only read namespaced object of this type" },
        { "update", "", "secrets", "ns", "s", "", NODE_SILENT, 0, LIST_ONE },
        { "get", "", "secrets/x", "ns", "s", "", NODE_SILENT, 0, "cannot read subresource" },
        { "get", "", "configmaps", "ns", "c", "", NODE_ASKS, NODE_CONFIG_MAP, "" },
        { "delete", "", "configmaps", "ns", "c", "", NODE_SILENT, 0, LIST_ONE },
        { "get", "", "persistentvolumeclaims", "ns", "c", "", NODE_ASKS, NODE_CLAIM, "" },
        { "list", "", "persistentvolumeclaims", "ns", "c", "", NODE_SILENT, 0, GET_ONE },
        { "patch", "", "persistentvolumeclaims/status", "ns", "c", "", NODE_ASKS, NODE_CLAIM, "" },
        { "get", "", "persistentvolumeclaims/status", "ns", "c", "", NODE_SILENT, 0,
          "can only get/update/patch this type" },
        { "get", "", "persistentvolumes", "", "v", "", NODE_ASKS, NODE_VOLUME, "" },
        { "watch", "", "persistentvolumes", "", "v", "", NODE_SILENT, 0, GET_ONE },
        { "get", "", "persistentvolumes/status", "", "v", "", NODE_SILENT, 0,
          "cannot get subresource" },
        { "get", "resource.k8s.io", "resourceclaims", "ns", "r", "", NODE_ASKS, NODE_RESOURCE_CLAIM,
          "" },
        { "get", "storage.k8s.io", "volumeattachments", "", "va", "", NODE_ASKS, NODE_ATTACHMENT,
          "" },
        { "list", "storage.k8s.io", "volumeattachments", "", "va", "", NODE_SILENT, 0, GET_ONE },
        { "get", "", "serviceaccounts", "ns", "a", "", NODE_ASKS, NODE_ACCOUNT, "" },
        { "list", "", "serviceaccounts", "ns", "a", "", NODE_SILENT, 0,
          "can only create tokens for individual service accounts" },
        { "create", "", "serviceaccounts", "ns", "a", "", NODE_SILENT, 0,
          "can only create token subresource of serviceaccount" },
        { "create", "", "serviceaccounts/token", "ns", "a", "", NODE_ASKS, NODE_ACCOUNT, "" },
        { "create", "", "serviceaccounts/token", "ns", "", "", NODE_SILENT, 0,
          "can only create tokens for individual service accounts" },
        { "create", "coordination.k8s.io", "leases", "kube-node-lease", "", "", NODE_ALLOWS, 0,
          "" },
        { "update", "coordination.k8s.io", "leases", "kube-node-lease", "n1", "", NODE_ALLOWS, 0,
          "" },
        { "update", "coordination.k8s.io", "leases", "kube-node-lease", "n2", "", NODE_SILENT, 0,
          LEASES },
        { "get", "coordination.k8s.io", "leases", "default", "n1", "", NODE_SILENT, 0,
          "can only access leases in the \"kube-node-lease\" system namespace" },
        { "list", "coordination.k8s.io", "leases", "kube-node-lease", "", "", NODE_SILENT, 0,
          "can only get, create, update, patch, or delete a node lease" },
        { "delete", "storage.k8s.io", "csinodes", "", "n1", "", NODE_ALLOWS, 0, "" },
        { "get", "storage.k8s.io", "csinodes", "", "n2", "", NODE_SILENT, 0, CSI_NODES },
        { "get", "storage.k8s.io", "csinodes/status", "", "n1", "", NODE_SILENT, 0,
          "cannot authorize CSINode subresources" },
        { "watch", "storage.k8s.io", "csinodes", "", "n1", "", NODE_SILENT, 0,
          "can only get, create, update, patch, or delete a CSINode" },
        { "create", "resource.k8s.io", "resourceslices", "", "", "", NODE_ALLOWS, 0, "" },
        { "update", "resource.k8s.io", "resourceslices", "", "s", "", NODE_ASKS, NODE_SLICE, "" },
        { "list", "resource.k8s.io", "resourceslices", "", "", "spec.nodeName=n1", NODE_ALLOWS, 0,
          "" },
        { "list", "resource.k8s.io", "resourceslices", "", "", "spec.nodeName=n2", NODE_SILENT, 0,
          SLICES_BY },
        { "deletecollection", "resource.k8s.io", "resourceslices", "", "", "", NODE_SILENT, 0,
          SLICES_BY },
        { "get", "resource.k8s.io", "resourceslices/status", "", "s", "", NODE_SILENT, 0,
          "cannot authorize ResourceSlice subresources" },
        { "approve", "resource.k8s.io", "resourceslices", "", "s", "", NODE_SILENT, 0,
          "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, "
          "update, patch, delete, deletecollection" },
        { "get", "", "nodes", "", "n1", "", NODE_ALLOWS, 0, "" },
        { "watch", "", "nodes", "", "n1", "metadata.name=n1", NODE_ALLOWS, 0, "" },
        { "get", "", "nodes", "", "n2", "", NODE_SILENT, 0,
          "node 'n1' cannot read 'n2', only its own Node object" },
        { "list", "", "nodes", "", "", "", NODE_SILENT, 0,
          "node 'n1' cannot read all nodes, only its own Node object" },
        { "create", "", "nodes", "", "", "", NODE_ALLOWS, 0, "" },
        { "patch", "", "nodes", "", "n1", "", NODE_ALLOWS, 0, "" },
        { "patch", "", "nodes/status", "", "n1", "", NODE_ALLOWS, 0, "" },
        { "delete", "", "nodes", "", "n1", "", NODE_SILENT, 0, "" },
        { "get", "", "nodes/proxy", "", "n1", "", NODE_SILENT, 0, "" },
        { "get", "", "pods", "ns", "p", "", NODE_ASKS, NODE_POD, "" },
        { "list", "", "pods", "", "", "spec.nodeName=n1", NODE_ALLOWS, 0, "" },
        { "watch", "", "pods", "", "", "spec.nodeName==n1,status.phase!=Failed", NODE_ALLOWS, 0,
          "" },
        { "watch", "", "pods", "", "", "spec.nodeName!=n1", NODE_SILENT, 0, PODS_BY },
        { "list", "", "pods", "", "", "spec.nodeName=n2", NODE_SILENT, 0, PODS_BY },
        { "list", "", "pods", "ns", "p", "metadata.name=p", NODE_ASKS, NODE_POD, "" },
        { "create", "", "pods", "ns", "", "", NODE_ALLOWS, 0, "" },
        { "update", "", "pods", "ns", "p", "", NODE_SILENT, 0, "" },
        { "delete", "", "pods", "ns", "p", "", NODE_ALLOWS, 0, "" },
        { "deletecollection", "", "pods", "ns", "", "", NODE_SILENT, 0, "" },
        { "update", "", "pods/status", "ns", "p", "", NODE_ALLOWS, 0, "" },
        { "create", "", "pods/eviction", "ns", "p", "", NODE_ALLOWS, 0, "" },
        { "create", "", "pods/binding", "ns", "p", "", NODE_SILENT, 0, "" },
        { "get", "", "pods/log", "ns", "p", "", NODE_SILENT, 0, "" },
        { "list", "", "services", "", "", "", NODE_ALLOWS, 0, "" },
        { "create", "", "services", "ns", "", "", NODE_SILENT, 0, "" },
        { "create", "events.k8s.io", "events", "ns", "", "", NODE_ALLOWS, 0, "" },
        { "create", "authentication.k8s.io", "tokenreviews", "", "", "", NODE_ALLOWS, 0, "" },
        { "create", "certificates.k8s.io", "certificatesigningrequests", "", "", "", NODE_ALLOWS, 0,
          "" },
        { "update", "certificates.k8s.io", "certificatesigningrequests/approval", "", "c", "",
          NODE_SILENT, 0, "" },
        { "list", "node.k8s.io", "runtimeclasses", "", "", "", NODE_ALLOWS, 0, "" },
        { "list", "storage.k8s.io", "csidrivers", "", "", "", NODE_ALLOWS, 0, "" },
        { "list", "apps", "deployments", "", "", "", NODE_SILENT, 0, "" },
    };
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf fixed = BUF_INIT(1 << 16), reason = BUF_INIT(1 << 16);
    const struct kube_identity who = node_user(&a, "n1");
    rbac_defaults(take_node_role, &fixed);
    CHECK(fixed.n > 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str resource, sub;
        struct node_rules_question q = { 0 };
        (void)str_cut(str_of(cases[i].resource), '/', &resource, &sub);
        const struct api_attributes at = { .identity = &who,
                                           .is_resource = true,
                                           .verb = str_of(cases[i].verb),
                                           .group = str_of(cases[i].group),
                                           .resource = resource,
                                           .subresource = sub,
                                           .ns = str_of(cases[i].ns),
                                           .name = str_of(cases[i].name),
                                           .field_selector = str_of(cases[i].fields) };
        buf_reset(&reason);
        enum node_answer answer = node_decide(
            STR("n1"), (struct rbac_rules){ (const uint8_t *)fixed.p, fixed.n }, &at, &q, &reason);
        if (answer != cases[i].answer || !str_is(buf_str(&reason), cases[i].reason))
            printf("# case %zu: %s %s: %s\n", i, cases[i].verb, cases[i].resource,
                   reason.n ? reason.p : "");
        CHECK_INT(answer, cases[i].answer);
        CHECK_STR(buf_str(&reason), cases[i].reason);
        if (answer == NODE_ASKS) {
            CHECK_INT(q.what, cases[i].what);
            CHECK(str_is(q.node, "n1") && str_is(q.name, cases[i].name) &&
                  str_is(q.ns, cases[i].ns));
        }
    }
    arena_fini(&a);
}

TEST(names_that_no_object_has_are_not_looked_up)
{
    static const struct {
        const char *node, *ns, *name;
        enum node_thing what;
        bool may;
    } cases[] = {
        { "n1", "ns", "p", NODE_POD, true },       { "n1/ns", "x", "p", NODE_POD, false },
        { "N1", "ns", "p", NODE_POD, false },      { "n1", "", "ns/p", NODE_POD, false },
        { "n1", "", "p", NODE_POD, false },        { "n1", "", "c", NODE_CLAIM, false },
        { "n1", "", "v", NODE_VOLUME, true },      { "", "", "v", NODE_VOLUME, false },
        { "n1", "ns", "a/b", NODE_SECRET, false }, { "n1", "a/b", "c", NODE_SECRET, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct node_rules_question q = { .node = str_of(cases[i].node),
                                               .what = cases[i].what,
                                               .ns = str_of(cases[i].ns),
                                               .name = str_of(cases[i].name) };
        CHECK_INT(node_may_relate(&q), cases[i].may);
    }
}

/* ------------------------------------------------------------------ what pods refer to */

static void write_reference(void *arg, enum pod_reference what, struct str name)
{
    (void)buf_printf(arg, "%c:" STR_FMT " ", (char)what, STR_ARG(name));
}

TEST(a_pod_refers_to_what_its_parts_name)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 16);
    const struct json *pod = parsed(
        &a,
        "{'metadata':{'name':'p'},'spec':{'serviceAccountName':'sa','imagePullSecrets':[{'name':"
        "'pull'},{}],"
        "'initContainers':[{'envFrom':[{'secretRef':{'name':'s1'}},{'configMapRef':{'name':'c1'}}"
        "]}],"
        "'containers':[{'env':[{'name':'A','valueFrom':{'secretKeyRef':{'name':'s2','key':'k'}}},"
        "{'name':'B','valueFrom':{'configMapKeyRef':{'name':'c2','key':'k'}}},{'name':'C','value':"
        "'x'}]}],"
        "'ephemeralContainers':[{'envFrom':[{'secretRef':{'name':'s3'}}]}],"
        "'volumes':[{'name':'a','secret':{'secretName':'v1'}},{'name':'b','configMap':{'name':"
        "'v2'}},"
        "{'name':'c','projected':{'sources':[{'secret':{'name':'v3'}},{'configMap':{'name':'v4'}},"
        "{'serviceAccountToken':{'path':'t'}}]}},"
        "{'name':'d','persistentVolumeClaim':{'claimName':'v5'}},"
        "{'name':'e','ephemeral':{'volumeClaimTemplate':{}}},"
        "{'name':'f','csi':{'driver':'d','nodePublishSecretRef':{'name':'v6'}}},"
        "{'name':'g','azureFile':{'secretName':'v7'}},{'name':'h','iscsi':{'secretRef':{'name':"
        "'v8'}}},{'name':'i','cephfs':{'secretRef':{'name':'v9'}}},"
        "{'name':'j','emptyDir':{}}],"
        "'resourceClaims':[{'name':'x','resourceClaimName':'r1'},{'name':'y',"
        "'resourceClaimTemplateName':'t'},{'name':'z','resourceClaimTemplateName':'t'}]},"
        "'status':{'resourceClaimStatuses':[{'name':'y','resourceClaimName':'r2'},{'name':'z'}],"
        "'extendedResourceClaimStatus':{'resourceClaimName':'r3'}}}");
    kind_pod_references(&a, pod, write_reference, &b);
    CHECK_STR(buf_str(&b), "a:sa s:pull s:s1 c:c1 s:s2 c:c2 s:s3 s:v1 c:v2 s:v3 c:v4 p:v5 p:p-e "
                           "s:v6 s:v7 s:v8 s:v9 r:r1 r:r2 r:r3 ");
    arena_fini(&a);
}

static void write_secret(void *arg, struct str ns, struct str name)
{
    (void)buf_printf(arg, STR_FMT "/" STR_FMT " ", STR_ARG(ns), STR_ARG(name));
}

TEST(a_volume_names_the_secrets_that_a_node_reads)
{
    static const struct {
        const char *spec, *secrets;
    } cases[] = {
        { "'csi':{'driver':'d','nodePublishSecretRef':{'namespace':'x','name':'a'},"
          "'nodeStageSecretRef':{'namespace':'x','name':'b'},'nodeExpandSecretRef':{'namespace':"
          "'x','name':'c'},'controllerPublishSecretRef':{'namespace':'x','name':'no'}}",
          "x/a x/b x/c " },
        { "'azureFile':{'secretName':'a'}", "ns/a " },
        { "'azureFile':{'secretName':'a','secretNamespace':'x'}", "x/a " },
        { "'rbd':{'secretRef':{'name':'a'}}", "ns/a " },
        { "'iscsi':{'secretRef':{'name':'a','namespace':'x'}}", "x/a " },
        { "'hostPath':{'path':'/'}", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 16);
        kind_volume_secrets(
            parsed(&a, arena_printf(&a,
                                    "{'spec':{'claimRef':{'namespace':'ns','name':'c'}"
                                    ",%s}}",
                                    cases[i].spec)),
            write_secret, &b);
        CHECK_STR(buf_str(&b), cases[i].secrets);
        arena_fini(&a);
    }
}

TEST(an_entry_holds_the_references_once)
{
    struct arena a = { 0 };
    struct store_op ops[4];
    size_t n = 0;
    const struct json *pod =
        parsed(&a, "{'metadata':{'name':'p'},'spec':{'nodeName':'n1','serviceAccountName':'x',"
                   "'imagePullSecrets':[{'name':'x'},{'name':'x'}]}}");
    placed_ops(&a, STR("/registry/pods/ns/p"), NULL, pod, ops, &n);
    CHECK_INT(n, 1);
    CHECK_STR(ops[0].key, "/placed/n1/ns/p");
    CHECK(str_eq(ops[0].value, STR("1a\1\0xs\1\0x")));
    CHECK(placed_refers(ops[0].value, POD_SECRET, STR("x")));
    CHECK(!placed_refers(ops[0].value, POD_CLAIM, STR("x")));
    CHECK(!placed_refers(ops[0].value, POD_SECRET, STR("")));
    CHECK(!placed_refers(STR(""), POD_SECRET, STR("x")));
    CHECK_STR(placed_namespace(ops[0].key, STR("n1")), "ns");
    n = 0;
    placed_ops(&a, STR("/registry/pods/ns/p"), pod, pod, ops, &n);
    CHECK_INT(n, 0);
    placed_ops(&a, STR("/registry/secrets/ns/p"), NULL, pod, ops, &n);
    CHECK_INT(n, 0);
    placed_ops(&a, STR("/registry/pods/ns/p"), pod, NULL, ops, &n);
    CHECK_INT(n, 1);
    CHECK_INT(ops[0].kind, STORE_DELETE);
    arena_fini(&a);
}

TEST(an_entry_is_bounded)
{
    struct arena a = { 0 };
    struct store_op ops[4];
    size_t n = 0;
    struct json *pod = parsed(&a, "{'metadata':{'name':'p'},'spec':{'nodeName':'n1'}}");
    struct json *list = json_new_array(&a);
    for (int i = 0; i < 20000; i++) {
        struct json *ref = json_new_object(&a);
        json_set_str(&a, ref, "name", str_of(arena_printf(&a, "a-secret-%d", i)));
        json_add(list, ref);
    }
    json_setc(&a, json_getc(pod, "spec"), "imagePullSecrets", list);
    placed_ops(&a, STR("/registry/pods/ns/p"), NULL, pod, ops, &n);
    CHECK_INT(n, 1);
    CHECK(ops[0].value.n <= PLACED_VALUE_MAX && ops[0].value.n > PLACED_VALUE_MAX - 300);
    CHECK(placed_refers(ops[0].value, POD_SECRET, STR("a-secret-10000")));
    CHECK(!placed_refers(ops[0].value, POD_SECRET, STR("a-secret-19999")));
    arena_fini(&a);
}

/* ------------------------------------------------------------------ a server */

static struct buf ca_cert, ca_key, sa_key;

static void start(struct fixture *f)
{
    struct err err = { 0 };
    scoped(jwt_key_free_scoped) struct jwt_key *key = NULL;
    ca_cert = ca_key = sa_key = BUF_INIT(1 << 16);
    CHECK_OK(x509_make_ca("test-ca", &ca_cert, &ca_key, &err));
    CHECK_OK(jwt_key_make(&key, &err));
    CHECK_OK(jwt_key_write(key, &sa_key, &err));
    fixture_init(f);
    close_server(f);
    f->ca_cert = buf_str(&ca_cert);
    f->ca_key = buf_str(&ca_key);
    f->sa_key = buf_str(&sa_key);
    f->rbac = true;
    open_server(f);
    settle(f);
}

static void stop(struct fixture *f)
{
    f->identity = NULL;
    fixture_fini(f);
    buf_fini(&ca_cert);
    buf_fini(&ca_key);
    buf_fini(&sa_key);
}

static struct json *put(struct fixture *f, int status, const char *method, const char *path,
                        const char *body)
{
    return want(f, status, method, path, body ? json_of(&f->arena, body) : NULL);
}

static struct json *as(struct fixture *f, const char *node, int status, const char *method,
                       const char *path, const char *body)
{
    const struct kube_identity who = node_user(&f->arena, node);
    f->identity = &who;
    struct json *v = put(f, status, method, path, body);
    f->identity = NULL;
    return v;
}

/* The message ends with `why`. */
static void refused(struct fixture *f, const char *node, int status, const char *method,
                    const char *path, const char *body, const char *why)
{
    struct str output = json_get_str(as(f, node, status, method, path, body), "message");
    bool fits =
        output.n >= strlen(why) && str_is(str_slice(output, output.n - strlen(why), output.n), why);
    if (!fits)
        printf("# %s %s: " STR_FMT "\n#   not: %s\n", method, path, STR_ARG(output), why);
    CHECK(fits);
}

#define UNRELATED "no relationship found between node 'n1' and this object"
#define CONTAINER "'containers':[{'name':'c','image':'i'}]"

/* A pod on a node; more: members of its spec, with a comma before them. */
static struct json *place(struct fixture *f, const char *name, const char *node, const char *more)
{
    return put(f, 201, "POST", PODS,
               arena_printf(&f->arena,
                            "{'metadata':{'name':'%s'},'spec':{'nodeName':'%s'," CONTAINER "%s}}",
                            name, node, more));
}

static void make_secret(struct fixture *f, const char *name)
{
    (void)put(f, 201, "POST", SECRETS, arena_printf(&f->arena, "{'metadata':{'name':'%s'}}", name));
}

struct count {
    struct fixture *f;
    size_t n;
};

static void on_counted(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct count *c = arg;
    (void)err;
    CHECK_OK(r);
    c->n = page->n;
    c->f->done = true;
}

static size_t n_entries(struct fixture *f, const char *prefix)
{
    struct count c = { .f = f };
    const struct store_range range = { .prefix = str_of(prefix), .keys_only = true };
    CHECK_OK(store_range(f->store, &range, on_counted, &c, NULL));
    wait_done(f);
    return c.n;
}

TEST(a_node_reads_what_its_pods_refer_to)
{
    struct fixture f;
    start(&f);
    make_secret(&f, "mine");
    make_secret(&f, "other");
    (void)make_map(&f, "map", "v");
    (void)place(&f, "p1", "n1",
                ",'volumes':[{'name':'s','secret':{'secretName':'mine'}},{'name':'m','configMap':{"
                "'name':'map'}}]");
    (void)place(&f, "p2", "n2", ",'imagePullSecrets':[{'name':'other'}]");
    (void)as(&f, "n1", 200, "GET", SECRETS "/mine", NULL);
    (void)as(&f, "n1", 200, "GET", SECRETS "?fieldSelector=metadata.name%3Dmine", NULL);
    (void)as(&f, "n1", 200, "GET", MAPS "/map", NULL);
    (void)as(&f, "n1", 200, "GET", NS "serviceaccounts/default", NULL);
    refused(&f, "n1", 403, "GET", SECRETS "/other", NULL,
            "secrets \"other\" is forbidden: User \"system:node:n1\" cannot get resource "
            "\"secrets\" in API group \"\" in the namespace \"default\": " UNRELATED);
    refused(&f, "n1", 403, "GET", "/api/v1/namespaces/kube-system/secrets/mine", NULL, UNRELATED);
    refused(&f, "n1", 403, "GET", SECRETS, NULL, "No Object name found");
    refused(&f, "n1", 403, "DELETE", SECRETS "/mine", NULL, LIST_ONE);
    (void)as(&f, "n2", 200, "GET", SECRETS "/other", NULL);
    (void)as(&f, "n2", 403, "GET", SECRETS "/mine", NULL);
    (void)as(&f, "n2", 403, "GET", MAPS "/map", NULL);
    /* Its own pods and Node, and no others. */
    (void)as(&f, "n1", 200, "GET", PODS "/p1", NULL);
    (void)as(&f, "n1", 200, "GET", PODS "?fieldSelector=metadata.name%3Dp1", NULL);
    refused(&f, "n1", 403, "GET", PODS "/p2", NULL, UNRELATED);
    refused(&f, "n1", 403, "GET", PODS, NULL, PODS_BY);
    struct json *list =
        as(&f, "n1", 200, "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", NULL);
    CHECK_INT(json_getc(list, "items")->n, 1);
    refused(&f, "n1", 403, "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2", NULL, PODS_BY);
    (void)as(&f, "n1", 404, "GET", "/api/v1/nodes/n1", NULL);
    (void)as(&f, "n1", 403, "GET", "/api/v1/nodes/n2", NULL);
    /* A name that contains the key of another node's pods. */
    (void)as(&f, "n1/default", 403, "GET", SECRETS "/mine", NULL);
    (void)as(&f, "", 403, "GET", SECRETS "/mine", NULL);
    /* With the pod goes the right. */
    (void)want(&f, 200, "DELETE", PODS "/p1?gracePeriodSeconds=0", NULL);
    CHECK_INT(n_entries(&f, "/placed/n1/"), 0);
    refused(&f, "n1", 403, "GET", SECRETS "/mine", NULL, UNRELATED);
    stop(&f);
}

TEST(a_pod_gives_rights_when_it_is_bound_and_by_what_is_added_to_it)
{
    struct fixture f;
    start(&f);
    make_secret(&f, "mine");
    make_secret(&f, "debug");
    (void)put(&f, 201, "POST", PODS,
              "{'metadata':{'name':'p'},'spec':{" CONTAINER
              ",'imagePullSecrets':[{'name':'mine'}]}}");
    CHECK_INT(n_entries(&f, "/placed/"), 0);
    (void)as(&f, "n1", 403, "GET", SECRETS "/mine", NULL);
    (void)put(&f, 201, "POST", PODS "/p/binding",
              "{'metadata':{'name':'p'},'target':{'kind':'Node','name':'n1'}}");
    CHECK_INT(n_entries(&f, "/placed/n1/default/"), 1);
    (void)as(&f, "n1", 200, "GET", SECRETS "/mine", NULL);
    (void)as(&f, "n1", 403, "GET", SECRETS "/debug", NULL);
    struct answer a = ask(&f, "PATCH", PODS "/p/ephemeralcontainers",
                          "application/strategic-merge-patch+json", NULL,
                          json_of(&f.arena, "{'spec':{'ephemeralContainers':[{'name':'d','image':"
                                            "'i','envFrom':[{'secretRef':{'name':'debug'}}]}]}}"));
    CHECK_INT(a.status, 200);
    answer_fini(&a);
    (void)as(&f, "n1", 200, "GET", SECRETS "/debug", NULL);
    stop(&f);
}

#define CLAIM_SPEC                                                                                 \
    "'accessModes':['ReadWriteOnce'],'storageClassName':'','resources':{'requests':{'storage':"    \
    "'1Gi'}}"
#define VOLUME_SPEC                                                                                \
    "'accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'},'csi':{'driver':'d.io',"         \
    "'volumeHandle':'h','nodeStageSecretRef':{'namespace':'kube-system','name':'stage'},"          \
    "'controllerPublishSecretRef':{'namespace':'kube-system','name':'control'}}"

TEST(a_node_reads_the_volumes_of_its_claims_and_their_secrets)
{
    struct fixture f;
    start(&f);
    static const char *const names[] = { "a", "b" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        (void)put(&f, 201, "POST", NS "persistentvolumeclaims",
                  arena_printf(&f.arena,
                               "{'metadata':{'name':'claim-%s'},'spec':{'volumeName':'volume-%s',"
                               "" CLAIM_SPEC "}}",
                               names[i], names[i]));
        (void)put(&f, 201, "POST", "/api/v1/persistentvolumes",
                  arena_printf(&f.arena,
                               "{'metadata':{'name':'volume-%s'},'spec':{'claimRef':{'namespace':"
                               "'default','name':'claim-%s'}," VOLUME_SPEC "}}",
                               names[i], names[i]));
    }
    (void)put(&f, 201, "POST", "/api/v1/namespaces/kube-system/secrets",
              "{'metadata':{'name':'stage'}}");
    (void)place(&f, "p", "n1",
                ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'claim-a'}}]");
    (void)place(&f, "q", "n3", "");
    (void)as(&f, "n1", 200, "GET", NS "persistentvolumeclaims/claim-a", NULL);
    (void)as(&f, "n1", 403, "GET", NS "persistentvolumeclaims/claim-b", NULL);
    (void)as(&f, "n1", 200, "GET", "/api/v1/persistentvolumes/volume-a", NULL);
    (void)as(&f, "n1", 403, "GET", "/api/v1/persistentvolumes/volume-b", NULL);
    (void)as(&f, "n1", 403, "GET", "/api/v1/persistentvolumes/none", NULL);
    (void)as(&f, "n1", 200, "GET", "/api/v1/namespaces/kube-system/secrets/stage", NULL);
    (void)as(&f, "n1", 403, "GET", "/api/v1/namespaces/kube-system/secrets/control", NULL);
    (void)as(&f, "n1", 403, "GET", SECRETS "/stage", NULL);
    (void)as(&f, "n3", 403, "GET", "/api/v1/namespaces/kube-system/secrets/stage", NULL);
    /* The claim says that the volume is its own, and the volume that it is another's. */
    (void)put(&f, 201, "POST", NS "persistentvolumeclaims",
              "{'metadata':{'name':'thief'},'spec':{'volumeName':'volume-b'," CLAIM_SPEC "}}");
    (void)place(&f, "r", "n3",
                ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'thief'}}]");
    (void)as(&f, "n3", 403, "GET", "/api/v1/namespaces/kube-system/secrets/stage", NULL);
    (void)as(&f, "n3", 403, "GET", "/api/v1/persistentvolumes/volume-b", NULL);
    /* Objects that name their node. */
    (void)put(&f, 201, "POST", "/apis/storage.k8s.io/v1/volumeattachments",
              "{'metadata':{'name':'va'},'spec':{'attacher':'d.io','nodeName':'n1','source':{"
              "'persistentVolumeName':'volume-a'}}}");
    (void)as(&f, "n1", 200, "GET", "/apis/storage.k8s.io/v1/volumeattachments/va", NULL);
    (void)as(&f, "n3", 403, "GET", "/apis/storage.k8s.io/v1/volumeattachments/va", NULL);
    stop(&f);
}

static void on_stored(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct fixture *f = arg;
    (void)err;
    CHECK_OK(res->r);
    f->done = true;
}

/* Past the API, which is slow for large objects. */
static void store_raw(struct fixture *f, const char *key, struct str value)
{
    const struct store_op op = { .kind = STORE_PUT, .key = str_of(key), .value = value };
    CHECK_OK(store_txn(f->store, &op, 1, on_stored, f, NULL));
    wait_done(f);
}

/* One pod with many claims, each of a volume as large as the API lets it be. */
TEST(a_node_that_asks_for_a_secret_pays_for_what_the_server_reads)
{
    enum { CLAIMS = 64, BYTES = 1 << 20 };
    struct fixture f;
    start(&f);
    scoped(buf_fini_scoped) struct buf entry = BUF_INIT(PLACED_VALUE_MAX);
    scoped(buf_fini_scoped) struct buf volume = BUF_INIT(2 * BYTES);
    (void)buf_add_char(&entry, '1');
    (void)buf_add_cstr(&volume, "{\"metadata\":{\"annotations\":{\"a\":\"");
    while (volume.n < BYTES)
        (void)buf_add_cstr(&volume, "0123456789");
    (void)buf_add_cstr(&volume, "\"}},\"spec\":{}}");
    for (int i = 0; i < CLAIMS; i++) {
        char name[8], key[64];
        (void)snprintf(name, sizeof name, "c%d", i);
        (void)buf_add_char(&entry, POD_CLAIM);
        (void)buf_add_le16(&entry, (uint16_t)strlen(name));
        (void)buf_add_cstr(&entry, name);
        (void)snprintf(key, sizeof key, "/registry/persistentvolumeclaims/default/%s", name);
        store_raw(&f, key, STR("{\"spec\":{\"volumeName\":\"v\"}}"));
    }
    store_raw(&f, "/registry/persistentvolumes/v", buf_str(&volume));
    store_raw(&f, PLACED_PREFIX "n1/default/p", buf_str(&entry));
    (void)as(&f, "n1", 413, "GET", SECRETS "/none", NULL);
    (void)as(&f, "n1", 403, "GET", MAPS "/none", NULL);
    stop(&f);
}

TEST(a_mirror_pod_gives_no_rights)
{
    struct fixture f;
    start(&f);
    (void)put(&f, 201, "POST", PODS,
              "{'metadata':{'name':'m','annotations':{'kubernetes.io/config.mirror':'x'}},'spec':{"
              "'nodeName':'n1'," CONTAINER
              ",'volumes':[{'name':'v','configMap':{'name':'map'}}]}}");
    (void)make_map(&f, "map", "v");
    (void)as(&f, "n1", 200, "GET", PODS "/m", NULL);
    (void)as(&f, "n1", 403, "GET", MAPS "/map", NULL);
    struct json *no =
        put(&f, 403, "POST", PODS,
            "{'metadata':{'name':'x','annotations':{'kubernetes.io/config.mirror':"
            "'x'}},'spec':{'nodeName':'n1'," CONTAINER ",'imagePullSecrets':[{'name':'s'}]}}");
    CHECK_STR(json_get_str(no, "message"),
              "pods \"x\" is forbidden: a mirror pod may not reference secrets");
    stop(&f);
}

TEST(roles_add_to_what_a_node_may)
{
    struct fixture f;
    start(&f);
    make_secret(&f, "s");
    (void)as(&f, "n1", 403, "GET", SECRETS "/s", NULL);
    (void)put(&f, 201, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
              "{'metadata':{'name':'nodes'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io',"
              "'kind':'ClusterRole','name':'system:node'},'subjects':[{'kind':'Group','name':"
              "'system:nodes','apiGroup':'rbac.authorization.k8s.io'}]}");
    (void)as(&f, "n1", 200, "GET", SECRETS "/s", NULL);
    (void)as(&f, "n1", 200, "GET", SECRETS, NULL);
    stop(&f);
}

static struct json *can(struct fixture *f, const char *attributes)
{
    return json_getc(put(f, 201, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                         arena_printf(&f->arena,
                                      "{'spec':{'user':'system:node:n1','groups':['system:nodes']"
                                      ",'resourceAttributes':{%s}}}",
                                      attributes)),
                     "status");
}

TEST(reviews_know_what_nodes_may)
{
    struct fixture f;
    start(&f);
    (void)place(&f, "p", "n1", ",'imagePullSecrets':[{'name':'s'}]");
    struct json *yes = can(&f, "'verb':'get','resource':'secrets','namespace':'default','name':"
                               "'s'");
    CHECK(json_bool(json_getc(yes, "allowed")) && !json_getc(yes, "reason"));
    struct json *no = can(&f, "'verb':'get','resource':'secrets','namespace':'default','name':'t'");
    CHECK(!json_bool(json_getc(no, "allowed")));
    CHECK_STR(json_get_str(no, "reason"), UNRELATED);
    yes = can(&f, "'verb':'list','resource':'pods','fieldSelector':{'rawSelector':"
                  "'spec.nodeName=n1'}");
    CHECK(json_bool(json_getc(yes, "allowed")));
    yes = can(&f, "'verb':'list','resource':'pods','fieldSelector':{'requirements':[{'key':"
                  "'spec.nodeName','operator':'In','values':['n1']}]}");
    CHECK(json_bool(json_getc(yes, "allowed")));
    no = can(&f, "'verb':'list','resource':'pods','fieldSelector':{'requirements':[{'key':"
                 "'spec.nodeName','operator':'NotIn','values':['n1']}]}");
    CHECK(!json_bool(json_getc(no, "allowed")));
    /* A key is no text of a selector. */
    static const char *const keys[] = { "spec.nodeName=n1,a", "a!=b,spec.nodeName",
                                        "spec.nodeName=n1\\\\,a", "spec.nodeName=n1,a\\u0000" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        CHECK(!json_bool(json_getc(
            can(&f, arena_printf(&f.arena,
                                 "'verb':'list','resource':'pods','fieldSelector':{"
                                 "'requirements':[{'key':'%s','operator':'In','values':['n1']}]}",
                                 keys[i])),
            "allowed")));
    struct json *rules =
        json_getc(as(&f, "n1", 201, "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                     "{'spec':{'namespace':'default'}}"),
                  "status");
    CHECK(json_bool(json_getc(rules, "incomplete")));
    CHECK_STR(json_get_str(rules, "evaluationError"),
              "node authorizer does not support user rule resolution");
    stop(&f);
}

TEST(a_watch_of_a_node_outlives_changes_of_roles)
{
    struct fixture f;
    start(&f);
    (void)place(&f, "p", "n1", ",'imagePullSecrets':[{'name':'s'}]");
    const struct kube_identity who = node_user(&f.arena, "n1");
    struct watching w;
    f.identity = &who;
    watch(&f, &w, SECRETS "?watch=1&fieldSelector=metadata.name%3Ds");
    f.identity = NULL;
    (void)put(&f, 201, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
              "{'metadata':{'name':'x'}}");
    make_secret(&f, "s");
    (void)expect(&w, "ADDED", "s");
    CHECK(!w.ended);
    unwatch(&w);
    stop(&f);
}

static void on_wiped(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct fixture *f = arg;
    (void)err;
    CHECK_OK(res->r);
    f->done = true;
}

TEST(the_index_of_an_older_store_is_built)
{
    struct fixture f;
    start(&f);
    make_secret(&f, "s");
    (void)place(&f, "p", "n1", ",'imagePullSecrets':[{'name':'s'}]");
    /* As a program without the index left it: that of owners is there. */
    const struct store_op older[] = {
        { .kind = STORE_DELETE, .key = STR("/placed/n1/default/p") },
        { .kind = STORE_PUT, .key = STR("/owned.built"), .value = STR("1") }
    };
    CHECK_OK(store_txn(f.store, older, ARRAY_LEN(older), on_wiped, &f, NULL));
    wait_done(&f);
    (void)as(&f, "n1", 403, "GET", SECRETS "/s", NULL);
    close_server(&f);
    open_server(&f);
    (void)as(&f, "n1", 200, "GET", SECRETS "/s", NULL);
    stop(&f);
}

/* ------------------------------------------------------------------ what nodes write */

static char *uid_of(struct fixture *f, const struct json *obj)
{
    return str_dup_arena(&f->arena, text_at(obj, "metadata", "uid"));
}

#define NODES "/api/v1/nodes"

TEST(a_node_writes_its_own_node_and_not_what_steers_pods)
{
    struct fixture f;
    start(&f);
    refused(&f, "n1", 403, "POST", NODES, "{'metadata':{'name':'n2'}}",
            "nodes \"n2\" is forbidden: node \"n1\" is not allowed to modify node \"n2\"");
    refused(&f, "n1", 403, "POST", NODES,
            "{'metadata':{'name':'n1','labels':{'node-restriction.kubernetes.io/x':'1','a.k8s.io/"
            "b':'1','kubernetes.io/os':'linux','free.example.com/x':'1','x.kubelet.kubernetes.io/"
            "y':'1','kubernetes.io/arch':'amd64'}}}",
            "nodes \"n1\" is forbidden: node \"n1\" is not allowed to set the following labels: "
            "a.k8s.io/b, node-restriction.kubernetes.io/x");
    refused(&f, "n1", 403, "POST", NODES,
            "{'metadata':{'name':'n1'},'spec':{'configSource':{'configMap':{'namespace':'a','name':"
            "'b','kubeletConfigKey':'c'}}}}",
            "node \"n1\" is not allowed to create pods with a non-nil configSource");
    struct json *node =
        as(&f, "n1", 201, "POST", NODES,
           "{'metadata':{'name':'n1','labels':{'topology.kubernetes.io/zone':'z',"
           "'role':'edge'}},'spec':{'taints':[{'key':'k','effect':'NoSchedule'}]}}");
    const char *merge = "application/merge-patch+json";
    static const struct {
        const char *patch, *why;
    } cases[] = {
        { "{'metadata':{'labels':{'topology.kubernetes.io/zone':'y','x':'y','"
          "node.kubernetes.io/a':'b'}}}",
          NULL },
        { "{'metadata':{'labels':{'kubernetes.io/role':'x'}}}",
          "is not allowed to modify labels: kubernetes.io/role" },
        { "{'metadata':{'labels':{'pods.node-restriction.kubernetes.io/q':'x'}}}",
          "is not allowed to modify labels: pods.node-restriction.kubernetes.io/q" },
        { "{'spec':{'taints':null}}", "node \"n1\" is not allowed to modify taints" },
        { "{'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'x','uid':"
          "'u'}]}}",
          "node \"n1\" is not allowed to modify ownerReferences" },
        { "{'spec':{'configSource':{'configMap':{'namespace':'a','name':'b','kubeletConfigKey':"
          "'c'}}}}",
          "node \"n1\" is not allowed to update configSource to a new non-nil configSource" },
        { "{'spec':{'unschedulable':true}}", NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct kube_identity who = node_user(&f.arena, "n1");
        static const char *const paths[] = { NODES "/n1", NODES "/n1/status" };
        for (size_t k = 0; k < ARRAY_LEN(paths); k++) {
            f.identity = &who;
            struct answer a =
                ask(&f, "PATCH", paths[k], merge, NULL, json_of(&f.arena, cases[i].patch));
            f.identity = NULL;
            CHECK_INT(a.status, cases[i].why ? 403 : 200);
            if (cases[i].why)
                CHECK_STR(json_get_str(a.json, "message"),
                          arena_printf(&f.arena, "nodes \"n1\" is forbidden: %s", cases[i].why));
            answer_fini(&a);
        }
    }
    CHECK(uid_of(&f, node)[0]);
    refused(&f, "n2", 403, "PUT", NODES "/n1/status", "{'metadata':{'name':'n1'}}",
            "node \"n2\" is not allowed to modify node \"n1\"");
    /* Whoever is no node is not restricted. */
    struct answer a = ask(&f, "PATCH", NODES "/n1", merge, NULL, "{\"spec\":{\"taints\":null}}");
    CHECK_INT(a.status, 200);
    answer_fini(&a);
    stop(&f);
}

/* A mirror pod as a node makes it; meta and spec: further members, with a comma before them. */
static char *mirror(struct fixture *f, const char *uid, const char *owner, const char *spec)
{
    return arena_printf(&f->arena,
                        "{'metadata':{'name':'m','annotations':{'kubernetes.io/config.mirror':'x'}"
                        ",'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'n1','uid':"
                        "'%s'%s}]},'spec':{'nodeName':'n1'," CONTAINER "%s}}",
                        uid, owner, spec);
}

TEST(a_node_makes_mirror_pods_that_need_nothing_of_the_api)
{
    struct fixture f;
    start(&f);
    refused(&f, "n1", 404, "POST", PODS, mirror(&f, "u", ",'controller':true", ""),
            "node \"n1\" not found");
    const char *uid = uid_of(&f, as(&f, "n1", 201, "POST", NODES, "{'metadata':{'name':'n1'}}"));
    refused(&f, "n1", 403, "POST", PODS,
            "{'metadata':{'name':'x'},'spec':{'nodeName':'n1'," CONTAINER "}}",
            "pods \"x\" is forbidden: pod does not have \"kubernetes.io/config.mirror\" "
            "annotation, node \"n1\" can only create mirror pods");
    refused(&f, "n2", 403, "POST", PODS, mirror(&f, uid, ",'controller':true", ""),
            "node \"n2\" can only create pods with spec.nodeName set to itself");
    refused(&f, "n1", 403, "POST", PODS,
            "{'metadata':{'name':'x','annotations':{'kubernetes.io/config.mirror':'x'}},'spec':{"
            "'nodeName':'n1'," CONTAINER "}}",
            "node \"n1\" can only create pods with an owner reference set to itself");
    refused(&f, "n1", 403, "POST", PODS,
            "{'metadata':{'name':'x','annotations':{'kubernetes.io/config.mirror':'x'},"
            "'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'n1','uid':'u',"
            "'controller':true}]},'spec':{'nodeName':'n1'," CONTAINER "}}",
            "node \"n1\" can only create pods with an owner reference set to itself");
    refused(&f, "n1", 403, "POST", PODS,
            "{'metadata':{'name':'x','annotations':{'kubernetes.io/config.mirror':'x'},"
            "'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'n1','uid':'u'},{"
            "'apiVersion':'v1','kind':'Node','name':'n2','uid':'v'}]},'spec':{'nodeName':'n1',"
            "" CONTAINER "}}",
            "node \"n1\" can only create pods with a single owner reference set to itself");
    refused(&f, "n1", 403, "POST", PODS, mirror(&f, uid, "", ""),
            "node \"n1\" can only create pods with a controller owner reference set to itself");
    refused(&f, "n1", 403, "POST", PODS,
            mirror(&f, uid, ",'controller':true,'blockOwnerDeletion':true", ""),
            "node \"n1\" must not set blockOwnerDeletion on an owner reference");
    refused(&f, "n1", 403, "POST", PODS, mirror(&f, "other", ",'controller':true", ""),
            arena_printf(&f.arena, "node n1 UID mismatch: expected other got %s", uid));
    static const struct {
        const char *spec, *what;
    } cases[] = {
        { ",'volumes':[{'name':'v','configMap':{'name':'c'}}]", "configmaps" },
        { ",'resourceClaims':[{'name':'r','resourceClaimName':'x'}]", "resourceclaims" },
        { ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]",
          "persistentvolumeclaims" },
        { ",'volumes':[{'name':'v','ephemeral':{'volumeClaimTemplate':{'spec':{" CLAIM_SPEC "}}}}]",
          "persistentvolumeclaims (via ephemeral volumes)" },
        { ",'volumes':[{'name':'v','csi':{'driver':'d.io'}}]", "csidrivers (via CSI volumes)" },
        { ",'volumes':[{'name':'v','glusterfs':{'endpoints':'e','path':'p'}}]",
          "endpoints (via glusterFS volumes)" },
        { ",'volumes':[{'name':'v','projected':{'sources':[{'clusterTrustBundle':{'name':'c',"
          "'path':'p'}}]}}]",
          "clustertrustbundles" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        refused(&f, "n1", 403, "POST", PODS, mirror(&f, uid, ",'controller':true", cases[i].spec),
                arena_printf(&f.arena, "node \"n1\" can not create pods that reference %s",
                             cases[i].what));
    refused(&f, "n1", 403, "POST", PODS,
            mirror(&f, uid, ",'controller':true", ",'serviceAccountName':'default'"),
            "a mirror pod may not reference service accounts");
    (void)as(&f, "n1", 201, "POST", PODS,
             mirror(&f, uid, ",'controller':true",
                    ",'volumes':[{'name':'v','hostPath':{'path':'/'}},{'name':'e','emptyDir':{}},{"
                    "'name':'d','projected':{'sources':[{'downwardAPI':{'items':[{'path':'n',"
                    "'fieldRef':{'fieldPath':'metadata.name'}}]}}]}}]"));
    (void)as(&f, "n1", 200, "DELETE", PODS "/m?gracePeriodSeconds=0", NULL);
    stop(&f);
}

TEST(a_node_reports_and_ends_its_own_pods)
{
    struct fixture f;
    start(&f);
    (void)place(&f, "p1", "n1", "");
    (void)place(&f, "p2", "n2", "");
    const struct kube_identity who = node_user(&f.arena, "n1");
    static const struct {
        const char *path, *patch, *why;
    } cases[] = {
        { PODS "/p1/status", "{'status':{'phase':'Running'}}", NULL },
        { PODS "/p2/status", "{'status':{'phase':'Running'}}",
          "pods \"p2\" is forbidden: node \"n1\" can only update pod status for pods with "
          "spec.nodeName set to itself" },
        { PODS "/p1/status", "{'metadata':{'labels':{'a':'b'}}}",
          "pods \"p1\" is forbidden: node \"n1\" cannot update labels through pod status" },
        { PODS "/p1/status", "{'status':{'resourceClaimStatuses':[{'name':'a'}]}}",
          "pods \"p1\" is forbidden: node \"n1\" cannot update resource claim statues" },
        { PODS "/p1/status",
          "{'status':{'extendedResourceClaimStatus':{'resourceClaimName':'a','requestMappings':"
          "[]}}}",
          "pods \"p1\" is forbidden: node \"n1\" cannot update extended resource claim status" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        f.identity = &who;
        struct answer a = ask(&f, "PATCH", cases[i].path, "application/merge-patch+json", NULL,
                              json_of(&f.arena, cases[i].patch));
        f.identity = NULL;
        if (a.status != (cases[i].why ? 403 : 200))
            printf("# case %zu: " STR_FMT "\n", i, STR_ARG(buf_str(&a.body)));
        CHECK_INT(a.status, cases[i].why ? 403 : 200);
        if (cases[i].why)
            CHECK_STR(json_get_str(a.json, "message"), cases[i].why);
        answer_fini(&a);
    }
    refused(&f, "n1", 403, "DELETE", PODS "/p2", NULL,
            "pods \"p2\" is forbidden: node \"n1\" can only delete pods with spec.nodeName set to "
            "itself");
    refused(&f, "n1", 403, "POST", PODS "/p2/eviction", "{'metadata':{'name':'p2'}}",
            "pods \"p2\" is forbidden: node n1 can only evict pods with spec.nodeName set to "
            "itself");
    (void)as(&f, "n1", 201, "POST", PODS "/p1/eviction", "{'metadata':{'name':'p1'}}");
    stop(&f);
}

/* A role that gives nodes everything, so that only admission is left to refuse. */
static void give_nodes_everything(struct fixture *f)
{
    (void)put(f, 201, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
              "{'metadata':{'name':'nodes'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io',"
              "'kind':'ClusterRole','name':'cluster-admin'},'subjects':[{'kind':'Group','name':"
              "'system:nodes','apiGroup':'rbac.authorization.k8s.io'}]}");
}

#define CLAIMS   NS "persistentvolumeclaims"
#define LEASES_  "/apis/coordination.k8s.io/v1/namespaces/"
#define CSINODES "/apis/storage.k8s.io/v1/csinodes"
#define SLICES   "/apis/resource.k8s.io/v1/resourceslices"

TEST(roles_do_not_lift_the_restriction)
{
    struct fixture f;
    start(&f);
    give_nodes_everything(&f);
    (void)place(&f, "p1", "n1", "");
    (void)place(&f, "p2", "n2", "");
    refused(&f, "", 403, "POST", MAPS, "{'metadata':{'name':'x'}}",
            "configmaps \"x\" is forbidden: could not determine node from user \"system:node:\"");
    (void)as(&f, "n1", 201, "POST", MAPS, "{'metadata':{'name':'x'}}");
    refused(&f, "n1", 403, "PUT", PODS "/p1",
            "{'metadata':{'name':'p1'},'spec':{'nodeName':'n1'," CONTAINER "}}",
            "unexpected operation \"UPDATE\", node \"n1\" can only create and delete mirror pods");
    refused(&f, "n1", 403, "POST", PODS "/p1/binding",
            "{'metadata':{'name':'p1'},'target':{'kind':'Node','name':'n1'}}",
            "unexpected pod subresource \"binding\", only 'status' and 'eviction' are allowed");
    refused(&f, "n1", 403, "DELETE", PODS, NULL, /* each of the collection by itself */
            "node \"n1\" can only delete pods with spec.nodeName set to itself");
    CHECK(there(&f, PODS "/p2"));
    refused(&f, "n1", 403, "POST", CLAIMS, "{'metadata':{'name':'c'},'spec':{" CLAIM_SPEC "}}",
            "persistentvolumeclaims \"c\" is forbidden: may only update PVC status");
    (void)put(&f, 201, "POST", CLAIMS, "{'metadata':{'name':'c'},'spec':{" CLAIM_SPEC "}}");
    refused(&f, "n1", 403, "DELETE", CLAIMS "/c", NULL, "may only update PVC status");
    refused(&f, "n1", 403, "POST", LEASES_ "default/leases", "{'metadata':{'name':'n1'}}",
            "can only access leases in the \"kube-node-lease\" system namespace");
    refused(&f, "n1", 403, "POST", LEASES_ "kube-node-lease/leases", "{'metadata':{'name':'n2'}}",
            LEASES);
    (void)as(&f, "n1", 201, "POST", LEASES_ "kube-node-lease/leases", "{'metadata':{'name':'n1'}}");
    refused(&f, "n2", 403, "DELETE", LEASES_ "kube-node-lease/leases/n1", NULL, LEASES);
    refused(&f, "n1", 403, "POST", CSINODES, "{'metadata':{'name':'n2'},'spec':{'drivers':[]}}",
            CSI_NODES);
    (void)as(&f, "n1", 201, "POST", CSINODES, "{'metadata':{'name':'n1'},'spec':{'drivers':[]}}");
    refused(&f, "n2", 403, "DELETE", CSINODES "/n1", NULL, CSI_NODES);
    stop(&f);
}

TEST(a_node_updates_the_status_of_claims_that_its_pods_use)
{
    struct fixture f;
    start(&f);
    (void)put(&f, 201, "POST", CLAIMS, "{'metadata':{'name':'c'},'spec':{" CLAIM_SPEC "}}");
    (void)place(&f, "p", "n1",
                ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]");
    static const struct {
        const char *patch;
        bool allowed;
    } cases[] = {
        { "{'status':{'capacity':{'storage':'2Gi'},'conditions':[{'type':'Resizing','status':"
          "'True'}]}}",
          true },
        { "{'status':{'allocatedResources':{'storage':'2Gi'},'allocatedResourceStatuses':{"
          "'storage':'NodeResizePending'}}}",
          true },
        { "{'status':{'phase':'Lost'}}", false },
        { "{'metadata':{'labels':{'a':'b'}}}", false },
        { "{'spec':{'volumeName':'x'}}", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct kube_identity who = node_user(&f.arena, "n1");
        f.identity = &who;
        struct answer a = ask(&f, "PATCH", CLAIMS "/c/status", "application/merge-patch+json", NULL,
                              json_of(&f.arena, cases[i].patch));
        f.identity = NULL;
        if (a.status != (cases[i].allowed ? 200 : 403))
            printf("# case %zu: " STR_FMT "\n", i, STR_ARG(buf_str(&a.body)));
        CHECK_INT(a.status, cases[i].allowed ? 200 : 403);
        if (!cases[i].allowed)
            CHECK_STR(json_get_str(a.json, "message"),
                      "persistentvolumeclaims \"c\" is forbidden: node \"n1\" is not allowed to "
                      "update fields other than status.quantity and status.conditions");
        answer_fini(&a);
    }
    refused(&f, "n2", 403, "PUT", CLAIMS "/c/status", "{'metadata':{'name':'c'}}",
            "no relationship found between node 'n2' and this object");
    stop(&f);
}

#define SLICE(name, node)                                                                          \
    "{'metadata':{'name':'" name "'},'spec':{'driver':'d.io','nodeName':'" node                    \
    "','pool':{'name':'p','generation':1,'resourceSliceCount':1}}}"

TEST(a_node_keeps_the_slices_of_its_devices)
{
    struct fixture f;
    start(&f);
    (void)as(&f, "n1", 201, "POST", SLICES, SLICE("a", "n1"));
    refused(&f, "n1", 403, "POST", SLICES, SLICE("b", "n2"),
            "can only create ResourceSlice with the same NodeName as the requesting node");
    (void)as(&f, "n2", 201, "POST", SLICES, SLICE("b", "n2"));
    (void)as(&f, "n1", 200, "GET", SLICES "/a", NULL);
    refused(&f, "n1", 403, "GET", SLICES "/b", NULL, UNRELATED);
    refused(&f, "n1", 403, "DELETE", SLICES "/b", NULL, UNRELATED);
    refused(&f, "n1", 403, "GET", SLICES, NULL, SLICES_BY);
    struct json *list = as(&f, "n1", 200, "GET", SLICES "?fieldSelector=spec.nodeName%3Dn1", NULL);
    CHECK_INT(json_getc(list, "items")->n, 1);
    (void)as(&f, "n1", 200, "DELETE", SLICES "?fieldSelector=spec.nodeName%3Dn1", NULL);
    CHECK(!there(&f, SLICES "/a") && there(&f, SLICES "/b"));
    stop(&f);
}

#define TOKEN NS "serviceaccounts/default/token"

static char *token_for(struct fixture *f, const char *pod, const char *uid, const char *more)
{
    return arena_printf(&f->arena,
                        "{'spec':{'boundObjectRef':{'apiVersion':'v1','kind':'Pod','name':'%s',"
                        "'uid':'%s'}%s}}",
                        pod, uid, more);
}

TEST(a_node_gets_tokens_for_its_pods_and_their_audiences)
{
    struct fixture f;
    start(&f);
    (void)put(&f, 201, "POST", "/apis/storage.k8s.io/v1/csidrivers",
              "{'metadata':{'name':'d.io'},'spec':{'tokenRequests':[{'audience':'of-driver'}]}}");
    (void)put(&f, 201, "POST", CLAIMS,
              "{'metadata':{'name':'c'},'spec':{'volumeName':'v'," CLAIM_SPEC "}}");
    (void)put(&f, 201, "POST", "/api/v1/persistentvolumes",
              "{'metadata':{'name':'v'},'spec':{'claimRef':{'namespace':'default','name':'c'},"
              "" VOLUME_SPEC "}}");
    const char *plain = uid_of(&f, place(&f, "p1", "n1", ""));
    const char *named =
        uid_of(&f, place(&f, "p2", "n1",
                         ",'volumes':[{'name':'t','projected':{'sources':[{'serviceAccountToken':{"
                         "'audience':'vault','path':'t'}}]}}]"));
    const char *driven =
        uid_of(&f, place(&f, "p3", "n1",
                         ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]"));
    const char *inline_ =
        uid_of(&f, place(&f, "p4", "n1", ",'volumes':[{'name':'v','csi':{'driver':'d.io'}}]"));
    const char *lost =
        uid_of(&f, place(&f, "p5", "n1",
                         ",'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'none'}}]"));
    const char *far = uid_of(&f, place(&f, "far", "n2", ""));
    (void)as(&f, "n1", 201, "POST", TOKEN, token_for(&f, "p1", plain, ""));
    (void)as(&f, "n1", 201, "POST", TOKEN, token_for(&f, "p2", named, ",'audiences':['vault']"));
    (void)as(&f, "n1", 201, "POST", TOKEN,
             token_for(&f, "p3", driven, ",'audiences':['of-driver']"));
    (void)as(&f, "n1", 201, "POST", TOKEN,
             token_for(&f, "p4", inline_, ",'audiences':['of-driver']"));
    refused(&f, "n1", 403, "POST", TOKEN, token_for(&f, "p1", plain, ",'audiences':['vault']"),
            "serviceaccounts \"default\" is forbidden: audience \"vault\" not found in pod spec "
            "volume, system:node:n1 is not authorized to request tokens for this audience");
    refused(&f, "n1", 403, "POST", TOKEN, token_for(&f, "p4", inline_, ",'audiences':['vault']"),
            "audience \"vault\" not found in pod spec volume, system:node:n1 is not authorized to "
            "request tokens for this audience");
    refused(&f, "n1", 403, "POST", TOKEN, token_for(&f, "p5", lost, ",'audiences':['vault']"),
            "error validating audience \"vault\": persistentvolumeclaim \"none\" not found");
    refused(&f, "n1", 403, "POST", TOKEN, token_for(&f, "p2", named, ",'audiences':['vault','b']"),
            "node may only request 0 or 1 audiences");
    refused(&f, "n1", 403, "POST", TOKEN, "{'spec':{}}", "node requested token not bound to a pod");
    refused(&f, "n1", 403, "POST", TOKEN,
            "{'spec':{'boundObjectRef':{'apiVersion':'v1','kind':'Node','name':'n1'}}}",
            "node requested token not bound to a pod");
    refused(&f, "n1", 403, "POST", TOKEN, token_for(&f, "p1", "", ""),
            "node requested token with a pod binding without a uid");
    refused(&f, "n1", 403, "POST", TOKEN, token_for(&f, "p1", "x", ""),
            "the UID in the bound object reference (x) does not match the UID in record. The "
            "object might have been deleted and then recreated");
    refused(&f, "n1", 404, "POST", TOKEN, token_for(&f, "none", "x", ""), "pod \"none\" not found");
    refused(&f, "n1", 403, "POST", TOKEN, token_for(&f, "far", far, ""),
            "node requested token bound to a pod scheduled on a different node");
    refused(&f, "n3", 403, "POST", TOKEN, token_for(&f, "p1", plain, ""),
            "no relationship found between node 'n3' and this object");
    /* A role may allow further audiences. */
    (void)put(&f, 201, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
              "{'metadata':{'name':'vault'},'rules':[{'verbs':["
              "'request-serviceaccounts-token-audience'],'apiGroups':[''],'resources':['vault']}]"
              "}");
    (void)put(&f, 201, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
              "{'metadata':{'name':'vault'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io',"
              "'kind':'ClusterRole','name':'vault'},'subjects':[{'kind':'Group','name':"
              "'system:nodes','apiGroup':'rbac.authorization.k8s.io'}]}");
    (void)as(&f, "n1", 201, "POST", TOKEN, token_for(&f, "p1", plain, ",'audiences':['vault']"));
    stop(&f);
}

static struct json *patch_as(struct fixture *f, const char *node, int status, const char *path,
                             const char *type, const char *body)
{
    const struct kube_identity who = node_user(&f->arena, node);
    f->identity = &who;
    struct answer a = ask(f, "PATCH", path, type, NULL, json_of(&f->arena, body));
    f->identity = NULL;
    if (a.status != status)
        printf("# PATCH %s %s: " STR_FMT "\n", path, body, STR_ARG(buf_str(&a.body)));
    CHECK_INT(a.status, status);
    struct json *v = a.json ? json_clone(&f->arena, a.json) : NULL;
    answer_fini(&a);
    return v;
}

#define APPLY "application/apply-patch+yaml"
#define MERGE "application/merge-patch+json"

/* The server ends such a name as it likes, so that it is never the node's own. */
TEST(a_node_makes_nothing_with_a_generated_name)
{
    struct fixture f;
    start(&f);
    refused(&f, "n1", 403, "POST", NODES, "{'metadata':{'generateName':'n1'}}",
            "nodes \"n1\" is forbidden: node \"n1\" is not allowed to modify node \"\"");
    refused(&f, "n1", 403, "POST", LEASES_ "kube-node-lease/leases",
            "{'metadata':{'generateName':'n1'}}", LEASES);
    refused(&f, "n1", 403, "POST", CSINODES,
            "{'metadata':{'generateName':'n1'},'spec':{'drivers':[]}}", CSI_NODES);
    stop(&f);
}

TEST(a_node_makes_by_update_and_apply_what_it_may_create)
{
    struct fixture f;
    start(&f);
    const char *manager = "?fieldManager=k";
    (void)patch_as(&f, "n1", 403, arena_printf(&f.arena, NODES "/n2%s", manager), APPLY,
                   "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n2'}}");
    (void)patch_as(&f, "n1", 403, arena_printf(&f.arena, NODES "/n1%s", manager), APPLY,
                   "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1','labels':{"
                   "'node-restriction.kubernetes.io/x':'y'}}}");
    (void)patch_as(&f, "n1", 201, arena_printf(&f.arena, NODES "/n1%s", manager), APPLY,
                   "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'}}");
    (void)patch_as(&f, "n1", 403, arena_printf(&f.arena, NODES "/n1%s", manager), APPLY,
                   "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'},'spec':{'taints':[{"
                   "'key':'a','effect':'NoSchedule'}]}}");
    (void)patch_as(&f, "n1", 403, NODES "/n1/status", "application/json-patch+json",
                   "[{'op':'add','path':'/metadata/labels','value':{'k8s.io/a':'b'}}]");
    (void)as(&f, "n1", 403, "PUT", LEASES_ "kube-node-lease/leases/n2",
             "{'metadata':{'name':'n2'}}");
    (void)as(&f, "n1", 400, "PUT", LEASES_ "kube-node-lease/leases/n1",
             "{'metadata':{'name':'n1','namespace':'default'}}");
    (void)as(&f, "n1", 201, "PUT", LEASES_ "kube-node-lease/leases/n1",
             "{'metadata':{'name':'n1'}}");
    stop(&f);
}

TEST(a_mirror_pod_names_no_account_by_the_older_field)
{
    struct fixture f;
    start(&f);
    const char *uid = uid_of(&f, as(&f, "n1", 201, "POST", NODES, "{'metadata':{'name':'n1'}}"));
    refused(&f, "n1", 403, "POST", PODS,
            mirror(&f, uid, ",'controller':true", ",'serviceAccount':'default'"),
            "a mirror pod may not reference service accounts");
    /* Without a source it is an emptyDir. */
    (void)as(&f, "n1", 201, "POST", PODS,
             mirror(&f, uid, ",'controller':true", ",'volumes':[{'name':'v'}]"));
    (void)patch_as(&f, "n1", 422, PODS "/m/status", MERGE,
                   "{'metadata':{'annotations':{'kubernetes.io/config.mirror':null}}}");
    stop(&f);
}

TEST(a_node_does_not_change_its_pods_by_their_status)
{
    struct fixture f;
    start(&f);
    (void)place(&f, "p", "n1", "");
    (void)place(&f, "q", "n2", "");
    (void)patch_as(&f, "n1", 422, PODS "/p/status", MERGE,
                   "{'metadata':{'annotations':{'kubernetes.io/config.mirror':'x'}}}");
    struct json *v =
        patch_as(&f, "n1", 200, PODS "/p/status", MERGE,
                 "{'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'n1',"
                 "'uid':'u'}]},'spec':{'nodeName':'n2','imagePullSecrets':[{'name':'s'}]}}");
    CHECK(!json_path(v, "metadata", "ownerReferences", NULL));
    CHECK(!json_path(v, "spec", "imagePullSecrets", NULL));
    CHECK_STR(json_str(json_path(v, "spec", "nodeName", NULL)), "n1");
    refused(&f, "n1", 403, "GET", SECRETS "/s", NULL, UNRELATED);
    /* The path says which pod it is, not the body. */
    (void)as(&f, "n1", 403, "PUT", PODS "/q/status",
             "{'metadata':{'name':'p'},'spec':{'nodeName':'n1'," CONTAINER "}}");
    (void)as(&f, "n1", 400, "POST", PODS "/q/eviction", "{'metadata':{'name':'p'}}");
    stop(&f);
}

TEST(a_path_or_a_selector_cannot_name_two_objects)
{
    struct fixture f;
    start(&f);
    make_secret(&f, "mine");
    make_secret(&f, "other");
    (void)place(&f, "p", "n1", ",'imagePullSecrets':[{'name':'mine'}]");
    (void)place(&f, "q", "n2", "");
    static const char *const refusals[] = {
        SECRETS "/other?fieldSelector=metadata.name%3Dmine",
        SECRETS "/other?watch=1&fieldSelector=metadata.name%3Dmine",
        SECRETS "?fieldSelector=metadata.name!%3Dother",
        SECRETS "?fieldSelector=&fieldSelector=metadata.name%3Dmine",
        SECRETS "?labelSelector=metadata.name%3Dmine",
        "/api/v1/watch/namespaces/default/secrets/other?timeoutSeconds=1",
        "/api/v1/watch/namespaces/default/secrets?timeoutSeconds=1",
        "/api/v1/secrets?fieldSelector=metadata.name%3Dmine",
        "/api/v1/namespaces/default/secrets/mine%2F..%2Fother",
        "/api/v1/namespaces/default/secrets/mine/../other",
        "/api/v1/namespaces/default/%73ecrets/other",
        "/api/v1/namespaces/default//secrets/other",
        "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1%5C,",
        "/api/v1/pods?fieldSelector=spec.nodeName%3D",
        "/api/v1/pods?fieldSelector=status.phase%3DPending",
    };
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        const struct kube_identity who = node_user(&f.arena, "n1");
        f.identity = &who;
        struct answer a = ask(&f, "GET", refusals[i], NULL, NULL, NULL);
        f.identity = NULL;
        if (a.status < 300 || a.status >= 500)
            printf("# %s: %d " STR_FMT "\n", refusals[i], a.status, STR_ARG(buf_str(&a.body)));
        CHECK(a.status >= 300 && a.status < 500);
        answer_fini(&a);
    }
    static const char *const narrow[] = {
        SECRETS "?fieldSelector=metadata.name%3Dmine&fieldSelector=metadata.name%3Dother",
        SECRETS "?fieldSelector=metadata.name%3Dmine,metadata.name%3Dmine",
        "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&fieldSelector=",
        "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&fieldSelector=spec.nodeName%3Dn2",
    };
    for (size_t i = 0; i < ARRAY_LEN(narrow); i++) {
        struct json *list = as(&f, "n1", 200, "GET", narrow[i], NULL);
        CHECK_INT(json_getc(list, "items")->n, 1);
    }
    stop(&f);
}

TEST(a_user_without_a_node_name_evicts_nothing_and_gets_no_token)
{
    struct fixture f;
    start(&f);
    give_nodes_everything(&f);
    const char *uid =
        uid_of(&f, put(&f, 201, "POST", PODS, "{'metadata':{'name':'p'},'spec':{" CONTAINER "}}"));
    static const char why[] = "could not determine node from user \"system:node:\"";
    refused(&f, "", 403, "POST", PODS "/p/eviction", "{'metadata':{'name':'p'}}", why);
    refused(&f, "", 403, "POST", TOKEN, token_for(&f, "p", uid, ""), why);
    stop(&f);
}

TEST(a_token_is_of_the_account_of_its_pod)
{
    struct fixture f;
    start(&f);
    (void)put(&f, 201, "POST", NS "serviceaccounts", "{'metadata':{'name':'admin'}}");
    const char *uid = uid_of(&f, place(&f, "p", "n1", ""));
    (void)place(&f, "q", "n1", ",'serviceAccountName':'admin'");
    (void)as(&f, "n1", 400, "POST", NS "serviceaccounts/admin/token", token_for(&f, "p", uid, ""));
    stop(&f);
}

TEST_MAIN
