/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which paths change from version to version, for layers that an update leaves alone
 * (image/plan.h). A path has changed when the images of a group have different things there, or
 * when a later run finds another thing there than an earlier one. What is known is a hint: it
 * decides how large layers are cut, never what an image holds.
 *
 * It is kept in a file between runs, one for each group. Little-endian:
 *
 *     8 bytes "DMPATHS1", u64 entries, then for each u64 sum of the path (base/sum.h), u64 sum of
 *     what was there last, u32 changes; u64 base/sum.h of all that precedes
 *
 * One thread at a time.
 */
#pragma once

#include "image/atoms.h"

enum { IMAGE_VOLATILITY_MAX = 4 << 20 }; /* paths, 20 bytes each in the file */

struct image_volatility {
    struct map by_path; /* u64 sum of the path -> what is private */
    struct arena memory;
    size_t n;
};

/* A file that does not exist knows nothing, and neither does a damaged one (-> false in *ret_good).
 * Errors: what reading gives. */
int image_volatility_load(const char *path, struct image_volatility *ret, bool *ret_good,
                          struct err *err);
/* Zeroed is fine. */
void image_volatility_fini(struct image_volatility *v);
/* Errors: what writing gives; then the old file is there. */
int image_volatility_save(const struct image_volatility *v, const char *path, struct err *err);

/* Learn from a group; from the same group twice is the same. Paths beyond IMAGE_VOLATILITY_MAX are
 * left out. */
void image_volatility_note(struct image_volatility *v, const struct image_atoms *a);
/* How often the path has changed. `path`: without leading "/". */
uint32_t image_volatility_of(const struct image_volatility *v, struct str path);
/* Give the atoms whose paths have changed their own part, IMAGE_PART_VOLATILE. Linked content
 * has no path of its own and stays. */
void image_volatility_split(const struct image_volatility *v, struct image_atoms *a);
