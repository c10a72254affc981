/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The changes between two objects; see typed.h.
 *
 * One walk over both trees. Equal parts allocate nothing; paths become nodes of a set only for
 * differences. Every write pays for this walk.
 */
#include "kube/model/typed_inner.h"

enum { REMOVED, MODIFIED, ADDED };

struct compare {
    struct arena *a;
    struct typed t;
    size_t hint;
    struct field_set_path *at;
};

static void compare(struct arena *a, struct typed t, const struct json *x, const struct json *y,
                    struct field_set_path *at);

static void on_pair(void *arg, const struct json *x, const struct json *y)
{
    struct compare *c = arg;
    bool declared;
    struct str key = x ? x->key : y->key;
    struct typed t = typed_member(c->t, key, &c->hint, &declared);
    if (t.kind == TYPED_UNDECLARED)
        return;
    struct field_set_path member = field_path_child(c->at, field_elem_name(key));
    compare(c->a, t, x, y, &member);
}

static void compare_maps(struct arena *a, struct typed t, const struct json *x,
                         const struct json *y, struct field_set_path *at)
{
    struct compare c = { .a = a, .t = t, .at = at };
    typed_pairs(x, y, on_pair, &c);
}

/* Items of one element on both sides; if a side has several, they are compared as a whole. */
static void compare_group(struct arena *a, struct typed t, const struct typed_list_item **x,
                          size_t nx, const struct typed_list_item **y, size_t ny,
                          struct field_set_path *item)
{
    if (nx <= 1 && ny <= 1) {
        compare(a, t, nx ? x[0]->v : NULL, ny ? y[0]->v : NULL, item);
        return;
    }
    if (nx >= 2 && ny >= 2) {
        bool same = nx == ny;
        for (size_t i = 0; same && i < nx; i++)
            same = json_equal(x[i]->v, y[i]->v);
        if (!same)
            field_path_add(a, item, MODIFIED);
        return;
    }
    if (nx >= 2) {
        if (ny)
            compare(a, t, NULL, y[0]->v, item);
        field_path_add(a, item, REMOVED);
    } else {
        if (nx)
            compare(a, t, x[0]->v, NULL, item);
        field_path_add(a, item, ADDED);
    }
}

static void compare_lists(struct arena *a, struct typed t, const struct json *x,
                          const struct json *y, struct field_set_path *at)
{
    if (json_equal(x, y))
        return;
    struct typed_items from = typed_items_of(a, t.schema, x), to = typed_items_of(a, t.schema, y);
    size_t n = from.n + to.n;
    const struct typed_list_item **all = arena_new_n(a, const struct typed_list_item *, n + 1);
    for (size_t i = 0; i < from.n; i++)
        all[i] = &from.item[i];
    for (size_t i = 0; i < to.n; i++) {
        to.item[i].side = 1;
        all[from.n + i] = &to.item[i];
    }
    typed_items_sort(all, n);
    for (size_t i = 0; i < n;) {
        size_t nx = 0, ny = 0;
        while (i + nx < n && all[i + nx]->side == 0 &&
               field_elem_cmp(&all[i]->elem, &all[i + nx]->elem) == 0)
            nx++;
        while (i + nx + ny < n && all[i + nx + ny]->side == 1 &&
               field_elem_cmp(&all[i]->elem, &all[i + nx + ny]->elem) == 0)
            ny++;
        struct field_set_path item = field_path_child(at, all[i]->elem);
        compare_group(a, typed_item(t), all + i, nx, all + i + nx, ny, &item);
        i += nx + ny;
    }
}

static bool is_empty(const struct json *v, enum json_type type)
{
    return !v || v->type != type || v->n == 0;
}

/* true: the value is a leaf, and is reported if it differs. */
static bool compare_as(struct arena *a, struct typed t, enum typed_shape shape,
                       const struct json *x, const struct json *y, struct field_set_path *at)
{
    bool leaf = true;
    switch (shape) {
    case SHAPE_SCALAR:
        break;
    case SHAPE_LIST:
        leaf = typed_list_is_atomic(t) || (is_empty(x, JSON_ARRAY) && is_empty(y, JSON_ARRAY));
        if (!leaf)
            compare_lists(a, t, x, y, at);
        break;
    case SHAPE_MAP:
        leaf = typed_map_is_atomic(t) || (is_empty(x, JSON_OBJECT) && is_empty(y, JSON_OBJECT));
        if (!leaf)
            compare_maps(a, t, x, y, at);
        break;
    }
    if (!leaf)
        return false;
    if (!x)
        field_path_add(a, at, ADDED);
    else if (!y)
        field_path_add(a, at, REMOVED);
    else if (!json_equal(x, y))
        field_path_add(a, at, MODIFIED);
    return true;
}

static void compare(struct arena *a, struct typed t, const struct json *x, const struct json *y,
                    struct field_set_path *at)
{
    unsigned sx = typed_shapes(t, x), sy = typed_shapes(t, y);
    if (x && y && sx != sy)
        (void)compare_as(a, t, typed_pick(sx), x, y, at);
    if (compare_as(a, t, typed_pick(y ? sy : sx), x, y, at))
        return;
    if (!x)
        field_path_add(a, at, ADDED);
    else if (!y)
        field_path_add(a, at, REMOVED);
}

void typed_compare(struct arena *a, struct typed t, const struct json *from, const struct json *to,
                   struct typed_changes *ret)
{
    struct field_set_path root = field_path_root(a);
    compare(a, t, from, to, &root);
    ret->removed = field_path_take(&root, REMOVED);
    ret->modified = field_path_take(&root, MODIFIED);
    ret->added = field_path_take(&root, ADDED);
}
