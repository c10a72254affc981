/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two SHA-256 of streams that have most of their bytes in common, such as a tar and a file in it:
 * bytes of both are hashed in one pass. Where the processor has instructions for it, that takes
 * little longer than one hash, because the two have the same message schedule and their rounds need
 * not wait for each other; elsewhere as long as two. One thread at a time.
 */
#pragma once

#include "codec/digest.h"

struct sha256_pair;

enum sha256_of_pair { SHA256_FIRST, SHA256_SECOND };

/* Given: sha256_pair_free(). */
struct sha256_pair *sha256_pair_new(void);
/* The same without these instructions, as where they are missing. */
struct sha256_pair *sha256_pair_new_plain(void);
void sha256_pair_free(struct sha256_pair *h);
DEFINE_SCOPED(sha256_pair, sha256_pair_free)
/* The next bytes of one of them. */
void sha256_pair_add(struct sha256_pair *h, enum sha256_of_pair which, const void *p, size_t n);
/* The next bytes of both; fastest where both had multiples of 64 bytes more or less. */
void sha256_pair_add_both(struct sha256_pair *h, const void *p, size_t n);
/* The hash of what was added to one; that one starts again. */
void sha256_pair_end(struct sha256_pair *h, enum sha256_of_pair which, uint8_t ret[SHA256_BYTES]);
