/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A number for each of 0, 1, 2 ..., most of which are 0: a small hash table while few are non-zero,
 * an array once that is smaller. Zero-initialised is valid and all 0.
 */
#pragma once

#include "base/mem.h"

#include <string.h>

struct counts_slot {
    uint32_t key; /* plus 1; 0: free */
    int32_t value;
};
struct counts {
    struct counts_slot *slots; /* linear probing; at most half of them are used */
    uint32_t n, cap;           /* cap is 0 or a power of two */
    int32_t *array;            /* instead of slots */
    uint32_t n_array;
};

static inline void counts_fini(struct counts *c)
{
    free(c->slots);
    free(c->array);
    *c = (struct counts){ 0 };
}

static inline size_t counts_bytes(const struct counts *c)
{
    return c->cap * sizeof(*c->slots) + c->n_array * sizeof(*c->array);
}

static inline struct counts_slot *counts_slot(const struct counts *c, uint32_t i)
{
    uint32_t at = (i * 0x9e3779b1u) >> 7 & (c->cap - 1);
    while (c->slots[at].key != 0 && c->slots[at].key != i + 1)
        at = (at + 1) & (c->cap - 1);
    return &c->slots[at];
}

static inline int32_t counts_get(const struct counts *c, uint32_t i)
{
    if (c->array)
        return i < c->n_array ? c->array[i] : 0;
    return c->cap ? counts_slot(c, i)->value : 0;
}

/* Makes room for one more; all keys, now and later, are below about `end`. */
static inline void counts_grow(struct counts *c, uint32_t end)
{
    struct counts old = *c;
    if (c->array) {
        c->n_array = end;
        c->array = (int32_t *)xrealloc(c->array, end * sizeof(*c->array));
        memset(c->array + old.n_array, 0, (end - old.n_array) * sizeof(*c->array));
        return;
    }
    bool is_array = old.cap * 2 * sizeof(*old.slots) > end * sizeof(*old.array);
    *c = (struct counts){ 0 };
    if (is_array) {
        c->n_array = end;
        c->array = xnew_n(int32_t, end);
    } else {
        c->cap = old.cap ? old.cap * 2 : 8;
        c->slots = xnew_n(struct counts_slot, c->cap);
    }
    for (uint32_t at = 0; at < old.cap; at++) {
        struct counts_slot s = old.slots[at];
        if (s.value == 0)
            continue;
        if (is_array)
            c->array[s.key - 1] = s.value;
        else
            *counts_slot(c, s.key - 1) = s;
        c->n++;
    }
    free(old.slots);
}

/* end: greater than all keys; i < end. Returns the slot, valid until the next call. */
static inline int32_t *counts_at(struct counts *c, uint32_t i, uint32_t end)
{
    if (c->array ? i >= c->n_array : c->n * 2 >= c->cap)
        counts_grow(c, end);
    if (c->array)
        return &c->array[i];
    struct counts_slot *s = counts_slot(c, i);
    if (s->key == 0) {
        s->key = i + 1;
        c->n++;
    }
    return &s->value;
}
