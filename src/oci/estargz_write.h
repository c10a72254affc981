/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the table of contents of an eStargz layer, and its footer (stargz-snapshotter,
 * docs/estargz.md; oci/chunked.h reads them). The table is JSON, a row for each entry of the tar
 * and for each further chunk of a file. Beside what the format asks for a row of a file has
 * "endOffset", as those of zstd:chunked: where the members with its content, and nothing else, end.
 * Readers that do not know it ignore it. Equal calls give equal bytes.
 *
 * Pure; one thread at a time.
 */
#pragma once

#include "base/buf.h"
#include "base/mem.h"
#include "codec/tar.h"
#include "oci/image.h"

#define OCI_ESTARGZ_TABLE_NAME          "stargz.index.json"
#define OCI_ESTARGZ_PREFETCH_NAME       ".prefetch.landmark"    /* what precedes it is read ahead */
#define OCI_ESTARGZ_NO_PREFETCH_NAME    ".no.prefetch.landmark" /* nothing is */
#define OCI_ESTARGZ_DIGEST_ANNOTATION   "containerd.io/snapshot/stargz/toc.digest"
#define OCI_ESTARGZ_TAR_SIZE_ANNOTATION "io.containers.estargz.uncompressed-size"

enum {
    OCI_ESTARGZ_LANDMARK = 0xf, /* the content of a landmark, one byte */
    OCI_ESTARGZ_WRITE_MAX = 256 << 20,
};

/* Is that a name that a layer has because it is eStargz? */
bool oci_estargz_is_own_name(struct str path);

struct oci_estargz_chunk {
    uint64_t offset; /* of its first member in the blob */
    uint64_t at, n;  /* bytes of the file */
    struct oci_digest digest;
};

struct oci_estargz_table {
    struct buf json;
    struct arena memory; /* of a row */
    bool has_rows;
};

void oci_estargz_table_init(struct oci_estargz_table *t);
void oci_estargz_table_fini(struct oci_estargz_table *t);

/*
 * The row of an entry; of a file with content also its digest, its chunks in order, and the offset
 * at which its last member ends, 0 if something else shares that. Errors: E_UNSUPPORTED, a name
 * that is not UTF-8; those of the buffer (E_LIMIT: more than OCI_ESTARGZ_WRITE_MAX bytes).
 */
int oci_estargz_table_add(struct oci_estargz_table *t, const struct tar_entry *e,
                          const struct oci_digest *file, const struct oci_estargz_chunk *chunks,
                          size_t n_chunks, uint64_t end_offset, struct err *err);
/* The whole table, borrowed from `t`; nothing follows. */
int oci_estargz_table_end(struct oci_estargz_table *t, struct str *ret, struct err *err);

/* The footer of a blob whose table begins at `table_offset`: OCI_ESTARGZ_FOOTER_BYTES. */
int oci_estargz_write_footer(struct buf *to, uint64_t table_offset);
