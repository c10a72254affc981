/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small records that rest for long: what each operator, subscription and queue keeps while nothing
 * happens. As malloc() and free(), but apart from everything that comes and goes, so that the
 * holes which a burst of requests leaves do not stand between thousands of records: each lies in a
 * slab of its class of size, without a header.
 *
 * Measured with 2,000 operators asleep: malloc's headers, rounding and holes took 2.3 KB beside the
 * 4.1 KB that each of them asks for. Whatever does not live long belongs to malloc() or an arena.
 *
 * Any thread.
 */
#pragma once

#include "base/mem.h"

enum {
    RECORD_MAX_BYTES = 1024,         /* larger ones come from malloc() */
    RECORD_REGION_BYTES = 512 << 20, /* of address space; beyond it they come from malloc(), too */
    RECORD_SLAB_BYTES = 16 << 10
};

/* Zeroed; aborts on exhaustion. */
void *record_alloc(size_t size) __attribute__((malloc, returns_nonnull));
#define record_new(type) ((type *)record_alloc(sizeof(type)))
/* Of record_alloc() or malloc(). NULL is fine. */
void record_free(void *p);
/* A NUL-terminated copy. */
char *record_strndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));

struct record_stats {
    size_t records, bytes; /* in use */
    size_t slabs;
};
void record_get_stats(struct record_stats *ret);
