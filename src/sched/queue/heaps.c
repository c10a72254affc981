/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps of pods, and their orders. */
#include "sched/queue/internal.h"

#include "base/heap.h"

/*
 * Ties of the QueueSort plugin are ordered by arrival, so that the order never depends on the heap.
 */
bool queue_less_active(const struct queued *a, const struct queued *b)
{
    struct sched_plugin *sort = a->profile->sort;
    if (sort) {
        int c = sort->ops->compare(sort, a->pub.pod, a->pub.added_ms, b->pub.pod, b->pub.added_ms);
        if (c != 0)
            return c < 0;
    }
    return a->seq < b->seq;
}

/* Ends are aligned to seconds; within a second, pods are in the order of `active` (KEP-5142). */
bool queue_less_backoff(const struct queued *a, const struct queued *b)
{
    if (a->backoff_ms != b->backoff_ms)
        return a->backoff_ms < b->backoff_ms;
    return queue_less_active(a, b);
}

bool queue_less_error_backoff(const struct queued *a, const struct queued *b)
{
    return a->backoff_ms != b->backoff_ms ? a->backoff_ms < b->backoff_ms : a->seq < b->seq;
}

bool queue_less_flush(const struct queued *a, const struct queued *b)
{
    return a->flush_ms != b->flush_ms ? a->flush_ms < b->flush_ms : a->seq < b->seq;
}

static bool pod_before(const void *a, const void *b, const void *heap)
{
    return ((const struct pod_heap *)heap)
        ->less(*(struct queued *const *)a, *(struct queued *const *)b);
}

static void pod_placed(void *entry, size_t place)
{
    (*(struct queued **)entry)->heap_at = (uint32_t)place;
}

static const struct heap_kind of_pods = { sizeof(struct queued *), pod_before, pod_placed };

void queue_heap_add(struct pod_heap *h, struct queued *p)
{
    assert(p->heap_at == 0); /* in one heap at most */
    heap_push(&of_pods, h, &h->items, p);
    assert(p->heap_at > 0 && h->items.p[p->heap_at - 1] == p);
}

void queue_heap_fix(struct pod_heap *h, struct queued *p)
{
    assert(p->heap_at > 0 && p->heap_at <= h->items.n);
    assert(h->items.p[p->heap_at - 1] == p);
    heap_fix(&of_pods, h, &h->items, p->heap_at);
}

void queue_heap_remove(struct pod_heap *h, struct queued *p)
{
    assert(p->heap_at > 0 && p->heap_at <= h->items.n);
    assert(h->items.p[p->heap_at - 1] == p);
    heap_remove(&of_pods, h, &h->items, p->heap_at);
    assert(p->heap_at == 0);
}

void queue_orders_init(struct queue_orders *o)
{
    *o = (struct queue_orders){ .active.less = queue_less_active,
                                .backoff.less = queue_less_backoff };
}

void queue_orders_fini(struct queue_orders *o)
{
    vec_fini(&o->active.items);
    vec_fini(&o->backoff.items);
}
