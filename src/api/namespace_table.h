/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which Namespaces take new objects, and the revision at which each was written last, so that a
 * create neither reads nor parses its Namespace.
 *
 * A revision from here is a guess that the transaction proves: it compares the revision of the
 * Namespace, so an entry that is out of date costs another attempt and can never let an object into
 * a Namespace that is being deleted. The commit path keeps the entries current; writers that it
 * does not see (another server on the same store) are noticed by that comparison. A Namespace that
 * is not here, because it is being deleted, or absent, or was not used yet, has to be read.
 *
 * Loop thread only.
 */
#pragma once

#include "base/map.h"

enum { NAMESPACE_TABLE_MAX = 4096 }; /* entries; one more empties the table, which fills again */

/* Zeroed: empty. */
struct namespace_table {
    struct map revs; /* name -> struct namespace_entry */
};

void namespace_table_fini(struct namespace_table *t);
/* The revision to compare with; 0: not known, read it. */
uint64_t namespace_table_find(const struct namespace_table *t, struct str name);
/* The Namespace takes new objects, as of this revision. An older one changes nothing. */
void namespace_table_put(struct namespace_table *t, struct str name, uint64_t rev);
/* It was written by a writer that is not known here, is being deleted, or is gone. */
void namespace_table_forget(struct namespace_table *t, struct str name);
