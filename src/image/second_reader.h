/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer that was written, read again by an independent reader: libarchive, with its own gzip
 * (zlib) and its own tar. The writer and the proof (image/proof.h) share codec/tar and could share
 * a misunderstanding of it; what libarchive reads as well, other programs do.
 *
 * libarchive is loaded when it is first asked for and stays loaded; a process that never asks has
 * none of it. Any thread.
 */
#pragma once

#include "oci/image.h"
#include "oci/layer.h"

/* "libarchive 3.6.2"; NULL: there is none on this machine. Static storage. */
const char *second_reader_name(void);

/*
 * Check that a blob (plain, gzip or zstd) of the image layout in `directory` has exactly the
 * content of `layer`, in the same order: names, types, modes, owners, times, sizes, targets,
 * devices, extended attributes, contents. Errors: E_UNSUPPORTED (there is no libarchive), E_DIGEST
 * with the first entry that differs and how, -EIO with the text of libarchive.
 */
int second_reader_check(const char *directory, const struct oci_digest *blob,
                        const struct oci_layer *layer, struct err *err);
