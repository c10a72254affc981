/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that arrived while pods were in flight. One list for all: a pod's mark is at the position
 * where the pod was popped, so all events after the mark came later.
 *
 *     mark A -- event -- mark B -- event -- event
 *
 * When the first mark is removed, so are the events before the next one.
 */
#include "sched/queue/internal.h"

struct in_flight_event {
    struct in_flight_node node;
    struct sched_event event;
};

static struct in_flight_node *node_of(struct list *link)
{
    return list_entry(link, struct in_flight_node, link);
}

static struct in_flight_event *event_of(struct in_flight_node *n)
{
    return container_of(n, struct in_flight_event, node);
}

static const struct sched_object *object_ref(const struct sched_object *o)
{
    return o ? sched_object_ref((void *)(uintptr_t)o) : NULL;
}

static void free_event(struct sched_queue *q, struct in_flight_event *e)
{
    list_remove(&e->node.link);
    sched_object_unref(q->opts.words, (void *)(uintptr_t)e->event.before);
    sched_object_unref(q->opts.words, (void *)(uintptr_t)e->event.after);
    free(e);
    assert(q->n_events > 0);
    q->n_events--;
}

static void prune(struct sched_queue *q)
{
    while (!list_is_empty(&q->in_flight)) {
        struct in_flight_node *first = node_of(q->in_flight.next);
        if (!first->is_event)
            break;
        free_event(q, event_of(first));
    }
    assert(q->n_in_flight > 0 || q->n_events == 0); /* events are kept only for pods in flight */
}

void in_flight_begin(struct sched_queue *q, struct queued *p)
{
    assert(p->place == IN_NOTHING && p->heap_at == 0 && !p->group && !p->mark.is_event);
    list_push_back(&q->in_flight, &p->mark.link);
    q->n_in_flight++;
    p->place = IN_FLIGHT;
    p->lost_events = false;
}

void in_flight_end(struct sched_queue *q, struct queued *p)
{
    assert(p->place == IN_FLIGHT && q->n_in_flight > 0);
    list_remove(&p->mark.link);
    q->n_in_flight--;
    p->place = IN_NOTHING;
    prune(q);
}

/* Pods in flight have missed an event: each comes back as if an event had helped it. */
void in_flight_lose(struct sched_queue *q)
{
    list_each_safe (link, &q->in_flight) {
        struct in_flight_node *n = node_of(link);
        if (n->is_event)
            free_event(q, event_of(n));
        else
            container_of(n, struct queued, mark)->lost_events = true;
    }
}

void in_flight_event(struct sched_queue *q, const struct sched_event *event)
{
    if (q->n_in_flight == 0)
        return;
    if (q->n_events >= SCHED_IN_FLIGHT_EVENTS_MAX) {
        in_flight_lose(q);
        return;
    }
    assert(!list_is_empty(&q->in_flight) && !node_of(q->in_flight.next)->is_event);
    struct in_flight_event *e = xnew(struct in_flight_event);
    e->node.is_event = true;
    e->event = *event;
    e->event.before = object_ref(event->before);
    e->event.after = object_ref(event->after);
    list_push_back(&q->in_flight, &e->node.link);
    q->n_events++;
}

bool in_flight_since(const struct queued *p, const struct sched_queue *q,
                     bool (*each)(void *arg, const struct sched_event *event), void *arg)
{
    assert(p->place == IN_FLIGHT);
    for (struct list *link = p->mark.link.next; link != &q->in_flight; link = link->next) {
        struct in_flight_node *n = node_of(link);
        if (n->is_event && each(arg, &event_of(n)->event))
            return true;
    }
    return false;
}

void in_flight_each(const struct sched_queue *q,
                    void (*each)(void *arg, const struct sched_event *event), void *arg)
{
    for (struct list *link = q->in_flight.next; link != &q->in_flight; link = link->next) {
        struct in_flight_node *n = node_of(link);
        if (n->is_event)
            each(arg, &event_of(n)->event);
    }
}

void in_flight_fini(struct sched_queue *q)
{
    list_each_safe (link, &q->in_flight) {
        struct in_flight_node *n = node_of(link);
        if (n->is_event)
            free_event(q, event_of(n));
    }
}
