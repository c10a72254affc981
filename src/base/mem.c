/* SPDX-License-Identifier: Apache-2.0 */
/* Memory helpers and the arena; see mem.h. */
#include "base/mem.h"

#include "base/slab.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ARENA_BLOCK_BYTES = 4096 - 64, ARENA_ALIGN = 16, ARENA_BYTES_PER_STEP = 16 };

struct arena_block {
    struct arena_block *next;
    size_t size; /* of data */
    size_t used;
    size_t serial; /* greater in newer blocks; also aligns data to 16 */
    char data[];
};

static void out_of_memory(size_t size)
{
    (void)fprintf(stderr, "out of memory: %zu bytes\n", size);
    abort();
}

/* glibc's cache of freed blocks, of up to 1 KiB, serves malloc() and not calloc(). */
enum { CACHED_BYTES = 1024 };

void *xalloc(size_t size)
{
    size = size ? size : 1;
    void *p = size <= CACHED_BYTES ? malloc(size) : calloc(1, size);
    if (!p)
        out_of_memory(size);
    return size <= CACHED_BYTES ? memset(p, 0, size) : p;
}

void *xalloc_n(size_t size, size_t n)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        out_of_memory(size);
    return p;
}

void *xrealloc(void *p, size_t size)
{
    void *q = realloc(p, size ? size : 1);
    if (!q)
        out_of_memory(size);
    return q;
}

char *xstrdup(const char *s)
{
    return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t n)
{
    char *p = xalloc(n + 1);
    if (n)
        memcpy(p, s, n);
    return p;
}

char *xasprintf(const char *fmt, ...)
{
    char *p;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&p, fmt, ap);
    va_end(ap);
    if (n < 0)
        out_of_memory(0);
    return p;
}

void *mem_try(size_t size)
{
    return malloc(size ? size : 1);
}

void fd_scoped(int *fd)
{
    if (*fd < 0)
        return;
    int saved = errno;
    (void)close(*fd);
    errno = saved;
}

/* Serial of the newest block: the head, or the large block that was inserted after it last. */
static size_t newest(const struct arena *a)
{
    const struct arena_block *b = a->head;
    if (!b)
        return 0;
    return b->next ? MAX(b->serial, b->next->serial) : b->serial;
}

static struct arena_block *new_block(struct arena *a, size_t size)
{
    size_t block = a->block_bytes ? a->block_bytes : (size_t)ARENA_BLOCK_BYTES;
    size_t want = MAX(size, block);
    size_t bytes;
    if (size_add(want, sizeof(struct arena_block), &bytes))
        return NULL;
    /* Small blocks belong to arenas that live long. */
    struct arena_block *b =
        a->block_bytes && bytes <= SLAB_MAX_BYTES ? slab_alloc(bytes) : malloc(bytes);
    if (!b)
        return NULL;
    b->size = want;
    b->used = 0;
    b->serial = newest(a) + 1;
    /* Filling the memory takes time: some 10 ns for a node of a tree, even for a copy. */
    (void)arena_spend(a, want / ARENA_BYTES_PER_STEP, "decoding and copying what was sent");
    /* A block for one large value is inserted after the head, which may still have room. */
    if (a->head && size > block / 2 && a->head->size - a->head->used > 256) {
        b->next = a->head->next;
        a->head->next = b;
    } else {
        b->next = a->head;
        a->head = b;
    }
    return b;
}

/* max_bytes 0: no limit. */
static void *arena_take(struct arena *a, size_t size, size_t max_bytes)
{
    size_t rounded;
    if (size_add(size ? size : 1, ARENA_ALIGN - 1, &rounded))
        return NULL;
    rounded &= ~(size_t)(ARENA_ALIGN - 1);
    if (max_bytes && (rounded > max_bytes || a->total_bytes > max_bytes - rounded))
        return NULL;
    struct arena_block *b = a->head;
    if (!b || b->size - b->used < rounded)
        b = new_block(a, rounded);
    if (!b)
        return NULL;
    void *p = b->data + b->used;
    b->used += rounded;
    a->total_bytes += rounded;
    memset(p, 0, size);
    return p;
}

void *arena_try(struct arena *a, size_t size)
{
    return arena_take(a, size, a->max_bytes);
}

void *arena_alloc(struct arena *a, size_t size)
{
    void *p = arena_take(a, size, 0);
    if (!p)
        out_of_memory(size);
    return p;
}

void *arena_alloc_n(struct arena *a, size_t size, size_t n)
{
    size_t bytes;
    if (size_mul(size, n, &bytes))
        out_of_memory(SIZE_MAX);
    return arena_alloc(a, bytes);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    if (n)
        memcpy(p, s, n);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    assert(n >= 0);
    char *p = arena_alloc(a, (size_t)n + 1);
    (void)vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){ .head = a->head,
                                .used = a->head ? a->head->used : 0,
                                .serial = newest(a),
                                .total_bytes = a->total_bytes };
}

void arena_rewind(struct arena *a, const struct arena_mark *to)
{
    struct arena_block **at = &a->head;
    assert(to->total_bytes <= a->total_bytes); /* else the mark is of another arena, or newer */
    while (*at) {
        struct arena_block *b = *at;
        if (b->serial > to->serial) {
            *at = b->next;
            slab_free(b);
        } else {
            at = &b->next;
        }
    }
    assert(a->head == to->head);
    assert(!a->head || to->used <= a->head->used);
    if (a->head)
        a->head->used = to->used;
    a->total_bytes = to->total_bytes;
}

void arena_reset(struct arena *a)
{
    struct arena_block *b = a->head;
    if (!b)
        return;
    struct arena_block *next = b->next;
    while (next) {
        struct arena_block *after = next->next;
        slab_free(next);
        next = after;
    }
    b->next = NULL;
    b->used = 0;
    a->total_bytes = 0;
}

void arena_fini(struct arena *a)
{
    struct arena_block *b = a->head;
    while (b) {
        struct arena_block *next = b->next;
        slab_free(b);
        b = next;
    }
    a->head = NULL;
    a->total_bytes = 0;
}
