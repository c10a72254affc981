/* SPDX-License-Identifier: Apache-2.0 */
/* A value under validation, with its path and the list that errors are added to. */
#pragma once

#include "kube/model/field.h"
#include "kube/model/quantity.h"

struct validate_value {
    struct fpath at;
    bool is_root;         /* `at` is not used: the path is empty */
    const struct json *v; /* NULL when absent or null */
    struct field_errors *errs;
};

/* Values hold the address of their parent: keep it alive and in place. */
struct validate_value value_root(const struct json *obj, struct field_errors *errs);
struct validate_value value_member(const struct validate_value *up, const char *name);
struct validate_value value_key(const struct validate_value *up,
                                const struct json *member); /* of a map: "[key]" */
struct validate_value value_item(const struct validate_value *up, const struct json *item,
                                 size_t index);
/* With a path that differs from the value's position; upstream has some. */
struct validate_value value_named(const struct validate_value *up, const char *name,
                                  const struct json *v);
static inline const struct fpath *value_path(const struct validate_value *s)
{
    return s->is_root ? NULL : &s->at;
}
#define MEMBER(name, up, key) struct validate_value name = value_member((up), (key))
/* for (struct value item : list) with `i` counting. */
#define value_each(item, i, list)                                                                  \
    for (size_t i = 0, item##_once = 1; item##_once; item##_once = 0)                              \
        for (const struct json *item##_v = json_first((list)->v); item##_v;                        \
             item##_v = item##_v->next, i++)                                                       \
            for (struct validate_value item = value_item((list), item##_v, i), *item##_p = &item;  \
                 item##_p; item##_p = NULL)

/* ---- reading the value ---- */

const struct json *value_unless_null(const struct json *v);
struct str value_text(const struct validate_value *s); /* "" unless a string */
int64_t value_number(const struct validate_value *s);  /* 0 unless an integer */
size_t value_count(const struct validate_value *s);    /* elements or members */
bool value_is(const struct validate_value *s, const char *text);
struct str value_member_text(const struct validate_value *s, const char *name);
int64_t value_member_number(const struct validate_value *s, const char *name);
bool value_member_bool(const struct validate_value *s, const char *name);
bool value_has(const struct validate_value *s, const char *name);
/* A quantity; false if there is none. */
bool value_quantity(const struct validate_value *s, struct quantity *ret);
bool value_same(const struct json *a, const struct json *b); /* NULL and JSON null are equal */
/* A map with its keys in order, as Go prints maps. */
struct json *value_sorted_map(struct arena *a, const struct json *map);

/*
 * The value as upstream prints its internal struct: `Key=key/"" TimeAdded=timeAdded/null` lists
 * Go's name, the member, and the text for an absent member.
 */
struct json *value_go_struct(struct arena *a, const struct json *v, const char *layout);
