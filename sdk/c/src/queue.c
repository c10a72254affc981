/* SPDX-License-Identifier: Apache-2.0 */
#include "dm/queue.h"

#include "dm/mem.h"
#include "map.h"

#include <string.h>

enum state { READY, RUNNING, WAITING };

struct item {
    struct dm_map_node node; /* key "ns\0name\0" */
    struct dm_key key;
    struct item *next; /* in the ready or the waiting list */
    uint64_t due_ms;
    enum state state;
    bool again; /* added while running */
    char text[];
};

struct dm_queue {
    struct dm_map items;
    struct item *ready, **ready_end;
    struct item *waiting; /* earliest first */
    struct dm_queue_limits limits;
};

struct dm_queue *dm_queue_new(struct dm_queue_limits limits)
{
    struct dm_queue *q = dm_zalloc(sizeof(*q));
    q->limits = limits;
    q->ready_end = &q->ready;
    return q;
}

void dm_queue_free(struct dm_queue *q)
{
    if (!q)
        return;
    for (struct dm_map_node *i = dm_map_next(&q->items, NULL); i;
         i = dm_map_next(&q->items, NULL)) {
        dm_map_remove(&q->items, i);
        dm_free(i);
    }
    dm_map_fini(&q->items);
    dm_free(q);
}

static struct item *item_new(const char *ns, const char *name)
{
    size_t ns_n = strlen(ns) + 1, name_n = strlen(name) + 1;
    struct item *i = dm_zalloc(sizeof(*i) + ns_n + name_n);
    memcpy(i->text, ns, ns_n);
    memcpy(i->text + ns_n, name, name_n);
    i->key.ns = i->text;
    i->key.name = i->text + ns_n;
    i->node.key = i->text;
    i->node.n = (uint32_t)(ns_n + name_n);
    return i;
}

static struct item *item_find(const struct dm_queue *q, const char *ns, const char *name)
{
    struct dm_text key = { 0 };
    dm_text_put(&key, ns, strlen(ns) + 1);
    dm_text_put(&key, name, strlen(name) + 1);
    struct item *i = (struct item *)dm_map_find(&q->items, key.p, key.n);
    dm_text_fini(&key);
    return i;
}

static void make_ready(struct dm_queue *q, struct item *i)
{
    i->state = READY;
    i->next = NULL;
    *q->ready_end = i;
    q->ready_end = &i->next;
}

static void make_waiting(struct dm_queue *q, struct item *i, uint64_t due_ms)
{
    struct item **p = &q->waiting;
    while (*p && (*p)->due_ms <= due_ms)
        p = &(*p)->next;
    i->state = WAITING;
    i->due_ms = due_ms;
    i->next = *p;
    *p = i;
}

static void stop_waiting(struct dm_queue *q, struct item *i)
{
    struct item **p = &q->waiting;
    while (*p != i)
        p = &(*p)->next;
    *p = i->next;
}

void dm_queue_add(struct dm_queue *q, const char *ns, const char *name)
{
    struct item *i = item_find(q, ns, name);
    if (!i) {
        i = item_new(ns, name);
        dm_map_insert(&q->items, &i->node);
        make_ready(q, i);
        return;
    }
    switch (i->state) {
    case READY:
        break;
    case RUNNING:
        i->again = true;
        break;
    case WAITING:
        stop_waiting(q, i);
        make_ready(q, i);
        break;
    }
}

const struct dm_key *dm_queue_pop(struct dm_queue *q, uint64_t now_ms)
{
    while (q->waiting && q->waiting->due_ms <= now_ms) {
        struct item *i = q->waiting;
        q->waiting = i->next;
        make_ready(q, i);
    }
    struct item *i = q->ready;
    if (!i)
        return NULL;
    q->ready = i->next;
    if (!q->ready)
        q->ready_end = &q->ready;
    i->state = RUNNING;
    i->again = false;
    return &i->key;
}

static uint64_t backoff(const struct dm_queue *q, uint32_t failures)
{
    uint64_t ms = q->limits.backoff_min_ms;
    for (uint32_t i = 1; i < failures && ms < q->limits.backoff_max_ms; i++)
        ms *= 2;
    return ms < q->limits.backoff_max_ms ? ms : q->limits.backoff_max_ms;
}

void dm_queue_done(struct dm_queue *q, const struct dm_key *key, enum dm_outcome outcome,
                   uint64_t after_ms, uint64_t now_ms)
{
    struct item *i = (struct item *)((char *)(uintptr_t)key - offsetof(struct item, key));
    if (outcome == DM_FAILED) {
        i->key.failures += i->key.failures < UINT32_MAX ? 1 : 0;
        after_ms = backoff(q, i->key.failures);
    } else {
        i->key.failures = 0;
    }
    if (i->again) {
        make_ready(q, i);
    } else if (outcome == DM_DONE) {
        dm_map_remove(&q->items, &i->node);
        dm_free(i);
    } else {
        make_waiting(q, i, now_ms + after_ms);
    }
}

uint64_t dm_queue_due(const struct dm_queue *q)
{
    return q->waiting ? q->waiting->due_ms : UINT64_MAX;
}

size_t dm_queue_length(const struct dm_queue *q)
{
    return q->items.count;
}
