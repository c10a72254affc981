/* SPDX-License-Identifier: Apache-2.0 */
/* kube/: the three patches. Results of strategic merges were made with upstream's strategicpatch.
 */
#include "test_kube.h"

#include "kube/model/patch.h"

static const struct {
    const char *kind, *doc, *patch, *want;
} strategic[] = {
    { "Pod", "{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b','image':'2'}]}}",
      "{'spec':{'containers':[{'name':'b','image':'3'}]}}",
      "{'spec':{'containers':[{'image':'1','name':'a'},{'image':'3','name':'b'}]}}" },
    { "Pod", "{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}}",
      "{'spec':{'containers':[{'name':'b','$patch':'delete'},{'name':'d'},{'name':'a','image':'x'}]"
      "}}",
      "{'spec':{'containers':[{'name':'d'},{'image':'x','name':'a'},{'name':'c'}]}}" },
    { "Pod", "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
      "{'spec':{'containers':[{'$patch':'replace'},{'name':'z'}]}}",
      "{'spec':{'containers':[{'name':'z'}]}}" },
    { "Pod", "{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}}",
      "{'spec':{'$setElementOrder/"
      "containers':[{'name':'c'},{'name':'a'}],'containers':[{'name':'a','image':'q'}]}}",
      "{'spec':{'containers':[{'name':'b'},{'name':'c'},{'image':'q','name':'a'}]}}" },
    { "Pod", "{'spec':{'containers':[{'name':'a'},{'name':'s'},{'name':'b'}]}}",
      "{'spec':{'$setElementOrder/"
      "containers':[{'name':'b'},{'name':'n'},{'name':'a'}],'containers':[{'name':'n','image':'q'}]"
      "}}",
      "{'spec':{'containers':[{'name':'s'},{'name':'b'},{'image':'q','name':'n'},{'name':'a'}]}}" },
    { "Pod", "{'metadata':{'finalizers':['a','b','c']}}",
      "{'metadata':{'$deleteFromPrimitiveList/finalizers':['b'],'finalizers':['d']}}",
      "{'metadata':{'finalizers':['d','a','c']}}" },
    { "Pod", "{'metadata':{'finalizers':['a','b','c']}}",
      "{'metadata':{'$setElementOrder/finalizers':['c','d','a'],'finalizers':['d']}}",
      "{'metadata':{'finalizers':['b','c','d','a']}}" },
    { "Pod", "{'metadata':{'labels':{'a':'1','b':'2'}}}",
      "{'metadata':{'labels':{'a':null,'c':'3'},'annotations':{'x':'y','z':null}}}",
      "{'metadata':{'annotations':{'x':'y'},'labels':{'b':'2','c':'3'}}}" },
    { "Pod", "{'metadata':{'labels':{'a':'1','b':'2'}}}",
      "{'metadata':{'labels':{'$patch':'replace','n':'1'}}}", "{'metadata':{'labels':{'n':'1'}}}" },
    { "Pod", "{'metadata':{'labels':{'a':'1','b':'2'}}}",
      "{'metadata':{'labels':{'$patch':'delete'}}}", "{'metadata':{'labels':{}}}" },
    { "Pod", "{'spec':{'volumes':[{'name':'v','emptyDir':{'medium':'Memory'}}]}}",
      "{'spec':{'volumes':[{'name':'v','$retainKeys':['name','hostPath'],'hostPath':{'path':'/"
      "x'}}]}}",
      "{'spec':{'volumes':[{'hostPath':{'path':'/x'},'name':'v'}]}}" },
    { "Pod", "{'spec':{'tolerations':[{'key':'a'}]}}", "{'spec':{'tolerations':[{'key':'b'}]}}",
      "{'spec':{'tolerations':[{'key':'b'}]}}" },
    { "Pod",
      "{'spec':{'containers':[{'name':'a','env':[{'name':'X','value':'1'},{'name':'Y','value':'2'}]"
      ",'ports':[{'containerPort':80},{'containerPort':81,'name':'o'}],'args':['a','b']}]}}",
      "{'spec':{'containers':[{'name':'a','env':[{'name':'Y','valueFrom':{'fieldRef':{'fieldPath':'"
      "p'}},'value':null}],'ports':[{'containerPort':81,'protocol':'UDP'}],'args':['c']}]}}",
      "{'spec':{'containers':[{'args':['c'],'env':[{'name':'X','value':'1'},{'name':'Y','valueFrom'"
      ":{'fieldRef':{'fieldPath':'p'}}}],'name':'a','ports':[{'containerPort':80},{'containerPort':"
      "81,'name':'o','protocol':'UDP'}]}]}}" },
    { "Pod", "{}",
      "{'spec':{'containers':[{'name':'a','image':null,'env':[{'name':'e','$patch':'delete'},{'"
      "name':'f'}]}],'nodeSelector':{'$patch':'delete'}}}",
      "{'spec':{'containers':[{'env':[{'name':'f'}],'name':'a'}]}}" },
    { "Deployment", "{'spec':{'strategy':{'type':'RollingUpdate','rollingUpdate':{'maxSurge':1}}}}",
      "{'spec':{'strategy':{'$retainKeys':['type'],'type':'Recreate'}}}",
      "{'spec':{'strategy':{'type':'Recreate'}}}" },
    { "Deployment",
      "{'spec':{'replicas':1,'template':{'spec':{'containers':[{'name':'x','image':'1'}]}}}}",
      "{'spec':{'replicas':null,'template':{'spec':{'$setElementOrder/"
      "containers':[{'name':'x'}],'containers':[{'name':'x','image':'2','resources':{'limits':{'"
      "cpu':'1'}}}]}}}}",
      "{'spec':{'template':{'spec':{'containers':[{'image':'2','name':'x','resources':{'limits':{'"
      "cpu':'1'}}}]}}}}" },
    { "ConfigMap", "{'data':{'a':'1'},'metadata':{'ownerReferences':[{'uid':'1','name':'a'}]}}",
      "{'data':{'b':'2'},'metadata':{'ownerReferences':[{'uid':'2','name':'b'},{'uid':'1','"
      "controller':true}]}}",
      "{'data':{'a':'1','b':'2'},'metadata':{'ownerReferences':[{'name':'b','uid':'2'},{'"
      "controller':true,'name':'a','uid':'1'}]}}" },
    { "Pod", "{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':[{'image':'x'}]}}",
      "error: map: map[image:x] does not contain declared merge key: name" },
    { "Pod", "{'spec':{'containers':[{'name':'a'}]}}",
      "{'spec':{'containers':[{'name':'a','$patch':'x'}]}}",
      "error: unknown patch type: x in map: map[$patch:x name:a]" },
    { "Pod", "{'metadata':{'labels':{}}}", "{'metadata':{'$retainKeys':'x'}}",
      "error: invalid patch format of retainKeys" },
    { "Pod", "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
      "{'spec':{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'name':'z'}]}}",
      "error: The order in patch list:\n[map[name:z]]\n doesn't match $setElementOrder "
      "list:\n[map[name:a]]\n" },
    { "Pod",
      "{'spec':{'topologySpreadConstraints':[{'topologyKey':'a','maxSkew':1},{'topologyKey':'b','"
      "maxSkew':2}]}}",
      "{'spec':{'topologySpreadConstraints':[{'topologyKey':'b','maxSkew':3},{'topologyKey':'c'}]}"
      "}",
      "{'spec':{'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'a'},{'maxSkew':3,'"
      "topologyKey':'b'},{'topologyKey':'c'}]}}" },
};

