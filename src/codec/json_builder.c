/* SPDX-License-Identifier: Apache-2.0 */
/* The less frequent parts of building a tree; see json_builder.h. */
#include "codec/json_builder.h"

#include <errno.h>

enum {
    SLAB_MAX_NODES = 64,
    REPORTED_MAX = 1024,            /* repeated keys reported: each path may be long */
    DUPLICATE_PATH_MAX_BYTES = 4096 /* longer paths are cut */
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
    b->n_reported = 0;
    b->depth = 0;
    b->max_depth = max_depth ? MIN(max_depth, (unsigned)JSON_MAX_DEPTH) : JSON_MAX_DEPTH;
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
static void report(struct json_builder *b, const struct json *again)
{
    if (!b->on_duplicate || b->n_reported == REPORTED_MAX)
        return;
    b->n_reported++;
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
    (void)buf_add_str(&path, again->key);
    b->repeated = again;
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

/* The last value wins, at the place of the first. */
static void on_repeated(void *arg, struct json *first, struct json *again)
{
    report(arg, again);
    first->type = again->type; /* `again` keeps its value: an anchor may refer to it */
    first->n = again->n;
    first->s = again->s;
}

int json_builder_resolve(struct json_builder *b)
{
    struct json *obj = json_builder_top(b)->node;
    if (obj->n > JSON_INDEX_MIN)
        return json_index_make(b->arena, obj, on_repeated, b) ? 0 : -ENOMEM;
    struct json *prev = NULL, *next;
    for (struct json *c = obj->first; c; c = next) {
        next = c->next;
        struct json *first = find_before(obj, c);
        if (!first) {
            prev = c;
            continue;
        }
        on_repeated(b, first, c);
        assert(prev); /* a repeated key is never the first member */
        prev->next = next;
        obj->n--;
    }
    obj->end = prev;
    return 0;
}
