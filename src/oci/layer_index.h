/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of a layer as a file: all data of a struct oci_layer, in about 32 bytes per entry,
 * nearly all of them digests. Little-endian:
 *
 *     header   8 "DMLAYIDX", u32 version (1), u32 entries, u32 whiteouts, u32 digests,
 *              32 DiffID, u64 bytes of the tar, u64 dropped, u64 body bytes, u64 packed body bytes
 *     body     packed by zstd; first one column after the other for all entries, sorted by path:
 *              u8 type (bit 7: sparse), u16 mode, u32 uid, u32 gid, i64 mtime, u32 its
 *              nanoseconds, u64 size, u32 device major, u32 minor, u32 place in the archive (minus
 *              that of the entry before, plus 1), u64 data offset (minus the offset predicted from
 *              the previous entry of the archive), u16 bytes shared with the path before,
 *              u16 other bytes of the path, u16 bytes of the link, u16 extended attributes;
 *              for each whiteout u8 opaque, u16 bytes of the path; then the texts: of each entry
 *              the rest of its path, its link, and its attributes as u32, u32 and the bytes of name
 *              and value; of each whiteout its path
 *     digests  32 bytes each: of files that are not empty, sorted by path; not compressed, since
 *              they are incompressible
 *     u64      base/sum.h of all that precedes it
 *
 * The checksum detects damage; a reader must validate everything else. Any thread.
 */
#pragma once

#include "base/buf.h"
#include "oci/layer.h"

enum { OCI_LAYER_INDEX_VERSION = 1 };

/* Append the index. Errors: those of `to`, whose maximum limits it; -ENOMEM. */
int oci_layer_index_write(const struct oci_layer *layer, struct buf *to, struct err *err);
/*
 * *ret equals the layer that was written: entries in the order of the archive. Given,
 * oci_layer_free(). Errors: E_CORRUPT; E_VERSION, a newer program wrote it; E_LIMIT; -ENOMEM.
 */
int oci_layer_index_read(struct str bytes, struct oci_layer **ret, struct err *err);
/*
 * Append the flat form of an index: the output of a confined process for an untrusted one
 * (oci/table.h). Its body is not packed, and its first bytes are "DMLAYFLT". Errors: those of
 * reading one; those of `to`. Entries are not checked.
 */
int oci_layer_index_flatten(struct str bytes, struct buf *to, struct err *err);
/* As oci_layer_index_read(), of a flat form. */
int oci_layer_index_read_flat(struct str bytes, struct oci_layer **ret, struct err *err);
/* The checksum that these bytes (without the checksum) must have; for tests that forge one. */
uint64_t oci_layer_index_sum(struct str bytes);
