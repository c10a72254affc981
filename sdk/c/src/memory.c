/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's malloc on dm_heap, the aborting forms of it, and arenas. */
#include "dm/mem.h"

#include <stdlib.h>
#include <string.h>

#ifdef __wasm__

#define WASM_PAGE 65536u

extern unsigned char __heap_base; /* from the linker: first byte behind data and stack */

static struct dm_heap heap;

static uint32_t grow(struct dm_heap *h, uint32_t n)
{
    uintptr_t end = (uintptr_t)h->base + h->end;
    uintptr_t have = __builtin_wasm_memory_size(0) * WASM_PAGE;
    uintptr_t room = have > end ? have - end : 0;
    if (room < n) {
        size_t pages = (n - room + WASM_PAGE - 1) / WASM_PAGE;
        if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1)
            return 0;
        room += pages * WASM_PAGE;
    }
    /* Hand out in pieces: the tail of the memory is not even looked at before it is needed. */
    uintptr_t step = n > 2048 ? n : 2048;
    return (uint32_t)(room < step ? room : step) & ~7u;
}

/* Not malloc() itself: compilers turn malloc and memset into calloc, which would then call itself.
 */
static void *get(size_t n)
{
    if (!heap.base)
        dm_heap_init(&heap, (void *)(((uintptr_t)&__heap_base + 7) & ~(uintptr_t)7), 0, grow);
    return dm_heap_alloc(&heap, n);
}

void *malloc(size_t n)
{
    return get(n);
}

void free(void *p)
{
    dm_heap_free(&heap, p);
}

void *calloc(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return NULL;
    void *p = get(bytes);
    if (p)
        memset(p, 0, bytes);
    return p;
}

void *realloc(void *old, size_t n)
{
    if (!old)
        return get(n);
    size_t had = dm_heap_usable(&heap, old);
    if (n <= had)
        return old;
    void *p = get(n);
    if (!p)
        return NULL;
    memcpy(p, old, had);
    free(old);
    return p;
}

#endif

static void *must(void *p)
{
    if (!p)
        abort();
    return p;
}

void *dm_alloc(size_t n)
{
    return must(malloc(n ? n : 1));
}

void *dm_zalloc(size_t n)
{
    return must(calloc(1, n ? n : 1));
}

void *dm_realloc(void *p, size_t n)
{
    return must(realloc(p, n ? n : 1));
}

void dm_free(void *p)
{
    free(p);
}

#define CHUNK_BYTES 496u /* a heap block of 512 bytes with both headers */

struct dm_chunk {
    struct dm_chunk *next;
    uint32_t used, size;
    _Alignas(8) unsigned char data[];
};

void *dm_arena_alloc(struct dm_arena *a, size_t n)
{
    struct dm_chunk *c = a->chunks;
    if (n > UINT32_MAX / 2)
        abort();
    n = (n + 7) & ~(size_t)7;
    if (!c || c->size - c->used < n) {
        size_t size = n > CHUNK_BYTES ? n : CHUNK_BYTES;
        c = dm_alloc(sizeof(*c) + size);
        c->next = a->chunks;
        c->used = 0;
        c->size = (uint32_t)size;
        a->chunks = c;
    }
    void *p = c->data + c->used;
    c->used += (uint32_t)n;
    return p;
}

char *dm_arena_copy(struct dm_arena *a, const char *p, size_t n)
{
    char *s = dm_arena_alloc(a, n + 1);
    if (n)
        memcpy(s, p, n);
    s[n] = 0;
    return s;
}

void dm_arena_fini(struct dm_arena *a)
{
    while (a->chunks) {
        struct dm_chunk *c = a->chunks;
        a->chunks = c->next;
        dm_free(c);
    }
}
