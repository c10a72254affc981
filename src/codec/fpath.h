/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field paths: a chain of small structs on the callers' stacks, formatted only when an error is
 * reported.
 */
#pragma once

#include "base/buf.h"
#include "base/mem.h"

/* NULL is the root. `up` is borrowed; a path must not outlive its parent. */
struct fpath {
    const struct fpath *up;
    enum { FPATH_CHILD, FPATH_INDEX, FPATH_KEY } kind;
    struct str name; /* child: ".name"; key: "[name]" */
    size_t index;    /* "[3]" */
};

static inline struct fpath fpath_child(const struct fpath *up, struct str name)
{
    return (struct fpath){ .up = up, .kind = FPATH_CHILD, .name = name };
}
static inline struct fpath fpath_index(const struct fpath *up, size_t index)
{
    return (struct fpath){ .up = up, .kind = FPATH_INDEX, .index = index };
}
static inline struct fpath fpath_key(const struct fpath *up, struct str key)
{
    return (struct fpath){ .up = up, .kind = FPATH_KEY, .name = key };
}
/* "spec.versions[0].name"; the root is "". A path deeper than FPATH_MAX_DEPTH loses its outer
 * end. */
enum { FPATH_MAX_DEPTH = 600 };
void fpath_write(struct buf *to, const struct fpath *path);
struct str fpath_text(struct arena *a, const struct fpath *path);
