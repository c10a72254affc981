/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Namespaces that accept new objects, with the revision of each one's last write, so that a
 * create neither reads nor parses its Namespace.
 *
 * A revision from this table is an optimistic guess: the transaction compares it with the revision
 * of the Namespace, so a stale entry costs another attempt and can never let an object into a
 * Namespace that is being deleted. The commit path keeps the entries current; writes of another
 * server on the same store are noticed by that comparison. A Namespace that is absent from the
 * table (being deleted, nonexistent, or not used yet) has to be read.
 *
 * Loop thread only.
 */
#pragma once

#include "base/map.h"

enum { NAMESPACE_TABLE_MAX = 4096 }; /* entries; then the table is emptied and fills again */

/* Zeroed: empty. */
struct namespace_table {
    struct map revs; /* name -> struct namespace_entry */
};

void namespace_table_fini(struct namespace_table *t);
/* The revision to compare with; 0: unknown, read the Namespace. */
uint64_t namespace_table_find(const struct namespace_table *t, struct str name);
/*
 * The Namespace accepts new objects as of this revision. A revision older than the entry's is
 * ignored.
 */
void namespace_table_put(struct namespace_table *t, struct str name, uint64_t rev);
/* The Namespace was written by another server, is being deleted, or is gone. */
void namespace_table_forget(struct namespace_table *t, struct str name);
