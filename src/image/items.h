/* SPDX-License-Identifier: Apache-2.0 */
/* The content of each layer of a refactored group. Pure; any thread once the plan is made. */
#pragma once

#include "image/refactor.h"

struct image_items {
    VEC(struct image_item) all;
    struct arena memory;
};
void image_items_fini(struct image_items *items);

/* Of a shared layer of the plan: its atoms and the directories above them. */
void image_items_shared(const struct image_refactoring *r, size_t layer, struct image_items *ret);
/* Of an image's top layer: all its directories, and everything that is in no shared layer. */
void image_items_top(const struct image_refactoring *r, size_t image, struct image_items *ret);

/* The path of linked content: ".blobs/ab/cdef...". */
enum { IMAGE_LINKED_PATH_SIZE = 8 + 2 * SHA256_BYTES + 1 };
#define IMAGE_LINKED_DIR ".blobs"
void image_linked_path(const struct image_atom *atom, char ret[IMAGE_LINKED_PATH_SIZE]);
