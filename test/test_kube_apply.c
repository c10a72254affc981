/* SPDX-License-Identifier: Apache-2.0 */
/* kube/: sets of fields, who owns them, server-side apply. */
#include "test_kube.h"

#include "base/map.h"
#include "kube/model/apply.h"

enum { NOW = 1700000000 };

/* ---- fixtures ---- */

static const struct kube_strategy no_strategy;
static const struct kube_subresource with_status[] = { { .name = { "status", 6 } } };

static struct kube_resource kind_of(const char *group, const char *version, const char *kind)
{
    struct kube_resource res = { .group = str_of(group),
                                 .version = str_of(version),
                                 .kind = str_of(kind),
                                 .plural = str_of(kind),
                                 .schema =
                                     builtin_schema(str_of(group), str_of(version), str_of(kind)),
                                 .strategy = &no_strategy,
                                 .subresources = with_status,
                                 .n_subresources = 1 };
    CHECK(res.schema);
    return res;
}

/* A custom kind "g/v1 Thing" whose schema has these properties. */
static struct kube_resource thing_of(struct arena *a, const char *properties)
{
    struct json *spec = parse(a, "{'type':'object'}");
    json_setc(a, spec, "properties", parse(a, properties));
    struct field_errors errs = field_errors_init(a);
    struct kube_resource res = { .group = STR("g"),
                                 .version = STR("v1"),
                                 .kind = STR("Thing"),
                                 .plural = STR("things"),
                                 .strategy = &no_strategy };
    CHECK_OK(schema_from_openapi(a, spec, NULL, NULL, &errs, &res.schema));
    return res;
}

static struct field_set *fields_of(struct arena *a, const char *text)
{
    struct field_set *s;
    struct err err = { 0 };
    if (field_set_parse(a, parse(a, text), &s, &err) < 0)
        TEST_FAIL("'%s': %s", text, err_text(&err));
    return s;
}

#define CHECK_SET(a, set, want) CHECK_JSON((a), field_set_write((a), (set)), want)

static struct json *with_kind(struct arena *a, const struct kube_resource *res, const char *text)
{
    struct json *v = parse(a, text);
    json_set_str(a, v, "apiVersion", kube_api_version(a, res));
    json_set_str(a, v, "kind", res->kind);
    return v;
}

/* ---- sets ---- */

static const struct {
    const char *text, *canonical;
} canonical[] = {
    { "{}", "{}" },
    { "{'f:b':{},'f:a':{}}", "{'f:a':{},'f:b':{}}" },
    { "{'f:a':{'f:b':{}},'f:a':{}}", "{'f:a':{}}" }, /* the parser keeps the last */
    { "{'f:a':{'f:b':{},'.':{}}}", "{'f:a':{'.':{},'f:b':{}}}" },
    { "{'v:1':{},'i:3':{},'f:a':{},'k:{}':{}}", "{'f:a':{},'k:{}':{},'v:1':{},'i:3':{}}" },
    { "{'v:true':{},'v:\\'b\\'':{},'v:10':{},'v:9':{},'v:1.50':{}}",
      "{'v:1.5':{},'v:9':{},'v:10':{},'v:\\'b\\'':{},'v:true':{}}" },
    { "{'k:{\\'port\\':80.0,\\'name\\':\\'a\\'}':{}}",
      "{'k:{\\'name\\':\\'a\\',\\'port\\':80}':{}}" },
    { "{'k:{\\'n\\':\\'a b\\'}':{},'k:{\\'n\\':\\'a\\'}':{}}",
      "{'k:{\\'n\\':\\'a\\'}':{},'k:{\\'n\\':\\'a b\\'}':{}}" },
    { "{'v:\\'<&>\\'':{}}", "{'v:\\'\\\\u003c\\\\u0026\\\\u003e\\'':{}}" },
    { "{'z:unknown':{},'f:a':{}}", "{'f:a':{}}" },
    { "{'f:':{}}", "{'f:':{}}" },
};

TEST(sets_have_one_text)
{
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(canonical); i++) {
        struct field_set *s = fields_of(&a, canonical[i].text);
        CHECK_SET(&a, s, canonical[i].canonical);
        struct field_set *again;
        CHECK_OK(field_set_parse(&a, field_set_write(&a, s), &again, NULL));
        CHECK(field_set_equal(s, again));
    }
    static const char *const bad[] = { "[]",        "{'f:a':1}",  "{'f':{}}",   "{'x':{}}",
                                       "{'v:':{}}", "{'k:1':{}}", "{'i:a':{}}", "{'v:1 2':{}}" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct field_set *s;
        CHECK_ERR(field_set_parse(&a, parse(&a, bad[i]), &s, NULL), E_PARSE);
    }
    arena_fini(&a);
}

