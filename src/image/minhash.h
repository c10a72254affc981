/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of many images belong together: estimates of how much of their content they share (MinHash;
 * A. Broder, 1997), and groups of those that share enough. Pure; one thread.
 */
#pragma once

#include "oci/tree.h"

enum {
    IMAGE_MINHASH_SIZE = 64,           /* permutations: the estimate is good to about 0.06 */
    IMAGE_OVERLAP_PERCENT_DEFAULT = 10 /* shared content that makes two images one group */
};

struct image_minhash {
    uint64_t least[IMAGE_MINHASH_SIZE];
};

/* Of the contents of the merged view; a content counts the more the larger it is (once, and once
 * more for each doubling from 4 KiB on). Empty files do not count. */
void image_minhash_of(const struct oci_tree *tree, struct image_minhash *ret);
/* Estimated part of the common content, 0 to 100. */
unsigned image_minhash_overlap(const struct image_minhash *a, const struct image_minhash *b);

/*
 * Groups of n images: two of them are in one group when they share enough, or when a chain of
 * others does (single link). A group of more than `max` is cut; `family` are the names by which
 * neighbours are chosen then, sorted images of one name stay together as far as they fit. ret:
 * n numbers of groups, from 0 on in the order of their first image. Returns the number of groups.
 */
size_t image_minhash_group(const struct image_minhash *all, const char *const *family, size_t n,
                           unsigned overlap_percent, size_t max, uint32_t *ret);
