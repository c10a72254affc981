/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a refactoring is due: the bytes of files in layers of one image that other images of the
 * group also have (redundant bytes). Computed only from indexes. Pure.
 */
#pragma once

#include "image/refactor.h"

#define IMAGE_REDUNDANCY_MIN ((uint64_t)16 << 20)
enum { IMAGE_REDUNDANCY_PERCENT = 20 }; /* of the image, if that is more */
#define IMAGE_REDUNDANCY_AUTOMATIC UINT64_MAX

/*
 * Does an image have more than `threshold`, or the group's layers together? *ret_bytes: the most of
 * an image. IMAGE_REDUNDANCY_AUTOMATIC: IMAGE_REDUNDANCY_MIN or the part of the image's files, the
 * larger; of the group likewise.
 */
bool image_is_redundant(const struct image_refactoring *r, uint64_t threshold, uint64_t *ret_bytes);
