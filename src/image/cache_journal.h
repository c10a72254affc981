/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the state of a layer cache across restarts: an append-only file of its events. It is a
 * hint, so it is not synced; the directory of layers is the truth (image_cache_settle()). One
 * thread at a time.
 *
 *     "dmcache1"
 *     72 bytes each, little-endian: milliseconds since 1970 (8), op (1), list (1), 0 (2), uses (4),
 *     size (8),
 *     target as an IEEE double (8), key (32), checksum (8) over these, seeded with the number of
 *     the record
 *
 * Rewritten, as the events that lead to the current state, when it is larger than
 * IMAGE_CACHE_JOURNAL_BYTES or twice its size after the last rewrite.
 */
#pragma once

#include "base/err.h"
#include "image/cache.h"

enum {
    IMAGE_CACHE_JOURNAL_BYTES = 1 << 20,
    IMAGE_CACHE_JOURNAL_MAX_BYTES = 256 << 20, /* a larger file is treated as damaged */
    IMAGE_CACHE_JOURNAL_PENDING_BYTES = 1 << 20,
};

enum image_cache_journal_state {
    IMAGE_CACHE_JOURNAL_WHOLE,
    IMAGE_CACHE_JOURNAL_CUT,    /* the last record is incomplete, and was ignored */
    IMAGE_CACHE_JOURNAL_ABSENT, /* the cache was reset */
    IMAGE_CACHE_JOURNAL_DAMAGED /* the same */
};

struct image_cache_journal;
/*
 * Read dir_fd/name into an empty cache. dir_fd: kept. The caller then calls image_cache_settle()
 * and image_cache_journal_flush(). Errors: of reading the file; a missing or damaged file is no
 * error.
 */
int image_cache_journal_open(int dir_fd, const char *name, struct image_cache *c,
                             struct image_cache_journal **ret,
                             enum image_cache_journal_state *state, struct err *err);
/* Events that were not flushed are lost. */
void image_cache_journal_free(struct image_cache_journal *j);
DEFINE_SCOPED(image_cache_journal, image_cache_journal_free)

/* Record an event; for the cache's on_event. */
void image_cache_journal_note(struct image_cache_journal *j, const struct image_cache_event *e,
                              int64_t wall_ms);
/*
 * Write the recorded events, for example after each deployment. After a failure (a full disk) the
 * next call rewrites the file; it is readable at any time.
 */
int image_cache_journal_flush(struct image_cache_journal *j, const struct image_cache *c,
                              int64_t wall_ms, struct err *err);
