/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of dependents, in the store: who names an owner, by the owner's uid.
 *
 *     /owned/<uid><key of the dependent>   "b" or "-": whether it blocks the owner's deletion
 *     /leaving<key of an object>           it is being deleted and waits for its dependents
 *
 * Entries are ordinary keys outside of /registry/, written in the transaction that writes the
 * object, so the index is never wrong and nothing of it stays in memory. An object without owners
 * costs nothing. Pure code apart from the layout of keys.
 */
#pragma once

#include "api/placed.h"
#include "base/err.h"
#include "codec/json.h"
#include "store/store.h"

#define OWNED_PREFIX   "/owned/"
#define LEAVING_PREFIX "/leaving"

#define FINALIZER_FOREGROUND "foregroundDeletion"
#define FINALIZER_ORPHAN     "orphan"

enum {
    OWNERS_OPS_MAX = 120, /* entries that one write may change; leaves room for the object itself */
    OWNERS_UID_MAX = 64   /* longer ones, which no object has, are cut */
};
_Static_assert(OWNERS_OPS_MAX + PLACED_OPS_MAX + 4 <= STORE_TXN_MAX_OPS,
               "a write has operations of its own");

bool owners_has_finalizer(const struct json *obj, const char *finalizer);
/* Being deleted, and held by one of the two finalizers above. */
bool owners_is_leaving(const struct json *obj);

/*
 * Append what a write of `key` changes in the index; old or obj may be NULL: not there. Strings
 * live in the arena. E_LIMIT: too many owners; nothing was appended.
 */
int owners_ops(struct arena *a, struct str key, const struct json *old, const struct json *obj,
               struct store_op *ops, size_t *n, struct err *err);

/*
 * Keep each reference once. The text that upstream warns with, in the arena, "" when there were no
 * two alike.
 */
struct str owners_dedup(struct arena *a, struct json *obj);

/* Prefix of the entries of an owner's dependents. */
struct str owners_prefix(struct arena *a, struct str uid);
/* The dependent's key in an entry, and the part that stands for its owner's uid. */
struct str owners_dependent(struct str entry);
struct str owners_uid(struct str entry);
