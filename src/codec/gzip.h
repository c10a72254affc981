/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gzip (RFC 1952), as a stream: bytes in, compressed bytes out whenever there are enough. The
 * compression level is the fastest one, as in upstream's API server.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

enum { GZIP_STATE_BYTES = 272 << 10 }; /* memory of one struct gzip, roughly */

struct gzip;

struct gzip *gzip_new(void); /* NULL: no memory */
void gzip_free(struct gzip *g);
/* end: these are the last bytes. Errors: those of `out`; then only gzip_free(). */
int gzip_add(struct gzip *g, struct str bytes, bool end, struct buf *out);

/* Decompress all of `bytes`. Errors: E_PARSE, and those of `out`, whose maximum limits the
 * result. */
int gunzip(struct str bytes, struct buf *out);
