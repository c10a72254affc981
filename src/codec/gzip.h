/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gzip (RFC 1952), as a stream: bytes in, compressed bytes out whenever there are enough. The level
 * is the cheapest one, what upstream's API server uses.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

enum { GZIP_STATE_BYTES = 272 << 10 }; /* about what one struct gzip holds */

struct gzip;

struct gzip *gzip_new(void); /* NULL: no memory */
void gzip_free(struct gzip *g);
/* end: nothing follows. Errors: those of `out`; then only gzip_free(). */
int gzip_add(struct gzip *g, struct str bytes, bool end, struct buf *out);

/* All of what was compressed. Errors: E_PARSE, and those of `out`, whose maximum bounds it. */
int gunzip(struct str bytes, struct buf *out);
