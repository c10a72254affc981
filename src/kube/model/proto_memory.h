/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache of protobuf bytes for the values of recent objects of a list.
 *
 * Neighbouring objects of a list are often replicas: their containers, tolerations, owners and
 * managed fields have the same text. A value whose text begins like the previous value's, up to its
 * closing bracket, is the same value, so its bytes are copied instead of encoded again. One value
 * is kept for each field and position in a list; a different value replaces it, which costs two
 * copies, so a place whose value keeps changing is tried less often. Any thread, one at a time.
 */
#pragma once

#include "base/str.h"

/* Larger values are not kept: limits of one value's text and bytes, and of all. */
enum { PROTO_MEMORY_VALUE_MAX_BYTES = 16 << 10, PROTO_MEMORY_MAX_BYTES = 128 << 10 };

struct proto_memory;
struct proto_memory *proto_memory_new(void);
void proto_memory_free(struct proto_memory *m);

/* field: identified by its address; item: index in the list that contains it. */
struct proto_place {
    const void *field;
    unsigned item;
};
/*
 * text, which starts with an object or array, begins with the value kept for this place. ret_bytes:
 * borrowed until the next proto_memory_keep().
 */
bool proto_memory_find(struct proto_memory *m, struct proto_place at, struct str text,
                       size_t *ret_text_n, struct str *ret_bytes);
/* Keep a value that was not found; text: the whole value. */
void proto_memory_keep(struct proto_memory *m, struct proto_place at, struct str text,
                       struct str bytes);
