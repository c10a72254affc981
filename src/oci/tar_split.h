/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tar is beside the contents of its files, for clients that make it again from a table of
 * contents and a file system (github.com/vbatts/tar-split, whose JSON this is): containers/storage
 * takes a zstd:chunked layer apart only where the blob has one, since by it the client knows the
 * DiffID. A line for each run of other bytes, in base64, and one for each entry, in the order of
 * the tar; compressed as one zstd frame. Equal calls give equal bytes.
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
 * The next bytes of the tar: of headers and what else there is; of the content of an entry, after
 * which oci_tar_split_entry() follows, as it does after the header of one without content. name:
 * as the header has it, UTF-8. Errors come with oci_tar_split_end().
 */
void oci_tar_split_bytes(struct oci_tar_split *s, struct str bytes);
void oci_tar_split_content(struct oci_tar_split *s, struct str bytes);
void oci_tar_split_entry(struct oci_tar_split *s, struct str name, uint64_t size);
/* The frame, borrowed from `s`, and how many bytes it has inflated; nothing follows. Errors:
 * E_LIMIT, it has more than OCI_TAR_SPLIT_MAX bytes; -ENOMEM. */
int oci_tar_split_end(struct oci_tar_split *s, struct str *ret, uint64_t *ret_inflated,
                      struct err *err);