TEST(strategic_merges_agree_with_upstream)
{
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(strategic); i++) {
        struct str group = strcmp(strategic[i].kind, "Deployment") ? STR("") : STR("apps");
        const struct schema *s = builtin_schema(group, STR("v1"), str_of(strategic[i].kind));
        struct json *got = NULL;
        struct err err = { 0 };
        int r = patch_strategic(&a, s, parse(&a, strategic[i].doc), parse(&a, strategic[i].patch),
                                &got, &err);
        if (r < 0) {
            char text[300];
            (void)snprintf(text, sizeof text, "error: %s", err_text(&err));
            for (char *p = text; *p; p++)
                *p = *p == '"' ? '\'' : *p;
            CHECK_STR(str_of(text), strategic[i].want);
        } else if (!json_equal(got, parse(&a, strategic[i].want))) {
            CHECK_JSON(&a, got, strategic[i].want);
        }
    }
    arena_fini(&a);
}

/* RFC 7386, appendix A. */
TEST(merge_patches_follow_the_rfc)
{
    static const char *const cases[][3] = {
        { "{'a':'b'}", "{'a':'c'}", "{'a':'c'}" },
        { "{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}" },
        { "{'a':'b'}", "{'a':null}", "{}" },
        { "{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}" },
        { "{'a':['b']}", "{'a':'c'}", "{'a':'c'}" },
        { "{'a':'c'}", "{'a':['b']}", "{'a':['b']}" },
        { "{'a':{'b':'c'}}", "{'a':{'b':'d','c':null}}", "{'a':{'b':'d'}}" },
        { "{'a':[{'b':'c'}]}", "{'a':[1]}", "{'a':[1]}" },
        { "['a','b']", "['c','d']", "['c','d']" },
        { "{'a':'b'}", "['c']", "['c']" },
        { "{'a':'foo'}", "null", "null" },
        { "{'e':null}", "{'a':1}", "{'e':null,'a':1}" },
        { "[1,2]", "{'a':'b','c':null}", "{'a':'b'}" },
        { "{}", "{'a':{'bb':{'ccc':null}}}", "{'a':{'bb':{}}}" },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json *got;
        CHECK_OK(patch_merge(&a, parse(&a, cases[i][0]), parse(&a, cases[i][1]), &got, NULL));
        CHECK_JSON(&a, got, cases[i][2]);
    }
    arena_fini(&a);
}