static const struct {
    const char *x, *y, *both, *either, *less, *less_all;
} algebra[] = {
    { "{'f:a':{},'f:b':{}}", "{'f:b':{},'f:c':{}}", "{'f:b':{}}", "{'f:a':{},'f:b':{},'f:c':{}}",
      "{'f:a':{}}", "{'f:a':{}}" },
    { "{'f:a':{'f:b':{}}}", "{'f:a':{}}", "{}", "{'f:a':{'.':{},'f:b':{}}}", "{'f:a':{'f:b':{}}}",
      "{}" },
    { "{'f:a':{}}", "{'f:a':{'f:b':{}}}", "{}", "{'f:a':{'.':{},'f:b':{}}}", "{'f:a':{}}",
      "{'f:a':{}}" },
    { "{'f:a':{'.':{},'f:b':{},'f:c':{}}}", "{'f:a':{'f:b':{}}}", "{'f:a':{'f:b':{}}}",
      "{'f:a':{'.':{},'f:b':{},'f:c':{}}}", "{'f:a':{'.':{},'f:c':{}}}",
      "{'f:a':{'.':{},'f:c':{}}}" },
    { "{}", "{'f:a':{}}", "{}", "{'f:a':{}}", "{}", "{}" },
};

TEST(sets_are_combined_member_by_member)
{
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(algebra); i++) {
        struct field_set *x = fields_of(&a, algebra[i].x), *y = fields_of(&a, algebra[i].y);
        CHECK_SET(&a, field_set_intersection(&a, x, y), algebra[i].both);
        CHECK_SET(&a, field_set_union(&a, x, y), algebra[i].either);
        CHECK_SET(&a, field_set_difference(&a, x, y), algebra[i].less);
        CHECK_SET(&a, field_set_recursive_difference(&a, x, y), algebra[i].less_all);
    }
    CHECK_SET(&a, field_set_leaves(&a, fields_of(&a, "{'f:a':{'.':{},'f:b':{}},'f:c':{}}")),
              "{'f:a':{'f:b':{}},'f:c':{}}");
    arena_fini(&a);
}

/* A set as a bitmap over all paths of up to three elements from a small alphabet. */
enum { ALPHABET = 4, MODEL = ALPHABET + ALPHABET * ALPHABET + ALPHABET * ALPHABET * ALPHABET };
static const char *const letters[ALPHABET] = { "f:a", "f:b", "k:{'n':1}", "v:'x'" };

static struct field_set *of_model(struct arena *a, const bool *m)
{
    struct json *root = json_new_object(a);
    for (int i = 0; i < MODEL; i++) {
        int n = i < ALPHABET ? 1 : i < ALPHABET + ALPHABET * ALPHABET ? 2 : 3;
        int rest = n == 1 ? i : n == 2 ? i - ALPHABET : i - ALPHABET - ALPHABET * ALPHABET;
        if (!m[i])
            continue;
        struct json *at = root;
        for (int k = 0; k < n; k++, rest /= ALPHABET) {
            at = json_obj(a, at, letters[rest % ALPHABET]);
        }
        (void)json_obj(a, at, ".");
    }
    /* Keys are JSON: put the quotes right. */
    struct buf text = BUF_INIT(1 << 20);
    (void)json_write(&text, root);
    struct buf fixed = BUF_INIT(1 << 20);
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\'')
            (void)buf_add_cstr(&fixed, "\\\"");
        else
            (void)buf_add_char(&fixed, text.p[i]);
    }
    struct json *v;
    CHECK_OK(json_parse(a, str_copy_arena(a, buf_str(&fixed)), NULL, &v, NULL));
    buf_fini(&text);
    buf_fini(&fixed);
    struct field_set *s;
    CHECK_OK(field_set_parse(a, v, &s, NULL));
    return s;
}

TEST(sets_behave_like_bitmaps)
{
    struct arena a = { 0 };
    for (int round = 0; round < 300; round++) {
        bool x[MODEL], y[MODEL], both[MODEL], either[MODEL], less[MODEL];
        size_t n = 0;
        unsigned density = (unsigned)(test_random() % 8) + 1;
        for (int i = 0; i < MODEL; i++) {
            x[i] = test_random() % density == 0;
            y[i] = test_random() % density == 0;
            both[i] = x[i] && y[i];
            either[i] = x[i] || y[i];
            less[i] = x[i] && !y[i];
            n += x[i];
        }
        struct field_set *sx = of_model(&a, x), *sy = of_model(&a, y);
        CHECK_INT(field_set_count(sx), n);
        CHECK(field_set_equal(field_set_intersection(&a, sx, sy), of_model(&a, both)));
        CHECK(field_set_equal(field_set_union(&a, sx, sy), of_model(&a, either)));
        CHECK(field_set_equal(field_set_difference(&a, sx, sy), of_model(&a, less)));
        bool meet = !field_set_is_empty(field_set_intersection(&a, sx, sy));
        CHECK(!meet || field_set_touches(sx, field_set_write(&a, sy)));
        arena_reset(&a);
    }
    arena_fini(&a);
}

/* ---- fields and changes ---- */

#define DEPLOYMENT                                                                                 \
    "{'metadata':{'name':'d','labels':{'a':'b'}},'spec':{'replicas':1,'selector':{'matchLabels':{" \
    "'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','"    \
    "image':'i','args':['x','y'],'ports':[{'containerPort':80,'protocol':'TCP'}],'resources':{}}]" \
    ","                                                                                            \
    "'nodeSelector':{'x':'y'}}}}}"

