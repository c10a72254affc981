/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intrusive doubly linked list. A head is a struct list initialised by list_init(); a node is a
 * struct list inside its owner; a zeroed node is on no list.
 */
#pragma once

#include "base/mem.h"

#include <assert.h>

struct list {
    struct list *next, *prev;
};

static inline void list_init(struct list *head)
{
    head->next = head->prev = head;
}
static inline bool list_is_empty(const struct list *head)
{
    return head->next == head || !head->next;
}
static inline bool list_is_linked(const struct list *node)
{
    return node->next != NULL;
}
static inline void list_insert_between(struct list *node, struct list *prev, struct list *next)
{
    assert(!list_is_linked(node) && prev->next == next);
    node->prev = prev;
    node->next = next;
    prev->next = node;
    next->prev = node;
}
static inline void list_push_back(struct list *head, struct list *node)
{
    list_insert_between(node, head->prev, head);
}
static inline void list_push_front(struct list *head, struct list *node)
{
    list_insert_between(node, head, head->next);
}
static inline void list_insert_before(struct list *at, struct list *node)
{
    list_insert_between(node, at->prev, at);
}
/* Remove the node from its list; no effect if it is on none. */
static inline void list_remove(struct list *node)
{
    if (!list_is_linked(node))
        return;
    /* Else the node was moved or freed while it was on the list. */
    assert(node->prev->next == node);
    node->prev->next = node->next;
    node->next->prev = node->prev;
    node->next = node->prev = NULL;
}
static inline struct list *list_pop_front(struct list *head)
{
    if (list_is_empty(head))
        return NULL;
    struct list *node = head->next;
    list_remove(node);
    return node;
}
/* Move everything from `from` to the empty head `to`. */
static inline void list_move_all(struct list *from, struct list *to)
{
    assert(from != to);
    list_init(to);
    if (list_is_empty(from))
        return;
    to->next = from->next;
    to->prev = from->prev;
    to->next->prev = to;
    to->prev->next = to;
    list_init(from);
}

#define list_entry(node, type, member) container_of(node, type, member)
#define list_first(head, type, member) list_entry((head)->next, type, member)
/* `node` is a struct list *; it must not be removed inside. */
#define list_each(node, head)                                                                      \
    for (struct list *node = (head)->next; node != (head); node = node->next)
/* As list_each(), and `node` itself may be removed or freed inside. */
#define list_each_safe(node, head)                                                                 \
    for (struct list *node = (head)->next, *node##_next = node->next; node != (head);              \
         node = node##_next, node##_next = node->next)
