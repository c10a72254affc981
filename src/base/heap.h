/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binary heap over a VEC: v->p[0] is the entry that comes first. Entries are values, pointers or
 * small structs; the user defines once, as a constant, how they are ordered and where an entry
 * stores its place:
 *
 *     static bool timer_before(const void *a, const void *b, const void *arg)
 *     {
 *         return (*(struct timer *const *)a)->due_ms < (*(struct timer *const *)b)->due_ms;
 *     }
 *     static void timer_placed(void *entry, size_t place)
 *     {
 *         (*(struct timer **)entry)->place = place;
 *     }
 *     static const struct heap_kind timers = { sizeof(struct timer *), timer_before, timer_placed
 * };
 *
 *     VEC(struct timer *) heap = { 0 };
 *     heap_push(&timers, NULL, &heap, t);
 *     heap_remove(&timers, NULL, &heap, t->place);
 *
 * Everything is inline, so that the calls of a constant kind are inlined as well. The order of
 * entries that compare equal is not specified, but the same calls give the same order; a user who
 * needs a certain order adds a sequence number. push, remove and fix take O(log n) steps. The
 * memory is the VEC's: it never shrinks before vec_fini().
 */
#pragma once

#include "base/vec.h"

#include <assert.h>

enum { HEAP_ENTRY_MAX_BYTES = 64 };

struct heap_kind {
    size_t size; /* of an entry, at most HEAP_ENTRY_MAX_BYTES */
    /* Whether entry a comes before entry b. arg: as given to the call. */
    bool (*before)(const void *a, const void *b, const void *arg);
    /* The entry has moved to v->p[place - 1]; place 0: it was removed. So a zeroed entry is in no
     * heap. NULL: places are not tracked. */
    void (*placed)(void *entry, size_t place);
};

#define HEAP_INLINE static inline __attribute__((always_inline))

HEAP_INLINE void *heap_at(const struct heap_kind *k, void *p, size_t i)
{
    return (char *)p + i * k->size;
}

HEAP_INLINE void heap_put(const struct heap_kind *k, void *p, size_t i, const void *entry)
{
    memcpy(heap_at(k, p, i), entry, k->size);
    if (k->placed)
        k->placed(heap_at(k, p, i), i + 1);
}

/* Put the entry at the hole i or above it; returns its index. */
HEAP_INLINE size_t heap_rise(const struct heap_kind *k, const void *arg, void *p, size_t i,
                             const void *entry)
{
    for (; i > 0 && k->before(entry, heap_at(k, p, (i - 1) / 2), arg); i = (i - 1) / 2)
        heap_put(k, p, i, heap_at(k, p, (i - 1) / 2));
    heap_put(k, p, i, entry);
    return i;
}

/* Put the entry at the hole i or below it. */
HEAP_INLINE void heap_sink(const struct heap_kind *k, const void *arg, void *p, size_t n, size_t i,
                           const void *entry)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && k->before(heap_at(k, p, child + 1), heap_at(k, p, child), arg))
            child++;
        if (!k->before(heap_at(k, p, child), entry, arg))
            break;
        heap_put(k, p, i, heap_at(k, p, child));
    }
    heap_put(k, p, i, entry);
}

/* The entry belongs at i, above it or below it; what is at i is overwritten. */
HEAP_INLINE void heap_settle(const struct heap_kind *k, const void *arg, void *p, size_t n,
                             size_t i, const void *entry)
{
    if (i > 0 && k->before(entry, heap_at(k, p, (i - 1) / 2), arg))
        (void)heap_rise(k, arg, p, i, entry);
    else
        heap_sink(k, arg, p, n, i, entry);
}

HEAP_INLINE void heap_push_impl(const struct heap_kind *k, const void *arg, void *p, size_t n)
{
    char entry[HEAP_ENTRY_MAX_BYTES];
    assert(n > 0 && k->size <= HEAP_ENTRY_MAX_BYTES);
    memcpy(entry, heap_at(k, p, n - 1), k->size);
    (void)heap_rise(k, arg, p, n - 1, entry);
}

HEAP_INLINE void heap_fix_impl(const struct heap_kind *k, const void *arg, void *p, size_t n,
                               size_t place)
{
    char entry[HEAP_ENTRY_MAX_BYTES];
    assert(place > 0 && place <= n);
    memcpy(entry, heap_at(k, p, place - 1), k->size);
    heap_settle(k, arg, p, n, place - 1, entry);
}

/* Returns the number of entries left. */
HEAP_INLINE size_t heap_remove_impl(const struct heap_kind *k, const void *arg, void *p, size_t n,
                                    size_t place)
{
    char last[HEAP_ENTRY_MAX_BYTES];
    assert(place > 0 && place <= n);
    if (k->placed)
        k->placed(heap_at(k, p, place - 1), 0);
    memcpy(last, heap_at(k, p, --n), k->size);
    if (place - 1 < n)
        heap_settle(k, arg, p, n, place - 1, last);
    return n;
}

/* In all macros: k is a const struct heap_kind *, v a VEC *, arg is passed to k->before(). */

#define heap_push(k, arg, v, value)                                                                \
    do {                                                                                           \
        vec_push(v, value);                                                                        \
        heap_push_impl(k, arg, (v)->p, (v)->n);                                                    \
    } while (0)
/* Remove the entry at v->p[place - 1]; the first one is at place 1. */
#define heap_remove(k, arg, v, place)                                                              \
    ((void)((v)->n = heap_remove_impl(k, arg, (v)->p, (v)->n, place)))
/* Restore the heap after the entry at `place`, and no other one, changed its order. */
#define heap_fix(k, arg, v, place) heap_fix_impl(k, arg, (v)->p, (v)->n, place)
/*
 * Push, but keep only the `max` (> 0) entries that come last; the others are dropped. With the
 * reverse order in k->before() this picks the first `max` of many without sorting all.
 */
#define heap_offer(k, arg, v, value, max)                                                          \
    do {                                                                                           \
        __typeof__(*(v)->p) heap_new_ = (value);                                                   \
        if ((v)->n < (max)) {                                                                      \
            heap_push(k, arg, v, heap_new_);                                                       \
        } else if ((k)->before((v)->p, &heap_new_, arg)) {                                         \
            (v)->p[0] = heap_new_;                                                                 \
            heap_fix(k, arg, v, 1);                                                                \
        }                                                                                          \
    } while (0)
