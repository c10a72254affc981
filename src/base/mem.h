/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: one owner per allocation.
 *
 * Small fixed-size objects come from xnew(), which aborts when the system has no memory. Sizes that
 * a peer, a file or a guest decides are capped first and use the failing form (mem_try()).
 * scoped(fn) releases a local on every return; take_ptr() and take_fd() move ownership out.
 * An arena owns what lives exactly as long as one request or one parse.
 */
#pragma once

#include "base/budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Zeroed; aborts on exhaustion. Release with free(). */
void *xalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
/* A NUL-terminated copy of n bytes. */
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

#define xnew(type)      ((type *)xalloc(sizeof(type)))
#define xnew_n(type, n) ((type *)xalloc_n(sizeof(type), (n)))
/* n * size with an overflow check; zeroed; aborts on exhaustion. */
void *xalloc_n(size_t size, size_t n) __attribute__((malloc, returns_nonnull));

/* Not zeroed; NULL when the system has no memory. For foreign sizes, after checking a limit. */
void *mem_try(size_t size) __attribute__((malloc));

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
#define ARRAY_LEN(a)                    (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)                       ((a) < (b) ? (a) : (b))
#define MAX(a, b)                       ((a) > (b) ? (a) : (b))

/* Scoped release: `scoped(free_scoped) char *p = ...;` */
#define scoped(fn) __attribute__((cleanup(fn)))
#define DEFINE_SCOPED(type, fn)                                                                    \
    static inline void fn##_scoped(struct type **p)                                                \
    {                                                                                              \
        if (*p)                                                                                    \
            fn(*p);                                                                                \
    }
static inline void free_scoped(void *pp)
{
    free(*(void **)pp);
}
/* Closes unless -1; keeps errno. */
void fd_scoped(int *fd);

static inline void *take_ptr_impl(void *pp)
{
    void **slot = (void **)pp;
    void *p = *slot;
    *slot = NULL;
    return p;
}
/* take_ptr(&p): the value of p, p becomes NULL. */
#define take_ptr(pp) ((__typeof__(*(pp)))take_ptr_impl(pp))
static inline int take_fd(int *fd)
{
    int v = *fd;
    *fd = -1;
    return v;
}

/* true on overflow, *ret then unset */
static inline bool size_add(size_t a, size_t b, size_t *ret)
{
    return __builtin_add_overflow(a, b, ret);
}
static inline bool size_mul(size_t a, size_t b, size_t *ret)
{
    return __builtin_mul_overflow(a, b, ret);
}

/*
 * Arena: bump allocation, freed at once. Zero-initialised is valid ("struct arena a = { 0 };").
 * max_bytes: limit, 0: none. arena_try() returns NULL past the limit, so code that handles foreign
 * sizes uses arena_try(). arena_alloc() ignores the limit, so that an error message about a tree
 * that was too large still finds room. block_bytes: size of a block, for arenas that live long and
 * hold little; 0: 4 KiB. budget: kept; the budget of the request that the arena belongs to, from
 * which all work in the arena spends; NULL: none. Not thread-safe.
 */
struct arena_block;
struct arena {
    struct arena_block *head;
    size_t total_bytes; /* handed out */
    size_t max_bytes;
    size_t block_bytes;
    struct budget *budget;
};

void *arena_alloc(struct arena *a, size_t size)
    __attribute__((returns_nonnull));          /* zeroed, aligned 16 */
void *arena_try(struct arena *a, size_t size); /* zeroed or NULL */
char *arena_strndup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));
char *arena_printf(struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));
#define arena_new(a, type)      ((type *)arena_alloc((a), sizeof(type)))
#define arena_new_n(a, type, n) ((type *)arena_alloc_n((a), sizeof(type), (n)))
void *arena_alloc_n(struct arena *a, size_t size, size_t n) __attribute__((returns_nonnull));
/*
 * arena_alloc() has exceeded the limit, or the budget of the request is used up: the current
 * operation must end with an error.
 */
static inline bool arena_is_full(const struct arena *a)
{
    return (a->max_bytes && a->total_bytes > a->max_bytes) || budget_is_over(a->budget);
}
/* budget_spend() of the arena's budget. */
static inline bool arena_spend(struct arena *a, uint64_t steps, const char *what)
{
    return budget_spend(a->budget, steps, what);
}
/*
 * A position to rewind to. arena_rewind() frees everything allocated since and refunds its bytes,
 * but not the steps of the budget. Rewinding to an earlier mark makes later ones invalid; a reset
 * makes all of them invalid.
 */
struct arena_mark {
    struct arena_block *head;
    size_t used, serial, total_bytes;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, const struct arena_mark *to);
/* Empty it, keep the first block. */
void arena_reset(struct arena *a);
/* Release all; the struct is zero-initialised again (max_bytes and budget kept). */
void arena_fini(struct arena *a);
