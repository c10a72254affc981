/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers whose blobs have a table of the positions of their files: eStargz (a gzip member per chunk
 * of a file, a table of contents as JSON in the last member before a footer of 51 bytes;
 * stargz-snapshotter, docs/estargz.md) and zstd:chunked (a zstd frame for each, the table and a
 * footer in skippable frames; containers/storage, pkg/chunked). A table is split into parts that
 * cover the whole blob. Some are chunks of files, the others are the data between them, mostly tar
 * headers. Each part can be inflated separately.
 *
 * A table is not trusted: a layer that was assembled with it is valid only if its digest is the
 * DiffID. Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "oci/image.h"

enum {
    OCI_ESTARGZ_FOOTER_BYTES = 51,
    OCI_CHUNKED_TABLE_MAX = 32 << 20, /* bytes of a table, unpacked */
    OCI_CHUNKED_PARTS_MAX = 1 << 20,
};

/* Where a table is: bytes [at, at + n) of the blob. */
struct oci_chunked_place {
    uint64_t at, n;
    uint64_t n_unpacked; /* of zstd:chunked; else 0 */
};

/*
 * The last OCI_ESTARGZ_FOOTER_BYTES of a blob of `size` bytes. Errors: E_PARSE, not a footer.
 */
int oci_estargz_footer(struct str footer, uint64_t size, struct oci_chunked_place *ret,
                       struct err *err);
/* The annotation "manifest-position" of the layer: "OFFSET:PACKED:UNPACKED:1". Errors: E_PARSE;
 * E_UNSUPPORTED, a table of another kind. */
int oci_zstd_chunked_position(struct str text, uint64_t size, struct oci_chunked_place *ret,
                              struct err *err);

/*
 * The JSON of a table from the bytes at its place, appended to `to`: of eStargz a tar in gzip, of
 * zstd:chunked a zstd frame. Errors: E_PARSE, E_LIMIT, -ENOMEM.
 */
int oci_estargz_table(struct str packed, struct buf *to, struct err *err);
int oci_zstd_chunked_table(struct str packed, const struct oci_chunked_place *place, struct buf *to,
                           struct err *err);

struct oci_chunk {
    uint64_t from, to; /* of the blob */
    /* Part of a file: `n` bytes of it from byte `at`. n 0: something else, or a chunk of eStargz
     * whose member also has tar headers, so that it cannot be skipped. */
    uint64_t at, n;
    uint64_t file_size;
    struct oci_digest file; /* of the whole file's content */
};

struct oci_chunks {
    VEC(struct oci_chunk) parts; /* in the order of the blob, without gaps */
};

/*
 * The parts of a blob of `size` bytes whose table is at `place`. With zstd:chunked they end after
 * the last file, and one more part reaches up to the table; with eStargz the last part has the
 * table. Errors: E_PARSE, also for parts that overlap or lie elsewhere; E_LIMIT.
 */
int oci_estargz_parts(struct str table, const struct oci_chunked_place *place, uint64_t size,
                      struct oci_chunks *ret, struct err *err);
int oci_zstd_chunked_parts(struct str table, const struct oci_chunked_place *place,
                           struct oci_chunks *ret, struct err *err);
void oci_chunks_fini(struct oci_chunks *c);