TEST(fields_follow_the_types_of_lists_and_maps)
{
    struct arena a = { 0 };
    struct kube_resource d = kind_of("apps", "v1", "Deployment");
    struct field_set *s = typed_fields(&a, typed_resource(&d), parse(&a, DEPLOYMENT));
    CHECK_SET(
        &a, s,
        "{'f:metadata':{'f:labels':{'f:a':{}},'f:name':{}},'f:spec':{'f:replicas':{},"
        "'f:selector':{},'f:template':{'f:metadata':{'f:labels':{'f:a':{}}},'f:spec':{"
        "'f:containers':{'k:{\\'name\\':\\'c\\'}':{'.':{},'f:args':{},'f:image':{},'f:name':{}"
        ",'f:ports':{'k:{\\'containerPort\\':80,\\'protocol\\':\\'TCP\\'}':{'.':{},"
        "'f:containerPort':{},'f:protocol':{}}},'f:resources':{}}},'f:nodeSelector':{}}}}}");
    arena_fini(&a);
}

static const struct {
    const char *from, *to, *removed, *modified, *added;
} changes[] = {
    { "{'data':{'a':'1'}}", "{'data':{'a':'1'}}", "{}", "{}", "{}" },
    { "{'data':{'a':'1','b':'1'}}", "{'data':{'b':'2','c':'3'}}", "{'f:data':{'f:a':{}}}",
      "{'f:data':{'f:b':{}}}", "{'f:data':{'f:c':{}}}" },
    { "{}", "{'data':{'a':'1'}}", "{}", "{}", "{'f:data':{'.':{},'f:a':{}}}" },
    { "{'data':{'a':'1'}}", "{}", "{'f:data':{'.':{},'f:a':{}}}", "{}", "{}" },
    { "{}", "{'data':{}}", "{}", "{}", "{'f:data':{}}" },
    { "{'metadata':{'finalizers':['x','y']}}", "{'metadata':{'finalizers':['y','z']}}",
      "{'f:metadata':{'f:finalizers':{'v:\\'x\\'':{}}}}", "{}",
      "{'f:metadata':{'f:finalizers':{'v:\\'z\\'':{}}}}" },
    { "{'metadata':{'finalizers':['x','y']}}", "{'metadata':{'finalizers':['y','x']}}", "{}", "{}",
      "{}" },
    { "{'metadata':{'finalizers':['x','x']}}", "{'metadata':{'finalizers':['x']}}",
      "{'f:metadata':{'f:finalizers':{'v:\\'x\\'':{}}}}", "{}",
      "{'f:metadata':{'f:finalizers':{'v:\\'x\\'':{}}}}" },
    { "{'metadata':{'finalizers':['x']}}", "{'metadata':{'finalizers':['x','x']}}",
      "{'f:metadata':{'f:finalizers':{'v:\\'x\\'':{}}}}", "{}",
      "{'f:metadata':{'f:finalizers':{'v:\\'x\\'':{}}}}" },
};

TEST(changes_are_found_in_one_walk)
{
    struct arena a = { 0 };
    struct kube_resource cm = kind_of("", "v1", "ConfigMap");
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        struct typed_changes c;
        typed_compare(&a, typed_resource(&cm), parse(&a, changes[i].from), parse(&a, changes[i].to),
                      &c);
        CHECK_SET(&a, c.removed, changes[i].removed);
        CHECK_SET(&a, c.modified, changes[i].modified);
        CHECK_SET(&a, c.added, changes[i].added);
    }
    arena_fini(&a);
}

TEST(members_are_paired_in_any_order)
{
    struct arena a = { 0 };
    struct kube_resource cm = kind_of("", "v1", "ConfigMap");
    struct json *from = parse(&a, "{'data':{}}"), *to = parse(&a, "{'data':{}}");
    char key[16];
    for (int i = 0; i < 200; i++) {
        (void)snprintf(key, sizeof key, "k%d", i);
        json_set_str(&a, json_getc(from, "data"), key, STR("1"));
        (void)snprintf(key, sizeof key, "k%d", 200 - i);
        json_set_str(&a, json_getc(to, "data"), key, STR("1"));
    }
    struct typed_changes c;
    typed_compare(&a, typed_resource(&cm), from, to, &c);
    CHECK_SET(&a, c.removed, "{'f:data':{'f:k0':{}}}");
    CHECK_SET(&a, c.added, "{'f:data':{'f:k200':{}}}");
    CHECK(field_set_is_empty(c.modified));
    arena_fini(&a);
}

/* ---- merging ---- */

static struct json *with_finalizers(struct arena *a, const char *list)
{
    return parse(a, arena_printf(a, "{'metadata':{'finalizers':[%s]}}", list));
}

static const struct {
    const char *live, *config, *want;
} orders[] = {
    { "'a','b','c'", "'b'", "'a','b','c'" },
    { "'a','b','c'", "'c','a'", "'b','c','a'" },
    { "'a','b','c'", "'x','c'", "'a','b','x','c'" },
    { "'a','b','c'", "'b','x'", "'a','b','c','x'" },
    { "'a','b'", "'c','b','d','a','e'", "'c','b','d','a','e'" },
    { "'a','b','c','d'", "'d','c','b','a'", "'d','c','b','a'" },
    { "'a','b','c','d','e'", "'e','b'", "'a','c','d','e','b'" },
    { "", "'a'", "'a'" },
};

