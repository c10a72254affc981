/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of several images is the same: bytes of the regular files of their merged views, counted
 * once for each distinct key. What counts as the same file depends on the key; each of the four
 * demands more than the one before. Pure; one thread at a time.
 */
#pragma once

#include "oci/tree.h"

enum image_key {
    IMAGE_KEY_CONTENT,      /* the digest of the content */
    IMAGE_KEY_PATH,         /* and the path */
    IMAGE_KEY_ATTRIBUTES,   /* and mode, owner, extended attributes: what a shared layer can hold */
    IMAGE_KEY_MODIFICATION, /* and the modification time: what hard links on a node can share */
    IMAGE_KEYS
};

struct image_share_total {
    uint64_t files, bytes;
};

struct image_share {
    size_t n_images;
    struct image_share_total merged; /* the sum of the images; of hard links one name counts */
    struct image_share_total distinct[IMAGE_KEYS];
    struct map seen[IMAGE_KEYS]; /* key -> itself */
    struct arena keys;
};

/* Zero-initialised is a valid empty one. */
void image_share_fini(struct image_share *s);
void image_share_add(struct image_share *s, const struct oci_tree *tree);

/* The key of a regular file: SHA-256 over its fields. `node` is of type TAR_FILE. */
void image_key_of(const struct oci_node *node, enum image_key key, uint8_t ret[SHA256_BYTES]);
