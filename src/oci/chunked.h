/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers whose blobs say where in them the files are: eStargz (a gzip member for each chunk of a
 * file, a table of contents as JSON in the last member before a footer of 51 bytes;
 * stargz-snapshotter, docs/estargz.md) and zstd:chunked (a zstd frame for each, the table and a
 * footer in skippable frames; containers/storage, pkg/chunked). A table is split into parts that
 * cover the blob from its beginning to its end: some are chunks of files, the others what is
 * between them, tar headers for the most part. Each part inflates on its own.
 *
 * A table is the word of whoever wrote the blob: what is made with its help counts only once its
 * digest is the DiffID. Pure; any thread.
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
 * The last OCI_ESTARGZ_FOOTER_BYTES of a blob of `size` bytes. Errors: E_PARSE, it is none.
 */
int oci_estargz_footer(struct str footer, uint64_t size, struct oci_chunked_place *ret,
                       struct err *err);
/* The annotation "manifest-position" of the layer: "OFFSET:PACKED:UNPACKED:1". Errors: E_PARSE;
 * E_UNSUPPORTED, a table of another kind. */
int oci_zstd_chunked_position(struct str text, uint64_t size, struct oci_chunked_place *ret,
                              struct err *err);

/*
 * The JSON of a table from what is at its place, appended to `to`: of eStargz a tar in gzip, of
 * zstd:chunked a zstd frame. Errors: E_PARSE, E_LIMIT, -ENOMEM.
 */
int oci_estargz_table(struct str packed, struct buf *to, struct err *err);
int oci_zstd_chunked_table(struct str packed, const struct oci_chunked_place *place, struct buf *to,
                           struct err *err);

struct oci_chunk {
    uint64_t from, to; /* of the blob */
    /* Part of a file: `n` bytes of it from byte `at`. n 0: something else, or a chunk of eStargz
     * with which tar headers share their member, so that it cannot be left out. */
    uint64_t at, n;
    uint64_t file_size;
    struct oci_digest file; /* of the whole file's content */
};

struct oci_chunks {
    VEC(struct oci_chunk) parts; /* in the order of the blob, without gaps */
};

/*
 * The parts of a blob of `size` bytes whose table is at `place`. Of zstd:chunked they end where the
 * last file does, and after it are one more part up to the table; of eStargz the last part has the
 * table. Errors: E_PARSE, E_LIMIT; parts that overlap, or lie elsewhere.
 */
int oci_estargz_parts(struct str table, const struct oci_chunked_place *place, uint64_t size,
                      struct oci_chunks *ret, struct err *err);
int oci_zstd_chunked_parts(struct str table, const struct oci_chunked_place *place,
                           struct oci_chunks *ret, struct err *err);
void oci_chunks_fini(struct oci_chunks *c);
