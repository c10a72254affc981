/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer of reproducible tar streams: an entry always gives the same bytes. ustar (POSIX.1-2017,
 * pax, "ustar Interchange Format"); values that do not fit get one pax header with its records
 * sorted by key. Names of owners are empty, unused fields zero, numbers octal; there is no global
 * header.
 *
 * Content begins on a multiple of TAR_BLOCK_BYTES. Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "codec/tar.h"

/*
 * Append the header of an entry: `size` bytes of content must follow, then tar_write_padding().
 * e->path is normalised; "" is the root and becomes "./". e->data_offset and e->is_sparse are
 * ignored. Errors: E_UNSUPPORTED (device numbers and names of extended attributes that the format
 * cannot hold) with the path in the text, and those of `to`.
 */
int tar_write_header(struct buf *to, const struct tar_entry *e, struct err *err);
/* Append the zeros that follow `size` bytes of content. */
int tar_write_padding(struct buf *to, uint64_t size);
/* Append the end of an archive: exactly two blocks of zeros. */
int tar_write_end(struct buf *to);
