/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image that one process hands over to the one that has the store's lock
 * (image/store_control.h): a lazy start has all of it and may not write the store itself. It lies
 * in a directory of the giving process:
 *
 *     manifest, config, index      its documents; "index" only if there is one
 *     start                        what its start opens (image/start_list.h)
 *     <DiffID>.tar                 hexadecimal; not those that the store has
 *
 * The taking process reads regular files alone, and compares documents and tars with their digests.
 */
#pragma once

#include "image/keep.h"
#include "oci/layer_parse.h"

struct handed_opts {
    struct str name;  /* as in struct keep_opts */
    struct str lease; /* on it, which this start of the machine ends; empty: none */
    const struct layer_reading_ops *reading; /* as in struct oci_import_opts */
    void *reading_arg;
    const atomic_bool *stop; /* ends it with -ECANCELED, without the lease; NULL: nothing does */
};

/* Put it into the store, which is a writer. Blocks. Errors: E_DIGEST, E_PARSE, those of
 * keep_image(), oci_store_lease(), of reading; E_INVALID, one of the files is none. */
int handed_keep(struct oci_store *s, const char *dir, const struct handed_opts *o, struct err *err);

/* Write the documents and the list. Errors: of writing. */
int handed_write(int dir_fd, const struct oci_image *image, const struct start_list *first,
                 struct err *err);
/* A new file for the tar of a layer; given, close(). Errors: likewise. */
int handed_new_tar(int dir_fd, const struct oci_digest *diff_id, struct err *err);

/* A regular file of another process, appended to `to`; at a FIFO or a device it does not wait.
 * Errors: E_INVALID, it is none; -EMSGSIZE; of opening and reading. */
int handed_read(int dir_fd, const char *path, struct buf *to, struct err *err);
