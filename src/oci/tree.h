/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The merged view of an image: its layers applied one over the other, bottom first, as OCI
 * image-spec (layer.md, "Applying Changesets") specifies and as an overlay mount shows them.
 *
 * A whiteout hides what lower layers have, never what its own layer has, at any position in the
 * archive. A directory over a directory keeps the children of the lower one and takes the
 * attributes of the upper one; anything else replaces what is below it with all its children. If a
 * layer has a path twice, the last entry counts. Missing parents are created and marked implicit.
 *
 * Nodes point to entries of the layers, which must outlive the tree. One thread at a time.
 */
#pragma once

#include "base/map.h"
#include "oci/layer.h"

enum { OCI_TREE_MEMORY_MAX = 1 << 30 }; /* bytes of a tree's nodes and their paths */

/* What to do if a parent directory of an entry is a symbolic link in the tree; engines differ. */
enum oci_symlink_parent {
    OCI_SYMLINK_PARENT_REFUSE,
    OCI_SYMLINK_PARENT_SHADOW, /* a directory replaces the link, as with an overlay mount */
    OCI_SYMLINK_PARENT_FOLLOW, /* the entry is created in the link's target, within the root */
};

/* An inode: the names of a group of hard links share one. */
struct oci_inode {
    const struct oci_entry *entry; /* never a TAR_HARDLINK; NULL: an implicit directory */
    uint32_t n_links;              /* names in the tree */
};

struct oci_node {
    struct str path; /* owned by the tree; "" is the root */
    struct oci_inode *inode;
    struct oci_node *parent; /* NULL: the root */
    struct oci_node *first_child, *next, *prev;
    bool is_implicit; /* a directory that no layer has an entry for */
};

struct oci_tree {
    struct map nodes; /* path -> struct oci_node */
    struct oci_node *root;
    enum oci_symlink_parent symlink_parent;
    uint64_t n_missing; /* whiteouts of paths that lower layers do not have */
    struct arena memory;
};

void oci_tree_init(struct oci_tree *t, enum oci_symlink_parent symlink_parent);
void oci_tree_fini(struct oci_tree *t);

/*
 * Apply the next layer. Errors: E_PARSE (a hard link to a missing path, an entry below a symbolic
 * link with OCI_SYMLINK_PARENT_REFUSE) with the path; then only oci_tree_fini() may be called.
 */
int oci_tree_apply(struct oci_tree *t, const struct oci_layer *layer, struct err *err);

/* NULL: the tree has no such path. */
struct oci_node *oci_tree_find(const struct oci_tree *t, struct str path);

/* The nodes sorted by the bytes of their paths, the root first; *ret is given, free(). */
size_t oci_tree_sorted(const struct oci_tree *t, struct oci_node ***ret);

static inline bool oci_node_is_dir(const struct oci_node *n)
{
    return !n->inode->entry || n->inode->entry->type == TAR_DIR;
}
