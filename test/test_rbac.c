/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled roles and bindings, covering, and the default roles. */
#include "api/auth/rbac.h"

#include "api/auth/rbac_bootstrap.h"
#include "codec/json.h"
#include "test.h"

#include <stdio.h>

/* ------------------------------------------------------------------ helpers */

static struct json *parsed(struct arena *a, const char *text)
{
    struct json *v;
    struct err err = { 0 };
    /* Single quotes read better in C. */
    char *copy = arena_strndup(a, text, strlen(text));
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    CHECK_OK(json_parse(a, str_of(copy), NULL, &v, &err));
    return v;
}

static void put(struct rbac *r, enum rbac_kind kind, const char *ns, const char *name,
                const char *text)
{
    struct arena a = { 0 };
    rbac_put(r, kind, str_of(ns), str_of(name), text ? parsed(&a, text) : NULL);
    arena_fini(&a);
}

static bool can(struct rbac *r, const struct kube_identity *id, const char *verb,
                const char *resource, const char *ns, struct buf *reason)
{
    struct str res, sub;
    (void)str_cut(str_of(resource), '/', &res, &sub);
    const struct api_attributes at = { .identity = id,
                                       .is_resource = true,
                                       .verb = str_of(verb),
                                       .group = STR(""),
                                       .resource = res,
                                       .subresource = sub,
                                       .ns = str_of(ns) };
    return rbac_authorize(r, &at, reason);
}

static const struct str no_groups[1] = { { "", 0 } };

static struct kube_identity user(const char *name)
{
    return (struct kube_identity){ .user = str_of(name), .groups = no_groups };
}

#define RULES(r)  "{'rules':[" r "]}"
#define READ_PODS "{'verbs':['get','list'],'apiGroups':[''],'resources':['pods']}"
#define BIND(kind, role, subjects)                                                                 \
    "{'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'" kind "','name':'" role           \
    "'},'subjects':[" subjects "]}"

/* ------------------------------------------------------------------ rules */

TEST(a_rule_allows_what_it_names)
{
    static const struct {
        const char *rule, *verb, *group, *resource, *sub, *name;
        bool allowed;
    } cases[] = {
        { READ_PODS, "get", "", "pods", "", "a", true },
        { READ_PODS, "watch", "", "pods", "", "", false },
        { READ_PODS, "get", "apps", "pods", "", "", false },
        { READ_PODS, "get", "", "pods", "log", "", false },
        { READ_PODS, "get", "", "podsx", "", "", false },
        { "{'verbs':['*'],'apiGroups':['*'],'resources':['*']}", "x", "g", "r", "s", "n", true },
        { "{'verbs':['get'],'apiGroups':[''],'resources':['pods/log']}", "get", "", "pods", "log",
          "", true },
        { "{'verbs':['get'],'apiGroups':[''],'resources':['pods/log']}", "get", "", "pods", "", "",
          false },
        { "{'verbs':['get'],'apiGroups':[''],'resources':['pods/log']}", "get", "", "pods", "logs",
          "", false },
        { "{'verbs':['get'],'apiGroups':['*'],'resources':['*/scale']}", "get", "apps",
          "deployments", "scale", "", true },
        { "{'verbs':['get'],'apiGroups':['*'],'resources':['*/scale']}", "get", "apps",
          "deployments", "", "", false },
        { "{'verbs':['get'],'apiGroups':['*'],'resources':['*/scale']}", "get", "apps",
          "deployments", "status", "", false },
        { "{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a','b']}",
          "get", "", "pods", "", "b", true },
        { "{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a','b']}",
          "get", "", "pods", "", "c", false },
        { "{'verbs':['list'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a']}", "list",
          "", "pods", "", "", false },
        { "{'verbs':['get'],'nonResourceURLs':['*']}", "get", "", "pods", "", "", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 20);
        struct rbac_rule rule;
        CHECK_OK(rbac_rules_compile(&b, parsed(&a, arena_printf(&a, "[%s]", cases[i].rule))));
        struct rbac_rules rules = { (const uint8_t *)b.p, b.n };
        CHECK(rbac_rule_next(&rules, &rule));
        const struct rbac_rule_request rq = { .verb = str_of(cases[i].verb),
                                              .group = str_of(cases[i].group),
                                              .resource = str_of(cases[i].resource),
                                              .subresource = str_of(cases[i].sub),
                                              .name = str_of(cases[i].name) };
        if (rbac_rule_allows(&rule, &rq) != cases[i].allowed)
            printf("# case %zu\n", i);
        CHECK_INT(rbac_rule_allows(&rule, &rq), cases[i].allowed);
        CHECK(!rbac_rule_next(&rules, &rule));
        arena_fini(&a);
    }
}

