/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The modification times with which files of shared layers were published, in a file: a file keeps
 * the first one, so that an image that joins the group later does not change layers that nodes
 * hold. The file is replaced whole; a damaged one is an error, since ignoring it would rename
 * layers. Little-endian:
 *
 *     8 bytes "DMTIMES1", u64 entries, then for each 32 bytes of key (image_key_of(),
 *     IMAGE_KEY_ATTRIBUTES), i64 seconds, u32 nanoseconds; u64 base/sum.h of all that precedes
 */
#pragma once

#include "image/refactor.h"

enum { IMAGE_TIMES_MAX = 8 << 20 }; /* entries, 44 bytes each in the file */

struct image_times {
    struct map by_key; /* -> struct image_time; for image_atoms_opts.published */
    struct arena memory;
    size_t n;
};

/* A file that does not exist has none. Errors: E_CORRUPT, E_LIMIT, what reading gives. */
int image_times_load(const char *path, struct image_times *ret, struct err *err);
/* Zeroed is fine. */
void image_times_fini(struct image_times *t);
/* Add those of the plan's shared layers; a file that has one keeps it. What is beyond
 * IMAGE_TIMES_MAX is left out. */
void image_times_note(struct image_times *t, const struct image_refactoring *r);
/* Errors: what writing gives; then the old file is there. */
int image_times_save(const struct image_times *t, const char *path, struct err *err);