TEST(lists_come_in_the_order_of_the_configuration)
{
    struct arena a = { 0 };
    struct kube_resource cm = kind_of("", "v1", "ConfigMap");
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        struct json *got = typed_merge(&a, typed_resource(&cm), with_finalizers(&a, orders[i].live),
                                       with_finalizers(&a, orders[i].config));
        CHECK(json_equal(got, with_finalizers(&a, orders[i].want)));
    }
    arena_fini(&a);
}

static const struct {
    const char *live, *config, *want;
} merges[] = {
    { "{'spec':{'replicas':1}}", "{'spec':{'replicas':3}}", "{'spec':{'replicas':3}}" },
    { "{'spec':{'replicas':1}}", "{'spec':{'paused':true}}",
      "{'spec':{'replicas':1,'paused':true}}" },
    { "{'spec':{'selector':{'matchLabels':{'a':'b'}}}}",
      "{'spec':{'selector':{'matchLabels':{'c':'d'}}}}",
      "{'spec':{'selector':{'matchLabels':{'c':'d'}}}}" },
    { "{'spec':{'template':{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b'}]}}}}",
      "{'spec':{'template':{'spec':{'containers':[{'name':'b','image':'2'},{'name':'c'}]}}}}",
      "{'spec':{'template':{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b','image':'2'"
      "},{'name':'c'}]}}}}" },
    { "{'spec':{'replicas':1}}", "{'spec':{'replicas':null}}", "{'spec':{'replicas':null}}" },
    { "{'metadata':{'labels':{'a':'1'}}}", "{'metadata':{'labels':{}}}",
      "{'metadata':{'labels':{'a':'1'}}}" },
    { "{'metadata':{'labels':null}}", "{'metadata':{'labels':{}}}", "{'metadata':{'labels':{}}}" },
};

TEST(a_configuration_is_laid_over_the_object)
{
    struct arena a = { 0 };
    struct kube_resource d = kind_of("apps", "v1", "Deployment");
    for (size_t i = 0; i < ARRAY_LEN(merges); i++)
        CHECK_JSON(&a,
                   typed_merge(&a, typed_resource(&d), parse(&a, merges[i].live),
                               parse(&a, merges[i].config)),
                   merges[i].want);
    arena_fini(&a);
}

/* ---- what does not fit ---- */

static const struct {
    const char *v, *why;
} misfits[] = {
    { "{'spec':{'replicas':'1'}}", ".spec.replicas: expected numeric (int or float), got string" },
    { "{'spec':{'paused':'x'}}", ".spec.paused: expected boolean, got &{x}" },
    { "{'spec':{'foo':1}}", ".spec.foo: field not declared in schema" },
    { "{'spec':[]}", ".spec: expected map, got &{[]}" },
    { "{'metadata':{'labels':{'a':1}}}",
      ".metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}" },
    { "{'metadata':{'finalizers':['a','a']}}",
      ".metadata.finalizers: duplicate entries for key [=\"a\"]" },
    { "{'metadata':{'finalizers':{'a':1,'b':[true]}}}",
      ".metadata.finalizers: expected list, got &{map[a:1 b:[true]]}" },
    { "{'spec':{'template':{'spec':{'containers':[{'name':'a'},{'name':'a'}]}}}}",
      ".spec.template.spec.containers: duplicate entries for key [name=\"a\"]" },
    { "{'spec':{'template':{'spec':{'imagePullSecrets':[{}]}}}}", NULL }, /* the key's zero */
    { "{'spec':{'template':{'spec':{'hostAliases':[{'hostnames':[]}]}}}}", NULL },
    { "{'status':{'conditions':[null]}}",
      ".status.conditions: element 0: associative list with keys may not have a null element" },
    { "{'metadata':1,'spec':1}", "errors:\n  .metadata: expected map, got &{1}\n  .spec: expected "
                                 "map, got &{1}" },
    { "{'spec':{'template':{'spec':{'containers':[{'name':'a','args':[1]}]}}}}",
      ".spec.template.spec.containers[name=\"a\"].args[0]: expected string, got "
      "&value.valueUnstructured{Value:1}" },
};

TEST(misfits_are_told_in_upstreams_words)
{
    struct arena a = { 0 };
    struct kube_resource d = kind_of("apps", "v1", "Deployment");
    for (size_t i = 0; i < ARRAY_LEN(misfits); i++) {
        struct buf why = BUF_INIT(4096);
        int r = typed_check(typed_resource(&d), parse(&a, misfits[i].v), false, &why);
        CHECK_INT(r, misfits[i].why ? E_INVALID : 0);
        CHECK_STR(buf_str(&why), misfits[i].why ? misfits[i].why : "");
        buf_fini(&why);
    }
    arena_fini(&a);
}

/* ---- stories: an object and what its managers do to it ---- */

struct story {
    struct arena a;
    struct kube_resource res;
    struct json *obj;
    int64_t now_s;
    const char *subresource;
};

static void story_init(struct story *s, struct kube_resource res)
{
    *s = (struct story){ .res = res, .now_s = NOW, .subresource = "" };
    s->obj = managed_empty(&s->a, &s->res);
}

static const struct kube_resource *only_version(void *arg, struct str api_version)
{
    struct story *s = arg;
    return str_eq(api_version, kube_api_version(&s->a, &s->res)) ? &s->res : NULL;
}

