/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed growing array: `VEC(int) v = { 0 }; vec_push(&v, 3); v.p[0]; vec_fini(&v);`
 * Growth aborts on exhaustion; code that adds elements on behalf of a peer, a file or a guest
 * checks v.n against a limit first.
 */
#pragma once

#include "base/mem.h"

#include <assert.h>
#include <string.h>

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *p;                                                                                   \
        size_t n, cap;                                                                             \
    }

static inline void *vec_grow_impl(void *p, size_t *cap, size_t n, size_t size)
{
    if (n < *cap)
        return p;
    size_t want = *cap ? *cap * 2 : 8, bytes;
    if (size_mul(want, size, &bytes))
        abort();
    *cap = want;
    return xrealloc(p, bytes);
}

#define vec_push(v, value)                                                                         \
    do {                                                                                           \
        (v)->p = vec_grow_impl((v)->p, &(v)->cap, (v)->n, sizeof *(v)->p);                         \
        (v)->p[(v)->n++] = (value);                                                                \
    } while (0)
/* Remove index i, keeping the order. */
#define vec_remove(v, i)                                                                           \
    do {                                                                                           \
        size_t vec_i_ = (i);                                                                       \
        assert(vec_i_ < (v)->n);                                                                   \
        memmove((v)->p + vec_i_, (v)->p + vec_i_ + 1, ((v)->n - vec_i_ - 1) * sizeof *(v)->p);     \
        (v)->n--;                                                                                  \
    } while (0)
#define vec_fini(v)                                                                                \
    do {                                                                                           \
        free((v)->p);                                                                              \
        (v)->p = NULL;                                                                             \
        (v)->n = (v)->cap = 0;                                                                     \
    } while (0)
#define vec_each(item, v)                                                                          \
    for (__typeof__((v)->p) item = (v)->p; item && item < (v)->p + (v)->n; item++)
