/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON tree: reading and changing it; see json.h. */
#include "codec/json.h"

#include "codec/json_index.h"
#include "codec/json_number.h"
#include "codec/json_sort.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>

/* ---- reading ---- */

bool json_is(const struct json *v, enum json_type type)
{
    return v && v->type == type;
}

bool json_is_bool(const struct json *v)
{
    return v && (v->type == JSON_TRUE || v->type == JSON_FALSE);
}

/* The member with this key; *ret_prev is set to the preceding member, NULL when it is the first. */
static struct json *find(const struct json *obj, struct str key, struct json **ret_prev)
{
    const struct json_index *ix = json_index_of(obj);
    if (ix)
        return json_index_find(obj, ix, key, ret_prev);
    struct json *prev = NULL;
    for (struct json *c = obj->first; c; prev = c, c = c->next) {
        if (!str_eq(c->key, key))
            continue;
        if (ret_prev)
            *ret_prev = prev;
        return c;
    }
    return NULL;
}

struct json *json_get(const struct json *obj, struct str key)
{
    return json_is(obj, JSON_OBJECT) ? find(obj, key, NULL) : NULL;
}

struct json *json_last(const struct json *v)
{
    return v && v->type >= JSON_ARRAY ? json_index_last(v) : NULL;
}

struct json *json_getc(const struct json *obj, const char *key)
{
    return json_get(obj, str_of(key));
}

struct json *json_path(const struct json *obj, ...)
{
    va_list keys;
    va_start(keys, obj);
    struct json *at = (struct json *)obj;
    const char *key;
    while (at && (key = va_arg(keys, const char *)))
        at = json_getc(at, key);
    va_end(keys);
    return at;
}

struct str json_str(const struct json *v)
{
    return json_is(v, JSON_STRING) ? v->s : STR("");
}

struct str json_get_str(const struct json *obj, const char *key)
{
    return json_str(json_getc(obj, key));
}

bool json_bool(const struct json *v)
{
    return json_is(v, JSON_TRUE);
}

int json_int(const struct json *v, int64_t *ret)
{
    return json_is(v, JSON_NUMBER) ? json_number_to_int(v->s, ret) : -EINVAL;
}

int64_t json_int_or(const struct json *v, int64_t otherwise)
{
    int64_t n;
    return json_int(v, &n) < 0 ? otherwise : n;
}

int json_float(const struct json *v, double *ret)
{
    return json_is(v, JSON_NUMBER) ? json_number_to_float(v->s, ret) : -EINVAL;
}

/* ---- equality ---- */

static bool arrays_equal(const struct json *a, const struct json *b, uint64_t *work)
{
    const struct json *y = b->first;
    for (const struct json *x = a->first; x; x = x->next, y = y->next)
        if (!json_equal_work(x, y, work))
            return false;
    return true;
}

/* Compare members in any order: both sorted by key. */
static bool members_equal(const struct json *a, const struct json *b, uint64_t *work)
{
    scoped(free_scoped) const struct json **x = json_sorted_members(a);
    scoped(free_scoped) const struct json **y = json_sorted_members(b);
    for (uint32_t i = 0; i < a->n; i++)
        if (!str_eq(x[i]->key, y[i]->key) || !json_equal_work(x[i], y[i], work))
            return false;
    return true;
}

/* Fast path: most compared objects have their members in the same order. */
static bool objects_equal(const struct json *a, const struct json *b, uint64_t *work)
{
    const struct json *y = b->first;
    for (const struct json *x = a->first; x; x = x->next, y = y->next)
        if (!str_eq(x->key, y->key))
            return members_equal(a, b, work);
    return arrays_equal(a, b, work);
}

bool json_equal(const struct json *a, const struct json *b)
{
    uint64_t work = 0;
    return json_equal_work(a, b, &work);
}

bool json_equal_work(const struct json *a, const struct json *b, uint64_t *work)
{
    ++*work;
    if (a == b)
        return true;
    if (!a || !b || a->type != b->type || a->n != b->n)
        return false;
    switch (a->type) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
        return true;
    case JSON_NUMBER:
        return json_number_equal(a->s, b->s);
    case JSON_STRING:
        return str_eq(a->s, b->s);
    case JSON_ARRAY:
        return arrays_equal(a, b, work);
    case JSON_OBJECT:
        return objects_equal(a, b, work);
    }
    return false;
}