static struct managed_writer writer(struct story *s, const char *manager)
{
    return (struct managed_writer){ .res = &s->res,
                                    .manager = str_of(manager),
                                    .subresource = str_of(s->subresource),
                                    .now_s = s->now_s,
                                    .version = only_version,
                                    .version_arg = s };
}

/* The object with this instead of what it has, entries of managedFields apart. */
static void update(struct story *s, const char *manager, const char *text)
{
    struct managed_writer w = writer(s, manager);
    struct json *obj = with_kind(&s->a, &s->res, text);
    json_set_str(&s->a, json_obj(&s->a, obj, "metadata"), "uid", STR("u"));
    managed_update(&s->a, &w, s->obj, obj);
    s->obj = obj;
}

/* The Status, or NULL. */
static struct json *apply(struct story *s, const char *manager, const char *text, bool force)
{
    struct managed_writer w = writer(s, manager);
    struct json *got, *status = NULL;
    if (apply_config(&s->a, &w, s->obj, with_kind(&s->a, &s->res, text), force, &got, &status) < 0)
        return status;
    json_set_str(&s->a, json_obj(&s->a, got, "metadata"), "uid", STR("u"));
    s->obj = got;
    return NULL;
}

/* "manager operation[/subresource] {fields}", sorted as stored, ';' between. */
static struct str owners(struct story *s)
{
    struct buf b = BUF_INIT(1 << 16);
    json_each (e, json_path(s->obj, "metadata", "managedFields", NULL)) {
        (void)buf_printf(&b, "%s" STR_FMT " " STR_FMT, b.n ? "; " : "",
                         STR_ARG(json_get_str(e, "manager")),
                         STR_ARG(json_get_str(e, "operation")));
        if (json_getc(e, "subresource"))
            (void)buf_printf(&b, "/" STR_FMT, STR_ARG(json_get_str(e, "subresource")));
        (void)buf_add_char(&b, ' ');
        (void)buf_add_str(&b, text_of(&s->a, json_getc(e, "fieldsV1")));
    }
    struct str out = str_copy_arena(&s->a, buf_str(&b));
    buf_fini(&b);
    return out;
}

static struct str data_of(struct story *s)
{
    return text_of(&s->a, json_getc(s->obj, "data"));
}

static struct str message(struct json *status)
{
    return status ? status_message(status) : STR("");
}

TEST(what_a_manager_drops_and_nobody_wants_goes)
{
    struct story s;
    story_init(&s, kind_of("", "v1", "ConfigMap"));
    CHECK(!apply(&s, "one", "{'data':{'a':'1','b':'1','c':'1'}}", false));
    CHECK(!apply(&s, "two", "{'data':{'b':'1'}}", false));
    CHECK(!apply(&s, "one", "{'data':{'c':'2'}}", false));
    CHECK_STR(data_of(&s), "{'b':'1','c':'2'}");
    CHECK_STR(owners(&s), "two Apply {'f:data':{'f:b':{}}}; one Apply {'f:data':{'f:c':{}}}");
    CHECK(!apply(&s, "one", "{}", false));
    CHECK(!apply(&s, "two", "{}", false));
    CHECK_STR(owners(&s), "");
    CHECK(!json_is(json_getc(s.obj, "data"), JSON_OBJECT));
    arena_fini(&s.a);
}

TEST(what_an_updater_put_in_stays_when_its_neighbour_goes)
{
    struct story s;
    story_init(&s, kind_of("", "v1", "ConfigMap"));
    CHECK(!apply(&s, "one", "{'data':{'a':'1'}}", false));
    update(&s, "up", "{'data':{'a':'1','b':'1'}}");
    CHECK(!apply(&s, "one", "{}", false));
    CHECK_STR(data_of(&s), "{'b':'1'}");
    CHECK_STR(owners(&s), "up Update {'f:data':{'f:b':{}}}");
    arena_fini(&s.a);
}

TEST(a_shared_field_may_be_left_but_not_changed)
{
    struct story s;
    story_init(&s, kind_of("", "v1", "ConfigMap"));
    CHECK(!apply(&s, "one", "{'data':{'a':'1'}}", false));
    CHECK(!apply(&s, "two", "{'data':{'a':'1'}}", false));
    struct json *no = apply(&s, "two", "{'data':{'a':'2'}}", false);
    CHECK_STR(message(no), "Apply failed with 1 conflict: conflict with \"one\": .data.a");
    CHECK(!apply(&s, "two", "{'data':{'a':'2'}}", true));
    CHECK_STR(owners(&s), "two Apply {'f:data':{'f:a':{}}}");
    CHECK(!apply(&s, "one", "{}", false));
    CHECK_STR(data_of(&s), "{'a':'2'}");
    arena_fini(&s.a);
}

TEST(times_move_only_with_the_object)
{
    struct story s;
    story_init(&s, kind_of("", "v1", "ConfigMap"));
    CHECK(!apply(&s, "one", "{'data':{'a':'1'}}", false));
    struct str before = text_of(&s.a, s.obj);
    s.now_s += 60;
    CHECK(!apply(&s, "one", "{'data':{'a':'1'}}", false));
    CHECK(str_eq(before, text_of(&s.a, s.obj)));
    struct json *same = json_clone(&s.a, s.obj);
    update(&s, "up", "{'data':{'a':'1'}}");
    CHECK(managed_same(same, s.obj));
    CHECK(!apply(&s, "one", "{'data':{'a':'2'}}", false));
    CHECK_STR(json_get_str(json_path(s.obj, "metadata", "managedFields", NULL)->first, "time"),
              "2023-11-14T22:14:20Z");
    CHECK(!managed_same(same, json_new_object(&s.a)));
    arena_fini(&s.a);
}

