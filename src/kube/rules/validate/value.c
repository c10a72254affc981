/* SPDX-License-Identifier: Apache-2.0 */
/* See value.h. */
#include "kube/rules/validate/value.h"

#include "codec/json_sort.h"

const struct json *value_unless_null(const struct json *v)
{
    return v && v->type != JSON_NULL ? v : NULL;
}

struct validate_value value_root(const struct json *obj, struct field_errors *errs)
{
    return (struct validate_value){ .is_root = true, .v = value_unless_null(obj), .errs = errs };
}

struct validate_value value_named(const struct validate_value *up, const char *name,
                                  const struct json *v)
{
    return (struct validate_value){ .at = fpath_child(value_path(up), str_of(name)),
                                    .v = value_unless_null(v),
                                    .errs = up->errs };
}

struct validate_value value_member(const struct validate_value *up, const char *name)
{
    return value_named(up, name, json_getc(up->v, name));
}

struct validate_value value_key(const struct validate_value *up, const struct json *member)
{
    return (struct validate_value){ .at = fpath_key(value_path(up), member->key),
                                    .v = value_unless_null(member),
                                    .errs = up->errs };
}

struct validate_value value_item(const struct validate_value *up, const struct json *item,
                                 size_t index)
{
    return (struct validate_value){ .at = fpath_index(value_path(up), index),
                                    .v = value_unless_null(item),
                                    .errs = up->errs };
}

struct str value_text(const struct validate_value *s)
{
    return json_str(s->v);
}

int64_t value_number(const struct validate_value *s)
{
    return json_int_or(s->v, 0);
}

size_t value_count(const struct validate_value *s)
{
    return s->v && s->v->type >= JSON_ARRAY ? s->v->n : 0;
}

bool value_is(const struct validate_value *s, const char *text)
{
    return str_is(value_text(s), text);
}

struct str value_member_text(const struct validate_value *s, const char *name)
{
    return json_get_str(s->v, name);
}

int64_t value_member_number(const struct validate_value *s, const char *name)
{
    return json_int_or(json_getc(s->v, name), 0);
}

bool value_member_bool(const struct validate_value *s, const char *name)
{
    return json_bool(json_getc(s->v, name));
}

bool value_has(const struct validate_value *s, const char *name)
{
    return value_unless_null(json_getc(s->v, name)) != NULL;
}

bool value_quantity(const struct validate_value *s, struct quantity *ret)
{
    return s->v && quantity_parse(value_text(s), ret, NULL) == 0;
}

bool value_same(const struct json *a, const struct json *b)
{
    a = value_unless_null(a);
    b = value_unless_null(b);
    return (!a && !b) || (a && b && json_equal(a, b));
}

struct json *value_sorted_map(struct arena *a, const struct json *map)
{
    if (!value_unless_null(map))
        return json_new_null(a);
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    struct json *v = NULL;
    if (json_write_sorted(&b, map) < 0 ||
        json_parse(a, str_copy_arena(a, buf_str(&b)), NULL, &v, NULL) < 0)
        v = json_clone(a, map);
    buf_fini(&b);
    return v;
}

struct json *value_go_struct(struct arena *a, const struct json *v, const char *layout)
{
    struct json *shown = json_new_object(a), *zero;
    struct str rest = str_of(layout), field, name, key, absent;
    while (rest.n) {
        (void)str_cut(rest, ' ', &field, &rest);
        (void)str_cut(field, '=', &name, &field);
        (void)str_cut(field, '/', &key, &absent);
        const struct json *m = value_unless_null(json_get(v, key));
        if (m)
            json_set(a, shown, name, json_clone(a, m));
        else if (json_parse(a, absent, NULL, &zero, NULL) == 0)
            json_set(a, shown, name, zero);
    }
    return shown;
}
