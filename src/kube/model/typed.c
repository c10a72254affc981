/* SPDX-License-Identifier: Apache-2.0 */
/* Objects seen through their schema; see typed.h. */
#include "kube/model/typed_inner.h"

#include "codec/json_sort.h"
#include "kube/model/builtin.h"

/* ---- types ---- */

static struct typed of_schema(const struct schema *s)
{
    switch ((enum schema_type)s->type) {
    case SCHEMA_ANY:
    case SCHEMA_FIELDS:
        return (struct typed){ .kind = TYPED_DEDUCED };
    case SCHEMA_RAW:
        return (struct typed){ .kind = TYPED_ATOMIC };
    case SCHEMA_STRING:
    case SCHEMA_BOOL:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
    case SCHEMA_BYTES:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
    case SCHEMA_DURATION:
    case SCHEMA_QUANTITY:
    case SCHEMA_INT_OR_STRING:
    case SCHEMA_OBJECT:
    case SCHEMA_MAP:
    case SCHEMA_ARRAY:
        break;
    }
    return (struct typed){ .kind = s->flags & SCHEMA_EMBEDDED ? TYPED_RESOURCE : TYPED_SCHEMA,
                           .schema = s };
}

struct typed typed_resource(const struct kube_resource *res)
{
    return (struct typed){ .kind = TYPED_RESOURCE, .schema = res->schema };
}

struct typed typed_scale(void)
{
    const struct schema *s = builtin_schema(STR("autoscaling"), STR("v1"), STR("Scale"));
    if (!s)
        return (struct typed){ .kind = TYPED_DEDUCED };
    return (struct typed){ .kind = TYPED_RESOURCE, .schema = s };
}

static bool is_scalar(const struct json *v)
{
    return v->type > JSON_NULL && v->type < JSON_ARRAY;
}

/* The shapes that a type allows, as bits. */
static unsigned shapes(struct typed t)
{
    if (t.kind == TYPED_DEDUCED || t.kind == TYPED_ATOMIC)
        return SHAPE_MAP | SHAPE_LIST | SHAPE_SCALAR;
    if (t.kind == TYPED_UNDECLARED)
        return 0;
    if (t.kind == TYPED_TEXT)
        return SHAPE_SCALAR;
    if (t.schema->type == SCHEMA_OBJECT || t.schema->type == SCHEMA_MAP)
        return SHAPE_MAP;
    if (t.schema->type == SCHEMA_ARRAY)
        return SHAPE_LIST;
    return t.kind == TYPED_RESOURCE ? SHAPE_MAP : SHAPE_SCALAR;
}

static unsigned shape_of(const struct json *v)
{
    return v->type == JSON_OBJECT  ? SHAPE_MAP
           : v->type == JSON_ARRAY ? SHAPE_LIST
           : is_scalar(v)          ? SHAPE_SCALAR
                                   : 0;
}

unsigned typed_shapes(struct typed t, const struct json *v)
{
    unsigned all = shapes(t), own = v ? shape_of(v) & all : 0;
    return own ? own : all;
}

enum typed_shape typed_pick(unsigned bits)
{
    return bits & SHAPE_MAP ? SHAPE_MAP : bits & SHAPE_SCALAR ? SHAPE_SCALAR : SHAPE_LIST;
}

bool typed_map_is_atomic(struct typed t)
{
    return t.kind == TYPED_ATOMIC || (t.schema && t.schema->flags & SCHEMA_ATOMIC_MAP);
}

bool typed_list_is_atomic(struct typed t)
{
    return t.kind != TYPED_SCHEMA || t.schema->list_type == SCHEMA_LIST_ATOMIC;
}

