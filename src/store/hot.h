/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that are read over and over, such as the account of every pod that is created: their newest
 * values in memory.
 *
 * The reader connection drops its whole page cache after each commit of the writer, so a read
 * between two commits costs some seven page reads; a hit costs none. The owner tells of every key
 * that changes before the change becomes visible, so a value here is the newest one.
 *
 * A fixed table of slots, by a hash of the key. A key enters when two reads of its slot in
 * a row are for it, so keys that are read once displace nothing. Owns copies. One thread.
 */
#pragma once

#include "store/store.h"

enum { HOT_SLOTS = 32, HOT_MAX_BYTES = 4096 /* key and value; larger ones are left out */ };

struct hot {
    struct hot_slot {
        struct store_kv kv; /* key and value in one block at kv.key.p; NULL: empty */
        uint64_t asked;     /* hash of the key that was read here last */
    } slots[HOT_SLOTS];
    size_t n; /* slots in use */
};

/* NULL: not kept. Borrowed until the next hot_note(), hot_forget() or hot_reset(). */
const struct store_kv *hot_find(struct hot *h, struct str key);
/* kv was read, as the newest value of its key. */
void hot_note(struct hot *h, const struct store_kv *kv);
/* The key has changed. */
void hot_forget(struct hot *h, struct str key);
/* Empty, also before the memory of `h` is released. */
void hot_reset(struct hot *h);
