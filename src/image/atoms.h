/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the images of a group in the smallest pieces that a layer can hold: atoms. An atom
 * is one name with everything that belongs to it: the names of a group of hard links are one atom,
 * and so are a Python source and the compiled files that record its time. Directories are not
 * atoms: each image has its own in its top layer.
 *
 * Two images have the same atom if everything is equal: paths, types, contents or targets, modes,
 * owners, extended attributes. Modification times need not be equal: shared files get the earliest
 * one, except if a program would notice (a .py whose .pyc records its time) or the user demands
 * equal times. With linked content (the method of BREAK) files are shared by content and rights,
 * whatever their paths; images then have symbolic links.
 *
 * Pure; the trees and what they point to must outlive the atoms. One thread at a time.
 */
#pragma once

#include "base/vec.h"
#include "image/plan.h"
#include "oci/tree.h"

struct image_group_member {
    const struct oci_tree *tree;
    struct oci_layer *const
        *layers;                 /* of the tree, bottom first; a layer may be in several images */
    const uint64_t *layer_sizes; /* of their blobs */
    size_t n_layers;
};

struct image_atoms_opts {
    bool is_exact;                  /* times must be equal, too */
    const char *const *exact_globs; /* as fnmatch(3) without flags, on paths without leading "/" */
    size_t n_exact_globs;
    bool is_linked;
    /* Modification times of files that were published before: the key of an inode
     * (image_key_of(), IMAGE_KEY_ATTRIBUTES) -> struct image_time. NULL: none. */
    const struct map *published;
};

struct image_time {
    int64_t s;
    uint32_t ns;
    bool is_exact; /* the same in all images, part of the key */
};

struct image_atom {
    const uint64_t *set; /* the images that have it */
    uint32_t class_index;
    uint32_t owner; /* the first image that has it, */
    uint32_t use;   /* and the index of its use there */
    bool is_linked; /* shared by content: each image has it at its own path */
    uint8_t key[SHA256_BYTES];
    uint64_t raw, size; /* bytes in a tar, headers included, and compressed (estimated) */
    uint64_t content;   /* bytes of its files */
    uint32_t n_files;
    struct image_time *times; /* for each of its nodes, if images share it */
};

/* An atom in an image. */
struct image_atom_use {
    uint32_t atom, n;
    struct oci_node *const *nodes; /* sorted by path */
};

struct image_uses {
    struct image_atom_use *p;
    size_t n;
    uint64_t merged;          /* bytes of its files, each inode once */
    uint64_t directories_raw; /* bytes of their headers */
};

struct image_atoms {
    size_t n_images, n_words;
    VEC(struct image_atom) all;
    struct image_uses *images;
    VEC(struct image_class) classes; /* sorted by their first atom */
    struct map by_key;
    struct arena memory;
};

/* Errors: E_LIMIT, a group has too many images. */
int image_atoms_find(const struct image_group_member *images, size_t n,
                     const struct image_atoms_opts *opts, struct image_atoms *ret, struct err *err);
/* Zeroed is fine. */
void image_atoms_fini(struct image_atoms *a);

/* Splits classes: the atoms of one class get a class for each value that `part` returns. */
typedef uint32_t (*image_part_fn)(void *arg, const struct image_atoms *a, size_t atom);
void image_atoms_split(struct image_atoms *a, image_part_fn part, void *arg);

/* Bytes that a node takes in a tar; has_data: the content is stored under this name. */
uint64_t image_node_tar_bytes(const struct oci_node *node, bool has_data);
