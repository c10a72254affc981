/* SPDX-License-Identifier: Apache-2.0 */
/* Merges a configuration into an object; see typed.h. */
#include "kube/model/typed_inner.h"

static struct json *merge(struct arena *a, struct typed t, const struct json *live,
                          const struct json *config);

struct merge_maps {
    struct arena *a;
    struct typed t;
    size_t hint;
    struct json *out;
};

static void on_pair(void *arg, const struct json *live, const struct json *config)
{
    struct merge_maps *m = arg;
    bool declared;
    struct str key = live ? live->key : config->key;
    struct typed t = typed_member(m->t, key, &m->hint, &declared);
    struct json *v = t.kind == TYPED_UNDECLARED ? json_clone(m->a, config ? config : live)
                                                : merge(m->a, t, live, config);
    if (v)
        json_add_member(m->out, key, v);
}

/* ---- lists ---- */

/* The items of one list, indexed by element. */
struct index {
    struct typed_items list;
    const struct typed_list_item **sorted;
    bool *done; /* by position: already in the result */
};

static struct index index_of(struct arena *a, const struct schema *s, const struct json *v)
{
    struct index x = { .list = typed_items_of(a, s, v) };
    x.sorted = arena_new_n(a, const struct typed_list_item *, x.list.n + 1);
    x.done = arena_new_n(a, bool, x.list.n + 1);
    for (size_t i = 0; i < x.list.n; i++)
        x.sorted[i] = &x.list.item[i];
    typed_items_sort(x.sorted, x.list.n);
    return x;
}

/* The first item of an element; NULL if there is none. *ret_n: how many there are. */
static const struct typed_list_item *find(const struct index *x, const struct field_elem *e,
                                          size_t *ret_n)
{
    size_t lo = 0, hi = x->list.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (field_elem_cmp(&x->sorted[mid]->elem, e) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *ret_n = 0;
    while (lo + *ret_n < x->list.n && field_elem_cmp(&x->sorted[lo + *ret_n]->elem, e) == 0)
        ++*ret_n;
    return *ret_n ? x->sorted[lo] : NULL;
}

struct merge_lists {
    struct arena *a;
    struct typed item;
    struct index live, config;
    struct json *out;
};

static void take(struct merge_lists *m, const struct json *live, const struct json *config)
{
    struct json *v = merge(m->a, m->item, live, config);
    if (v)
        json_add(m->out, v);
}

/*
 * Takes an item of config, merged with the same item of live; one repeated in live is replaced
 * whole.
 */
static void take_config(struct merge_lists *m, size_t place)
{
    size_t n;
    const struct typed_list_item *c = &m->config.list.item[place],
                                 *twin = find(&m->live, &c->elem, &n);
    static const struct json null = { .type = JSON_NULL };
    take(m, n == 0 ? NULL : n == 1 ? twin->v : &null, c->v);
    m->config.done[place] = true;
}

/* The next position in config, from `at` on, of an item that live has too. */
static size_t next_shared(const struct merge_lists *m, size_t at)
{
    size_t n;
    while (at < m->config.list.n && !find(&m->live, &m->config.list.item[at].elem, &n))
        at++;
    return at;
}

/*
 * Items that only live has keep their place between the items that both have; config's items are in
 * config's order. An item of live that config has at another position is placed when its turn
 * comes.
 */
static void merge_order(struct merge_lists *m)
{
    const struct typed_items *live = &m->live.list, *config = &m->config.list;
    size_t l = 0, c = 0, shared = next_shared(m, 0), n;
    while (l < live->n || c < config->n) {
        const struct typed_list_item *lv = l < live->n ? &live->item[l] : NULL;
        const struct typed_list_item *in_config = lv ? find(&m->config, &lv->elem, &n) : NULL;
        if (lv && c < config->n) {
            if (in_config && in_config->place == c) {
                take_config(m, c++);
                l++;
                shared = next_shared(m, shared + 1);
                continue;
            }
            if (in_config && shared < config->n && in_config->place != shared) {
                l++;
                continue;
            }
        }
        if (lv && !in_config) {
            take(m, lv->v, NULL);
            l++;
            continue;
        }
        if (lv && m->config.done[in_config->place])
            l++;
        if (c < config->n) {
            bool was_shared = c == shared;
            take_config(m, c++);
            if (was_shared)
                shared = next_shared(m, shared + 1);
        }
    }
}

static struct json *merge_list(struct arena *a, struct typed t, const struct json *live,
                               const struct json *config)
{
    struct merge_lists m = { .a = a,
                             .item = typed_item(t),
                             .live = index_of(a, t.schema, live),
                             .config = index_of(a, t.schema, config),
                             .out = json_new_array(a) };
    merge_order(&m);
    return m.out->n ? m.out : NULL;
}

/* ---- values ---- */

static bool is_empty(const struct json *v, enum json_type type)
{
    return !v || v->type != type || v->n == 0;
}

/* NULL: no value. config wins where it has a value, null included. */
static struct json *merge_as(struct arena *a, struct typed t, enum typed_shape shape,
                             const struct json *live, const struct json *config)
{
    bool leaf = true;
    switch (shape) {
    case SHAPE_SCALAR:
        break;
    case SHAPE_LIST:
        leaf =
            typed_list_is_atomic(t) || (is_empty(live, JSON_ARRAY) && is_empty(config, JSON_ARRAY));
        break;
    case SHAPE_MAP:
        leaf = typed_map_is_atomic(t) ||
               (is_empty(live, JSON_OBJECT) && is_empty(config, JSON_OBJECT));
        break;
    }
    if (leaf)
        return json_clone(a, config ? config : live);
    if (shape == SHAPE_LIST)
        return merge_list(a, t, live, config);
    struct merge_maps m = { .a = a, .t = t, .out = json_new_object(a) };
    typed_pairs(live, config, on_pair, &m);
    return m.out->n ? m.out : NULL;
}

/* One of live and config may be NULL. */
static struct json *merge(struct arena *a, struct typed t, const struct json *live,
                          const struct json *config)
{
    if (!config)
        return live ? json_clone(a, live) : NULL;
    return merge_as(a, t, typed_pick(typed_shapes(t, config)), live, config);
}

struct json *typed_merge(struct arena *a, struct typed t, const struct json *live,
                         const struct json *config)
{
    struct json *out = merge(a, t, live, config);
    return out ? out : json_new_object(a);
}
