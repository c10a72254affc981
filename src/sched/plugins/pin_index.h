/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index of items that only some nodes can use (volumes with a node affinity, storage capacities
 * with a topology), by the labels that they require: a node checks only the items pinned to a value
 * of its own labels and the items that are not pinned.
 *
 * An item is pinned by a requirement "key In values" that every matching node fulfils. Items found
 * this way still have to be checked. Pure; holds no references to items, whose words must stay
 * valid while they are in the index.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "sched/object/match.h"

enum {
    PIN_KEYS_MAX = 4, /* different label keys; items with other keys are not pinned */
    PINS_MAX = 16,    /* values of one item; an item with more is not pinned */
};

struct pin {
    const struct intern *key, *value;
};
struct pins {
    struct pin p[PINS_MAX];
    unsigned n;
    bool everywhere; /* the item is not pinned */
};
/* Adds the pins of a selector; `everywhere` if it has no usable requirement. */
void pins_add(struct pins *pins, const struct sched_selector *s);

struct pin_list { /* sorted by the index' order */
    const void **p;
    size_t n, cap;
};
struct pin_index {
    struct intern_table *words;
    int (*compare)(const void *a, const void *b); /* a total order of items */
    struct map lists;                             /* of struct pin as bytes */
    struct intern *keys[PIN_KEYS_MAX];
    unsigned n_keys;
    struct pin_list everywhere;
};
void pin_index_init(struct pin_index *x, struct intern_table *words,
                    int (*compare)(const void *a, const void *b));
void pin_index_fini(struct pin_index *x);
void pin_index_put(struct pin_index *x, const struct pins *pins, const void *item);
/* pins: the same as when the item was added. */
void pin_index_del(struct pin_index *x, const struct pins *pins, const void *item);
/* The lists that may contain items for a node with these labels; borrowed. Returns their number. */
unsigned pin_index_lists(const struct pin_index *x, const struct sched_labels *labels,
                         const struct pin_list *ret[PIN_KEYS_MAX + 1]);
