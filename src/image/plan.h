/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which layers the images of a group should have, so that what they share is stored once.
 *
 * All that images hold falls into classes: a class is everything that exactly the same set of
 * images holds. A shared layer is made of a class where that pays; classes without a layer of their
 * own go into the shared layers of subsets of their images (never into those of others: an image
 * must not get a file that it does not have), the rest into the top layer of each image. Every
 * image has its shared layers at the bottom, those with the most sharers lowest, so that images
 * share prefixes of layers, too.
 *
 * A class may come in parts: files that have changed between versions, and files that have not
 * (image/volatility.h). A large class gets a layer for each part where every image has room for
 * one more, so that the next version renames the small layer and leaves the large one. Layers of
 * what changes stand above those of what does not with as many sharers: prefixes last longer.
 * Parts never cost a class its layer: the classes are chosen first, and then split.
 *
 * Pure and deterministic: the same input gives the same plan. One thread at a time.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "image/set.h"

enum {
    IMAGE_LAYERS_DEFAULT = 16,      /* layers of an image, its top layer included */
    IMAGE_LAYERS_HARD = 64,         /* each one costs every lookup of a missing name */
    IMAGE_HIDDEN_COST_PERCENT = 25, /* of bytes that nodes hold and will not use any more */
};
/* 1 MiB would lose up to 4.8 points of what a new version shares with the old one:
 * docs/internals/image-refactoring.md */
#define IMAGE_LAYER_THRESHOLD ((uint64_t)256 << 10)
#define IMAGE_GAIN_THRESHOLD  ((uint64_t)64 << 20) /* or a tenth of what is stored, if more */
#define IMAGE_SPLIT_THRESHOLD ((uint64_t)8 << 20)

/* Sizes are bytes of compressed layers, estimated, unless they are named raw. */
struct image_class {
    const uint64_t *set; /* never empty */
    uint64_t size, raw;
    uint64_t n_atoms;
    uint32_t part; /* classes with equal sets are parts of one and differ in it */
};
/* The steadier part first. */
enum { IMAGE_PART_STEADY, IMAGE_PART_VOLATILE };

/* A layer that the images have now, and which of them have it. */
struct image_plan_source {
    const uint64_t *set;
    uint64_t size;
};

struct image_plan_input {
    size_t n_images; /* at most IMAGE_GROUP_MAX */
    const struct image_class *classes;
    size_t n_classes;
    const struct image_plan_source *sources;
    size_t n_sources;
    const uint64_t *directories; /* of each image's top layer; NULL: nothing */
    unsigned max_layers;         /* 2 to IMAGE_LAYERS_HARD */
    uint64_t layer_threshold;    /* the least size of a shared layer */
    uint64_t split_threshold;    /* the least size of a class that is split; 0: none is */
    uint64_t gain_threshold;     /* the least that has to be saved */
    uint64_t cached;             /* bytes of layers to be replaced that nodes hold */
    bool is_forced;              /* carry it out whatever it saves */
    bool is_for_all;             /* images that share nothing get other layers, too */
    bool is_plain;               /* classes without a layer go into top layers only */
};

enum { IMAGE_PLAN_TOP = UINT32_MAX };

struct image_plan_layer {
    const uint64_t *set; /* its sharers */
    uint32_t n_sharers;
    uint32_t class_index; /* the class that it was made for, or the first of its parts */
    uint32_t part;        /* the last of its parts */
    bool is_split;        /* the other parts have layers of their own */
    uint64_t size, raw;   /* with what other classes put there */
    uint64_t n_atoms;
};

struct image_plan_image {
    uint32_t n_shared;          /* shared layers; 0: the image stays as it is */
    uint64_t top_size, top_raw; /* of its top layer */
    uint64_t top_atoms;
};

struct image_plan {
    size_t n_images, n_words;
    struct image_plan_layer *layers; /* shared ones, lowest first: each image has a subsequence */
    size_t n_layers;
    struct image_plan_image *images;
    uint64_t stored_before, stored_after; /* distinct layers of the group */
    int64_t saved, net;                   /* net: less what nodes lose from their caches */
    uint64_t total_after;                 /* layers of all images, shared ones counted each time */
    /* What is stored once although several images have it: by digest, and by prefix of layers, as
     * engines that know layers by their ChainID store it. */
    uint64_t digest_shared, prefix_shared;
    bool is_accepted;
    const char *why; /* static storage: why not; NULL: accepted */
    /* For each class the layers it is in; image_plan_find(). */
    const struct image_class *classes; /* kept until image_plan_fini(), with their sets */
    struct image_plan_pieces {
        uint32_t first, n;
    } * pieces;
    uint32_t *piece_layers;
    struct arena memory;
};

/* Errors: E_LIMIT for too many images or layers, with the limit in the text. */
int image_plan_make(const struct image_plan_input *in, struct image_plan *ret, struct err *err);
/* Zeroed is fine. */
void image_plan_fini(struct image_plan *p);

/* The shared layers are written and have these sizes: count again what is shared. */
void image_plan_set_sizes(struct image_plan *p, const uint64_t *sizes);

/* The shared layer in which `image` has the atoms of this class, or IMAGE_PLAN_TOP. The class's set
 * has the image. */
uint32_t image_plan_find(const struct image_plan *p, size_t class_index, size_t image);
/* The gain threshold where the user set none. */
uint64_t image_plan_gain_default(uint64_t stored_before);