/* ---- building ---- */

static struct json *new_node(struct arena *a, enum json_type type)
{
    struct json *v = arena_new(a, struct json);
    v->type = type;
    return v;
}

static struct json *new_text(struct arena *a, enum json_type type, struct str s)
{
    struct json *v = new_node(a, type);
    v->s = str_copy_arena(a, s);
    return v;
}

struct json *json_new_null(struct arena *a)
{
    return new_node(a, JSON_NULL);
}

struct json *json_new_bool(struct arena *a, bool v)
{
    return new_node(a, v ? JSON_TRUE : JSON_FALSE);
}

struct json *json_new_int(struct arena *a, int64_t v)
{
    char text[24], *p = text + sizeof text;
    uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (v < 0)
        *--p = '-';
    return new_text(a, JSON_NUMBER, str_n(p, (size_t)(text + sizeof text - p)));
}

struct json *json_new_float(struct arena *a, double v)
{
    char text[NUMBER_FLOAT_MAX];
    if (!isfinite(v))
        return json_new_null(a);
    return new_text(a, JSON_NUMBER, str_n(text, json_number_from_float(v, text)));
}

struct json *json_new_str(struct arena *a, struct str s)
{
    return new_text(a, JSON_STRING, s);
}

struct json *json_new_cstr(struct arena *a, const char *s)
{
    return json_new_str(a, str_of(s));
}

struct json *json_new_array(struct arena *a)
{
    return new_node(a, JSON_ARRAY);
}

struct json *json_new_object(struct arena *a)
{
    return new_node(a, JSON_OBJECT);
}

static void append(struct json *container, struct json *v)
{
    struct json *last = json_index_last(container);
    struct json_index *ix = json_index_of(container);
    v->next = NULL;
    if (last)
        last->next = v;
    else
        container->first = v;
    container->n++;
    if (!ix || !json_index_append(container, ix, last, v))
        container->end = v;
}

void json_index(struct arena *a, struct json *obj)
{
    if (json_is(obj, JSON_OBJECT) && obj->n > JSON_INDEX_MIN && !json_index_of(obj))
        (void)json_index_make(a, obj, NULL, NULL);
}

static void sort_members(struct arena *a, struct json *obj)
{
    scoped(free_scoped) const struct json **list = json_sorted_members(obj);
    struct json **link = &obj->first, *last = NULL;
    for (uint32_t i = 0; i < obj->n; i++) {
        last = (struct json *)list[i];
        *link = last;
        link = &last->next;
    }
    *link = NULL;
    obj->end = last; /* drops the index, which refers to preceding members */
    json_index(a, obj);
}

void json_sort(struct arena *a, struct json *v)
{
    if (v->type < JSON_ARRAY)
        return;
    json_each (c, v)
        json_sort(a, c);
    if (v->type == JSON_OBJECT && v->n > 1)
        sort_members(a, v);
}

struct json *json_clone(struct arena *a, const struct json *v)
{
    assert(v);
    if (v->type == JSON_NUMBER || v->type == JSON_STRING)
        return new_text(a, v->type, v->s);
    struct json *copy = new_node(a, v->type);
    json_each (c, v) {
        struct json *child = json_clone(a, c);
        if (v->type == JSON_OBJECT)
            child->key = str_copy_arena(a, c->key);
        append(copy, child);
    }
    json_index(a, copy);
    return copy;
}

struct json *json_copy(struct arena *a, const struct json *v)
{
    assert(v);
    struct json *copy = new_node(a, v->type);
    if (v->type == JSON_NUMBER || v->type == JSON_STRING)
        copy->s = v->s;
    json_each (c, v) {
        struct json *child = json_copy(a, c);
        child->key = c->key;
        append(copy, child);
    }
    json_index(a, copy);
    return copy;
}

void json_add(struct json *array, struct json *v)
{
    assert(array->type == JSON_ARRAY);
    v->key = STR_NULL;
    append(array, v);
}

