/* SPDX-License-Identifier: Apache-2.0 */
/* The table of sandboxes; see table.h. */
#include "fn/control/table.h"

#include <assert.h>

enum { TABLE_FIRST = 64 };

/* Ids differ in their low bits: a product spreads them (Knuth, TAOCP volume 3, section 6.4). */
static uint32_t place_of(uint64_t id, uint32_t cap)
{
    return (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (cap - 1);
}

void table_init(struct sandbox_table *t)
{
    *t = (struct sandbox_table){ .free_first = TABLE_NONE };
}

void table_fini(struct sandbox_table *t)
{
    map_each (e, &t->addresses)
        free(e->value);
    map_fini(&t->addresses);
    free(t->at);
    free(t->index);
    table_init(t);
}

static void index_put(struct sandbox_table *t, uint32_t slot)
{
    uint32_t i = place_of(t->at[slot].id, t->index_cap);
    while (t->index[i])
        i = (i + 1) & (t->index_cap - 1);
    t->index[i] = slot + 1;
}

static void grow_index(struct sandbox_table *t)
{
    if (t->index_cap && t->n_used * 2 < t->index_cap)
        return;
    free(t->index);
    t->index_cap = t->index_cap ? t->index_cap * 2 : TABLE_FIRST * 2;
    t->index = xnew_n(uint32_t, t->index_cap);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->at[i].id)
            index_put(t, i);
}

uint32_t table_add(struct sandbox_table *t, uint64_t id)
{
    assert(id && table_find(t, id) == TABLE_NONE);
    grow_index(t);
    uint32_t slot = t->free_first;
    if (slot != TABLE_NONE) {
        assert(slot < t->n && t->at[slot].id == 0);
        t->free_first = t->at[slot].next;
    } else {
        if (t->n == t->cap) {
            t->cap = t->cap ? t->cap * 2 : TABLE_FIRST;
            t->at = xrealloc(t->at, t->cap * sizeof *t->at);
        }
        slot = t->n++;
    }
    t->at[slot] = (struct plane_sandbox){ .id = id, .next = TABLE_NONE, .prev = TABLE_NONE };
    t->n_used++;
    index_put(t, slot);
    return slot;
}

static uint32_t index_find(const struct sandbox_table *t, uint64_t id)
{
    if (!t->index_cap)
        return TABLE_NONE;
    for (uint32_t i = place_of(id, t->index_cap); t->index[i]; i = (i + 1) & (t->index_cap - 1))
        if (t->at[t->index[i] - 1].id == id)
            return i;
    return TABLE_NONE;
}

uint32_t table_find(const struct sandbox_table *t, uint64_t id)
{
    uint32_t i = index_find(t, id);
    return i == TABLE_NONE ? TABLE_NONE : t->index[i] - 1;
}

/* Entries after the hole move up as long as their home is at or before it (as in base/map). */
static void index_del(struct sandbox_table *t, uint32_t hole)
{
    uint32_t mask = t->index_cap - 1;
    for (uint32_t i = (hole + 1) & mask; t->index[i]; i = (i + 1) & mask) {
        uint32_t want = place_of(t->at[t->index[i] - 1].id, t->index_cap);
        if (((i - want) & mask) >= ((i - hole) & mask)) {
            t->index[hole] = t->index[i];
            hole = i;
        }
    }
    t->index[hole] = 0;
}

void table_del(struct sandbox_table *t, uint32_t slot)
{
    assert(slot < t->n && t->at[slot].id && t->n_used > 0);
    table_set_address(t, slot, NULL);
    uint32_t place = index_find(t, t->at[slot].id);
    assert(place != TABLE_NONE && t->index[place] == slot + 1);
    index_del(t, place);
    t->at[slot] = (struct plane_sandbox){ .next = t->free_first };
    t->free_first = slot;
    t->n_used--;
}

static struct str key_of(const struct sandbox_table *t, uint32_t slot)
{
    return str_n(&t->at[slot].id, sizeof t->at[slot].id);
}

void table_set_address(struct sandbox_table *t, uint32_t slot, const char *text)
{
    assert(slot < t->n && t->at[slot].id);
    struct plane_sandbox *s = &t->at[slot];
    if (text) {
        free(map_put(&t->addresses, key_of(t, slot), xstrdup(text)));
        s->flags |= SANDBOX_HAS_TEXT;
    } else if (s->flags & SANDBOX_HAS_TEXT) {
        free(map_del(&t->addresses, key_of(t, slot)));
        s->flags &= (uint8_t)~SANDBOX_HAS_TEXT;
    }
}

const char *table_address(const struct sandbox_table *t, uint32_t slot)
{
    return map_get(&t->addresses, key_of(t, slot));
}
