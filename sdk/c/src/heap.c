/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First fit in address order with boundary tags.
 *
 *   | size|flag | prev size | payload ...      | size|flag | prev size | ...
 *     4 bytes     4 bytes     multiple of 8
 *
 * `size` counts header and payload, bit 0 says free. A free block holds the offsets of its
 * neighbours on the free list in its payload. Offset 0 would be a valid block, so the first 8 bytes
 * stay unused.
 */
#include "dm/mem.h"

#include <string.h>

#define HEADER     8u
#define MIN_BLOCK  16u
#define IS_FREE    1u
#define PAGE_BYTES 4096u
#define CLEAR_MIN  (2 * PAGE_BYTES) /* smaller blocks seldom span a whole page */

struct block {
    uint32_t size;
    uint32_t prev_size; /* 0 for the first block */
    uint32_t next_free; /* only while free */
    uint32_t prev_free;
};

static struct block *at(const struct dm_heap *h, uint32_t off)
{
    return (struct block *)(void *)(h->base + off);
}

static uint32_t offset_of(const struct dm_heap *h, const struct block *b)
{
    return (uint32_t)((const unsigned char *)b - h->base);
}

static uint32_t size_of(const struct block *b)
{
    return b->size & ~IS_FREE;
}

static bool is_free(const struct block *b)
{
    return (b->size & IS_FREE) != 0;
}

/* Tell the block behind `b`, or the heap, how large `b` is now. */
static void note_size(struct dm_heap *h, struct block *b)
{
    uint32_t off = offset_of(h, b);
    uint32_t next = off + size_of(b);
    if (next < h->end)
        at(h, next)->prev_size = size_of(b);
    else
        h->last = off;
}

static void list_insert_after(struct dm_heap *h, uint32_t prev, uint32_t off)
{
    struct block *b = at(h, off);
    uint32_t next = prev ? at(h, prev)->next_free : h->free_head;
    b->prev_free = prev;
    b->next_free = next;
    if (next)
        at(h, next)->prev_free = off;
    if (prev)
        at(h, prev)->next_free = off;
    else
        h->free_head = off;
}

static void list_remove(struct dm_heap *h, struct block *b)
{
    if (b->next_free)
        at(h, b->next_free)->prev_free = b->prev_free;
    if (b->prev_free)
        at(h, b->prev_free)->next_free = b->next_free;
    else
        h->free_head = b->next_free;
}

static uint32_t list_find_before(const struct dm_heap *h, uint32_t off)
{
    uint32_t prev = 0;
    for (uint32_t f = h->free_head; f && f < off; f = at(h, f)->next_free)
        prev = f;
    return prev;
}

/* Mark `b` free, join it with free neighbours, and put it on the list. */
static void release(struct dm_heap *h, struct block *b)
{
    uint32_t off = offset_of(h, b);
    uint32_t next = off + size_of(b);
    if (next < h->end && is_free(at(h, next))) {
        list_remove(h, at(h, next));
        b->size += size_of(at(h, next));
    }
    if (b->prev_size && is_free(at(h, off - b->prev_size))) {
        struct block *p = at(h, off - b->prev_size);
        p->size = (size_of(p) + size_of(b)) | IS_FREE;
        note_size(h, p);
        return;
    }
    b->size = size_of(b) | IS_FREE;
    list_insert_after(h, list_find_before(h, off), off);
    note_size(h, b);
}

void dm_heap_init(struct dm_heap *h, void *base, uint32_t n,
                  uint32_t (*grow)(struct dm_heap *h, uint32_t n))
{
    *h = (struct dm_heap){ .base = base, .end = HEADER, .grow = grow };
    n &= ~7u;
    if (n < HEADER + MIN_BLOCK)
        return;
    h->end = n;
    struct block *b = at(h, HEADER);
    b->size = (n - HEADER) | IS_FREE;
    b->prev_size = 0;
    b->prev_free = b->next_free = 0;
    h->free_head = h->last = HEADER;
}

static bool grow(struct dm_heap *h, uint32_t size)
{
    if (!h->grow || size > UINT32_MAX - PAGE_BYTES - h->end)
        return false;
    uint32_t got = h->grow(h, size);
    if (got < size)
        return false;
    struct block *b = at(h, h->end);
    b->prev_size = h->end == HEADER ? 0 : size_of(at(h, h->last));
    b->size = got;
    h->last = h->end;
    h->end += got;
    release(h, b);
    return true;
}

static struct block *find(const struct dm_heap *h, uint32_t size)
{
    for (uint32_t f = h->free_head; f; f = at(h, f)->next_free)
        if (size_of(at(h, f)) >= size)
            return at(h, f);
    return NULL;
}

void *dm_heap_alloc(struct dm_heap *h, size_t n)
{
    if (n > UINT32_MAX - 2 * PAGE_BYTES)
        return NULL;
    uint32_t size = ((uint32_t)n + HEADER + 7u) & ~7u;
    if (size < MIN_BLOCK)
        size = MIN_BLOCK;
    struct block *b = find(h, size);
    if (!b) {
        if (!grow(h, size))
            return NULL;
        b = find(h, size);
    }
    uint32_t rest = size_of(b) - size;
    uint32_t off = offset_of(h, b);
    uint32_t prev = b->prev_free;
    list_remove(h, b);
    if (rest >= MIN_BLOCK) {
        b->size = size;
        struct block *r = at(h, off + size);
        r->size = rest | IS_FREE;
        r->prev_size = size;
        list_insert_after(h, prev, off + size);
        note_size(h, r);
    } else {
        b->size = size_of(b);
    }
    return (unsigned char *)b + HEADER;
}

/* Zero whole pages inside a large block, so that they need no room in a swap file. */
static void clear_pages(struct block *b)
{
    if (size_of(b) < CLEAR_MIN)
        return;
    uintptr_t from = ((uintptr_t)b + sizeof(*b) + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);
    uintptr_t to = ((uintptr_t)b + size_of(b)) & ~(uintptr_t)(PAGE_BYTES - 1);
    if (from < to)
        memset((void *)from, 0, to - from);
}

void dm_heap_free(struct dm_heap *h, void *p)
{
    if (!p)
        return;
    struct block *b = (struct block *)(void *)((unsigned char *)p - HEADER);
    clear_pages(b);
    release(h, b);
}

size_t dm_heap_usable(const struct dm_heap *h, const void *p)
{
    (void)h;
    const struct block *b = (const struct block *)(const void *)((const unsigned char *)p - HEADER);
    return size_of(b) - HEADER;
}

bool dm_heap_check(const struct dm_heap *h)
{
    uint32_t prev_size = 0, prev_free = 0;
    bool after_free = false;
    for (uint32_t off = HEADER; off < h->end; off += size_of(at(h, off))) {
        const struct block *b = at(h, off);
        if (size_of(b) < MIN_BLOCK || size_of(b) > h->end - off || b->prev_size != prev_size)
            return false;
        if (is_free(b)) {
            uint32_t listed = prev_free ? at(h, prev_free)->next_free : h->free_head;
            if (after_free || listed != off || b->prev_free != prev_free)
                return false;
            prev_free = off;
        }
        after_free = is_free(b);
        prev_size = size_of(b);
        if (off + size_of(b) == h->end && h->last != off)
            return false;
    }
    return (prev_free ? at(h, prev_free)->next_free : h->free_head) == 0;
}
