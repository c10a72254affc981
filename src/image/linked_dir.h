/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root file system of an image of the node store as files, written from the indexes and the
 * content of its layers. A file that another such directory has with the same path, content and
 * attributes (IMAGE_KEY_MODIFICATION) is a hard link to it. Where they are found, in the store:
 *
 *     links/<boot id>/ab/<key>     a link to each file of such a directory
 *
 * They are not synced, so those of an earlier boot are removed unread. The directories must not be
 * written to: they lie below an overlay, or are mounted read-only. Blocking calls, by the process
 * that writes the store.
 */
#pragma once

#include "image/layer_dir.h"
#include "image/stored.h"

struct linked_dir_counts {
    uint64_t linked, written; /* files with content, by their first name */
    uint64_t written_bytes;
};

/*
 * Write into the directory root_fd, empty and of mode 0700; gone_fd as in layer_dir_new(). Where
 * the file systems of the store and the directory differ, nothing is linked. opts: LAYER_DIR_MERGED
 * and not is_rootless. Errors: E_UNSUPPORTED, a layer has sparse files or only its blob is kept;
 * E_CORRUPT, a content is not what the index says; -ENOENT, a layer is missing; those of
 * layer_dir.h. After an error the caller removes what was written.
 */
int linked_dir_write(const struct stored *s, int root_fd, int gone_fd,
                     const struct layer_dir_opts *opts, struct linked_dir_counts *ret,
                     struct err *err);

/* Remove the links of files that no directory has any more. is_dry: count only. */
int linked_dir_sweep(struct oci_store *store, bool is_dry, size_t *ret_n, uint64_t *ret_bytes,
                     struct err *err);
