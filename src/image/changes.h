/* SPDX-License-Identifier: Apache-2.0 */
/* The differences between the merged views of two images, path by path. Pure; one thread at a time.
 */
#pragma once

#include "oci/tree.h"

enum image_change_kind {
    IMAGE_CHANGE_ADDED,
    IMAGE_CHANGE_REMOVED,
    IMAGE_CHANGE_CONTENT,    /* other bytes, another target, another type */
    IMAGE_CHANGE_ATTRIBUTES, /* mode, owner or extended attributes; the content is the same */
    IMAGE_CHANGE_TIME,       /* only the modification time */
};

struct image_change {
    enum image_change_kind kind;
    const struct oci_node *from, *to; /* of the trees; NULL where the path is missing */
};

struct image_changes {
    VEC(struct image_change) all; /* sorted by path */
    uint64_t same, same_bytes;    /* paths that are equal in everything, and bytes of their files */
};

/* `from` and `to` must outlive the changes. */
void image_changes_find(const struct oci_tree *from, const struct oci_tree *to,
                        struct image_changes *ret);
void image_changes_fini(struct image_changes *c);

/* Mode, owner and extended attributes with their values, in the same order. */
bool image_is_same_rights(const struct oci_entry *a, const struct oci_entry *b);

/* "added", "removed", "content", "attributes", "time"; static storage. */
const char *image_change_name(enum image_change_kind kind);
/* Bytes of the file at a node; 0 for everything else and for NULL. */
uint64_t image_node_bytes(const struct oci_node *node);
