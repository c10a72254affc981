/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small cache of the newest values of keys that are read repeatedly, such as the account of every
 * pod that is created.
 *
 * The reader connection drops its whole page cache after each commit of the writer, so a read after
 * a commit costs about seven page reads; a hit costs none. The owner calls hot_forget() for every
 * changed key before the change becomes visible, so a cached value is always the newest one.
 *
 * The cache is a fixed table of slots indexed by a hash of the key. A key enters when two
 * consecutive reads of its slot are for it, so a key that is read once displaces nothing. Owns its
 * copies. One thread.
 */
#pragma once

#include "store/store.h"

enum { HOT_SLOTS = 32, HOT_MAX_BYTES = 4096 /* key and value; larger ones are left out */ };

struct hot {
    struct hot_slot {
        struct store_kv kv; /* key and value in one block at kv.key.p; NULL: empty */
        uint64_t asked;     /* hash of the key that was last read in this slot */
    } slots[HOT_SLOTS];
    size_t n; /* slots in use */
};

/* NULL: not cached. Borrowed until the next hot_note(), hot_forget() or hot_reset(). */
const struct store_kv *hot_find(struct hot *h, struct str key);
/* kv was read and is the newest value of its key. */
void hot_note(struct hot *h, const struct store_kv *kv);
/* The key has changed. */
void hot_forget(struct hot *h, struct str key);
/* Empty the cache; also required before the memory of `h` is released. */
void hot_reset(struct hot *h);
