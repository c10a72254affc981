/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a value has changed, in the sense of ratcheting; see schema.h. */
#include "kube/model/schema.h"

#include "base/map.h"

struct same {
    struct arena *scratch;
    struct budget *budget;
};

static bool is_same(struct same *c, const struct schema *s, const struct json *x,
                    const struct json *y);

struct str schema_list_key(struct arena *a, const struct schema *s, const struct json *item)
{
    struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    struct json *keys = json_new_object(a);
    for (uint16_t i = 0; i < s->n_list_keys; i++) {
        const struct json *k = json_get(item, s->list_keys[i]);
        if (k)
            json_set(a, keys, s->list_keys[i], json_copy(a, k));
    }
    (void)json_write_sorted(&b, keys);
    struct str text = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    return text;
}

static bool same_members(struct same *c, const struct schema *s, const struct json *x,
                         const struct json *y)
{
    json_each (m, x) {
        const struct json *other = json_get(y, m->key);
        if (!other || !is_same(c, schema_child(s, m->key), m, other))
            return false;
    }
    return true;
}

/* The order of a list map's elements is ignored. */
static bool same_items(struct same *c, const struct schema *s, const struct json *x,
                       const struct json *y)
{
    struct map before = { .borrows_keys = true };
    bool same = true;
    json_each (item, y)
        same = same && !map_put(&before, schema_list_key(c->scratch, s, item), item);
    json_each (item, x) {
        struct json *was = same ? map_del(&before, schema_list_key(c->scratch, s, item)) : NULL;
        same = was && is_same(c, s->items, item, was);
    }
    map_fini(&before);
    return same;
}

static bool is_same(struct same *c, const struct schema *s, const struct json *x,
                    const struct json *y)
{
    if (!budget_spend(c->budget, 2, "comparing the object with what it was"))
        return false;
    if (!s || x->type != y->type || x->type < JSON_ARRAY)
        return json_equal_work(x, y, &c->budget->steps);
    if (x->n != y->n)
        return false;
    if (x->type == JSON_OBJECT)
        return same_members(c, s, x, y);
    if (s->type == SCHEMA_ARRAY && s->list_type == SCHEMA_LIST_MAP)
        return same_items(c, s, x, y);
    const struct json *other = json_first(y);
    json_each (item, x) {
        if (!is_same(c, s->items, item, other))
            return false;
        other = other->next;
    }
    return true;
}

bool schema_same(struct arena *scratch, const struct schema *s, const struct json *x,
                 const struct json *y, struct budget *budget)
{
    struct budget own = BUDGET_INIT;
    struct same c = { .scratch = scratch, .budget = budget ? budget : &own };
    return is_same(&c, s, x, y);
}
