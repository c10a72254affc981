/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new version of an image that was refactored: it keeps the layers of the old version and gets
 * one more, a delta, with what is new and with whiteouts for what is gone. Whoever has the old
 * version fetches the delta alone, and the layers stay those that other images share. What a delta
 * replaces or hides stays in the layers below: hidden, not gone. After a few deltas, or a large
 * one, the group should be planned again.
 *
 * Blocking; for commands and worker threads.
 */
#pragma once

#include "image/refactor.h"

enum {
    IMAGE_DELTAS_MAX = 4,          /* of an image */
    IMAGE_DELTA_DEAD_PERCENT = 20, /* bytes of files that are hidden, of those of the image */
    IMAGE_DELTA_SIZE_PERCENT = 50, /* bytes of files in the delta, of those of the image */
};

struct image_update {
    struct image_refactoring pair; /* image 0 is the old version, image 1 the new one */
    uint64_t added, dead, total;   /* bytes of files: in the delta, hidden, of the new version */
    uint64_t n_added, n_gone;      /* atoms in the delta; names hidden by whiteouts */
    unsigned n_deltas;             /* of the old version */
    const char *why;               /* static storage: why a delta does not fit; NULL: it does */
    /* After image_update_write(). */
    struct image_layer_blob delta;
    struct oci_digest digest;
};

/*
 * Read both versions and see what a delta would hold. `references`: the old version and the new
 * one. `references` and `opts` are kept until image_update_fini(); max_layers, atoms, platform,
 * symlink_parent and n_threads of them count. Errors: those of image_group_read(); then *ret is
 * empty.
 */
int image_update_plan(const char *const references[2], const struct image_refactor_opts *opts,
                      struct image_spool *spool, struct image_update *ret, struct err *err);
/* Zeroed is fine. */
void image_update_fini(struct image_update *u);

/* Write the new version with the name given, prove it, publish. Errors: those of
 * image_refactor_write(). */
int image_update_write(struct image_update *u, const struct image_spool *spool,
                       struct oci_layout *layout, const char *name, struct err *err);
