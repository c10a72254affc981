/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads images together: each distinct layer once, by several threads, and the merged view of each
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
    struct map layers; /* DiffID -> private data */
    struct arena memory;
};

struct image_group_opts {
    const struct oci_platform *platform;
    const struct oci_remote_opts *registry;  /* NULL: the defaults */
    const struct layer_reading_ops *reading; /* of their layers; NULL: layer_parse_here */
    enum oci_symlink_parent symlink_parent;
    unsigned n_threads; /* 0: the number of processors */
    /* A directory for indexes of layers, by DiffID: an existing index is read instead of its layer,
     * unless the content is wanted. The index of a layer that cannot be read is removed. NULL:
     * none. */
    const char *index_directory;
    struct image_spool *spool; /* kept for the call: receives the content of all files; or NULL */
    /* Of the first n_indexed images the spool only gets the content that other images have. */
    size_t n_indexed;
    /* One for each reference, zeroed: receives the reason why an image cannot be read, if the image
     * causes it, or if its reader was killed (-ENOMEM). If there is one, image_group_read() returns
     * E_INVALID. NULL: the first failure ends it. */
    struct err *unreadable;
};

/* The references are kept until image_group_fini(). Errors: those of oci_source_open() and the
 * reads after it, with the reference in the text; then *ret is empty. */
int image_group_read(const char *const *references, size_t n, const struct image_group_opts *opts,
                     struct image_group *ret, struct err *err);
/* Zeroed is fine. */
void image_group_fini(struct image_group *g);

/*
 * Run `work(arg, i, err)` for i from 0 to n - 1 on several threads (0: the number of processors).
 * After the first error no further work is started.
 */
typedef int (*image_work_fn)(void *arg, size_t i, struct err *err);
int image_work(size_t n, unsigned n_threads, image_work_fn work, void *arg, struct err *err);
