/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether a value has the shape of its type; see typed.h. Texts are upstream's, which prints
 * values as Go does.
 */
#include "kube/model/typed_inner.h"

#include "kube/model/field.h"

enum { CHECK_MAX = 64 }; /* errors; checking stops there */

struct typed_check {
    struct arena a; /* for elements and errors */
    bool duplicates_ok;
    struct str text[CHECK_MAX];
    size_t n;
};

/* The path so far, innermost first. */
struct typed_check_at {
    const struct typed_check_at *up;
    struct field_elem elem;
};

static const char *go_type(const struct json *v)
{
    int64_t i;
    switch (v->type) {
    case JSON_NULL:
        return "<nil>";
    case JSON_FALSE:
    case JSON_TRUE:
        return "bool";
    case JSON_NUMBER:
        return json_int(v, &i) == 0 ? "int64" : "float64";
    case JSON_STRING:
        return "string";
    case JSON_ARRAY:
        return "[]interface {}";
    case JSON_OBJECT:
        return "map[string]interface {}";
    }
    return "";
}

/* ---- errors ---- */

static void write_path(struct buf *to, const struct typed_check_at *at)
{
    if (!at)
        return;
    write_path(to, at->up);
    field_elem_write(to, &at->elem);
}

enum { COMPLAINT_MAX = 4096 };

static void complain(struct typed_check *c, const struct typed_check_at *at, const char *why,
                     const struct json *v, bool sharp)
{
    struct buf b = BUF_INIT(COMPLAINT_MAX);
    if (c->n >= CHECK_MAX)
        return;
    write_path(&b, at);
    (void)buf_printf(&b, "%s%s", b.n ? ": " : "", why);
    if (v && sharp)
        (void)buf_add_cstr(&b, "&value.valueUnstructured{Value:");
    else if (v)
        (void)buf_add_cstr(&b, "&{");
    if (v) {
        field_go_print(&b, v, sharp);
        (void)buf_add_char(&b, '}');
    }
    c->text[c->n++] = str_copy_arena(&c->a, buf_str(&b));
    buf_fini(&b);
}

/* ---- values ---- */

static void check(struct typed_check *c, struct typed t, const struct json *v,
                  const struct typed_check_at *at);

static void check_scalar(struct typed_check *c, struct typed t, const struct json *v,
                         const struct typed_check_at *at)
{
    enum schema_type type = t.kind == TYPED_TEXT     ? SCHEMA_STRING
                            : t.kind == TYPED_SCHEMA ? (enum schema_type)t.schema->type
                                                     : SCHEMA_ANY;
    if (v->type == JSON_NULL)
        return;
    switch (type) {
    case SCHEMA_STRING:
    case SCHEMA_BYTES:
        if (v->type != JSON_STRING)
            complain(c, at, "expected string, got ", v, true);
        return;
    case SCHEMA_BOOL:
        if (!json_is_bool(v))
            complain(c, at, "expected boolean, got ", v, false);
        return;
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
        if (v->type != JSON_NUMBER)
            complain(c, at,
                     arena_printf(&c->a, "expected numeric (int or float), got %s", go_type(v)),
                     NULL, false);
        return;
    case SCHEMA_ANY:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION:
    case SCHEMA_QUANTITY:
    case SCHEMA_INT_OR_STRING:
    case SCHEMA_RAW:
    case SCHEMA_FIELDS:
    case SCHEMA_OBJECT:
    case SCHEMA_MAP:
    case SCHEMA_ARRAY:
        if (v->type >= JSON_ARRAY)
            complain(c, at, "expected any scalar, got ", v, false);
        return;
    }
}

static void check_atomic_list(struct typed_check *c, struct typed t, const struct json *v,
                              const struct typed_check_at *at)
{
    int64_t i = 0;
    json_each (item, v) {
        struct json *index = json_new_int(&c->a, i++);
        struct typed_check_at item_at = { at, { FIELD_ELEM_INDEX, index->s, index } };
        check(c, typed_item(t), item, &item_at);
    }
}

static void check_list(struct typed_check *c, struct typed t, const struct json *v,
                       const struct typed_check_at *at)
{
    if (v->type == JSON_NULL)
        return;
    if (v->type != JSON_ARRAY) {
        complain(c, at, "expected list, got ", v, false);
        return;
    }
    if (typed_list_is_atomic(t)) {
        check_atomic_list(c, t, v, at);
        return;
    }
    struct field_elem *seen = arena_new_n(&c->a, struct field_elem, v->n);
    struct typed_items items = typed_items_of(&c->a, t.schema, v);
    const struct typed_list_item **sorted =
        arena_new_n(&c->a, const struct typed_list_item *, items.n + 1);
    size_t i = 0;
    json_each (item, v) {
        const char *why = typed_item_elem(&c->a, t.schema, item, &seen[i]);
        if (why) {
            complain(c, at, arena_printf(&c->a, "element %zu: %s", i, why), NULL, false);
            return;
        }
        struct typed_check_at item_at = { at, seen[i] };
        check(c, typed_item(t), item, &item_at);
        i++;
    }
    for (i = 0; i < items.n; i++)
        sorted[i] = &items.item[i];
    typed_items_sort(sorted, items.n);
    for (i = 1; !c->duplicates_ok && i < items.n; i++) {
        if (field_elem_cmp(&sorted[i - 1]->elem, &sorted[i]->elem) != 0)
            continue;
        struct buf b = BUF_INIT(COMPLAINT_MAX);
        (void)buf_add_cstr(&b, "duplicate entries for key ");
        field_elem_write(&b, &sorted[i]->elem);
        complain(c, at, buf_cstr(&b), NULL, false);
        buf_fini(&b);
    }
}

static void check_map(struct typed_check *c, struct typed t, const struct json *v,
                      const struct typed_check_at *at)
{
    size_t hint = 0;
    if (v->type == JSON_NULL)
        return;
    if (v->type != JSON_OBJECT) {
        complain(c, at, "expected map, got ", v, false);
        return;
    }
    json_each (m, v) {
        bool declared;
        struct typed mt = typed_member(t, m->key, &hint, &declared);
        struct typed_check_at member = { at, field_elem_name(m->key) };
        if (mt.kind == TYPED_UNDECLARED) {
            complain(c, &member, "field not declared in schema", NULL, false);
            return;
        }
        check(c, mt, m, &member);
    }
}

static void check(struct typed_check *c, struct typed t, const struct json *v,
                  const struct typed_check_at *at)
{
    if (c->n >= CHECK_MAX)
        return;
    switch (typed_pick(typed_shapes(t, v))) {
    case SHAPE_SCALAR:
        check_scalar(c, t, v, at);
        return;
    case SHAPE_LIST:
        check_list(c, t, v, at);
        return;
    case SHAPE_MAP:
        check_map(c, t, v, at);
        return;
    }
}

int typed_check(struct typed t, const struct json *v, bool duplicates_ok, struct buf *why)
{
    struct typed_check c = { .duplicates_ok = duplicates_ok };
    check(&c, t, v, NULL);
    if (c.n > 1)
        (void)buf_add_cstr(why, "errors:");
    for (size_t i = 0; i < c.n; i++) {
        (void)buf_add_cstr(why, c.n > 1 ? "\n  " : "");
        (void)buf_add_str(why, c.text[i]);
    }
    arena_fini(&c.a);
    return c.n ? E_INVALID : 0;
}
