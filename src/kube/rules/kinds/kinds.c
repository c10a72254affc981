/* SPDX-License-Identifier: Apache-2.0 */
/* Registration of the built-in resources, and functions that their files share. */
#include "kube/rules/kinds/kinds.h"
#include "kube/model/selector.h"
#include "kube/model/table.h"

#include <assert.h>

struct json *kind_cell_count(struct arena *a, const struct json *obj, const char *bag)
{
    const struct json *v = json_getc(obj, bag);
    return json_new_int(a, json_is(v, JSON_OBJECT) || json_is(v, JSON_ARRAY) ? v->n : 0);
}

struct json *kind_cell_name(struct arena *a, const struct json *obj, int64_t now_s)
{
    return table_default_columns[0].cell(a, obj, now_s);
}

struct json *kind_cell_age(struct arena *a, const struct json *obj, int64_t now_s)
{
    return table_default_columns[1].cell(a, obj, now_s);
}

struct json *kind_cell_created(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return json_new_str(a, json_str(json_path(obj, "metadata", "creationTimestamp", NULL)));
}

struct json *kind_cell_at(struct arena *a, const struct json *v, const char *otherwise)
{
    bool scalar = v && v->type != JSON_NULL && v->type < JSON_ARRAY;
    if (!scalar || (v->type == JSON_STRING && v->s.n == 0))
        return json_new_cstr(a, otherwise ? otherwise : "");
    return json_clone(a, v);
}

struct json *kind_cell_join(struct arena *a, const struct json *list, const char *otherwise)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 20);
    json_each (v, list) {
        if (v != json_first(list))
            (void)buf_add_char(&b, ',');
        (void)buf_add_str(&b, json_str(v));
    }
    return b.n ? json_new_str(a, buf_str(&b)) : json_new_cstr(a, otherwise);
}

struct json *kind_cell_selector(struct arena *a, const struct json *selector)
{
    struct selector sel;
    if (selector_from_object(a, selector, &sel, NULL) < 0)
        return json_new_cstr(a, "<error>");
    if (sel.nothing || sel.n == 0)
        return json_new_cstr(a, "<none>");
    return json_new_str(a, selector_text(a, &sel));
}

static bool is_unset(const struct json *obj, const char *key)
{
    const struct json *v = json_getc(obj, key);
    return json_is(obj, JSON_OBJECT) &&
           (!v || v->type == JSON_NULL || (v->type == JSON_STRING && v->s.n == 0));
}

void kind_default_str(struct arena *a, struct json *obj, const char *key, const char *value)
{
    if (is_unset(obj, key))
        json_set_str(a, obj, key, str_of(value));
}

void kind_default_int(struct arena *a, struct json *obj, const char *key, int64_t value)
{
    if (is_unset(obj, key))
        json_set_int(a, obj, key, value);
}

void kind_default_bool(struct arena *a, struct json *obj, const char *key, bool value)
{
    if (is_unset(obj, key))
        json_set_bool(a, obj, key, value);
}

void kind_default_object(struct arena *a, struct json *obj, const char *key)
{
    if (is_unset(obj, key))
        json_setc(a, obj, key, json_new_object(a));
}

void kind_reset_status(struct arena *a, struct json *obj)
{
    struct str api_version = json_get_str(obj, "apiVersion"), group, version;
    if (!str_cut(api_version, '/', &group, &version)) {
        group = STR("");
        version = api_version;
    }
    const struct schema *kind = builtin_schema(group, version, json_get_str(obj, "kind"));
    const struct schema_field *f = kind ? schema_field(kind, STR("status")) : NULL;
    (void)json_del(obj, STR("status"));
    if (!f || (f->flags & (FIELD_POINTER | FIELD_OMIT_ZERO)))
        return;
    struct json *status = json_new_object(a);
    (void)schema_normalize(a, f->schema, status, "Status", NULL, NULL, NULL);
    json_setc(a, obj, "status", status);
}

void kind_keep(struct arena *a, struct json *obj, const struct json *old, const char *key)
{
    const struct json *v = json_getc(old, key);
    if (v)
        json_setc(a, obj, key, json_clone(a, v));
    else
        (void)json_del(obj, str_of(key));
}

static const struct kind_list *const lists[] = {
#define KIND_LIST_ADDRESS(name) &name,
    KIND_LISTS(KIND_LIST_ADDRESS)
#undef KIND_LIST_ADDRESS
};

void rules_register(struct kube_registry *reg)
{
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        for (size_t i = 0; i < lists[l]->n; i++) {
            struct kube_resource *r = &lists[l]->rows[i];
            r->schema = builtin_schema(r->group, r->version, r->kind);
            assert(r->schema);
            if (!r->storage)
                r->storage = r;
            int added = kube_registry_add(reg, r, NULL);
            assert(added == 0);
        }
    }
}