TEST(list_items_are_owned_by_their_keys)
{
    struct story s;
    story_init(&s, kind_of("apps", "v1", "Deployment"));
    CHECK(!apply(&s, "one",
                 "{'spec':{'template':{'spec':{'containers':[{'name':'a','image':'1','env':[{'name'"
                 ":'X','value':'1'}]}]}}}}",
                 false));
    CHECK(!apply(&s, "two",
                 "{'spec':{'template':{'spec':{'containers':[{'name':'a','env':[{'name':'Y','value'"
                 ":'1'}]},{'name':'b','image':'2'}]}}}}",
                 false));
    struct json *no = apply(
        &s, "two",
        "{'spec':{'template':{'spec':{'containers':[{'name':'a','image':'9','env':[{'name':'X'"
        ",'value':'2'}]}]}}}}",
        false);
    CHECK_STR(message(no), "Apply failed with 2 conflicts: conflicts with \"one\":\n"
                           "- .spec.template.spec.containers[name=\"a\"].image\n"
                           "- .spec.template.spec.containers[name=\"a\"].env[name=\"X\"].value");
    CHECK(!apply(&s, "two", "{}", false));
    CHECK_STR(text_of(&s.a, json_path(s.obj, "spec", "template", "spec", "containers", NULL)),
              "[{'name':'a','image':'1','env':[{'name':'X','value':'1'}]}]");
    arena_fini(&s.a);
}

TEST(status_is_not_the_objects_to_write_nor_spec_the_statuss)
{
    struct story s;
    story_init(&s, kind_of("apps", "v1", "Deployment"));
    CHECK(!apply(&s, "one", "{'spec':{'replicas':1},'status':{'replicas':7}}", false));
    CHECK_STR(owners(&s), "one Apply {'f:spec':{'f:replicas':{}}}");
    s.subresource = "status";
    update(&s, "ctl", "{'spec':{'replicas':5},'status':{'replicas':1}}");
    CHECK_STR(owners(&s), "one Apply {'f:spec':{'f:replicas':{}}}; ctl Update/status "
                          "{'f:status':{'f:replicas':{}}}");
    struct json *no = apply(&s, "one", "{'status':{'replicas':2}}", false);
    CHECK_STR(message(no), "Apply failed with 1 conflict: conflict with \"ctl\" with subresource "
                           "\"status\" using apps/v1: .status.replicas");
    arena_fini(&s.a);
}

TEST(a_subresource_for_a_part_owns_only_that)
{
    struct story s;
    story_init(&s, kind_of("", "v1", "Pod"));
    update(&s, "maker", "{'spec':{'containers':[{'name':'c','image':'i'}]}}");
    s.subresource = "resize";
    update(&s, "sizer",
           "{'spec':{'nodeName':'n','containers':[{'name':'c','image':'j','resources':"
           "{'limits':{'cpu':'1'}}}]}}");
    s.subresource = "ephemeralcontainers";
    update(&s, "debugger",
           "{'spec':{'nodeName':'m','containers':[{'name':'c','image':'k','resources':"
           "{'limits':{'cpu':'1'}}}],'ephemeralContainers':[{'name':'e'}]}}");
    CHECK_STR(
        owners(&s),
        "debugger Update/ephemeralcontainers {'f:spec':{'f:ephemeralContainers':{'.':{},'k:{"
        "\\'name\\':\\'e\\'}':{'.':{},'f:name':{}}}}}; "
        "maker Update {'f:spec':{'f:containers':{'k:{\\'name\\':\\'c\\'}':{'.':{},'f:image':{},"
        "'f:name':{}}}}}; "
        "sizer Update/resize {'f:spec':{'f:containers':{'k:{\\'name\\':\\'c\\'}':{'f:resources':"
        "{'.':{},'f:limits':{'.':{},'f:cpu':{}}}}}}}");
    arena_fini(&s.a);
}

TEST(updaters_beyond_ten_become_one)
{
    struct story s;
    story_init(&s, kind_of("", "v1", "ConfigMap"));
    struct buf data = BUF_INIT(4096);
    for (int i = 0; i < 13; i++) {
        (void)buf_printf(&data, "%s'k%02d':'1'", i ? "," : "", i);
        update(&s, arena_printf(&s.a, "m%02d", i),
               arena_printf(&s.a, "{'data':{%s}}", buf_cstr(&data)));
        s.now_s++;
    }
    const struct json *list = json_path(s.obj, "metadata", "managedFields", NULL);
    CHECK_INT(list->n, 10);
    CHECK_STR(json_get_str(list->first, "manager"), "ancient-changes");
    CHECK_JSON(&s.a, json_getc(list->first, "fieldsV1"),
               "{'f:data':{'.':{},'f:k00':{},'f:k01':{},'f:k02':{},'f:k03':{}}}");
    buf_fini(&data);
    arena_fini(&s.a);
}