/* Mostly RFC 6902, appendix A. */
TEST(json_patches_follow_the_rfc)
{
    static const struct {
        const char *doc, *ops, *want; /* want NULL: an error */
        int code;
    } cases[] = {
        { "{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux'}]",
          "{'foo':'bar','baz':'qux'}", 0 },
        { "{'foo':['bar','baz']}", "[{'op':'add','path':'/foo/1','value':'qux'}]",
          "{'foo':['bar','qux','baz']}", 0 },
        { "{'foo':['a']}", "[{'op':'add','path':'/foo/-','value':['b']}]", "{'foo':['a',['b']]}",
          0 },
        { "{'baz':'qux','foo':'bar'}", "[{'op':'remove','path':'/baz'}]", "{'foo':'bar'}", 0 },
        { "{'foo':['a','b','c']}", "[{'op':'remove','path':'/foo/1'}]", "{'foo':['a','c']}", 0 },
        { "{'a':1}", "[{'op':'replace','path':'/a','value':{'b':2}}]", "{'a':{'b':2}}", 0 },
        { "{'foo':{'bar':'baz','waldo':'fred'},'qux':{'corge':'grault'}}",
          "[{'op':'move','from':'/foo/waldo','path':'/qux/thud'}]",
          "{'foo':{'bar':'baz'},'qux':{'corge':'grault','thud':'fred'}}", 0 },
        { "{'foo':['all','grass','cows','eat']}", "[{'op':'move','from':'/foo/1','path':'/foo/3'}]",
          "{'foo':['all','cows','eat','grass']}", 0 },
        { "{'a':{'b':1}}", "[{'op':'copy','from':'/a','path':'/c'},{'op':'remove','path':'/a/b'}]",
          "{'a':{},'c':{'b':1}}", 0 },
        { "{'a/b':1,'m~n':2}",
          "[{'op':'test','path':'/a~1b','value':1},{'op':'remove','path':'/m~0n'}]", "{'a/b':1}",
          0 },
        { "{'a':1}", "[{'op':'test','path':'/a','value':2}]", NULL, E_CONFLICT },
        { "{'a':1}", "[{'op':'test','path':'/b','value':null}]", "{'a':1}", 0 },
        { "{'a':1}", "[{'op':'add','path':'/b/c','value':1}]", NULL, E_INVALID },
        { "{'a':1}", "[{'op':'remove','path':'/b'}]", NULL, E_INVALID },
        { "{'a':1}", "[{'op':'replace','path':'/b','value':1}]", "{'a':1,'b':1}", 0 },
        { "{'a':[1]}", "[{'op':'replace','path':'/a/1','value':1}]", NULL, E_INVALID },
        { "{'a':1}", "[{'op':'copy','from':'/x','path':'/b'}]", "{'a':1,'b':null}", 0 },
        { "{'a':[1]}", "[{'op':'add','path':'/a/-1','value':2}]", "{'a':[1,2]}", 0 },
        { "{'a':[1,2]}", "[{'op':'remove','path':'/a/-1'}]", "{'a':[1]}", 0 },
        { "{'a':[1]}", "[{'op':'test','path':'/a/7','value':null}]", NULL, E_INVALID },
        { "{'a':1}", "[{'op':'add','path':'','value':{}}]", NULL, E_INVALID },
        { "{'a':1}", "[{'op':'replace','path':'','value':1}]", NULL, E_INVALID },
        { "{'a':1}", "[{'op':'add','path':'x/b','value':1}]", "{'a':1,'b':1}", 0 },
        { "{'a':1}", "[{'op':'add','path':'/b'}]", "{'a':1,'b':null}", 0 },
        { "{'a':[1]}", "[{'op':'add','path':'/a/5','value':1}]", NULL, E_INVALID },
        { "{'a':{'b':{}}}", "[{'op':'move','from':'/a','path':'/a/b'}]", NULL, E_INVALID },
        { "{'a':1}", "[{'op':'nonsense','path':'/b'}]", NULL, E_INVALID },
        { "{'a':1}", "[{'op':'add','path':'b','value':1}]", NULL, E_INVALID },
        { "{'a':1}", "{}", NULL, E_PARSE },
        { "{'a':1}", "[{'op':'replace','path':'','value':{'x':1}}]", "{'x':1}", 0 },
    };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json *got = NULL;
        int r = patch_json(&a, parse(&a, cases[i].doc), parse(&a, cases[i].ops), &got, NULL);
        if (!cases[i].want)
            CHECK_ERR(r, cases[i].code);
        else
            CHECK_JSON(&a, got, cases[i].want);
    }
    arena_fini(&a);
}

