/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes in the clothes of a compressed stream, not compressed: a gzip member with a stored block
 * (RFC 1952, RFC 1951 section 3.2.4), a zstd frame with a raw block (RFC 8878 section 3.1.1). A
 * stream that is put together from ranges of a blob takes them where it needs bytes that are at
 * hand uncompressed. Pure; any thread.
 */
#pragma once

#include "base/buf.h"

enum { STORED_MAX_BYTES = 60 << 10 }; /* of one call */

/* bytes: at most STORED_MAX_BYTES. Failures are those of `to`. */
int stored_gzip(struct buf *to, struct str bytes);
int stored_zstd(struct buf *to, struct str bytes);
