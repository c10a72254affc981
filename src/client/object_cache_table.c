/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of an informer and their indexes; see object_cache_table.h. */
#include "client/object_cache_table.h"

enum { FIRST_SLOTS = 8, FIRST_PLACES = 16, FIRST_BUCKETS = 16 };

void object_table_init(struct object_table *t, const struct cache_object_maker *maker)
{
    *t = (struct object_table){ .maker = maker };
}

/* ---------------------------------------------------------------- places */

static uint32_t find_place(const struct object_table *t, uint32_t hash, struct str namespace,
                           struct str name)
{
    uint32_t mask = t->n_places - 1, i = hash & mask;
    while (t->places[i] && !cached_object_is(t->slots[t->places[i]].o, hash, namespace, name))
        i = (i + 1) & mask;
    return i;
}

uint32_t object_table_find(const struct object_table *t, struct str namespace, struct str name)
{
    if (t->n == 0)
        return 0;
    uint32_t hash = object_key_hash(t->maker->seed, namespace, name);
    return t->places[find_place(t, hash, namespace, name)];
}

static void grow_places(struct object_table *t)
{
    uint32_t n = t->n_places ? t->n_places * 2 : FIRST_PLACES;
    free(t->places);
    t->places = xnew_n(uint32_t, n);
    t->n_places = n;
    for (uint32_t slot = object_table_next(t, 0); slot; slot = object_table_next(t, slot)) {
        uint32_t i = t->slots[slot].o->key_hash & (n - 1);
        while (t->places[i])
            i = (i + 1) & (n - 1);
        t->places[i] = slot;
    }
}

/* Backward-shift deletion, as in base/map. */
static void remove_place(struct object_table *t, uint32_t hole)
{
    uint32_t mask = t->n_places - 1;
    assert(t->places[hole]);
    for (uint32_t i = (hole + 1) & mask; t->places[i]; i = (i + 1) & mask) {
        uint32_t home = t->slots[t->places[i]].o->key_hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            t->places[hole] = t->places[i];
            hole = i;
        }
    }
    t->places[hole] = 0;
}

/* ---------------------------------------------------------------- slots and namespaces */

static uint32_t take_slot(struct object_table *t)
{
    uint32_t slot = t->free_slot;
    if (slot) {
        assert(slot <= t->n_slots && !t->slots[slot].o);
        t->free_slot = t->slots[slot].ns_next;
        return slot;
    }
    if (t->n_slots + 1 >= t->cap) {
        t->cap = t->cap ? t->cap + t->cap / 2 : FIRST_SLOTS;
        t->slots = xrealloc(t->slots, t->cap * sizeof *t->slots);
        t->slots[0] = (struct table_slot){ 0 };
    }
    assert(t->n_slots == t->n); /* no free slot is left */
    return ++t->n_slots;
}

static void link_namespace(struct object_table *t, uint32_t slot)
{
    struct str name = cached_object_namespace(t->slots[slot].o);
    struct table_ns *ns = map_get(&t->namespaces, name);
    if (!ns) {
        ns = xnew(struct table_ns);
        (void)map_put(&t->namespaces, name, ns);
    }
    t->slots[slot].ns_prev = ns->last;
    t->slots[slot].ns_next = 0;
    if (ns->last)
        t->slots[ns->last].ns_next = slot;
    else
        ns->first = slot;
    ns->last = slot;
    ns->n++;
}

static void unlink_namespace(struct object_table *t, uint32_t slot)
{
    struct table_slot *s = &t->slots[slot];
    struct str name = cached_object_namespace(s->o);
    struct table_ns *ns = map_get(&t->namespaces, name);
    assert(ns && ns->n > 0);
    if (s->ns_prev)
        t->slots[s->ns_prev].ns_next = s->ns_next;
    else
        ns->first = s->ns_next;
    if (s->ns_next)
        t->slots[s->ns_next].ns_prev = s->ns_prev;
    else
        ns->last = s->ns_prev;
    if (--ns->n == 0) {
        (void)map_del(&t->namespaces, name);
        free(ns);
    }
}

