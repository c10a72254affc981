/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for guests: a heap that stays small and arenas on top of it.
 *
 * A sleeping guest costs what its dirty pages cost, so the heap prefers low addresses (first fit
 * over a list in address order), starts directly behind the data and clears the pages of large
 * blocks when they are freed: an all-zero page becomes a hole in the swap file. The heap replaces
 * libc's malloc in a guest; a native build uses libc's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* These end the guest when memory is used up: the host restarts it with back-off. */
void *dm_alloc(size_t n);
void *dm_zalloc(size_t n);
void *dm_realloc(void *p, size_t n);
void dm_free(void *p);

/*
 * Memory that is released all at once. A zeroed arena is ready for use.
 * Blocks are aligned to 8 bytes and are not cleared.
 */
struct dm_arena {
    struct dm_chunk *chunks; /* newest first */
};

void *dm_arena_alloc(struct dm_arena *a, size_t n);
char *dm_arena_copy(struct dm_arena *a, const char *p, size_t n); /* NUL-terminated */
void dm_arena_fini(struct dm_arena *a);

/*
 * The heap itself, usable on any region; memory.c has the guest's only instance.
 *
 * Blocks are addressed by offsets from `base`, so a heap spans at most 4 GiB minus one page.
 */
struct dm_heap {
    unsigned char *base; /* aligned to 8 */
    uint32_t end;        /* bytes managed, a multiple of 8 */
    uint32_t last;       /* offset of the last block, for growth at the end */
    uint32_t free_head;  /* offset of the lowest free block, 0 = none */
    /*
     * Make at least `n` more bytes usable directly behind `end` and return how many there are now,
     * a multiple of 8; 0 when there is no more.
     */
    uint32_t (*grow)(struct dm_heap *h, uint32_t n);
};

/* Manage [base, base + n). n may be 0 when grow() can supply the rest. */
void dm_heap_init(struct dm_heap *h, void *base, uint32_t n,
                  uint32_t (*grow)(struct dm_heap *h, uint32_t n));
void *dm_heap_alloc(struct dm_heap *h, size_t n); /* NULL when there is no room */
void dm_heap_free(struct dm_heap *h, void *p);
size_t dm_heap_usable(const struct dm_heap *h, const void *p);
bool dm_heap_check(const struct dm_heap *h); /* walks everything; for tests */
