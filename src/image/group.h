/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images read together: every distinct layer once, by several threads, and the merged view of each
 * image. Blocking; for commands and worker threads.
 */
#pragma once

#include "image/atoms.h"
#include "image/spool.h"
#include "oci/source.h"

enum { IMAGE_THREADS_MAX = 16 };

struct image_member {
    const char *reference; /* borrowed */
    struct oci_source *source;
    struct oci_image image;
    struct oci_layer **layers; /* owned by the group */
    uint64_t *layer_sizes;     /* of their blobs */
    struct oci_tree tree;
};

struct image_group {
    struct image_member *members;
    size_t n;
    struct map layers; /* DiffID -> what is private */
    struct arena memory;
};

struct image_group_opts {
    const struct oci_platform *platform;
    const struct oci_remote_opts *registry;  /* NULL: as the defaults say */
    const struct layer_reading_ops *reading; /* of their layers; NULL: layer_parse_here */
    enum oci_symlink_parent symlink_parent;
    unsigned n_threads; /* 0: as many as there are processors */
    /* A directory for indexes of layers, by DiffID: one that is there is read instead of its layer,
     * unless the content is wanted. That of a layer that cannot be read is removed. NULL: none. */
    const char *index_directory;
    struct image_spool *spool; /* kept for the call: gets the content of all files; or NULL */
    size_t n_indexed; /* of so many images, the first ones, the spool gets only what others have */
    /* One for each reference, zeroed: why an image cannot be read (code), where that is a matter of
     * the image, also if its reader was killed (-ENOMEM). With any, image_group_read() gives
     * E_INVALID. NULL: the first one ends it. */
    struct err *unreadable;
};

/* The references are kept until image_group_fini(). Errors: those of oci_source_open() and what
 * follows it, with the reference in the text; then *ret is empty. */
int image_group_read(const char *const *references, size_t n, const struct image_group_opts *opts,
                     struct image_group *ret, struct err *err);
/* Zeroed is fine. */
void image_group_fini(struct image_group *g);

/*
 * Run `work(arg, i, err)` for i from 0 to n - 1 in several threads (0: as many as there are
 * processors). The first error ends it once the work at hand is done.
 */
typedef int (*image_work_fn)(void *arg, size_t i, struct err *err);
int image_work(size_t n, unsigned n_threads, image_work_fn work, void *arg, struct err *err);