uint32_t object_table_next(const struct object_table *t, uint32_t slot)
{
    while (++slot <= t->n_slots)
        if (t->slots[slot].o)
            return slot;
    return 0;
}

uint32_t object_table_ns_first(const struct object_table *t, struct str namespace)
{
    const struct table_ns *ns = map_get(&t->namespaces, namespace);
    return ns ? ns->first : 0;
}

size_t object_table_ns_count(const struct object_table *t, struct str namespace)
{
    const struct table_ns *ns = map_get(&t->namespaces, namespace);
    return ns ? ns->n : 0;
}

/* ---------------------------------------------------------------- indexes */

static void free_index(struct value_index *x)
{
    if (!x)
        return;
    free(x->nodes);
    free(x->buckets);
    free(x);
}

static void grow_buckets(struct value_index *x)
{
    x->n_buckets = x->n_buckets ? x->n_buckets * 2 : FIRST_BUCKETS;
    free(x->buckets);
    x->buckets = xnew_n(uint32_t, x->n_buckets);
    for (uint32_t i = 1; i <= x->n_nodes; i++) {
        if (x->nodes[i].slot == 0)
            continue;
        uint32_t *bucket = &x->buckets[x->nodes[i].hash & (x->n_buckets - 1)];
        x->nodes[i].next = *bucket;
        *bucket = i;
    }
}

static void add_node(struct value_index *x, uint32_t hash, uint32_t slot)
{
    if (x->n_used >= x->n_buckets)
        grow_buckets(x);
    uint32_t node = x->free_node;
    if (node) {
        x->free_node = x->nodes[node].next;
    } else {
        if (x->n_nodes + 1 >= x->cap) {
            x->cap = x->cap ? x->cap + x->cap / 2 : FIRST_SLOTS;
            x->nodes = xrealloc(x->nodes, x->cap * sizeof *x->nodes);
            x->nodes[0] = (struct value_node){ 0 };
        }
        node = ++x->n_nodes;
    }
    assert(slot && x->n_used < x->n_buckets);
    uint32_t *bucket = &x->buckets[hash & (x->n_buckets - 1)];
    x->nodes[node] = (struct value_node){ .hash = hash, .slot = slot, .next = *bucket };
    *bucket = node;
    x->n_used++;
}

static void remove_node(struct value_index *x, uint32_t hash, uint32_t slot)
{
    assert(x->n_used > 0);
    uint32_t *at = &x->buckets[hash & (x->n_buckets - 1)];
    while (*at && (x->nodes[*at].hash != hash || x->nodes[*at].slot != slot))
        at = &x->nodes[*at].next;
    assert(*at);
    uint32_t node = *at;
    *at = x->nodes[node].next;
    x->nodes[node] = (struct value_node){ .next = x->free_node };
    x->free_node = node;
    x->n_used--;
}

static void index_object(struct object_table *t, size_t field, const struct cached_object *o,
                         uint32_t slot, bool add)
{
    uint32_t hashes[UINT8_MAX];
    size_t n = cached_object_value_hashes(t->maker, o, field, hashes, ARRAY_LEN(hashes));
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < i && hashes[k] != hashes[i])
            k++;
        if (k < i)
            continue; /* one node per value, however often the object has it */
        if (add)
            add_node(t->indexes[field], hashes[i], slot);
        else
            remove_node(t->indexes[field], hashes[i], slot);
    }
}

static void index_all(struct object_table *t, uint32_t slot, bool add)
{
    for (size_t i = 0; i < t->maker->n_fields; i++)
        if (t->indexes[i])
            index_object(t, i, t->slots[slot].o, slot, add);
}

