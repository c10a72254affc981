/* SPDX-License-Identifier: Apache-2.0 */
/* kube/: selectors, JSONPath, tables, quantities, discovery, Status. */
#include "test_kube.h"

#include "kube/model/discovery.h"
#include "kube/model/jsonpath.h"
#include "kube/model/quantity.h"
#include "kube/model/selector.h"
#include "kube/model/table.h"

static struct str canonical(struct arena *a, const char *text)
{
    struct selector s;
    struct err err = { 0 };
    if (selector_parse_labels(a, str_of(text), &s, &err) < 0)
        return str_copy_arena(a, str_of(err_text(&err)));
    return selector_text(a, &s);
}

TEST(label_selectors_parse_as_upstream)
{
    static const char *const cases[][2] = {
        { "", "" },
        { " x in (c, a,,b) , !y,z", "x in (,a,b,c),!y,z" },
        { "b=1,a!=2,c==3,d>4,e<5", "a!=2,b=1,c==3,d>4,e<5" },
        { "x notin ()", "x notin ()" },
        { "in in (in,notin)", "in in (in,notin)" },
        { "x=", "x=" },
        { "x,", "found '', expected: identifier after ','" },
        { "x=a b", "found 'b', expected: ',' or 'end of string'" },
        { "x in a", "unable to parse requirement: found 'a' expected: '('" },
        { "=", "found '=', expected: !, identifier, or 'end of string'" },
        { "x!y", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt" },
        { "x>a", "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' "
                 "operators, the "
                 "value must be an integer" },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_STR(canonical(&a, cases[i][0]), cases[i][1]);
    arena_fini(&a);
}

TEST(label_selectors_match)
{
    static const struct {
        const char *selector;
        bool matches;
    } cases[] = { { "a=1", true },          { "a==1,b=x", true },     { "a=2", false },
                  { "a!=2", true },         { "zz!=2", true },        { "zz", false },
                  { "!zz", true },          { "!a", false },          { "b in (x,y)", true },
                  { "b notin (x)", false }, { "zz notin (x)", true }, { "a>0", true },
                  { "a<1", false },         { "b>0", false },         { "", true } };
    struct arena a = { 0 };
    struct json *labels = parse(&a, "{'a':'1','b':'x'}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct selector s;
        CHECK_OK(selector_parse_labels(&a, str_of(cases[i].selector), &s, NULL));
        CHECK(selector_matches_labels(&s, labels) == cases[i].matches);
    }
    struct selector s;
    CHECK_OK(selector_from_object(&a, NULL, &s, NULL));
    CHECK(!selector_matches_labels(&s, labels));
    CHECK_OK(selector_from_object(&a,
                                  parse(&a, "{'matchLabels':{'a':'1'},'matchExpressions':[{'key':'"
                                            "b','operator':'In','values':['z','x']}]}"),
                                  &s, NULL));
    CHECK(selector_matches_labels(&s, labels));
    CHECK_STR(selector_text(&a, &s), "a=1,b in (x,z)");
    arena_fini(&a);
}

TEST(selectors_are_bounded)
{
    struct arena a = { 0 };
    struct buf text = BUF_INIT(1 << 20);
    struct selector s;
    for (int i = 0; i <= SELECTOR_MAX_REQS; i++)
        (void)buf_printf(&text, "%sk%d=1", i ? "," : "", i);
    CHECK_ERR(selector_parse_labels(&a, buf_str(&text), &s, NULL), E_INVALID);
    CHECK_ERR(selector_parse_fields(&a, buf_str(&text), &s, NULL), E_INVALID);
    while (text.n <= SELECTOR_MAX_BYTES)
        (void)buf_add_cstr(&text, "xxxxxxxxxxxxxxxx");
    CHECK_ERR(selector_parse_labels(&a, buf_str(&text), &s, NULL), E_INVALID);
    buf_fini(&text);
    arena_fini(&a);
}

TEST(field_selectors)
{
    struct arena a = { 0 };
    struct selector s;
    struct err err = { 0 };
    struct json *obj =
        parse(&a, "{'metadata':{'name':'x','namespace':'d'},'status':{'phase':'A,b'},'n':5,"
                  "'source':{'component':'me'}}");
    CHECK_OK(selector_parse_fields(
        &a, STR("status.phase=A\\,b,metadata.name==x,n=5,source=me,zz!=1"), &s, &err));
    CHECK(selector_matches_fields(&a, &s, NULL, obj));
    CHECK_STR(selector_required_value(&s, "metadata.name"), "x");
    CHECK_STR(selector_text(&a, &s), "metadata.name=x,n=5,source=me,status.phase=A\\,b,zz!=1");
    CHECK_ERR(selector_check_fields(&s, &(struct str){ "x", 1 }, 1, &err), E_INVALID);
    CHECK_STR(str_of(err.text), "field label not supported: n");
    CHECK_ERR(selector_check_fields(&s, NULL, 0, &err), E_INVALID);
    CHECK_STR(str_of(err.text), "\"n\" is not a known field selector: only \"metadata.name\", "
                                "\"metadata.namespace\"");
    CHECK_ERR(selector_parse_fields(&a, STR("a"), &s, &err), E_INVALID);
    CHECK_STR(str_of(err.text), "invalid selector: 'a'; can't understand 'a'");
    CHECK_ERR(selector_parse_fields(&a, STR("a=\\x"), &s, &err), E_INVALID);
    arena_fini(&a);
}

TEST(json_paths_find)
{
    static const char *const cases[][2] = {
        { ".spec.a", "1" },
        { ".spec.list[0].n", "'x'" },
        { ".spec.list[-1].n", "'y'" },
        { ".spec.list[?(@.n==\"y\")].v", "2" },
        { ".spec.list[?(@.v>1)].n", "'y'" },
        { ".spec.list[*].v", "1" },
        { "['spec'].a", "1" },
        { "..v", "1" },
        { "{.spec.dot\\.ted}", "true" },
        { ".spec.none", "(null)" },
        { ".spec.list[7].n", "(null)" },
    };
    static const char *const wrong[] = { ".a[", ".a[x]", "a b", ".a[?(x)]", ".a..", ".[?(@.a==)]" };
    struct arena a = { 0 };
    struct json *obj =
        parse(&a, "{'spec':{'a':1,'dot.ted':true,'list':[{'n':'x','v':1},{'n':'y','v':2}]}}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct jsonpath *p;
        const struct json *found[4] = { NULL };
        struct err err = { 0 };
        if (jsonpath_parse(&a, str_of(cases[i][0]), &p, &err) < 0)
            TEST_FAIL("%s: %s", cases[i][0], err_text(&err));
        (void)jsonpath_find(p, obj, found, 4, NULL);
        CHECK_JSON(&a, found[0], cases[i][1]);
    }
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct jsonpath *p;
        CHECK_ERR(jsonpath_parse(&a, str_of(wrong[i]), &p, NULL), E_INVALID);
    }
    arena_fini(&a);
}

TEST(descending_paths_end)
{
    struct arena a = { 0 };
    struct json *deep = json_new_object(&a), *at = deep;
    struct buf text = BUF_INIT(1024);
    struct jsonpath *p;
    const struct json *found[1];
    for (int i = 0; i < 400; i++)
        at = json_obj(&a, at, "a");
    for (int i = 0; i < 40; i++)
        (void)buf_add_cstr(&text, "..a");
    (void)buf_add_cstr(&text, "..zz");
    CHECK_OK(jsonpath_parse(&a, buf_str(&text), &p, NULL));
    CHECK_INT(jsonpath_find(p, deep, found, 1, NULL), 0);
    buf_fini(&text);
    arena_fini(&a);
}

TEST(paths_and_selectors_spend_from_the_budget)
{
    struct arena a = { 0 };
    struct json *list, *obj = json_new_object(&a);
    json_setc(&a, obj, "l", list = json_new_array(&a));
    for (int i = 0; i < 1000; i++)
        json_add(list, json_new_object(&a));
    struct jsonpath *p;
    const struct json *found[1];
    struct budget b = { .max_steps = 6000 };
    CHECK_OK(jsonpath_parse(&a, STR(".l[?(@..x)]"), &p, NULL));
    CHECK_INT(jsonpath_find(p, obj, found, 1, &b), 0);
    CHECK(b.steps >= 4000 && !budget_is_over(&b)); /* what a filter looks at counts */
    CHECK_INT(jsonpath_find(p, obj, found, 1, &b), 0);
    CHECK(budget_is_over(&b));
    CHECK_OK(jsonpath_parse(&a, STR(".l"), &p, NULL));
    CHECK_INT(jsonpath_find(p, obj, found, 1, &b), 0); /* nothing is looked at any more */
    CHECK_INT(jsonpath_find(p, obj, found, 1, NULL), 1);

    struct selector s;
    CHECK_OK(selector_parse_labels(&a, STR("a!=1,b!=1,c!=1"), &s, NULL));
    b = (struct budget){ .max_steps = 10 };
    CHECK(selector_matches_labels(&s, NULL));
    CHECK(!selector_matches_labels_budget(&s, NULL, &b));
    CHECK_STR(str_of(b.over), "matching the selector");
    arena_fini(&a);
}

TEST(durations_are_for_humans)
{
    static const struct {
        int64_t s;
        const char *text;
    } cases[] = {
        { -5, "<invalid>" }, { -1, "0s" },      { 0, "0s" },        { 119, "119s" },
        { 120, "2m" },       { 125, "2m5s" },   { 600, "10m" },     { 10799, "179m" },
        { 10800, "3h" },     { 11000, "3h3m" }, { 28800, "8h" },    { 172800, "2d" },
        { 180000, "2d2h" },  { 864000, "10d" }, { 63072000, "2y" }, { 63072000 + 86400, "2y1d" },
        { 315360000, "10y" }
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_STR(table_duration(&a, cases[i].s), cases[i].text);
    CHECK_STR(table_age(&a, STR(""), 0), "<unknown>");
    arena_fini(&a);
}

TEST(tables_show_objects)
{
    struct arena a = { 0 };
    const struct kube_resource *cm = resource("", "v1", "configmaps");
    struct json *obj = parse(&a, "{'kind':'ConfigMap','metadata':{'name':'a','creationTimestamp':"
                                 "'2026-01-01T00:00:00Z'},'data':{'x':'','y':''}}");
    struct json *t = table_new(&a, cm, STR("v1"), true, NULL);
    table_add_row(&a, t, cm, obj, TABLE_INCLUDE_METADATA, STR("v1"), 1767225600 + 65);
    CHECK_JSON(&a, json_getc(t, "rows"),
               "[{'cells':['a',2,'65s'],'object':{'kind':'PartialObjectMetadata','apiVersion':'"
               "meta.k8s.io/v1',"
               "'metadata':{'name':'a','creationTimestamp':'2026-01-01T00:00:00Z'}}}]");
    CHECK_INT(json_getc(t, "columnDefinitions")->n, 3);
    CHECK_STR(json_get_str(json_last(json_getc(t, "columnDefinitions")), "name"), "Age");
    arena_fini(&a);
}

static struct str cells(struct arena *a, const struct kube_resource *res, const char *text)
{
    struct json *t = table_new(a, res, STR("v1"), false, NULL);
    table_add_row(a, t, res, parse(a, text), TABLE_INCLUDE_NONE, STR("v1"), 1767225600);
    CHECK(json_is(json_getc(t, "columnDefinitions"), JSON_NULL));
    return text_of(a, json_getc(json_getc(t, "rows")->first, "cells"));
}

TEST(builtin_kinds_have_upstreams_columns)
{
    struct arena a = { 0 };
    CHECK_STR(cells(&a, resource("", "v1", "secrets"),
                    "{'metadata':{'name':'s'},'type':'Opaque','data':{'a':'','b':''}}"),
              "['s','Opaque',2,'<unknown>']");
    CHECK_STR(cells(&a, resource("", "v1", "namespaces"),
                    "{'metadata':{'name':'n','creationTimestamp':'2025-12-31T23:59:00Z'},'status':{"
                    "'phase':'Active'}}"),
              "['n','Active','60s']");
    CHECK_STR(cells(&a, resource("", "v1", "serviceaccounts"), "{'metadata':{'name':'default'}}"),
              "['default','<unknown>']");
    CHECK_STR(cells(&a, resource("coordination.k8s.io", "v1", "leases"),
                    "{'metadata':{'name':'l'},'spec':{'holderIdentity':'me'}}"),
              "['l','me','<unknown>']");
    CHECK_STR(
        cells(&a, resource("", "v1", "events"),
              "{'metadata':{'name':'e'},'involvedObject':{'kind':'Pod','name':'p','fieldPath':'f'},"
              "'type':'Normal',"
              "'reason':'R','message':' m ','source':{'component':'c','host':'h'},'firstTimestamp':"
              "'2025-12-31T23:00:00Z','lastTimestamp':'2025-12-31T23:59:50Z','count':4}"),
        "['10s','Normal','R','pod/p','f','c, h','m','60m',4,'e']");
    CHECK_STR(cells(&a, resource("events.k8s.io", "v1", "events"),
                    "{'metadata':{'name':'e'},'regarding':{'kind':'Pod','name':'p'},'type':'Normal'"
                    ",'reason':'R','note':'m',"
                    "'eventTime':'2025-12-31T23:59:00.000000Z','reportingController':'c','"
                    "reportingInstance':'i',"
                    "'series':{'count':7,'lastObservedTime':'2025-12-31T23:59:30.000000Z'}}"),
              "['30s','Normal','R','pod/p','','c, i','m','60s',7,'e']");
    CHECK_STR(cells(&a, resource("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
                    "{'metadata':{'name':'x.y','creationTimestamp':'2025-12-31T23:59:00Z'}}"),
              "['x.y','2025-12-31T23:59:00Z']");
    arena_fini(&a);
}

TEST(quantities_become_canonical)
{
    static const char *const cases[][2] = {
        { "1", "1" },
        { "1000", "1k" },
        { "1500m", "1500m" },
        { "1.5Gi", "1536Mi" },
        { "0.1", "100m" },
        { "1e3", "1e3" },
        { "1E", "1E" },
        { "100Ki", "100Ki" },
        { "0", "0" },
        { "-5", "-5" },
        { "1.0001", "1000100u" },
        { "1Ki", "1Ki" },
        { "500Ki", "500Ki" },
        { "1024Ki", "1Mi" },
        { "0.5Ki", "512" },
        { "12.34567890123", "12345678902n" },
        { "+3M", "3M" },
    };
    struct arena a = { 0 };
    struct quantity q, r;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_OK(quantity_parse(str_of(cases[i][0]), &q, NULL));
        CHECK_STR(quantity_text(&a, q), cases[i][1]);
    }
    CHECK_OK(quantity_parse(STR("1.5"), &q, NULL));
    CHECK_OK(quantity_parse(STR("1501m"), &r, NULL));
    CHECK(quantity_cmp(q, r) < 0 && quantity_value(q) == 2 && quantity_milli(q) == 1500);
    CHECK_ERR(quantity_parse(STR("x"), &q, NULL), E_INVALID);
    CHECK_ERR(quantity_parse(STR("1kk"), &q, NULL), E_INVALID);
    CHECK_ERR(quantity_parse(STR(""), &q, NULL), E_INVALID);
    arena_fini(&a);
}

TEST(versions_sort_as_upstream_sorts_them)
{
    static const char *const sorted[] = { "v10",      "v2",      "v1",        "v11beta2",
                                          "v10beta3", "v3beta1", "v12alpha1", "v11alpha2",
                                          "foo1",     "foo10" };
    for (size_t i = 0; i + 1 < ARRAY_LEN(sorted); i++) {
        CHECK(kube_version_cmp(str_of(sorted[i]), str_of(sorted[i + 1])) < 0);
        CHECK(kube_version_cmp(str_of(sorted[i + 1]), str_of(sorted[i])) > 0);
    }
}

TEST(discovery_lists_what_is_served)
{
    struct arena a = { 0 };
    struct kube_registry *reg = test_registry();
    CHECK_JSON(&a, discovery_group(&a, reg, STR("coordination.k8s.io")),
               "{'kind':'APIGroup','apiVersion':'v1','name':'coordination.k8s.io','versions':[{'"
               "groupVersion':"
               "'coordination.k8s.io/v1','version':'v1'}],'preferredVersion':{'groupVersion':"
               "'coordination.k8s.io/v1','version':'v1'}}");
    struct json *core = discovery_resources(&a, reg, STR(""), STR("v1"));
    CHECK_STR(json_get_str(core, "groupVersion"), "v1");
    CHECK_STR(json_get_str(json_getc(core, "resources")->first, "name"), "bindings");
    CHECK(!discovery_resources(&a, reg, STR("none"), STR("v1")));
    json_each (r, json_getc(core, "resources")) {
        struct str name = json_get_str(r, "name"), hash = json_get_str(r, "storageVersionHash");
        if (str_is(name, "configmaps"))
            CHECK_STR(hash, "qFsyl6wFWjQ="); /* what upstream says */
        if (str_is(name, "bindings"))
            CHECK_INT(hash.n, 0);
        if (r->next && str_find_char(name, '/') >= 0)
            CHECK(str_cmp(name, json_get_str(r->next, "name")) < 0);
    }
    static const char *const first_groups[] = { "apiregistration.k8s.io", "apps", "events.k8s.io",
                                                "authentication.k8s.io" };
    const struct json *group = json_getc(discovery_groups(&a, reg), "groups")->first;
    for (size_t i = 0; i < ARRAY_LEN(first_groups); i++, group = group->next)
        CHECK_STR(json_get_str(group, "name"), first_groups[i]);
    struct json *all = discovery_aggregated(&a, reg, false, STR("v2"));
    CHECK(json_getc(all, "items")->n > 3);
    CHECK_INT(json_getc(discovery_aggregated(&a, reg, true, STR("v2")), "items")->n, 1);
    CHECK_INT(json_getc(discovery_groups(&a, reg), "groups")->n, json_getc(all, "items")->n);
    arena_fini(&a);
}

TEST(statuses_say_what_upstream_says)
{
    struct arena a = { 0 };
    CHECK_JSON(&a, status_not_found(&a, STR(""), STR("configmaps"), STR("x")),
               "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure','message':'"
               "configmaps \\'x\\' not "
               "found','reason':'NotFound','details':{'name':'x','kind':'configmaps'},'code':404}");
    CHECK_STR(status_message(status_modified(&a, STR("g.io"), STR("things"), STR("x"))),
              "Operation cannot be fulfilled on things.g.io \"x\": the object has been modified; "
              "please apply your "
              "changes to the latest version and try again");
    CHECK_INT(status_code(status_too_old(&a, 1, 5)), 410);
    CHECK_STR(status_message(status_too_old(&a, 1, 5)), "too old resource version: 1 (5)");
    CHECK_STR(status_reason(status_from_err(&a, E_CONFLICT, NULL)), "Conflict");
    arena_fini(&a);
}

TEST_MAIN
