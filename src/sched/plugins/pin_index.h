/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things that are for some nodes only (volumes with a node affinity, storage capacities with a
 * topology), found by the labels that they ask for: a node looks at what is pinned to a value of
 * its own labels and at what is not pinned, instead of at everything.
 *
 * An item is pinned by a requirement "key In values" that it surely has. What is found still has
 * to be asked whether it fits. Pure; holds no references to items, whose words must stay while
 * they are in.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "sched/object/match.h"

enum {
    PIN_KEYS_MAX = 4, /* different label keys; items with further ones are not pinned */
    PINS_MAX = 16,    /* values of one item; with more of them it is not pinned */
};

struct pin {
    const struct intern *key, *value;
};
struct pins {
    struct pin p[PINS_MAX];
    unsigned n;
    bool everywhere; /* it is not pinned */
};
/* Adds the pins of a selector; without a requirement to go by: everywhere. */
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
/* pins: those that it was put in with. */
void pin_index_del(struct pin_index *x, const struct pins *pins, const void *item);
/* The lists that may have something for a node with these labels; borrowed. Returns how many. */
unsigned pin_index_lists(const struct pin_index *x, const struct sched_labels *labels,
                         const struct pin_list *ret[PIN_KEYS_MAX + 1]);