void json_add_member(struct json *obj, struct str key, struct json *v)
{
    assert(obj->type == JSON_OBJECT);
    v->key = key;
    append(obj, v);
}

/* The node that holds the link to `at`; NULL when it is the first. */
static struct json *node_before(const struct json *container, const struct json *at)
{
    struct json *prev = NULL;
    if (at && json_index_of(container) && find(container, at->key, &prev) == at)
        return prev;
    for (struct json *c = container->first; c && c != at; c = c->next)
        prev = c;
    return prev;
}

static void relink(struct json *container, struct json *prev, struct json *v)
{
    if (prev)
        prev->next = v;
    else
        container->first = v;
}

void json_set(struct arena *a, struct json *obj, struct str key, struct json *v)
{
    assert(obj->type == JSON_OBJECT);
    json_index(a, obj);
    struct json *prev, *old = find(obj, key, &prev);
    if (old == v && old)
        return;
    if (!old) {
        v->key = str_copy_arena(a, key);
        append(obj, v);
        return;
    }
    v->key = old->key;
    struct json_index *ix = json_index_of(obj);
    if (ix) {
        json_index_relink(obj, ix, prev, old, v);
        return;
    }
    v->next = old->next;
    relink(obj, prev, v);
    if (obj->end == old)
        obj->end = v;
}

void json_setc(struct arena *a, struct json *obj, const char *key, struct json *v)
{
    json_set(a, obj, str_of(key), v);
}

void json_set_str(struct arena *a, struct json *obj, const char *key, struct str s)
{
    json_setc(a, obj, key, json_new_str(a, s));
}

void json_set_int(struct arena *a, struct json *obj, const char *key, int64_t v)
{
    json_setc(a, obj, key, json_new_int(a, v));
}

void json_set_bool(struct arena *a, struct json *obj, const char *key, bool v)
{
    json_setc(a, obj, key, json_new_bool(a, v));
}

struct json *json_obj(struct arena *a, struct json *obj, const char *key)
{
    struct json *v = json_getc(obj, key);
    if (json_is(v, JSON_OBJECT))
        return v;
    v = json_new_object(a);
    json_setc(a, obj, key, v);
    return v;
}

static void unlink_after(struct json *container, struct json *prev, struct json *child)
{
    struct json_index *ix = json_index_of(container);
    if (ix) {
        json_index_unlink(container, ix, prev, child);
    } else {
        relink(container, prev, child->next);
        if (container->end == child)
            container->end = prev;
    }
    container->n--;
    child->next = NULL;
}

bool json_del(struct json *obj, struct str key)
{
    if (!json_is(obj, JSON_OBJECT))
        return false;
    struct json *prev, *v = find(obj, key, &prev);
    if (!v)
        return false;
    unlink_after(obj, prev, v);
    return true;
}

bool json_remove(struct json *container, struct json *child)
{
    if (!container || container->type < JSON_ARRAY)
        return false;
    struct json *prev = node_before(container, child);
    if (!child || (prev ? prev->next : container->first) != child)
        return false;
    unlink_after(container, prev, child);
    return true;
}

void json_insert_before(struct json *container, struct json *at, struct json *v)
{
    assert(container->type >= JSON_ARRAY);
    if (container->type == JSON_ARRAY)
        v->key = STR_NULL;
    if (!at) {
        append(container, v);
        return;
    }
    struct json *prev = node_before(container, at);
    assert((prev ? prev->next : container->first) == at);
    container->end = json_index_last(container); /* drop the index: insertions are rare */
    v->next = at;
    relink(container, prev, v);
    container->n++;
}

struct json *json_take_children(struct json *container)
{
    struct json *first = container->first;
    container->n = 0;
    container->first = container->end = NULL;
    return first;
}

void json_replace(struct json *dst, struct json *src)
{
    if (dst == src)
        return;
    struct json was = *src;
    src->type = JSON_NULL;
    src->n = 0;
    src->first = src->end = NULL;
    dst->type = was.type;
    dst->n = was.n;
    if (was.type >= JSON_ARRAY) {
        dst->first = was.first;
        dst->end = was.end;
    } else {
        dst->s = was.s;
    }
}
