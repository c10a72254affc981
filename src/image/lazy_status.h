/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of lazy starts: files lazy-<random> in starts/ of the node store, locked (flock)
 * while their process lives, with a line "<bytes here> <bytes> <manifest> <reference>", numbers of
 * 20 digits. The next start removes the files of killed processes. Files turn-<manifest> are locked
 * by the start that fetches the rest of an image.
 *
 * Blocking calls.
 */
#pragma once

#include "oci/store.h"

struct lazy_status_row {
    uint64_t done_bytes, all_bytes;
    struct oci_digest manifest;
    struct str reference;
};

enum { LAZY_STATUS_ROWS_MAX = 1024, LAZY_STATUS_REFERENCE_MAX = 1024 };

struct lazy_status;

/* The starts of running processes. Texts are in the arena. */
int lazy_status_list(const struct oci_store *s, struct arena *a, struct lazy_status_row **ret,
                     size_t *ret_n, struct err *err);

/* Add one; the store may be a reader. *ret: given, lazy_status_free(). Errors: of files;
 * E_INVALID, a reference with a line break. */
int lazy_status_new(const struct oci_store *s, const struct lazy_status_row *first,
                    struct lazy_status **ret, struct err *err);
/* One thread at a time. Write errors are ignored. */
void lazy_status_set(struct lazy_status *t, uint64_t done_bytes);
void lazy_status_free(struct lazy_status *t); /* removes it; NULL is fine */

/* "running, hydrating 43 %", or "running". In the arena. */
const char *lazy_status_text(const struct lazy_status_row *row, struct arena *a);

/*
 * Of several simultaneous starts of one image, one fetches the rest. Acquires the lock for that; it
 * is held until the descriptor (given) is closed, or the process ends. Errors: -EAGAIN, another
 * start has it; of files.
 */
int lazy_status_acquire(const struct oci_store *s, const struct oci_digest *manifest);
/* Release it; -1 is fine. */
void lazy_status_release(const struct oci_store *s, const struct oci_digest *manifest, int turn);
