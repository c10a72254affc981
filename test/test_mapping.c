/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator/v1/predicate and mapping as tables. The cache's facts are stood in for by objects that
 * are written down here: this file defines what the two ask of the cache.
 */
#include "operator/v1/mapping.h"

#include "test.h"

/* ---- a cache of a handful of objects ---- */

struct cached_object {
    const char *namespace, *name, *uid;
    int64_t generation;
    uint64_t rv, labels, annotations, content;
    const char *label_key, *label_value;
    const char *fields[3]; /* values of the declared fields */
    struct object_owner owners[2];
    size_t n_owners;
};
struct object_sub {
    const struct cached_object *objects;
    size_t n;
};

struct str cached_object_namespace(const struct cached_object *o)
{
    return str_of(o->namespace);
}
struct str cached_object_name(const struct cached_object *o)
{
    return str_of(o->name);
}
struct str cached_object_uid(const struct cached_object *o, char text[CACHED_UID_BYTES])
{
    return str_of(o->uid);
}
uint64_t cached_object_rv(const struct cached_object *o)
{
    return o->rv;
}
int64_t cached_object_generation(const struct cached_object *o)
{
    return o->generation;
}
uint64_t cached_object_labels_hash(const struct cached_object *o)
{
    return o->labels;
}
uint64_t cached_object_annotations_hash(const struct cached_object *o)
{
    return o->annotations;
}
uint64_t cached_object_content_hash(const struct cached_object *o)
{
    return o->content;
}
struct str cached_object_label(const struct cached_object *o, struct str key)
{
    return o->label_key && str_is(key, o->label_key) ? str_of(o->label_value) : (struct str){ 0 };
}
bool cached_object_has_labels(const struct cached_object *o, const struct selector *selector)
{
    struct json value = { .type = JSON_STRING, .s = str_of(o->label_value ? o->label_value : "") };
    struct json labels = { .type = JSON_OBJECT };
    if (o->label_key)
        json_add_member(&labels, str_of(o->label_key), &value);
    return selector_matches_labels(selector, &labels);
}
size_t cached_object_n_owners(const struct cached_object *o)
{
    return o->n_owners;
}
void cached_object_owner(const struct cached_object *o, size_t i, struct object_owner *ret)
{
    *ret = o->owners[i];
}
size_t object_sub_field(const struct object_sub *sub, const struct cached_object *o, size_t field,
                        struct str *ret, size_t max)
{
    if (!o->fields[field])
        return 0;
    ret[0] = str_of(o->fields[field]);
    return 1;
}
void object_sub_each(const struct object_sub *sub, struct str namespace, object_each_fn each,
                     void *arg)
{
    for (size_t i = 0; i < sub->n; i++)
        if (namespace.n == 0 || str_is(namespace, sub->objects[i].namespace))
            (void)each(arg, &sub->objects[i]);
}
void object_sub_find_by(const struct object_sub *sub, size_t field, struct str value,
                        struct str namespace, object_each_fn each, void *arg)
{
    for (size_t i = 0; i < sub->n; i++)
        if (sub->objects[i].fields[field] && str_is(value, sub->objects[i].fields[field]) &&
            (namespace.n == 0 || str_is(namespace, sub->objects[i].namespace)))
            (void)each(arg, &sub->objects[i]);
}

/* ---- predicates ---- */

static struct declarations all;