TEST(a_path_is_allowed_by_itself_or_a_star_at_the_end)
{
    static const struct {
        const char *pattern, *path;
        bool allowed;
    } cases[] = { { "/healthz", "/healthz", true },  { "/healthz", "/healthz/", false },
                  { "/apis/*", "/apis/apps", true }, { "/apis/*", "/apis", false },
                  { "*", "/anything", true },        { "/a*b", "/axb", false },
                  { "/logs/**", "/logs/x", true } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 20);
        struct rbac_rule rule;
        CHECK_OK(rbac_rules_compile(&b, parsed(&a, arena_printf(&a,
                                                                "[{'verbs':['get'],"
                                                                "'nonResourceURLs':['%s']}]",
                                                                cases[i].pattern))));
        struct rbac_rules rules = { (const uint8_t *)b.p, b.n };
        CHECK(rbac_rule_next(&rules, &rule));
        const struct rbac_rule_request rq = { .verb = STR("get"),
                                              .path = str_of(cases[i].path),
                                              .is_path = true };
        CHECK_INT(rbac_rule_allows(&rule, &rq), cases[i].allowed);
        arena_fini(&a);
    }
}

/* ------------------------------------------------------------------ covering */

TEST(rules_cover_what_they_grant_and_the_rest_is_named)
{
    static const struct {
        const char *owned, *wanted, *missing; /* "": covered */
    } cases[] = {
        { READ_PODS, READ_PODS, "" },
        { "", READ_PODS, "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}" },
        { READ_PODS, "{'verbs':['get','delete'],'apiGroups':[''],'resources':['pods','secrets']}",
          "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"delete\"]}\n"
          "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"delete\"]}" },
        /* several rules together */
        { "{'verbs':['delete'],'apiGroups':['v1'],'resources':['deployments']},"
          "{'verbs':['delete'],'apiGroups':['v1'],'resources':['builds']},"
          "{'verbs':['update'],'apiGroups':['v1'],'resources':['builds','deployments']}",
          "{'verbs':['delete','update'],'apiGroups':['v1'],'resources':['builds','deployments']}",
          "" },
        /* stars */
        { "{'verbs':['get'],'apiGroups':['*'],'resources':['roles']}",
          "{'verbs':['get'],'apiGroups':['g1','g2','*'],'resources':['roles']}", "" },
        { "{'verbs':['get'],'apiGroups':['g'],'resources':['roles']}",
          "{'verbs':['get'],'apiGroups':['*'],'resources':['roles']}",
          "{APIGroups:[\"*\"], Resources:[\"roles\"], Verbs:[\"get\"]}" },
        { "{'verbs':['get','list','watch'],'apiGroups':[''],'resources':['pods']}",
          "{'verbs':['*'],'apiGroups':[''],'resources':['pods']}",
          "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"*\"]}" },
        { "{'verbs':['get'],'apiGroups':['a'],'resources':['*']}",
          "{'verbs':['get'],'apiGroups':['a'],'resources':['x','x/y','*/z']}", "" },
        { "{'verbs':['get'],'apiGroups':['a'],'resources':['*/scale']}",
          "{'verbs':['get'],'apiGroups':['a'],'resources':['foo/scale']}", "" },
        { "{'verbs':['get'],'apiGroups':['a'],'resources':['foo']}",
          "{'verbs':['get'],'apiGroups':['a'],'resources':['foo/scale']}",
          "{APIGroups:[\"a\"], Resources:[\"foo/scale\"], Verbs:[\"get\"]}" },
        /* names */
        { READ_PODS,
          "{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a']}", "" },
        { "{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a']}",
          "{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a','b']}",
          "{APIGroups:[\"\"], Resources:[\"pods\"], ResourceNames:[\"b\"], Verbs:[\"get\"]}" },
        { "{'verbs':['get'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a']}",
          "{'verbs':['get'],'apiGroups':[''],'resources':['pods']}",
          "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}" },
        /* paths */
        { "{'verbs':['get'],'nonResourceURLs':['/apis/*']}",
          "{'verbs':['get'],'nonResourceURLs':['/apis/a','/apis/b/*']}", "" },
        { "{'verbs':['get'],'nonResourceURLs':['/apis/*']}",
          "{'verbs':['get','post'],'nonResourceURLs':['/apis/a']}",
          "{NonResourceURLs:[\"/apis/a\"], Verbs:[\"post\"]}" },
        { "{'verbs':['*'],'apiGroups':['*'],'resources':['*']}",
          "{'verbs':['get'],'nonResourceURLs':['/x']}",
          "{NonResourceURLs:[\"/x\"], Verbs:[\"get\"]}" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        scoped(buf_fini_scoped) struct buf have = BUF_INIT(1 << 20), want = BUF_INIT(1 << 20),
                                           text = BUF_INIT(1 << 20);
        struct rbac_rule owned[8];
        size_t n = 0;
        CHECK_OK(rbac_rules_compile(&have, parsed(&a, arena_printf(&a, "[%s]", cases[i].owned))));
        CHECK_OK(rbac_rules_compile(&want, parsed(&a, arena_printf(&a, "[%s]", cases[i].wanted))));
        struct rbac_rules at = { (const uint8_t *)have.p, have.n };
        while (rbac_rule_next(&at, &owned[n]))
            n++;
        struct rbac_gaps gaps = { .a = &a };
        bool covered =
            rbac_rules_cover(owned, n, (struct rbac_rules){ (const uint8_t *)want.p, want.n }, NULL,
                             rbac_gaps_add, &gaps);
        rbac_gaps_write(&gaps, &text);
        CHECK_INT(covered, cases[i].missing[0] == '\0');
        CHECK_STR(buf_str(&text), cases[i].missing);
        arena_fini(&a);
    }
}

static struct json *many(struct arena *a, const char *prefix, int n)
{
    struct json *list = json_new_array(a);
    for (int i = 0; i < n; i++)
        json_add(list, json_new_cstr(a, arena_printf(a, "%s%d", prefix, i)));
    return list;
}

/* Comparing 100,000 names that a user has with as many that it asks for would take a minute. */
TEST(long_lists_are_compared_up_to_a_bound)
{
    static const struct {
        int n;
        bool covered;
    } cases[] = { { 2000, true }, { 100000, false } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = { 0 };
        scoped(buf_fini_scoped) struct buf have = BUF_INIT(4 << 20);
        struct json *list = parsed(&a, "[{'verbs':['get'],'apiGroups':[''],'resources':['pods']}]");
        struct rbac_rule owned[1];
        struct rbac_gaps gaps = { .a = &a };
        json_setc(&a, list->first, "resourceNames", many(&a, "n", cases[i].n));
        CHECK_OK(rbac_rules_compile(&have, list));
        struct rbac_rules wanted = { (const uint8_t *)have.p, have.n }, at = wanted;
        CHECK(rbac_rule_next(&at, owned));
        CHECK_INT(rbac_rules_cover(owned, 1, wanted, NULL, rbac_gaps_add, &gaps), cases[i].covered);
        CHECK_INT(gaps.n, 0);
        arena_fini(&a);
    }
}

/* 300 verbs, groups and resources are 27 million combinations. */
TEST(large_products_are_bounded)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf have = BUF_INIT(1 << 20), want = BUF_INIT(1 << 20),
                                       text = BUF_INIT(1 << 20);
    struct json *rule = json_new_object(&a), *list = json_new_array(&a);
    struct rbac_rule owned[1];
    json_setc(&a, rule, "verbs", many(&a, "v", 300));
    json_setc(&a, rule, "apiGroups", many(&a, "g", 300));
    json_setc(&a, rule, "resources", many(&a, "r", 300));
    json_add(list, rule);
    CHECK_OK(rbac_rules_compile(&want, list));
    struct rbac_rules wanted = { (const uint8_t *)want.p, want.n };
    struct rbac_gaps gaps = { .a = &a };
    CHECK(!rbac_rules_cover(owned, 0, wanted, NULL, rbac_gaps_add, &gaps));
    rbac_gaps_write(&gaps, &text);
    CHECK(text.n > 0);
    CHECK_OK(rbac_rules_compile(
        &have, parsed(&a, "[{'verbs':['*'],'apiGroups':['*'],'resources':['*']}]")));
    struct rbac_rules at = { (const uint8_t *)have.p, have.n };
    CHECK(rbac_rule_next(&at, owned));
    CHECK(rbac_rules_cover(owned, 1, wanted, NULL, NULL, NULL)); /* seen at a glance */
    arena_fini(&a);
}

