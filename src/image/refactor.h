/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refactoring: images get new layers, so that what several of them hold is stored once. The images
 * stay what they are: the merged view of each new one is compared with that of its source, read
 * back from what was written, before anything becomes visible. What may differ are modification
 * times of shared files, and with linked content files that became symbolic links.
 *
 * Blocking; for commands and worker threads. Memory follows the number of entries, not the bytes of
 * files; disk: the distinct contents of all layers once, uncompressed, besides the result.
 */
#pragma once

#include "image/group.h"
#include "image/layer_write.h"
#include "image/plan.h"

#define IMAGE_GAIN_AUTOMATIC UINT64_MAX

struct image_volatility;

struct image_refactor_opts {
    const struct oci_platform *platform;
    const struct oci_remote_opts *registry;  /* as in image_group_opts */
    const struct layer_reading_ops *reading; /* as there */
    enum oci_symlink_parent symlink_parent;
    unsigned n_threads, max_layers;
    const char *index_directory;              /* as in image_group_opts */
    struct err *unreadable;                   /* as there, for image_refactor_plan() */
    size_t n_indexed;                         /* as there */
    uint64_t layer_threshold, gain_threshold; /* IMAGE_GAIN_AUTOMATIC: image_plan_gain_default() */
    uint64_t split_threshold;                 /* as in image_plan_input */
    /* What has changed in earlier runs; learns what this group shows. NULL: nothing is known but
     * that. */
    struct image_volatility *volatility;
    uint64_t cached; /* bytes of layers to be replaced that nodes hold */
    bool is_forced;
    struct image_atoms_opts atoms;
    /* Where a name is taken already, give the new image the name "sha256-" and the digest of its
     * source instead of moving the name. */
    bool is_beside;
    struct image_layer_form form;
    bool is_read_twice; /* read each new layer by image/second_reader.h as well */
};

/* Bytes of files, without headers and compression. */
struct image_refactor_stats {
    uint64_t merged;          /* in the merged views together */
    uint64_t layers;          /* in the distinct layers now */
    uint64_t distinct;        /* of distinct contents: less cannot be stored */
    uint64_t planned;         /* in the planned layers */
    uint64_t n_source_layers; /* distinct ones */
};

struct image_refactoring_image {
    bool is_kept; /* nothing is shared, or its layers are as planned: it stays as it is */
    struct oci_digest digest; /* of the new manifest */
    uint64_t manifest_size;
    struct image_layer_blob top;
};

struct image_refactoring {
    const struct image_refactor_opts *opts;
    struct image_group group;
    struct image_atoms atoms;
    struct image_plan plan;
    struct image_refactor_stats figures;
    struct image_plan_source *sources;
    struct arena memory;
    /* After image_refactor_write(). */
    struct image_layer_blob *layers; /* of the plan's shared layers */
    struct image_refactoring_image *images;
    uint64_t stored;           /* compressed bytes of the distinct layers written */
    const char *second_reader; /* that has read the layers as well; NULL: none */
    uint64_t n_changed_times;  /* names whose file has another time than in the source */
};

/*
 * Read the images and plan their layers. `spool`: as image_group_read(); needed for writing.
 * `references` and `opts` are kept until image_refactoring_fini(). Errors: those of
 * image_group_read() and image_plan_make(); then *ret is empty.
 */
int image_refactor_plan(const char *const *references, size_t n,
                        const struct image_refactor_opts *opts, struct image_spool *spool,
                        struct image_refactoring *ret, struct err *err);
/* Whether the image is unchanged; before image_refactor_write() according to the plan. */
bool image_refactoring_keeps(const struct image_refactoring *r, size_t image);
/* Zeroed is fine. */
void image_refactoring_fini(struct image_refactoring *r);

/*
 * Carry the plan out: write the layers and documents of the images into a layout, with the names
 * given, prove that the images are the same, and publish. Errors: E_DIGEST (they are not: nothing
 * is published), and what reading and writing give.
 */
struct oci_layout;
int image_refactor_write(struct image_refactoring *r, const struct image_spool *spool,
                         struct oci_layout *layout, const char *const *names, struct err *err);
/*
 * The same without publishing: the images are in the layout's staging directory until
 * oci_layout_end(), the first one as "oci:STAGING:0".
 */
int image_refactor_stage(struct image_refactoring *r, const struct image_spool *spool,
                         struct oci_layout *layout, struct err *err);
