/* SPDX-License-Identifier: Apache-2.0 */
/* Binary heaps of pods (each knows its place in its heap), and by what they are ordered. */
#include "sched/queue/internal.h"

/* Equal to the QueueSort plugin: who came first, so that the order never depends on the heap. */
bool less_active(const struct queued *a, const struct queued *b)
{
    struct sched_plugin *sort = a->profile->sort;
    if (sort) {
        int c = sort->ops->compare(sort, a->pub.pod, a->pub.added_ms, b->pub.pod, b->pub.added_ms);
        if (c != 0)
            return c < 0;
    }
    return a->seq < b->seq;
}

/* Ends are aligned to seconds; within one, pods stand as in active (KEP-5142). */
bool less_backoff(const struct queued *a, const struct queued *b)
{
    if (a->backoff_ms != b->backoff_ms)
        return a->backoff_ms < b->backoff_ms;
    return less_active(a, b);
}

bool less_error_backoff(const struct queued *a, const struct queued *b)
{
    return a->backoff_ms != b->backoff_ms ? a->backoff_ms < b->backoff_ms : a->seq < b->seq;
}

bool less_flush(const struct queued *a, const struct queued *b)
{
    return a->flush_ms != b->flush_ms ? a->flush_ms < b->flush_ms : a->seq < b->seq;
}

static void put_at(struct heap *h, size_t i, struct queued *p)
{
    h->items.p[i] = p;
    p->heap_at = (uint32_t)i;
}

static size_t rise(struct heap *h, size_t i)
{
    struct queued *p = h->items.p[i];
    while (i > 0 && h->less(p, h->items.p[(i - 1) / 2])) {
        put_at(h, i, h->items.p[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put_at(h, i, p);
    return i;
}

static void sink(struct heap *h, size_t i)
{
    struct queued *p = h->items.p[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= h->items.n)
            break;
        if (child + 1 < h->items.n && h->less(h->items.p[child + 1], h->items.p[child]))
            child++;
        if (!h->less(h->items.p[child], p))
            break;
        put_at(h, i, h->items.p[child]);
        i = child;
    }
    put_at(h, i, p);
}

void heap_add(struct heap *h, struct queued *p)
{
    vec_push(&h->items, p);
    (void)rise(h, h->items.n - 1);
}

void heap_changed(struct heap *h, struct queued *p)
{
    assert(h->items.p[p->heap_at] == p);
    if (rise(h, p->heap_at) == p->heap_at)
        sink(h, p->heap_at);
}

void heap_remove(struct heap *h, struct queued *p)
{
    size_t i = p->heap_at;
    assert(h->items.p[i] == p);
    struct queued *last = h->items.p[--h->items.n];
    if (last == p)
        return;
    put_at(h, i, last);
    heap_changed(h, last);
}

void heap_fini(struct heap *h)
{
    vec_fini(&h->items);
}

void orders_init(struct orders *o)
{
    *o = (struct orders){ .active.less = less_active, .backoff.less = less_backoff };
}

void orders_fini(struct orders *o)
{
    heap_fini(&o->active);
    heap_fini(&o->backoff);
}