/* ------------------------------------------------------------------ bindings */

TEST(a_binding_grants_to_users_groups_and_accounts)
{
    struct rbac *r = rbac_new();
    static const struct str groups[] = { { "devs", 4 }, { "system:authenticated", 20 } };
    const struct kube_identity jane = user("jane"), other = user("joe"),
                               account = user("system:serviceaccount:prod:robot"),
                               dev = { .user = STR("x"), .groups = groups, .n_groups = 2 };
    put(r, RBAC_ROLE, "prod", "reader", RULES(READ_PODS));
    put(r, RBAC_ROLE_BINDING, "prod", "b",
        BIND("Role", "reader",
             "{'kind':'User','name':'jane'},{'kind':'Group','name':'devs'},"
             "{'kind':'ServiceAccount','name':'robot'},"
             "{'kind':'ServiceAccount','name':'far','namespace':'else'}"));
    CHECK(can(r, &jane, "get", "pods", "prod", NULL));
    CHECK(can(r, &dev, "list", "pods", "prod", NULL));
    CHECK(can(r, &account, "list", "pods", "prod", NULL));
    const struct kube_identity far = user("system:serviceaccount:else:far");
    CHECK(can(r, &far, "list", "pods", "prod", NULL));
    CHECK(!can(r, &other, "get", "pods", "prod", NULL));
    CHECK(!can(r, &jane, "get", "pods", "other", NULL));
    CHECK(!can(r, &jane, "get", "pods", "", NULL));
    CHECK(!can(r, &jane, "delete", "pods", "prod", NULL));
    /* a name of one kind is none of another */
    const struct kube_identity devs = user("devs");
    CHECK(!can(r, &devs, "get", "pods", "prod", NULL));
    rbac_free(r);
}

