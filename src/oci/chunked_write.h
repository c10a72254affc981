/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the table of contents of an eStargz or zstd:chunked layer, and its footer
 * (stargz-snapshotter, docs/estargz.md; containers/storage, pkg/chunked; oci/chunked.h reads both).
 * The table is JSON, with a row for each entry of the tar and for each further chunk of a file. In
 * addition to the fields of eStargz, the row of a file has "endOffset", as in zstd:chunked: the end
 * of the members that only have its content. Readers that do not know the field ignore it. Rows of
 * zstd:chunked have the times of the tar to the nanosecond, since readers compare them. Equal calls
 * give equal bytes.
 *
 * Pure; one thread at a time.
 */
#pragma once

#include "base/buf.h"
#include "base/mem.h"
#include "codec/tar.h"
#include "oci/chunked.h"

#define OCI_ESTARGZ_TABLE_NAME          "stargz.index.json"
#define OCI_ESTARGZ_PREFETCH_NAME       ".prefetch.landmark" /* entries before it are read ahead */
#define OCI_ESTARGZ_NO_PREFETCH_NAME    ".no.prefetch.landmark" /* no entry is */
#define OCI_ESTARGZ_DIGEST_ANNOTATION   "containerd.io/snapshot/stargz/toc.digest"
#define OCI_ESTARGZ_TAR_SIZE_ANNOTATION "io.containers.estargz.uncompressed-size"
/* Of zstd:chunked: the SHA-256 of the compressed table, and the positions of both parts. */
#define OCI_ZSTD_CHUNKED_DIGEST_ANNOTATION "io.github.containers.zstd-chunked.manifest-checksum"
#define OCI_ZSTD_CHUNKED_TABLE_ANNOTATION  "io.github.containers.zstd-chunked.manifest-position"
#define OCI_ZSTD_CHUNKED_SPLIT_ANNOTATION  "io.github.containers.zstd-chunked.tarsplit-position"
/* The names of the first two in containers/storage before 1.44, as in podman of Debian 12. */
#define OCI_ZSTD_CHUNKED_DIGEST_ANNOTATION_OLD "io.containers.zstd-chunked.manifest-checksum"
#define OCI_ZSTD_CHUNKED_TABLE_ANNOTATION_OLD  "io.containers.zstd-chunked.manifest-position"

enum {
    OCI_ESTARGZ_LANDMARK = 0xf, /* the content of a landmark, one byte */
    OCI_TOC_WRITE_MAX = 256 << 20,
};

/* Whether only eStargz layers have entries of this name. */
bool oci_estargz_is_own_name(struct str path);

struct oci_toc_chunk {
    uint64_t offset; /* of its first member in the blob */
    uint64_t at, n;  /* bytes of the file */
    struct oci_digest digest;
};

enum oci_toc_kind { OCI_TOC_ESTARGZ, OCI_TOC_ZSTD_CHUNKED };

struct oci_toc {
    enum oci_toc_kind kind;
    struct buf json;
    struct arena memory; /* of a row */
    bool has_rows;
};

/* The name of an entry in headers and tables: that of a directory ends in '/', the root is "./". In
 * the arena, or e->path. */
struct str oci_toc_name(struct arena *a, const struct tar_entry *e);

void oci_toc_init(struct oci_toc *t, enum oci_toc_kind kind);
void oci_toc_fini(struct oci_toc *t);

/*
 * The row of an entry; for a file with content also its digest, its chunks in order, and the offset
 * at which its last member ends, 0 if the member has other data, too. Errors: E_UNSUPPORTED, a name
 * that is not UTF-8, or in zstd:chunked a time after the year 9999 or before the year 1; E_LIMIT:
 * more than OCI_TOC_WRITE_MAX bytes.
 */
int oci_toc_add(struct oci_toc *t, const struct tar_entry *e, const struct oci_digest *file,
                const struct oci_toc_chunk *chunks, size_t n_chunks, uint64_t end_offset,
                struct err *err);
/* The whole table, borrowed from `t`; no call may follow. split: the digest of the compressed
 * tar-split (oci/tar_split.h), of zstd:chunked; else NULL. */
int oci_toc_end(struct oci_toc *t, const struct oci_digest *split, struct str *ret,
                struct err *err);

/* The footer of a blob whose table begins at `table_offset`: OCI_ESTARGZ_FOOTER_BYTES. */
int oci_estargz_write_footer(struct buf *to, uint64_t table_offset);

/* The data after the tar of a zstd:chunked layer: positions of the table and the tar-split. */
struct oci_zstd_chunked_tail {
    struct oci_chunked_place table, split;
    struct oci_digest digest; /* of the compressed table */
};
/*
 * Append both, in skippable frames (RFC 8878 section 3.1.2), and the footer. at: size of the blob
 * so far. split: the frame, n_split bytes when inflated. Errors: those of `to`; -ENOMEM; E_LIMIT.
 */
int oci_zstd_chunked_write_tail(struct str table, struct str split, uint64_t n_split, uint64_t at,
                                struct buf *to, struct oci_zstd_chunked_tail *ret, struct err *err);
