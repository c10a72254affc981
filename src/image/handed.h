/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image that a process passes to the holder of the store's lock (image/store_control.h): a lazy
 * start has all of the image but may not write to the store. It is in a directory of the sending
 * process:
 *
 *     manifest, config, index      its documents; "index" only if there is one
 *     start                        the list of files that its start opens (image/start_list.h);
 *                                  only if there is one
 *     <DiffID>.tar                 hexadecimal; not of layers that the store has
 *
 * The receiver reads only regular files, and compares documents and tars with their digests.
 */
#pragma once

#include "image/keep.h"
#include "oci/layer_parse.h"

struct handed_opts {
    struct str name;                         /* as in struct keep_opts */
    struct str lease;                        /* on it, until the next boot; empty: none */
    const struct layer_reading_ops *reading; /* as in struct oci_import_opts */
    void *reading_arg;
    const atomic_bool *stop; /* set to end it with -ECANCELED, without the lease; NULL: never */
};

/* Put it into the store, which must be a writer. Blocks. Errors: E_DIGEST, E_PARSE, those of
 * keep_image(), oci_store_lease(), of reading; E_INVALID, one of the files is not a regular file.
 */
int handed_keep(struct oci_store *s, const char *dir, const struct handed_opts *o, struct err *err);

/* Write the documents and the list (NULL: none). Errors: of writing. */
int handed_write(int dir_fd, const struct oci_image *image, const struct start_list *first,
                 struct err *err);
/* A new file for the tar of a layer; given, close(). Errors: likewise. */
int handed_new_tar(int dir_fd, const struct oci_digest *diff_id, struct err *err);

/* Append a regular file of another process to `to`; it does not block on a FIFO or a device.
 * Errors: E_INVALID, not a regular file; -EMSGSIZE; of opening and reading. */
int handed_read(int dir_fd, const char *path, struct buf *to, struct err *err);
