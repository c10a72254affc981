/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a tar outside the contents of its files, for clients that rebuild the tar from a
 * table of contents and a file system (the JSON of github.com/vbatts/tar-split).
 * containers/storage uses the table of a zstd:chunked layer only if the blob also has this, since
 * it gives the client the DiffID. One line for each run of other bytes, in base64, and one for each
 * entry, in the order of the tar; compressed as one zstd frame. Equal calls give equal bytes.
 *
 * Memory: the frame, at most OCI_TAR_SPLIT_MAX. Pure; one thread at a time.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

enum { OCI_TAR_SPLIT_MAX = 256 << 20 };

struct oci_tar_split;

/* NULL: no memory. */
struct oci_tar_split *oci_tar_split_new(void);
void oci_tar_split_free(struct oci_tar_split *s);
DEFINE_SCOPED(oci_tar_split, oci_tar_split_free)
/*
 * The next bytes of the tar: of headers and other data; of the content of an entry. The caller
 * calls oci_tar_split_entry() after the content, or after the header of an entry without content.
 * name: as in the header, UTF-8. Errors are returned by oci_tar_split_end().
 */
void oci_tar_split_bytes(struct oci_tar_split *s, struct str bytes);
void oci_tar_split_content(struct oci_tar_split *s, struct str bytes);
void oci_tar_split_entry(struct oci_tar_split *s, struct str name, uint64_t size);
/* The frame, borrowed from `s`, and its size when inflated; no call may follow. Errors:
 * E_LIMIT, it has more than OCI_TAR_SPLIT_MAX bytes; -ENOMEM. */
int oci_tar_split_end(struct oci_tar_split *s, struct str *ret, uint64_t *ret_inflated,
                      struct err *err);