void object_table_index(struct object_table *t, size_t field)
{
    assert(field < t->maker->n_fields);
    if (t->indexes[field])
        return;
    t->indexes[field] = xnew(struct value_index);
    for (uint32_t slot = object_table_next(t, 0); slot; slot = object_table_next(t, slot))
        index_object(t, field, t->slots[slot].o, slot, true);
}

uint32_t object_table_lookup(const struct object_table *t, size_t field, struct str value,
                             uint32_t node)
{
    const struct value_index *x = t->indexes[field];
    if (!x || x->n_buckets == 0)
        return 0;
    uint32_t hash = object_value_hash(t->maker->seed, value);
    node = node ? x->nodes[node].next : x->buckets[hash & (x->n_buckets - 1)];
    while (node &&
           (x->nodes[node].hash != hash ||
            !cached_object_has_value(t->maker, t->slots[x->nodes[node].slot].o, field, value)))
        node = x->nodes[node].next;
    return node;
}

/* ---------------------------------------------------------------- changing */

struct cached_object *object_table_put(struct object_table *t, struct cached_object *o)
{
    if ((uint64_t)(t->n + 1) * 4 > (uint64_t)t->n_places * 3)
        grow_places(t);
    uint32_t place = find_place(t, o->key_hash, cached_object_namespace(o), cached_object_name(o));
    uint32_t slot = t->places[place];
    if (slot) {
        struct cached_object *before = t->slots[slot].o;
        index_all(t, slot, false);
        t->slots[slot].o = o;
        index_all(t, slot, true);
        return before;
    }
    slot = take_slot(t);
    t->slots[slot].o = o;
    t->places[place] = slot;
    t->n++;
    link_namespace(t, slot);
    index_all(t, slot, true);
    return NULL;
}

struct cached_object *object_table_remove(struct object_table *t, uint32_t slot)
{
    assert(slot > 0 && slot <= t->n_slots && t->slots[slot].o && t->n > 0);
    struct cached_object *o = t->slots[slot].o;
    index_all(t, slot, false);
    unlink_namespace(t, slot);
    remove_place(t, find_place(t, o->key_hash, cached_object_namespace(o), cached_object_name(o)));
    t->slots[slot] = (struct table_slot){ .ns_next = t->free_slot };
    t->free_slot = slot;
    t->n--;
    return o;
}

void object_table_reset(struct object_table *t, void (*unref)(void *arg, struct cached_object *o),
                        void *arg)
{
    for (uint32_t slot = object_table_next(t, 0); slot; slot = object_table_next(t, slot))
        unref(arg, t->slots[slot].o);
    map_each (e, &t->namespaces)
        free(e->value);
    map_fini(&t->namespaces);
    free(t->slots);
    free(t->places);
    struct object_table empty = { .maker = t->maker };
    for (size_t i = 0; i < ARRAY_LEN(t->indexes); i++) {
        if (!t->indexes[i])
            continue;
        free_index(t->indexes[i]);
        empty.indexes[i] = xnew(struct value_index);
    }
    *t = empty;
}

void object_table_fini(struct object_table *t)
{
    assert(t->n == 0);
    map_fini(&t->namespaces);
    free(t->slots);
    free(t->places);
    for (size_t i = 0; i < ARRAY_LEN(t->indexes); i++)
        free_index(t->indexes[i]);
}

size_t object_table_bytes(const struct object_table *t)
{
    size_t n = sizeof *t + t->cap * sizeof *t->slots + t->n_places * sizeof *t->places +
               t->namespaces.cap * sizeof(struct map_entry) +
               t->namespaces.n * (sizeof(struct table_ns) + 48);
    for (size_t i = 0; i < ARRAY_LEN(t->indexes); i++)
        if (t->indexes[i])
            n += sizeof *t->indexes[i] + t->indexes[i]->cap * sizeof(struct value_node) +
                 t->indexes[i]->n_buckets * sizeof(uint32_t);
    return n;
}
