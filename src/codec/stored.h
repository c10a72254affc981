/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uncompressed bytes wrapped as a compressed stream: a gzip member with a stored block (RFC 1952,
 * RFC 1951 section 3.2.4), a zstd frame with a raw block (RFC 8878 section 3.1.1). For a compressed
 * stream that is assembled from ranges of a blob and from bytes that are available uncompressed.
 * Pure; any thread.
 */
#pragma once

#include "base/buf.h"

enum { STORED_MAX_BYTES = 60 << 10 }; /* per call */

/* bytes: at most STORED_MAX_BYTES. Errors: those of `to`. */
int stored_gzip(struct buf *to, struct str bytes);
int stored_zstd(struct buf *to, struct str bytes);