TEST(a_cluster_role_counts_where_it_is_bound)
{
    struct rbac *r = rbac_new();
    const struct kube_identity jane = user("jane"), joe = user("joe");
    put(r, RBAC_CLUSTER_ROLE, "", "reader", RULES(READ_PODS));
    put(r, RBAC_ROLE_BINDING, "a", "b",
        BIND("ClusterRole", "reader", "{'kind':'User','name':'jane'}"));
    put(r, RBAC_CLUSTER_ROLE_BINDING, "", "c",
        BIND("ClusterRole", "reader", "{'kind':'User','name':'joe'}"));
    CHECK(can(r, &jane, "get", "pods", "a", NULL));
    CHECK(!can(r, &jane, "get", "pods", "b", NULL));
    CHECK(!can(r, &jane, "get", "pods", "", NULL));
    CHECK(can(r, &joe, "get", "pods", "b", NULL));
    CHECK(can(r, &joe, "get", "pods", "", NULL));
    /* a Role of the same name is another role */
    put(r, RBAC_ROLE_BINDING, "d", "b", BIND("Role", "reader", "{'kind':'User','name':'jane'}"));
    CHECK(!can(r, &jane, "get", "pods", "d", NULL));
    rbac_free(r);
}

TEST(changes_and_deletions_take_effect)
{
    struct rbac *r = rbac_new();
    const struct kube_identity jane = user("jane"), joe = user("joe");
    struct rbac_stats st;
    put(r, RBAC_CLUSTER_ROLE_BINDING, "", "b",
        BIND("ClusterRole", "reader", "{'kind':'User','name':'jane'}"));
    CHECK(!can(r, &jane, "get", "pods", "a", NULL)); /* the role comes later */
    put(r, RBAC_CLUSTER_ROLE, "", "reader", RULES(READ_PODS));
    CHECK(can(r, &jane, "get", "pods", "a", NULL));
    put(r, RBAC_CLUSTER_ROLE, "", "reader", "{'rules':null}");
    CHECK(!can(r, &jane, "get", "pods", "a", NULL));
    put(r, RBAC_CLUSTER_ROLE, "", "reader", RULES(READ_PODS));
    put(r, RBAC_CLUSTER_ROLE_BINDING, "", "b",
        BIND("ClusterRole", "reader", "{'kind':'User','name':'joe'},{'kind':'User','name':'joe'}"));
    CHECK(!can(r, &jane, "get", "pods", "a", NULL));
    CHECK(can(r, &joe, "get", "pods", "a", NULL));
    put(r, RBAC_CLUSTER_ROLE_BINDING, "", "b", NULL);
    put(r, RBAC_CLUSTER_ROLE, "", "reader", NULL);
    put(r, RBAC_CLUSTER_ROLE, "", "never-there", NULL);
    CHECK(!can(r, &joe, "get", "pods", "a", NULL));
    rbac_stats(r, &st);
    CHECK_INT(st.roles, 0);
    CHECK_INT(st.bindings, 0);
    CHECK_INT(st.subjects, 0);
    rbac_free(r);
}

