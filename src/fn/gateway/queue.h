/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of one revision that wait for a sandbox: first in, first out, bounded, each with a
 * deadline. Pure.
 */
#pragma once

#include "base/list.h"

struct queue_item {
    struct list node;
    uint64_t due_ms; /* waits no longer */
};

struct queue {
    struct list items;
    uint32_t n, max;
};

static inline void queue_init(struct queue *q, uint32_t max)
{
    *q = (struct queue){ .max = max };
    list_init(&q->items);
}

/* false: it is full. */
static inline bool queue_push(struct queue *q, struct queue_item *i)
{
    assert(!list_is_linked(&i->node));
    if (q->n >= q->max)
        return false;
    list_push_back(&q->items, &i->node);
    q->n++;
    return true;
}

/* Put it back at the head after a sandbox has failed it; also if the queue is full. */
static inline void queue_push_front(struct queue *q, struct queue_item *i)
{
    assert(!list_is_linked(&i->node));
    list_push_front(&q->items, &i->node);
    q->n++;
}

static inline struct queue_item *queue_first(const struct queue *q)
{
    return q->n ? list_first(&q->items, struct queue_item, node) : NULL;
}

static inline void queue_remove(struct queue *q, struct queue_item *i)
{
    assert(list_is_linked(&i->node) && q->n > 0);
    list_remove(&i->node);
    q->n--;
}

static inline struct queue_item *queue_pop(struct queue *q)
{
    struct queue_item *i = queue_first(q);
    if (i)
        queue_remove(q, i);
    return i;
}