/* Few values, but long ones. */
TEST(copies_of_long_strings_end_at_the_limit_of_the_arena)
{
    enum { TEXT_BYTES = 10000, LIMIT_BYTES = 1 << 20, N_OPS = 5000 };
    struct arena a = { .max_bytes = 0 };
    struct json *copies = json_new_array(&a), *moves = json_new_array(&a), *got;
    scoped(free_scoped) char *text = xalloc(TEXT_BYTES);
    memset(text, 'x', TEXT_BYTES);
    for (int i = 0; i < N_OPS; i++) {
        json_add(copies, parse(&a, "{'op':'copy','from':'/a','path':'/b'}"));
        json_add(moves, parse(&a, i % 2 ? "{'op':'move','from':'/b','path':'/a'}"
                                        : "{'op':'move','from':'/a','path':'/b'}"));
    }
    struct json *doc = json_new_object(&a);
    json_set_str(&a, doc, "a", str_n(text, TEXT_BYTES));
    a.max_bytes = a.total_bytes + LIMIT_BYTES;
    CHECK_OK(patch_json(&a, json_copy(&a, doc), moves, &got, NULL));
    CHECK(!arena_is_full(&a));
    CHECK(str_eq(json_get_str(got, "a"), str_n(text, TEXT_BYTES)));
    CHECK_ERR(patch_json(&a, json_copy(&a, doc), copies, &got, NULL), E_LIMIT);
    CHECK(a.total_bytes < a.max_bytes + 2 * TEXT_BYTES);
    arena_fini(&a);
}

