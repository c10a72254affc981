/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared part of all parsers that produce a struct json: nodes from slabs of the arena, the
 * stack of open containers, and repeated keys (the last value wins, at the place of the first).
 *
 * Keys are not compared one by one: each level keeps a 64-bit filter of key signatures, and only an
 * object in which two signatures collide is examined for repeated keys when it closes. Small
 * objects are examined by comparing all pairs, large ones while their index is built, which they
 * need anyway.
 */
#pragma once

#include "codec/json_index.h"

#include <assert.h>

struct json_level {
    struct json *node;
    uint64_t filter; /* signatures of the keys so far */
    bool suspicious; /* two keys had the same signature */
};

struct json_builder {
    struct arena *arena;
    void (*on_duplicate)(void *arg, struct str path); /* or NULL */
    void *arg;
    const struct json *repeated; /* while on_duplicate runs: the member with the key */
    unsigned n_reported;         /* repeated keys reported to on_duplicate */
    struct json *slab;
    unsigned slab_left, slab_next;
    unsigned depth, max_depth;
    struct json_level levels[JSON_MAX_DEPTH]; /* levels from `depth` on are not initialised */
};

/* max_depth: 0, or more than JSON_MAX_DEPTH: JSON_MAX_DEPTH. n_expected: estimated number of
 * nodes. */
void json_builder_init(struct json_builder *b, struct arena *a, unsigned max_depth,
                       size_t n_expected);

struct json *json_builder_refill(struct json_builder *b);

/* Zeroed; NULL past the arena's limit. */
static inline struct json *json_builder_node(struct json_builder *b)
{
    if (b->slab_left == 0)
        return json_builder_refill(b);
    b->slab_left--;
    return b->slab++;
}

static inline struct json_level *json_builder_top(struct json_builder *b)
{
    assert(b->depth > 0);
    return &b->levels[b->depth - 1];
}

/* Make `node`, an array or object, the innermost open container. false: the depth limit. */
static inline bool json_builder_open(struct json_builder *b, struct json *node)
{
    if (b->depth == b->max_depth)
        return false;
    b->levels[b->depth++] = (struct json_level){ .node = node };
    return true;
}

/* Note the key of a member that is about to be added to `top`. */
static inline void json_builder_key(struct json_level *top, struct str key)
{
    uint8_t first = key.n ? (uint8_t)key.p[0] : 0, last = key.n ? (uint8_t)key.p[key.n - 1] : 0;
    uint8_t middle = key.n ? (uint8_t)key.p[key.n / 2] : 0;
    uint64_t bit = UINT64_C(1) << ((first * 7u + middle * 13u + last * 29u + key.n * 5u) & 63);
    top->suspicious |= (top->filter & bit) != 0;
    top->filter |= bit;
}

static inline void json_builder_add(struct json_level *top, struct json *node)
{
    if (top->node->end) /* an open object has no index yet */
        top->node->end->next = node;
    else
        top->node->first = node;
    top->node->end = node;
    top->node->n++;
}

int json_builder_resolve(struct json_builder *b);

/* Close the innermost container. -ENOMEM: the arena's limit. */
static inline int json_builder_close(struct json_builder *b)
{
    const struct json_level *top = json_builder_top(b);
    bool large = top->node->type == JSON_OBJECT && top->node->n > JSON_INDEX_MIN;
    int r = large || top->suspicious ? json_builder_resolve(b) : 0;
    b->depth--;
    return r;
}
