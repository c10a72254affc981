/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header blocks of SPDY/3.1 (section 2.6.10): name and value pairs, compressed by zlib with one
 * context for all blocks of a direction. Blocks that we write are not compressed, which the format
 * allows, since all of them are empty.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "codec/headers.h"

enum {
    SPDY_HEADERS_DICTIONARY_BYTES = 1423,
    SPDY_HEADERS_MAX_BYTES = 16 << 10, /* of a block, decompressed */
    SPDY_HEADERS_MAX = 64              /* pairs of a block */
};

extern const char spdy_headers_dictionary[SPDY_HEADERS_DICTIONARY_BYTES + 1];

struct spdy_inflater; /* some 40 KiB */

/* NULL: no memory. */
struct spdy_inflater *spdy_headers_new(void);
void spdy_headers_free(struct spdy_inflater *z);
/*
 * Decompress and add the pairs to `to`, which is empty. Of several values, separated by NUL, only
 * the first is kept. Errors: E_PARSE, E_LIMIT. After a failure the context is lost, and further
 * blocks cannot be read.
 */
int spdy_headers_read(struct spdy_inflater *z, struct str block, struct headers *to,
                      struct err *err);

/* A block without pairs. first: of this direction. */
struct str spdy_headers_empty(bool first);
