/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What values of the last objects of a list became in protobuf.
 *
 * Objects that are next to each other in a list are often replicas: their containers, tolerations,
 * owners and managed fields are the same text. A value that begins as the one before did, to its
 * closing bracket, is the same value, so that its bytes are copied instead of being made again. One
 * value is kept for each field and position in a list, replaced by each other value, which costs
 * two copies; one that keeps changing is tried less often. Any thread, one at a time.
 */
#pragma once

#include "base/str.h"

/* Beyond these, values are not kept: of one value, its text and bytes; of all. */
enum { PROTO_MEMORY_VALUE_MAX_BYTES = 16 << 10, PROTO_MEMORY_MAX_BYTES = 128 << 10 };

struct proto_memory;
struct proto_memory *proto_memory_new(void);
void proto_memory_free(struct proto_memory *m);

/* field: its address tells it from others; item: the position in the list that it is in. */
struct proto_place {
    const void *field;
    unsigned item;
};
/*
 * Whether text, an object or array with anything behind it, begins with the value that was kept for
 * this place. ret_bytes: borrowed until the next proto_memory_keep().
 */
bool proto_memory_find(struct proto_memory *m, struct proto_place at, struct str text,
                       size_t *ret_text_n, struct str *ret_bytes);
/* The value that was not found; text: all of it. */
void proto_memory_keep(struct proto_memory *m, struct proto_place at, struct str text,
                       struct str bytes);
