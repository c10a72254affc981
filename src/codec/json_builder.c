/* SPDX-License-Identifier: Apache-2.0 */
/* The less frequent parts of building a tree; see json_builder.h. */
#include "codec/json_builder.h"

#include "base/sys.h"

#include <errno.h>

enum {
    SLAB_MAX_NODES = 64,
    PAIRWISE_MAX_KEYS = 16,         /* objects up to this size are compared pair by pair */
    DUPLICATE_PATH_MAX_BYTES = 4096 /* longer paths are reported cut */
};

void json_builder_init(struct json_builder *b, struct arena *a, unsigned max_depth,
                       size_t n_expected)
{
    b->arena = a;
    b->on_duplicate = NULL;
    b->arg = NULL;
    b->slab = NULL;
    b->slab_left = 0;
    b->slab_next = n_expected < 16 ? 4 : 16;
    b->table = NULL;
    b->table_cap = b->table_mask = 0;
    b->seed = 0;
    b->depth = 0;
    b->max_depth = max_depth ? MIN(max_depth, (unsigned)JSON_MAX_DEPTH) : JSON_MAX_DEPTH;
}

void json_builder_fini(struct json_builder *b)
{
    free(b->table);
    b->table = NULL;
}

struct json *json_builder_refill(struct json_builder *b)
{
    unsigned want = b->slab_next;
    struct json *slab = arena_try(b->arena, want * sizeof *slab);
    if (!slab) {
        want = 1;
        slab = arena_try(b->arena, sizeof *slab);
        if (!slab)
            return NULL;
    }
    b->slab = slab + 1;
    b->slab_left = want - 1;
    b->slab_next = MIN(b->slab_next * 2, (unsigned)SLAB_MAX_NODES);
    return slab;
}

/* ---- repeated keys ---- */

/* The key's path in the open containers: "spec.containers[1].name". */
static void report(struct json_builder *b, struct str key)
{
    if (!b->on_duplicate)
        return;
    struct buf path = BUF_INIT(DUPLICATE_PATH_MAX_BYTES);
    for (unsigned i = 1; i < b->depth; i++) {
        const struct json *node = b->levels[i].node, *parent = b->levels[i - 1].node;
        if (parent->type == JSON_ARRAY) {
            (void)buf_printf(&path, "[%u]", parent->n - 1);
            continue;
        }
        if (path.n)
            (void)buf_add_char(&path, '.');
        (void)buf_add_str(&path, node->key);
    }
    if (path.n)
        (void)buf_add_char(&path, '.');
    (void)buf_add_str(&path, key);
    b->on_duplicate(b->arg, buf_str(&path));
    buf_fini(&path);
}

static struct json *find_before(const struct json *obj, const struct json *at)
{
    for (struct json *c = obj->first; c != at; c = c->next)
        if (str_eq(c->key, at->key))
            return c;
    return NULL;
}

_Static_assert(sizeof(struct str) == 2 * sizeof(struct json *), "s covers first and last");

static int table_prepare(struct json_builder *b, size_t n)
{
    size_t cap = 64;
    while (cap < n * 2)
        cap *= 2;
    if (cap > b->table_cap) {
        free(b->table);
        b->table_cap = 0;
        b->table = mem_try(cap * sizeof(struct json *));
        if (!b->table)
            return -ENOMEM;
        b->table_cap = cap;
    }
    if (b->seed == 0)
        b->seed = sys_random_u64() | 1;
    b->table_mask = cap - 1; /* of this object, whatever the size of the largest so far */
    memset(b->table, 0, cap * sizeof(struct json *));
    return 0;
}

/* The earlier member with the key of `at`, or NULL after entering `at`. */
static struct json *table_find_or_enter(struct json_builder *b, struct json *at)
{
    size_t i = str_hash(at->key, b->seed) & b->table_mask;
    for (; b->table[i]; i = (i + 1) & b->table_mask)
        if (str_eq(b->table[i]->key, at->key))
            return b->table[i];
    b->table[i] = at;
    return NULL;
}

int json_builder_resolve(struct json_builder *b)
{
    struct json *obj = json_builder_top(b)->node;
    bool hashed = obj->n > PAIRWISE_MAX_KEYS;
    if (hashed) {
        int r = table_prepare(b, obj->n);
        if (r < 0)
            return r;
    }
    struct json *prev = NULL, *next;
    for (struct json *c = obj->first; c; c = next) {
        next = c->next;
        struct json *first = hashed ? table_find_or_enter(b, c) : find_before(obj, c);
        if (!first) {
            prev = c;
            continue;
        }
        report(b, c->key);
        first->type = c->type; /* `c` keeps its value too: an anchor may refer to it */
        first->n = c->n;
        first->s = c->s;
        assert(prev); /* a repeated key is never the first member */
        prev->next = next;
        obj->n--;
    }
    obj->last = prev;
    return 0;
}
