/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EROFS images as files of the node store: the image, whose header has its length, is followed by a
 * block with a checksum of it ("DMEROFS1", base/sum.h, zeros). The kernel does not read this block;
 * `image check` does. Blocking calls, any thread.
 */
#pragma once

#include "oci/store.h"

/* Write an image to a file that oci_store_tmp() names, synced. *ret: its path, given, free(). */
int erofs_file_write(struct oci_store *store, struct str image, char **ret, struct err *err);
/* Errors: E_CORRUPT, -ENOENT, of reading. */
int erofs_file_check(const char *path, struct err *err);

struct erofs_file_found {
    size_t n, n_damaged;
};
/*
 * Check all of them in the store. remove: remove the damaged ones; the next mount creates them
 * again. on_damage: with the path relative to the store's root.
 */
int erofs_file_check_all(struct oci_store *store, bool remove,
                         void (*on_damage)(void *arg, const char *path, const char *why), void *arg,
                         struct erofs_file_found *ret, struct err *err);