static struct declaration *declare(const char *watch)
{
    struct declaration *d = NULL;
    struct err err = { 0 };
    char *text = xasprintf(
        "{\"controllers\":[{\"name\":\"c\",\"for\":{\"id\":\"p\",\"apiVersion\":\"ex.dev/v1\","
        "\"kind\":\"Thing\",\"indexes\":[{\"name\":\"i\",\"field\":\".spec.ref\"}]},%s}]}",
        watch);
    if (declaration_get(&all, str_of(text), &d, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    free(text);
    return d;
}

static bool passes(const char *predicate, enum object_event type, const struct cached_object *now,
                   const struct cached_object *before)
{
    char *watch = xasprintf("\"owns\":[{\"id\":\"w\",\"apiVersion\":\"v1\",\"kind\":\"Pod\"%s%s}]",
                            predicate[0] ? ",\"predicate\":" : "", predicate);
    struct declaration *d = declare(watch);
    struct change c = { type, now, before };
    bool ret = predicate_passes(d->watches[1].predicate, &c);
    declaration_unref(d);
    free(watch);
    return ret;
}

TEST(predicates)
{
    static const struct cached_object a = { .generation = 1, .rv = 1, .content = 1 },
                                      managed = { .generation = 1, .rv = 2, .content = 1 },
                                      spec = { .generation = 2, .rv = 3, .content = 2 },
                                      labels = { .generation = 1,
                                                 .rv = 4,
                                                 .content = 3,
                                                 .labels = 7,
                                                 .label_key = "a",
                                                 .label_value = "b" },
                                      noted = {
                                          .generation = 1, .rv = 5, .content = 4, .annotations = 9
                                      };
    static const struct {
        const char *predicate;
        enum object_event type;
        const struct cached_object *now, *before;
        bool want;
    } cases[] = {
        { "", OBJECT_ADDED, &a, NULL, true },
        { "", OBJECT_DELETED, NULL, &a, true },
        { "", OBJECT_UPDATED, &managed, &a, false },
        { "", OBJECT_UPDATED, &noted, &a, true },
        { "{\"changed\":\"resourceVersion\"}", OBJECT_UPDATED, &managed, &a, true },
        { "{\"changed\":\"generation\"}", OBJECT_UPDATED, &managed, &a, false },
        { "{\"changed\":\"generation\"}", OBJECT_UPDATED, &spec, &a, true },
        { "{\"changed\":\"generation\"}", OBJECT_ADDED, &a, NULL, true },
        { "{\"changed\":\"generation\"}", OBJECT_DELETED, NULL, &a, true },
        { "{\"changed\":\"labels\"}", OBJECT_UPDATED, &labels, &a, true },
        { "{\"changed\":\"labels\"}", OBJECT_UPDATED, &noted, &a, false },
        { "{\"changed\":\"annotations\"}", OBJECT_UPDATED, &noted, &a, true },
        { "{\"on\":[\"create\"]}", OBJECT_UPDATED, &spec, &a, false },
        { "{\"on\":[\"create\",\"update\"]}", OBJECT_UPDATED, &spec, &a, true },
        { "{\"on\":[\"delete\"]}", OBJECT_DELETED, NULL, &a, true },
        { "{\"labels\":\"a=b\"}", OBJECT_UPDATED, &labels, &a, true },
        { "{\"labels\":\"a=b\"}", OBJECT_DELETED, NULL, &labels, true },
        { "{\"labels\":\"a=b\"}", OBJECT_DELETED, NULL, &a, false },
        { "{\"not\":{\"labels\":\"a=b\"}}", OBJECT_ADDED, &a, NULL, true },
        { "{\"and\":[{\"on\":[\"update\"]},{\"changed\":\"labels\"}]}", OBJECT_UPDATED, &labels, &a,
          true },
        { "{\"and\":[{\"on\":[\"update\"]},{\"changed\":\"labels\"}]}", OBJECT_UPDATED, &spec, &a,
          false },
        { "{\"or\":[{\"changed\":\"generation\"},{\"changed\":\"labels\"}]}", OBJECT_UPDATED,
          &labels, &a, true },
        { "{\"or\":[{\"changed\":\"generation\"},{\"changed\":\"labels\"}]}", OBJECT_UPDATED,
          &noted, &a, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (passes(cases[i].predicate, cases[i].type, cases[i].now, cases[i].before) !=
            cases[i].want)
            TEST_FAIL("case %zu: %s", i, cases[i].predicate);
}

/* ---- mappings ---- */

static struct buf keys = { .max = 4096 };

static void collect(void *arg, struct work_key key)
{
    (void)buf_printf(&keys, STR_FMT "/" STR_FMT " ", STR_ARG(key.namespace), STR_ARG(key.name));
}

static const char *map(const char *watch, bool namespaced, const struct cached_object *o)
{
    static const struct cached_object things[] = {
        { .namespace = "a", .name = "one", .fields = { "obj" } },
        { .namespace = "b", .name = "two", .fields = { "obj" } },
        { .namespace = "a", .name = "three", .fields = { "a/obj" } },
        { .namespace = "a", .name = "four", .fields = { "u-1" } },
    };
    struct object_sub primaries = { things, ARRAY_LEN(things) }, own = { 0 };
    struct object_sub *subs[] = { &primaries };
    struct declaration *d = declare(watch);
    struct mapping m = { .watch = &d->watches[1],
                         .primary = &d->watches[0],
                         .primary_namespaced = namespaced,
                         .sub = &own,
                         .primary_subs = subs,
                         .n_primary_subs = 1 };
    buf_reset(&keys);
    mapping_keys(&m, o, collect, NULL);
    declaration_unref(d);
    return buf_cstr(&keys);
}

#define OWNS(more) "\"owns\":[{\"id\":\"w\",\"apiVersion\":\"v1\",\"kind\":\"Pod\"" more "}]"
#define MAPPED(form)                                                                               \
    "\"watches\":[{\"id\":\"w\",\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"map\":" form "}]"

TEST(owners_of_the_primarys_group_and_kind)
{
    struct cached_object o = {
        .namespace = "a",
        .name = "pod",
        .n_owners = 2,
        .owners = { { .api_version = STR("ex.dev/v2"),
                      .kind = STR("Thing"),
                      .name = STR("boss"),
                      .is_controller = true },
                    { .api_version = STR("ex.dev/v1"), .kind = STR("Thing"), .name = STR("also") } }
    };
    CHECK_STR(str_of(map(OWNS(""), true, &o)), "a/boss ");
    CHECK_STR(str_of(map(OWNS(""), false, &o)), "/boss ");
    CHECK_STR(str_of(map(OWNS(",\"anyOwner\":true"), true, &o)), "a/boss a/also ");
    CHECK_STR(str_of(map(MAPPED("{\"owner\":true}"), true, &o)), "a/boss a/also ");
    o.owners[0].api_version = STR("other.dev/v1");
    CHECK_STR(str_of(map(OWNS(""), true, &o)), "");
    o.owners[0] = o.owners[1];
    CHECK_STR(str_of(map(OWNS(""), true, &o)), "");
}

TEST(fields_labels_and_annotations_name_keys)
{
    struct cached_object o = { .namespace = "a",
                               .name = "obj",
                               .uid = "u-1",
                               .label_key = "for",
                               .label_value = "x",
                               .fields = { "r", "ns" } };
    CHECK_STR(str_of(map(MAPPED("{\"field\":\".r\"}"), true, &o)), "a/r ");
    CHECK_STR(str_of(map(MAPPED("{\"field\":\".r\"}"), false, &o)), "/r ");
    CHECK_STR(str_of(map(MAPPED("{\"field\":\".r\",\"namespaceField\":\".n\"}"), true, &o)),
              "ns/r ");
    CHECK_STR(str_of(map(MAPPED("{\"label\":\"for\"}"), true, &o)), "a/x ");
    CHECK_STR(str_of(map(MAPPED("{\"label\":\"other\"}"), true, &o)), "");
    CHECK_STR(str_of(map(MAPPED("{\"annotation\":\"x/y\"}"), true, &o)), "a/r ");
    o.fields[0] = "ns/name";
    CHECK_STR(str_of(map(MAPPED("{\"annotation\":\"x/y\"}"), true, &o)), "ns/name ");
    CHECK_STR(str_of(map(MAPPED("{\"annotation\":\"x/y\"}"), false, &o)), "/name ");
    o.fields[0] = "a/b/c";
    CHECK_STR(str_of(map(MAPPED("{\"annotation\":\"x/y\"}"), true, &o)), "");
    o.fields[0] = NULL;
    CHECK_STR(str_of(map(MAPPED("{\"annotation\":\"x/y\"}"), true, &o)), "");
    CHECK_STR(str_of(map(MAPPED("{\"field\":\".r\"}"), true, &o)), "");
}

TEST(primaries_are_found_by_index_or_all)
{
    struct cached_object o = { .namespace = "a", .name = "obj", .uid = "u-1" };
    CHECK_STR(str_of(map(MAPPED("{\"index\":\"i\",\"value\":\"name\"}"), true, &o)), "a/one ");
    CHECK_STR(str_of(map(MAPPED("{\"index\":\"i\",\"value\":\"namespacedName\"}"), true, &o)),
              "a/three ");
    CHECK_STR(str_of(map(MAPPED("{\"index\":\"i\",\"value\":\"uid\"}"), true, &o)), "a/four ");
    CHECK_STR(str_of(map(MAPPED("{\"all\":true,\"sameNamespace\":true}"), true, &o)),
              "a/one a/three a/four ");
    CHECK_STR(str_of(map(MAPPED("{\"all\":true}"), true, &o)), "a/one b/two a/three a/four ");
    CHECK_STR(str_of(map(MAPPED("{\"key\":{\"namespace\":\"q\",\"name\":\"k\"}}"), true, &o)),
              "q/k ");
    o.namespace = "";
    CHECK_STR(str_of(map(MAPPED("{\"index\":\"i\",\"value\":\"name\"}"), true, &o)),
              "a/one b/two ");
}

TEST(what_a_watch_needs_is_declared_to_the_cache)
{
    struct object_field fields[MAPPING_FIELDS_MAX];
    struct declaration *d =
        declare(MAPPED("{\"field\":\".spec.x\",\"namespaceField\":\".spec.y\"}"));
    CHECK_INT(mapping_fields(&d->watches[0], fields), 1);
    CHECK(fields[0].indexed);
    CHECK_INT(mapping_fields(&d->watches[1], fields), 2);
    CHECK(!fields[0].indexed);
    CHECK_STR(fields[1].text, ".spec.y");
    CHECK(!mapping_is_constant(&d->watches[1]));
    declaration_unref(d);
    d = declare(MAPPED("{\"all\":true}"));
    CHECK(mapping_is_constant(&d->watches[1]));
    declaration_unref(d);
    buf_fini(&keys);
}

TEST_MAIN
