/* SPDX-License-Identifier: Apache-2.0 */
/* Deliveries in fair order; see guest_queue.h. */
#include "guest/guest_queue.h"

#include <assert.h>
#include <errno.h>

struct id_queue {
    struct list node;
    struct list deliveries;
    uint64_t id;
};

void guest_queue_init(struct guest_queue *q)
{
    list_init(&q->ids);
    q->n = q->bytes = 0;
    q->last = UINT64_MAX;
}

void guest_queue_fini(struct guest_queue *q)
{
    struct delivery *d;
    while ((d = guest_queue_pop(q)))
        free(d);
    assert(q->n == 0 && q->bytes == 0 && list_is_empty(&q->ids));
}

/* A linear search: at most as many ids wait as one guest has operations, and mostly one or two. */
static struct id_queue *find(const struct guest_queue *q, uint64_t id)
{
    list_each (node, &q->ids) {
        struct id_queue *iq = list_entry(node, struct id_queue, node);
        if (iq->id == id)
            return iq;
    }
    return NULL;
}

static struct id_queue *id_queue_new(uint64_t id)
{
    struct id_queue *iq = xnew(struct id_queue);
    iq->id = id;
    list_init(&iq->deliveries);
    return iq;
}

int guest_queue_add(struct guest_queue *q, uint64_t id, uint64_t token, uint32_t flags,
                    struct str payload)
{
    struct delivery *d = mem_try(sizeof *d + payload.n);
    if (!d)
        return -ENOMEM;
    *d = (struct delivery){ .id = id, .token = token, .flags = flags, .n = (uint32_t)payload.n };
    if (payload.n)
        memcpy(d->payload, payload.p, payload.n);
    struct id_queue *iq = find(q, id);
    if (!iq) {
        iq = id_queue_new(id);
        list_push_back(&q->ids, &iq->node);
    }
    list_push_back(&iq->deliveries, &d->node);
    q->n++;
    q->bytes += payload.n;
    return 0;
}

/* The id whose turn it is: the first, unless it also had the last turn and another id waits. */
static struct id_queue *turn(const struct guest_queue *q)
{
    struct id_queue *iq = list_first(&q->ids, struct id_queue, node);
    assert(!list_is_empty(&iq->deliveries));
    if (iq->id == q->last && iq->node.next != &q->ids)
        return list_entry(iq->node.next, struct id_queue, node);
    return iq;
}

const struct delivery *guest_queue_peek(const struct guest_queue *q)
{
    if (list_is_empty(&q->ids))
        return NULL;
    return list_first(&turn(q)->deliveries, struct delivery, node);
}

struct delivery *guest_queue_pop(struct guest_queue *q)
{
    if (list_is_empty(&q->ids))
        return NULL;
    struct id_queue *iq = turn(q);
    struct delivery *d = list_entry(list_pop_front(&iq->deliveries), struct delivery, node);
    list_remove(&iq->node);
    q->last = iq->id;
    if (list_is_empty(&iq->deliveries))
        free(iq);
    else
        list_push_back(&q->ids, &iq->node);
    assert(q->n > 0 && q->bytes >= d->n);
    q->n--;
    q->bytes -= d->n;
    return d;
}

void guest_queue_put_back(struct guest_queue *q, struct list *taken)
{
    while (!list_is_empty(taken)) {
        struct delivery *d = list_entry(taken->prev, struct delivery, node);
        struct id_queue *iq = find(q, d->id);
        list_remove(&d->node);
        if (!iq)
            iq = id_queue_new(d->id);
        else
            list_remove(&iq->node);
        list_push_front(&iq->deliveries, &d->node);
        list_push_front(&q->ids, &iq->node);
        q->n++;
        q->bytes += d->n;
    }
    q->last = UINT64_MAX; /* the delivery was undone */
}