TEST(managers_of_an_object_are_limited)
{
    struct story s;
    story_init(&s, kind_of("", "v1", "ConfigMap"));
    struct json *list = json_new_array(&s.a);
    for (int i = 0; i < MANAGED_MAX_ENTRIES; i++) {
        struct json *e = parse(&s.a, "{'operation':'Apply','apiVersion':'v1','fieldsType':"
                                     "'FieldsV1','fieldsV1':{'f:data':{'f:a':{}}}}");
        json_set_str(&s.a, e, "manager", str_of(arena_printf(&s.a, "m%d", i)));
        json_add(list, e);
    }
    managed_store(&s.a, s.obj, list);
    CHECK(!apply(&s, "m7", "{'data':{'a':'1'}}", true));
    update(&s, "up", "{'data':{'a':'1','b':'1'}}");
    managed_store(&s.a, s.obj, json_clone(&s.a, list));
    struct json *no = apply(&s, "one more", "{'data':{'b':'1'}}", true);
    CHECK_STR(message(no), "more than 1000 managers have applied to this object");
    arena_fini(&s.a);
}

/* {"data":{"k0":"1",...}} */
static const char *wide(struct arena *a, int n, int from)
{
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)buf_add_cstr(&b, "{'data':{");
    for (int i = 0; i < n; i++)
        (void)buf_printf(&b, "%s'k%d':'1'", i ? "," : "", from + i);
    (void)buf_add_cstr(&b, "}}");
    const char *text = str_dup_arena(a, buf_str(&b));
    buf_fini(&b);
    return text;
}

TEST(wide_objects_are_applied_in_order_and_the_widest_not_at_all)
{
    struct story s;
    story_init(&s, kind_of("", "v1", "ConfigMap"));
    CHECK(!apply(&s, "one", wide(&s.a, 30000, 0), false));
    CHECK(!apply(&s, "one", wide(&s.a, 30000, 15000), false));
    CHECK_INT(json_getc(s.obj, "data")->n, 30000);
    struct json *no = apply(&s, "one", wide(&s.a, MANAGED_MAX_VALUES + 1, 0), false);
    CHECK_INT(status_code(no), 413);
    update(&s, "up", wide(&s.a, MANAGED_MAX_VALUES + 1, 0));
    CHECK_STR(owners(&s), "");
    arena_fini(&s.a);
}

TEST(owners_of_lost_versions_are_forgotten)
{
    struct story s;
    story_init(&s, kind_of("", "v1", "ConfigMap"));
    update(&s, "up", "{'data':{'a':'1'}}");
    struct json *obj = with_kind(&s.a, &s.res,
                                 "{'metadata':{'uid':'u','managedFields':[{'manager':'old',"
                                 "'operation':'Apply','apiVersion':'v0','fieldsType':'FieldsV1',"
                                 "'fieldsV1':{'f:data':{'f:b':{}}}}]},'data':{'a':'1'}}");
    struct managed_writer w = writer(&s, "up");
    managed_update(&s.a, &w, s.obj, obj);
    CHECK(!json_path(obj, "metadata", "managedFields", NULL));
    arena_fini(&s.a);
}

TEST(kubectls_annotation_stands_for_ownership)
{
    struct story s;
    story_init(&s, kind_of("", "v1", "ConfigMap"));
    update(&s, "kubectl-client-side-apply",
           "{'metadata':{'annotations':{'" APPLY_LAST_APPLIED
           "':'{\\'apiVersion\\':\\'v1\\',\\'kind\\':\\'ConfigMap\\',\\'data\\':{\\'a\\':\\'1\\'}}'"
           "}},'data':{'a':'1','b':'1'}}");
    struct json *no = apply(&s, "else", "{'data':{'a':'2'}}", false);
    CHECK_STR(message(no), "Apply failed with 1 conflict: conflict with "
                           "\"kubectl-client-side-apply\" using v1: .data.a");
    no = apply(&s, "kubectl", "{'data':{'a':'2','b':'2'}}", false);
    CHECK_STR(message(no), "Apply failed with 1 conflict: conflict with "
                           "\"kubectl-client-side-apply\" using v1: .data.b");
    CHECK(!apply(&s, "kubectl", "{'data':{'a':'2'}}", false));
    CHECK_STR(
        json_str(json_getc(json_path(s.obj, "metadata", "annotations", NULL), APPLY_LAST_APPLIED)),
        "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"2\"},\"kind\":\"ConfigMap\"}\n");
    arena_fini(&s.a);
}

#define THING_SCHEMA                                                                               \
    "{'spec':{'type':'object','properties':{'n':{'type':'integer'},'atomic':{'type':'object',"     \
    "'x-kubernetes-map-type':'atomic','additionalProperties':{'type':'string'}},'set':{'type':"    \
    "'array','x-kubernetes-list-type':'set','items':{'type':'string'}},'list':{'type':'array',"    \
    "'items':{'type':'string'}},'map':{'type':'array','x-kubernetes-list-type':'map',"             \
    "'x-kubernetes-list-map-keys':['a','b'],'items':{'type':'object','required':['a'],"            \
    "'properties':{'a':{'type':'string'},'b':{'type':'integer','default':3},'c':{'type':'string'"  \
    "}}}},'any':{'type':'object','x-kubernetes-preserve-unknown-fields':true}}}}"