TEST(reasons_are_upstreams)
{
    struct rbac *r = rbac_new();
    const struct kube_identity jane = user("jane"), account = user("system:serviceaccount:a:s");
    struct buf why = BUF_INIT(1 << 16);
    put(r, RBAC_CLUSTER_ROLE_BINDING, "", "b",
        BIND("ClusterRole", "gone", "{'kind':'User','name':'jane'}"));
    CHECK(!can(r, &jane, "get", "pods", "a", &why));
    CHECK_STR(buf_str(&why), "RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found");
    put(r, RBAC_ROLE_BINDING, "a", "b", BIND("Role", "away", "{'kind':'User','name':'jane'}"));
    buf_reset(&why);
    CHECK(!can(r, &jane, "get", "pods", "a", &why));
    CHECK_STR(buf_str(&why), "RBAC: [clusterrole.rbac.authorization.k8s.io \"gone\" not found, "
                             "role.rbac.authorization.k8s.io \"away\" not found]");
    put(r, RBAC_CLUSTER_ROLE, "", "gone", RULES(READ_PODS));
    buf_reset(&why);
    CHECK(can(r, &jane, "get", "pods", "a", &why));
    CHECK_STR(buf_str(&why),
              "RBAC: allowed by ClusterRoleBinding \"b\" of ClusterRole \"gone\" to User \"jane\"");
    put(r, RBAC_ROLE_BINDING, "a", "mine",
        BIND("ClusterRole", "gone", "{'kind':'ServiceAccount','name':'s'}"));
    buf_reset(&why);
    CHECK(can(r, &account, "get", "pods", "a", &why));
    CHECK_STR(buf_str(&why), "RBAC: allowed by RoleBinding \"mine/a\" of ClusterRole \"gone\" to "
                             "ServiceAccount \"s/a\"");
    buf_fini(&why);
    rbac_free(r);
}

TEST(masters_may_do_everything)
{
    struct rbac *r = rbac_new();
    static const struct str groups[] = { { "system:masters", 14 } };
    const struct kube_identity root = { .user = STR("x"), .groups = groups, .n_groups = 1 };
    CHECK(can(r, &root, "anything", "secrets", "kube-system", NULL));
    rbac_free(r);
}

TEST(other_bindings_cost_nothing)
{
    struct rbac *r = rbac_new();
    struct rbac_stats st;
    const struct kube_identity jane = user("jane");
    put(r, RBAC_CLUSTER_ROLE, "", "reader", RULES(READ_PODS));
    for (int i = 0; i < 10000; i++) {
        char ns[32], text[512];
        (void)snprintf(ns, sizeof ns, "ns-%d", i);
        (void)snprintf(text, sizeof text,
                       BIND("ClusterRole", "reader",
                            "{'kind':'User','name':'user-%d'},{'kind':'Group','name':'all'}"),
                       i);
        put(r, RBAC_ROLE_BINDING, ns, "b", text);
    }
    put(r, RBAC_ROLE_BINDING, "ns-7", "c",
        BIND("ClusterRole", "reader", "{'kind':'User','name':'jane'}"));
    CHECK(can(r, &jane, "get", "pods", "ns-7", NULL));
    CHECK(!can(r, &jane, "get", "pods", "ns-8", NULL));
    rbac_stats(r, &st);
    CHECK_INT(st.bindings, 10001);
    printf("# %zu bytes for each binding of two subjects\n", st.bytes / st.bindings);
    CHECK(st.bytes / st.bindings < 1024);
    rbac_free(r);
}

/* ------------------------------------------------------------------ defaults */

