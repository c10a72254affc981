/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by typed.c and the files that compare, merge and check. Internal to src/kube. */
#pragma once

#include "kube/model/typed.h"

enum typed_shape { SHAPE_MAP = 1, SHAPE_SCALAR = 2, SHAPE_LIST = 4 };
enum { PAIR_MAX = 16 }; /* objects with more members are sorted to find their pairs */

/* The shapes (bits) that v may have: its own if the type allows it, else all shapes of the type. */
unsigned typed_shapes(struct typed t, const struct json *v);
enum typed_shape typed_pick(unsigned bits);
bool typed_map_is_atomic(struct typed t);
bool typed_list_is_atomic(struct typed t);
/* Type of a member; declared: the schema has it. hint: starts at 0, kept between calls. */
struct typed typed_member(struct typed t, struct str key, size_t *hint, bool *ret_declared);
struct typed typed_item(struct typed t);

/* The path element of an item of a set or map. Returns NULL, or the error in upstream's words. */
const char *typed_item_elem(struct arena *a, const struct schema *list, const struct json *item,
                            struct field_elem *ret);

struct typed_list_item {
    struct field_elem elem;
    const struct json *v;
    size_t place;
    int side; /* for the caller; items of equal elements are sorted by it */
};
struct typed_items {
    struct typed_list_item *item;
    size_t n;
};
/* Items that have an element; empty when v is not an array. */
struct typed_items typed_items_of(struct arena *a, const struct schema *list, const struct json *v);
/* By element, then side, then position. */
void typed_items_sort(const struct typed_list_item **items, size_t n);

/* Pairs the members of two objects by key; a side that is absent, or not an object, is NULL. */
typedef void (*typed_pair_fn)(void *arg, const struct json *x, const struct json *y);
void typed_pairs(const struct json *x, const struct json *y, typed_pair_fn fn, void *arg);