TEST(insertions_far_into_a_long_list_are_work)
{
    enum { N_ITEMS = 50000, N_OPS = 10000 };
    struct arena a = { 0 };
    struct json *behind = json_new_array(&a), *within = json_new_array(&a), *got;
    struct json *doc = json_new_object(&a), *list = json_new_array(&a);
    for (int i = 0; i < N_ITEMS; i++)
        json_add(list, json_new_int(&a, i));
    for (int i = 0; i < N_OPS; i++) {
        json_add(behind, parse(&a, "{'op':'add','path':'/a/-','value':1}"));
        json_add(within, parse(&a, "{'op':'add','path':'/a/49000','value':1}"));
    }
    json_setc(&a, doc, "a", list);
    CHECK_OK(patch_json(&a, json_copy(&a, doc), behind, &got, NULL));
    CHECK_INT(json_getc(got, "a")->n, N_ITEMS + N_OPS);
    CHECK_ERR(patch_json(&a, json_copy(&a, doc), within, &got, NULL), E_LIMIT);
    arena_fini(&a);
}

TEST(patches_cannot_grow_without_bound)
{
    struct arena a = { 0 };
    struct json *ops = json_new_array(&a), *got, *doc = parse(&a, "{'a':[0]}");
    for (int i = 0; i < 40; i++)
        json_add(ops, parse(&a, "{'op':'copy','from':'/a','path':'/a/-'}"));
    CHECK_ERR(patch_json(&a, doc, ops, &got, NULL), E_LIMIT);
    struct json *deep = json_new_array(&a), *at = deep;
    for (int i = 0; i < 300; i++, at = at->first)
        json_add(at, json_new_array(&a));
    struct buf path = BUF_INIT(4096);
    (void)buf_add_cstr(&path, "/a");
    for (int i = 0; i < 300; i++)
        (void)buf_add_cstr(&path, "/0");
    (void)buf_add_cstr(&path, "/-");
    struct json *op = parse(&a, "{'op':'copy','from':'/a'}");
    json_set_str(&a, op, "path", buf_str(&path));
    buf_fini(&path);
    ops = json_new_array(&a);
    json_add(ops, op);
    doc = json_new_object(&a);
    json_setc(&a, doc, "a", deep);
    CHECK_ERR(patch_json(&a, doc, ops, &got, NULL), E_LIMIT);

    struct json *list = json_new_array(&a), *patch = json_new_object(&a),
                *pod = json_new_object(&a);
    for (int i = 0; i <= PATCH_MAX_MERGED_ITEMS; i++)
        json_add(list, json_new_int(&a, i));
    json_setc(&a, json_obj(&a, patch, "metadata"), "finalizers", list);
    json_setc(&a, json_obj(&a, pod, "metadata"), "finalizers", json_clone(&a, list));
    const struct schema *s = builtin_schema(STR(""), STR("v1"), STR("Pod"));
    CHECK_ERR(patch_strategic(&a, s, pod, patch, &got, NULL), E_LIMIT);
    arena_fini(&a);
}

/* Without an index each of these would pass some 10^8 members. */
TEST(large_patches_of_large_objects_work)
{
    struct arena a = { 0 };
    struct json *doc, *got;
    char key[16];
    struct buf text = BUF_INIT(1 << 20);
    (void)buf_add_char(&text, '{');
    for (int i = 0; i < 20000; i++)
        (void)buf_printf(&text, "%s\"k%d\":1", i ? "," : "", i);
    (void)buf_add_char(&text, '}');
    CHECK_OK(json_parse(&a, buf_str(&text), NULL, &doc, NULL));
    CHECK_OK(patch_merge(&a, json_clone(&a, doc), doc, &got, NULL));
    CHECK(json_equal(doc, got));
    const struct schema *s = builtin_schema(STR(""), STR("v1"), STR("ConfigMap"));
    CHECK_OK(patch_strategic(&a, s, json_clone(&a, doc), doc, &got, NULL));
    CHECK(json_equal(doc, got));
    struct json *ops = json_new_array(&a);
    for (int i = 0; i < 2000; i++) {
        struct json *op = parse(&a, "{'op':'remove'}");
        (void)snprintf(key, sizeof key, "/k%d", 19999 - i);
        json_set_str(&a, op, "path", str_of(key));
        json_add(ops, op);
    }
    CHECK_OK(patch_json(&a, doc, ops, &got, NULL));
    CHECK_INT(got->n, 18000);
    buf_fini(&text);
    arena_fini(&a);
}

TEST_MAIN
