/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trees of an image's layers (oci/layer_tree.h), attached to it in its registry: a node with
 * another version fetches those parts of a layer alone in which files are that it lacks. Blocking;
 * one thread.
 */
#pragma once

#include "image/layer_write.h"
#include "oci/remote.h"
#include "oci/source.h"

enum { IMAGE_TREE_LAYER_MIN = 1 << 20 }; /* smaller blobs are fetched whole by pulls anyway */

/* Those that were made, for images that share layers. */
struct image_trees {
    struct map made; /* DiffID -> struct buf */
};
void image_trees_fini(struct image_trees *t);

struct image_trees_image {
    struct oci_source *source; /* which has the blobs */
    const struct oci_image *image;
    const struct image_layer_blob *const *blobs; /* of each layer; NULL: was not written here */
    const char *directory;                       /* for temporary files without names */
};

/*
 * Make the trees of the layers that were written here, upload them and the manifest that attaches
 * them. Layers that are too small, or have more than a tree may hold, are left out; nothing is
 * attached where none is left. Errors: those of reading the blobs, of oci/remote.h, -ENOSPC.
 */
int image_trees_push(struct image_trees *t, const struct image_trees_image *i,
                     struct oci_remote *to, struct err *err);