struct census {
    struct rbac *r;
    size_t roles, bindings;
};

static void take_default(void *arg, const struct rbac_default *d)
{
    struct census *c = arg;
    struct arena a = { 0 };
    rbac_put(c->r, d->kind, d->ns, d->name, d->obj);
    if (d->kind == RBAC_ROLE || d->kind == RBAC_CLUSTER_ROLE)
        c->roles++;
    else
        c->bindings++;
    CHECK_STR(json_get_str(json_getc(d->obj, "metadata"), "name"), str_dup_arena(&a, d->name));
    /* what has just been made lacks nothing */
    CHECK(!rbac_reconcile(&a, d, json_clone(&a, d->obj)));
    arena_fini(&a);
}

TEST(the_defaults_are_there_and_mean_what_they_say)
{
    struct census c = { .r = rbac_new() };
    struct rbac_stats st;
    static const struct str authenticated[] = { { "system:authenticated", 20 } };
    const struct kube_identity anybody = { .user = STR("x"),
                                           .groups = authenticated,
                                           .n_groups = 1 },
                               scheduler = user("system:kube-scheduler"),
                               job = user("system:serviceaccount:kube-system:job-controller");
    rbac_defaults(take_default, &c);
    CHECK_INT(
        c.roles,
        76 +
            3); /* and dormouse:scheduler, dormouse:node-routes, system:aggregated-metrics-reader */
    CHECK_INT(c.bindings, 57 + 2);
    rbac_stats(c.r, &st);
    printf("# %zu roles, %zu bindings: %zu bytes\n", st.roles, st.bindings, st.bytes);
    struct api_attributes at = { .identity = &anybody, .verb = STR("get"), .path = STR("/api") };
    CHECK(rbac_authorize(c.r, &at, NULL));
    at.path = STR("/metrics");
    CHECK(!rbac_authorize(c.r, &at, NULL));
    CHECK(!can(c.r, &anybody, "get", "pods", "default", NULL));
    CHECK(can(c.r, &scheduler, "create", "pods/binding", "default", NULL));
    CHECK(!can(c.r, &scheduler, "create", "pods", "default", NULL));
    CHECK(can(c.r, &job, "create", "pods", "default", NULL));
    struct rbac_rules rules;
    CHECK(rbac_role_rules(c.r, STR(""), STR("system:aggregate-to-edit"), &rules));
    CHECK(rbac_role_rules(c.r, STR("kube-system"), STR("extension-apiserver-authentication-reader"),
                          &rules));
    rbac_free(c.r);
}

static void repair(void *arg, const struct rbac_default *d)
{
    struct arena *a = arg;
    if (str_is(d->name, "system:kube-dns") && d->kind == RBAC_CLUSTER_ROLE) {
        struct json *obj = json_clone(a, d->obj);
        json_setc(a, obj, "rules",
                  parsed(a, "[{'verbs':['list'],'apiGroups':[''],'resources':['services']}]"));
        CHECK(rbac_reconcile(a, d, obj));
        CHECK_INT(json_getc(obj, "rules")->n, 2);
        CHECK(!rbac_reconcile(a, d, obj));
        json_set_str(a, json_path(obj, "metadata", "annotations", NULL),
                     "rbac.authorization.kubernetes.io/autoupdate", STR("false"));
        json_setc(a, obj, "rules", json_new_array(a));
        CHECK(!rbac_reconcile(a, d, obj));
    } else if (str_is(d->name, "system:kube-dns")) {
        struct json *obj = json_clone(a, d->obj);
        (void)json_del(obj, STR("subjects"));
        CHECK(rbac_reconcile(a, d, obj));
        CHECK_INT(json_getc(obj, "subjects")->n, 1);
    } else if (str_is(d->name, "edit")) {
        struct json *obj = json_clone(a, d->obj);
        json_setc(a, obj, "rules", parsed(a, "[{'verbs':['x']}]")); /* the controller's */
        CHECK(!rbac_reconcile(a, d, obj));
        (void)json_del(json_path(obj, "metadata", "labels", NULL),
                       STR("rbac.authorization.k8s.io/aggregate-to-admin"));
        CHECK(rbac_reconcile(a, d, obj));
    }
}

TEST(what_was_taken_from_a_default_comes_back)
{
    struct arena a = { 0 };
    rbac_defaults(repair, &a);
    arena_fini(&a);
}

TEST_MAIN
