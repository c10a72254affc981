/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new version of a refactored image: it keeps the layers of the old version and gets one more, a
 * delta, with the changed files and with whiteouts for the removed ones. A node that has the old
 * version only fetches the delta, and other images share the other layers. Files that a delta
 * replaces or removes stay in the lower layers: hidden, not deleted. After a few deltas, or a large
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
 * The image that has the layers of the old version: the one that refactoring attached to
 * `reference` in its registry, the last of several, or `reference` itself. Given. Errors: those of
 * oci_source_image() and oci_remote_referrers().
 */
int image_update_base(const char *reference, const struct image_refactor_opts *opts, char **ret,
                      struct err *err);

/*
 * Read both versions and see what a delta would hold. `references`: the old version and the new
 * one. Of the old version's files the content is not needed: with an index_directory that has its
 * layers they are not read. `references` and `opts` are kept until image_update_fini(); max_layers,
 * atoms, platform, registry, reading, index_directory, symlink_parent, is_forced (a delta however
 * large) and n_threads of them count. Errors: those of image_group_read(); then *ret is empty.
 */
int image_update_plan(const char *const references[2], const struct image_refactor_opts *opts,
                      struct image_spool *spool, struct image_update *ret, struct err *err);
/* Zeroed is fine. */
void image_update_fini(struct image_update *u);

/* Write the new version with the name given, prove it, publish. Errors: those of
 * image_refactor_write(). */
int image_update_write(struct image_update *u, const struct image_spool *spool,
                       struct oci_layout *layout, const char *name, struct err *err);
/*
 * The same for a registry, which has the old version: the delta and the documents alone go into the
 * layout's staging directory, as "oci:STAGING:1" until oci_layout_end(), for
 * image_refactor_publish() of the pair with is_update. The proof takes the layers of the old
 * version as they were read. Errors: those of image_refactor_stage().
 */
int image_update_stage(struct image_update *u, const struct image_spool *spool,
                       struct oci_layout *layout, struct err *err);
