/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer of tar streams that come out the same every time: an entry gives the same bytes wherever
 * and whenever it is written. ustar (POSIX.1-2017, pax, "ustar Interchange Format"); what does not
 * fit there gets one pax header with its records sorted by key. Names of owners are empty, unused
 * fields zero, numbers in octal, no global header.
 *
 * Content begins on a multiple of TAR_BLOCK_BYTES. Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "codec/tar.h"

/*
 * Append the header of an entry: `size` bytes of content have to follow, then tar_write_padding().
 * e->path is normalised; "" is the root and becomes "./". e->data_offset and e->is_sparse are not
 * looked at. Errors: E_UNSUPPORTED (device numbers and names of extended attributes that the format
 * cannot hold) with the path in the text, and those of `to`.
 */
int tar_write_header(struct buf *to, const struct tar_entry *e, struct err *err);
/* The zeros after `size` bytes of content. */
int tar_write_padding(struct buf *to, uint64_t size);
/* The end of an archive: exactly two blocks of zeros. */
int tar_write_end(struct buf *to);
