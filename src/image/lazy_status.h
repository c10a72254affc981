/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far lazy starts are: files lazy-<random> in starts/ of the node store, locked (flock) while
 * their process lives, with a line "<bytes here> <bytes> <manifest> <reference>", numbers of
 * 20 digits. What a killed process left is no start any more, and the next one removes it. Files
 * turn-<manifest> are locked by the start that fetches the rest of an image.
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

/* Those of running processes. Texts live in the arena. */
int lazy_status_list(const struct oci_store *s, struct arena *a, struct lazy_status_row **ret,
                     size_t *ret_n, struct err *err);

/* One more; the store may be a reader's. *ret: given, lazy_status_free(). Errors: of files;
 * E_INVALID, a reference with a line break. */
int lazy_status_new(const struct oci_store *s, const struct lazy_status_row *first,
                    struct lazy_status **ret, struct err *err);
/* One thread at a time. What cannot be written is left. */
void lazy_status_set(struct lazy_status *t, uint64_t done_bytes);
void lazy_status_free(struct lazy_status *t); /* removes it; NULL is fine */

/* "running, hydrating 43 %", or "running". In the arena. */
const char *lazy_status_text(const struct lazy_status_row *row, struct arena *a);

/*
 * Of several starts of one image at once, one fetches the rest: the turn of the image, which this
 * one then has until it closes the descriptor (given), or ends. Errors: -EAGAIN, another one has
 * it; of files.
 */
int lazy_status_take_turn(const struct oci_store *s, const struct oci_digest *manifest);
/* Give it back; -1 is fine. */
void lazy_status_give_turn(const struct oci_store *s, const struct oci_digest *manifest, int turn);