TEST(custom_kinds_say_themselves_what_is_one_field)
{
    struct story s;
    struct arena schema = { 0 };
    story_init(&s, thing_of(&schema, THING_SCHEMA));
    CHECK(!apply(&s, "one",
                 "{'spec':{'n':1,'atomic':{'x':'y'},'set':['p','q'],'list':['p'],'map':[{'a':'k','"
                 "c':'1'}],'any':{'x':{'y':[1]},'z':null}}}",
                 false));
    CHECK_STR(owners(&s),
              "one Apply {'f:spec':{'f:any':{'f:x':{'.':{},'f:y':{}},'f:z':{}},'f:atomic':{},"
              "'f:list':{},'f:map':{'k:{\\'a\\':\\'k\\',\\'b\\':3}':{'.':{},'f:a':{},'f:c':{}}},"
              "'f:n':{},'f:set':{'v:\\'p\\'':{},'v:\\'q\\'':{}}}}");
    update(&s, "up",
           "{'spec':{'n':1,'atomic':{'x':'y','z':'1'},'set':['q'],'list':['p','r'],'map':"
           "[{'a':'k','b':3,'c':'2'}],'any':{'x':{'y':[2]},'z':null}}}");
    CHECK_STR(
        owners(&s),
        "one Apply {'f:spec':{'f:any':{'f:x':{},'f:z':{}},'f:map':{'k:{\\'a\\':\\'k\\',\\'b\\'"
        ":3}':{'.':{},'f:a':{}}},'f:n':{},'f:set':{'v:\\'q\\'':{}}}}; up Update {'f:spec':{"
        "'f:any':{'f:x':{'f:y':{}}},'f:atomic':{},'f:list':{},'f:map':{'k:{\\'a\\':\\'k\\',\\'"
        "b\\':3}':{'f:b':{},'f:c':{}}}}}");
    arena_fini(&s.a);
    arena_fini(&schema);
}

TEST(what_became_atomic_is_owned_as_one)
{
    struct story s;
    struct arena schema = { 0 };
    story_init(&s, thing_of(&schema, "{'spec':{'type':'object','properties':{'m':{'type':'object',"
                                     "'additionalProperties':{'type':'string'}}}}}"));
    CHECK(!apply(&s, "one", "{'spec':{'m':{'a':'1'}}}", false));
    CHECK(!apply(&s, "two", "{'spec':{'m':{'b':'1'}}}", false));
    s.res = thing_of(&schema, "{'spec':{'type':'object','properties':{'m':{'type':'object',"
                              "'x-kubernetes-map-type':'atomic','additionalProperties':{'type':"
                              "'string'}}}}}");
    struct json *no = apply(&s, "two", "{'spec':{'m':{'b':'2'}}}", false);
    CHECK_STR(message(no), "Apply failed with 1 conflict: conflict with \"one\": .spec.m");
    update(&s, "up", "{'spec':{'m':{'b':'3'}}}");
    CHECK_STR(owners(&s), "up Update {'f:spec':{'f:m':{}}}");
    arena_fini(&s.a);
    arena_fini(&schema);
}

TEST(replicas_are_owned_through_the_scale)
{
    struct story s;
    story_init(&s, kind_of("apps", "v1", "Deployment"));
    CHECK(!apply(&s, "one", "{'spec':{'replicas':1,'paused':true}}", false));
    struct managed_writer w = writer(&s, "scaler");
    w.subresource = STR("scale");
    const struct json *list = json_path(s.obj, "metadata", "managedFields", NULL);
    struct json *scale = parse(&s.a, "{'apiVersion':'autoscaling/v1','kind':'Scale','metadata':{"
                                     "'name':'d','uid':'u'},'spec':{'replicas':1},'status':{}}");
    managed_store(&s.a, scale, apply_to_scale(&s.a, &w, list));
    CHECK_JSON(&s.a,
               json_getc(json_path(scale, "metadata", "managedFields", NULL)->first, "fieldsV1"),
               "{'f:spec':{'f:replicas':{}}}");
    struct json *wanted = json_clone(&s.a, scale);
    json_set_int(&s.a, json_getc(wanted, "spec"), "replicas", 5);
    struct managed_writer ws = w;
    ws.res = NULL;
    managed_update(&s.a, &ws, scale, wanted);
    managed_store(
        &s.a, s.obj,
        apply_from_scale(&s.a, &w, list, json_path(wanted, "metadata", "managedFields", NULL)));
    CHECK_STR(owners(&s), "one Apply {'f:spec':{'f:paused':{}}}; scaler Update/scale "
                          "{'f:spec':{'f:replicas':{}}}");
    struct json *no = apply(&s, "one", "{'spec':{'replicas':2,'paused':true}}", false);
    CHECK(!no || status_code(no) == 409);
    arena_fini(&s.a);
}

TEST(agents_give_managers)
{
    struct arena a = { 0 };
    CHECK_STR(managed_agent(&a, STR("kubectl/v1.32 (linux)")), "kubectl");
    CHECK_STR(managed_agent(&a, STR("my\x01prog name")), "myprog name");
    CHECK_STR(managed_agent(&a, STR("")), "");
    char big[300];
    memset(big, 'x', sizeof big);
    CHECK_INT(managed_agent(&a, str_n(big, sizeof big)).n, 128);
    arena_fini(&a);
}

TEST_MAIN
