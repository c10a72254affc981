/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of dependents, in the store, by the uid of the owner.
 *
 *     /owned/<uid><key of the dependent>   "b" or "-": whether it blocks the owner's deletion
 *     /leaving<key of an object>           it is being deleted and waits for its dependents
 *
 * Entries are ordinary keys outside of /registry/, written in the transaction that writes the
 * object, so the index is always consistent and takes no memory. An object without owners costs
 * nothing. Pure code apart from the layout of keys.
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
    OWNERS_UID_MAX = 64   /* no object has a longer one; longer ones are cut */
};
_Static_assert(OWNERS_OPS_MAX + PLACED_OPS_MAX + 4 <= STORE_TXN_MAX_OPS,
               "a write has operations of its own");

bool owners_has_finalizer(const struct json *obj, const char *finalizer);
/* Being deleted, and held by one of the two finalizers above. */
bool owners_is_leaving(const struct json *obj);

/*
 * Append the changes of the index for a write of `key`; old or obj may be NULL: absent. Strings
 * live in the arena. E_LIMIT: too many owners; nothing was appended.
 */
int owners_ops(struct arena *a, struct str key, const struct json *old, const struct json *obj,
               struct store_op *ops, size_t *n, struct err *err);

/*
 * Remove duplicate references. Returns the text of upstream's warning, in the arena; "": there were
 * no duplicates.
 */
struct str owners_dedup(struct arena *a, struct json *obj);

/* Prefix of the entries of an owner's dependents. */
struct str owners_prefix(struct arena *a, struct str uid);
/* The dependent's key in an entry, and the uid of its owner. */
struct str owners_dependent(struct str entry);
struct str owners_uid(struct str entry);