/* Objects are in the order of their schema: the next field is near the last one. */
static const struct schema_field *find_field(const struct schema *s, struct str key, size_t *hint)
{
    enum { NEAR = 16 };
    size_t n;
    const struct schema_field *f = schema_fields(s, &n), *found = NULL;
    for (size_t i = 0; i < MIN(n, (size_t)NEAR) && !found; i++) {
        size_t at = *hint + i < n ? *hint + i : *hint + i - n;
        if (str_eq(f[at].name, key))
            found = &f[at];
    }
    if (!found)
        found = schema_field(s, key);
    if (found)
        *hint = (size_t)(found - f) + 1 < n ? (size_t)(found - f) + 1 : 0;
    return found;
}

struct typed typed_member(struct typed t, struct str key, size_t *hint, bool *ret_declared)
{
    *ret_declared = false;
    if (t.kind == TYPED_DEDUCED || t.kind == TYPED_ATOMIC)
        return t;
    if (t.kind == TYPED_UNDECLARED || t.kind == TYPED_TEXT)
        return (struct typed){ .kind = TYPED_UNDECLARED };
    const struct schema *s = t.schema;
    const struct schema_field *f = find_field(s, key, hint);
    bool meta = t.kind == TYPED_RESOURCE && !(s->flags & SCHEMA_BUILTIN);
    if (meta && str_is(key, "metadata")) {
        *ret_declared = true;
        return of_schema(builtin_type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
    }
    if (meta && (str_is(key, "apiVersion") || str_is(key, "kind"))) {
        *ret_declared = true;
        return (struct typed){ .kind = TYPED_TEXT };
    }
    if (f) {
        *ret_declared = true;
        return of_schema(f->schema);
    }
    if (s->type == SCHEMA_MAP && s->items)
        return of_schema(s->items);
    bool open = s->flags & SCHEMA_PRESERVE_UNKNOWN || s->type == SCHEMA_MAP || s->n_fields == 0;
    return (struct typed){ .kind = open ? TYPED_DEDUCED : TYPED_UNDECLARED };
}

struct typed typed_item(struct typed t)
{
    if (t.kind == TYPED_SCHEMA && t.schema->items)
        return of_schema(t.schema->items);
    return (struct typed){ .kind = TYPED_ATOMIC };
}

/* ---- items of lists ---- */

/* Fields that Go always writes have their zero as default in upstream's schema. */
static const struct json *default_of(const struct schema_field *f)
{
    static const struct json none = { .type = JSON_STRING, .s = { "", 0 } },
                             zero = { .type = JSON_NUMBER, .s = { "0", 1 } };
    const unsigned absent = FIELD_OMIT_EMPTY | FIELD_POINTER | FIELD_OMIT_ZERO;
    if (f->schema->def || !(f->schema->flags & SCHEMA_BUILTIN) || f->flags & absent)
        return f->schema->def;
    return f->schema->type == SCHEMA_STRING                                     ? &none
           : f->schema->type == SCHEMA_INT32 || f->schema->type == SCHEMA_INT64 ? &zero
                                                                                : NULL;
}

const char *typed_item_elem(struct arena *a, const struct schema *list, const struct json *item,
                            struct field_elem *ret)
{
    if (list->list_type == SCHEMA_LIST_SET) {
        if (item->type == JSON_OBJECT)
            return "associative list without keys has an element that's a map type";
        if (item->type == JSON_ARRAY)
            return "not supported: associative list with lists as elements";
        if (item->type == JSON_NULL)
            return "associative list without keys has an element that's an explicit null";
        *ret = field_elem_value(a, item);
        return NULL;
    }
    if (item->type == JSON_NULL)
        return "associative list with keys may not have a null element";
    if (item->type != JSON_OBJECT)
        return "associative list with keys may not have non-map elements";
    struct json *keys = json_new_object(a);
    for (uint16_t i = 0; i < list->n_list_keys; i++) {
        const struct schema_field *f =
            list->items ? schema_field(list->items, list->list_keys[i]) : NULL;
        const struct json *v = json_get(item, list->list_keys[i]);
        if (!v && f)
            v = default_of(f);
        if (v)
            json_add_member(keys, list->list_keys[i], json_clone(a, v));
    }
    if (keys->n > 0) {
        *ret = field_elem_key(a, keys);
        return NULL;
    }
    struct buf names = BUF_INIT(4096);
    for (uint16_t i = 0; i < list->n_list_keys; i++) {
        (void)buf_add_cstr(&names, i ? " " : "");
        field_go_quote(&names, list->list_keys[i]);
    }
    const char *why = arena_printf(a,
                                   "associative list with keys has an element that omits all key "
                                   "fields [%s] (and doesn't have default values for any key "
                                   "fields)",
                                   buf_cstr(&names));
    buf_fini(&names);
    return why;
}

struct typed_items typed_items_of(struct arena *a, const struct schema *list, const struct json *v)
{
    struct typed_items out = { 0 };
    if (!json_is(v, JSON_ARRAY) || v->n == 0)
        return out;
    out.item = arena_new_n(a, struct typed_list_item, v->n);
    json_each (item, v) {
        struct typed_list_item *it = &out.item[out.n];
        if (typed_item_elem(a, list, item, &it->elem))
            continue; /* has passed typed_check(), or was stored before the schema changed */
        it->v = item;
        it->place = out.n++;
    }
    return out;
}

static int cmp_items(const void *x, const void *y)
{
    const struct typed_list_item *a = *(const struct typed_list_item *const *)x,
                                 *b = *(const struct typed_list_item *const *)y;
    int r = field_elem_cmp(&a->elem, &b->elem);
    return r ? r
             : (a->side != b->side ? a->side - b->side
                                   : (a->place > b->place) - (a->place < b->place));
}

void typed_items_sort(const struct typed_list_item **items, size_t n)
{
    if (n > 1)
        qsort(items, n, sizeof(void *), cmp_items);
}

/* ---- members of two objects ---- */

static void pair_sorted(const struct json *x, const struct json *y, typed_pair_fn fn, void *arg)
{
    scoped(free_scoped) const struct json **xs = json_sorted_members(x);
    scoped(free_scoped) const struct json **ys = json_sorted_members(y);
    uint32_t i = 0, j = 0;
    while (i < x->n || j < y->n) {
        int r = i == x->n ? 1 : j == y->n ? -1 : str_cmp(xs[i]->key, ys[j]->key);
        fn(arg, r <= 0 ? xs[i] : NULL, r >= 0 ? ys[j] : NULL);
        i += r <= 0;
        j += r >= 0;
    }
}

static const struct json *member_from(const struct json *from, struct str key)
{
    for (; from; from = from->next)
        if (str_eq(from->key, key))
            return from;
    return NULL;
}

void typed_pairs(const struct json *x, const struct json *y, typed_pair_fn fn, void *arg)
{
    const struct json *v = json_is(x, JSON_OBJECT) ? x->first : NULL,
                      *w = json_is(y, JSON_OBJECT) ? y->first : NULL;
    for (; v && w && str_eq(v->key, w->key); v = v->next, w = w->next)
        fn(arg, v, w);
    if (!v || !w) {
        for (; v; v = v->next)
            fn(arg, v, NULL);
        for (; w; w = w->next)
            fn(arg, NULL, w);
        return;
    }
    if (x->n > PAIR_MAX || y->n > PAIR_MAX) {
        struct json restx = { .type = JSON_OBJECT }, resty = { .type = JSON_OBJECT };
        restx.first = (struct json *)v;
        resty.first = (struct json *)w;
        json_each (m, &restx) {
            restx.n++;
        }
        json_each (m, &resty) {
            resty.n++;
        }
        pair_sorted(&restx, &resty, fn, arg);
        return;
    }
    for (const struct json *m = v; m; m = m->next)
        fn(arg, m, member_from(w, m->key));
    for (const struct json *m = w; m; m = m->next)
        if (!member_from(v, m->key))
            fn(arg, NULL, m);
}

/* ---- all fields of a value ---- */

static void fields(struct arena *a, struct typed t, const struct json *v,
                   struct field_set_path *at);

static void fields_of_list(struct arena *a, struct typed t, const struct json *v,
                           struct field_set_path *at)
{
    struct typed_items list = typed_items_of(a, t.schema, v);
    const struct typed_list_item **sorted =
        arena_new_n(a, const struct typed_list_item *, list.n + 1);
    for (size_t i = 0; i < list.n; i++)
        sorted[i] = &list.item[i];
    typed_items_sort(sorted, list.n);
    for (size_t i = 0; i < list.n;) {
        size_t same = 1;
        while (i + same < list.n && field_elem_cmp(&sorted[i]->elem, &sorted[i + same]->elem) == 0)
            same++;
        struct field_set_path item = field_path_child(at, sorted[i]->elem);
        if (same == 1) /* a repeated item is owned as a whole */
            fields(a, typed_item(t), sorted[i]->v, &item);
        field_path_add(a, &item, 0);
        i += same;
    }
}

static void fields(struct arena *a, struct typed t, const struct json *v, struct field_set_path *at)
{
    size_t hint = 0;
    switch (typed_pick(typed_shapes(t, v))) {
    case SHAPE_SCALAR:
        field_path_add(a, at, 0);
        return;
    case SHAPE_LIST:
        if (typed_list_is_atomic(t))
            field_path_add(a, at, 0);
        else if (v->type == JSON_ARRAY)
            fields_of_list(a, t, v, at);
        return;
    case SHAPE_MAP:
        if (typed_map_is_atomic(t)) {
            field_path_add(a, at, 0);
            return;
        }
        if (v->type != JSON_OBJECT)
            return;
        json_each (m, v) {
            bool declared;
            struct typed mt = typed_member(t, m->key, &hint, &declared);
            struct field_set_path member = field_path_child(at, field_elem_name(m->key));
            if (mt.kind != TYPED_UNDECLARED)
                fields(a, mt, m, &member);
            bool is_empty = m->type == JSON_NULL || (m->type == JSON_OBJECT && m->n == 0);
            if (is_empty || !declared)
                field_path_add(a, &member, 0);
        }
        return;
    }
}

struct field_set *typed_fields(struct arena *a, struct typed t, const struct json *v)
{
    struct field_set_path root = field_path_root(a);
    fields(a, t, v, &root);
    return field_path_take(&root, 0);
}

/* ---- removal ---- */

/* The children of a set, indexed, so that lookups in a wide object are not linear. */
struct children {
    const struct field_set **p;
    size_t n;
};

static struct children children_of(struct arena *a, const struct field_set *set)
{
    struct children c = { 0 };
    for (const struct field_set *s = set->first; s; s = s->next)
        c.n++;
    c.p = arena_new_n(a, const struct field_set *, c.n + 1);
    c.n = 0;
    for (const struct field_set *s = set->first; s; s = s->next)
        c.p[c.n++] = s;
    return c;
}

static const struct field_set *find_child(const struct children *c, const struct field_elem *e)
{
    size_t lo = 0, hi = c->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int r = field_elem_cmp(&c->p[mid]->elem, e);
        if (r == 0)
            return c->p[mid];
        if (r < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

static struct json *remove_from_list(struct arena *a, struct typed t, const struct json *v,
                                     const struct field_set *set)
{
    struct json *out = json_new_array(a);
    struct children children = children_of(a, set);
    json_each (item, v) {
        struct field_elem e;
        const struct field_set *s =
            typed_item_elem(a, t.schema, item, &e) ? NULL : find_child(&children, &e);
        if (s && s->is_member)
            continue;
        json_add(out,
                 s && s->first ? typed_remove(a, typed_item(t), item, s) : json_clone(a, item));
    }
    return out->n ? out : json_new_null(a);
}

static struct json *remove_from_map(struct arena *a, struct typed t, const struct json *v,
                                    const struct field_set *set)
{
    struct json *out = json_new_object(a);
    struct children children = children_of(a, set);
    size_t hint = 0;
    json_each (m, v) {
        bool declared;
        struct field_elem e = field_elem_name(m->key);
        const struct field_set *s = find_child(&children, &e);
        if (s && s->is_member)
            continue;
        struct typed mt = typed_member(t, m->key, &hint, &declared);
        json_add_member(out, m->key, s && s->first ? typed_remove(a, mt, m, s) : json_clone(a, m));
    }
    return out->n ? out : json_new_null(a);
}

struct json *typed_remove(struct arena *a, struct typed t, const struct json *v,
                          const struct field_set *set)
{
    switch (typed_pick(typed_shapes(t, v))) {
    case SHAPE_SCALAR:
        return json_clone(a, v);
    case SHAPE_LIST:
        if (v->type != JSON_ARRAY || v->n == 0 || typed_list_is_atomic(t))
            return json_new_null(a);
        return remove_from_list(a, t, v, set);
    case SHAPE_MAP:
        if (v->type != JSON_OBJECT || v->n == 0 || typed_map_is_atomic(t))
            return json_new_null(a);
        return remove_from_map(a, t, v, set);
    }
    return json_clone(a, v);
}

/* ---- sets and schemas ---- */

static struct typed below(struct typed t, const struct field_elem *e, bool *ret_declared)
{
    size_t hint = 0;
    *ret_declared = false;
    if (e->kind == FIELD_ELEM_NAME && shapes(t) & SHAPE_MAP)
        return typed_member(t, e->text, &hint, ret_declared);
    if (e->kind == FIELD_ELEM_KEY && shapes(t) & SHAPE_LIST)
        return typed_item(t);
    return (struct typed){ .kind = TYPED_UNDECLARED };
}

static struct field_set *with_parents(struct arena *a, struct typed t, const struct field_set *x)
{
    struct field_set *first = NULL, **end = &first;
    for (; x; x = x->next) {
        bool declared;
        struct typed mt = below(t, &x->elem, &declared);
        struct field_set *c = arena_new(a, struct field_set);
        c->elem = x->elem;
        c->is_member = x->is_member || declared;
        c->first = with_parents(a, mt, x->first);
        *end = c;
        end = &c->next;
    }
    return first;
}

struct field_set *typed_with_parents(struct arena *a, struct typed t, const struct field_set *set)
{
    struct field_set *root = arena_new(a, struct field_set);
    root->first = with_parents(a, t, set ? set->first : NULL);
    return root;
}

static bool is_atomic(struct typed t)
{
    if (t.kind != TYPED_SCHEMA && t.kind != TYPED_RESOURCE)
        return false; /* without a schema now, it had none before */
    if (t.schema->type == SCHEMA_ARRAY)
        return typed_list_is_atomic(t);
    return (t.schema->type == SCHEMA_OBJECT || t.schema->type == SCHEMA_MAP) &&
           typed_map_is_atomic(t);
}

static struct field_set *reconcile(struct arena *a, struct typed t, const struct field_set *x,
                                   bool *changed)
{
    struct field_set *first = NULL, **end = &first;
    for (; x; x = x->next) {
        bool declared;
        struct typed mt = below(t, &x->elem, &declared);
        struct field_set *c = arena_new(a, struct field_set);
        c->elem = x->elem;
        c->is_member = x->is_member;
        if (x->first && is_atomic(mt))
            *changed = c->is_member = true;
        else
            c->first = reconcile(a, mt, x->first, changed);
        *end = c;
        end = &c->next;
    }
    return first;
}

const struct field_set *typed_reconcile(struct arena *a, struct typed t,
                                        const struct field_set *set)
{
    bool changed = false;
    struct field_set *root = arena_new(a, struct field_set);
    root->first = reconcile(a, t, set ? set->first : NULL, &changed);
    return changed ? root : set;
}
