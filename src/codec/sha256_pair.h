/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 of two streams that have most of their bytes in common, such as a tar and a file in it:
 * common bytes are hashed for both in one pass. With the processor's SHA instructions this takes
 * little longer than one hash, because both have the same message schedule and their rounds do not
 * depend on each other; without these instructions it takes as long as two. One thread at a time.
 */
#pragma once

#include "codec/digest.h"

struct sha256_pair;

enum sha256_of_pair { SHA256_FIRST, SHA256_SECOND };

/* Given: sha256_pair_free(). */
struct sha256_pair *sha256_pair_new(void);
/* The same without the instructions, as on processors that lack them. */
struct sha256_pair *sha256_pair_new_plain(void);
void sha256_pair_free(struct sha256_pair *h);
DEFINE_SCOPED(sha256_pair, sha256_pair_free)
/* Add the next bytes of one stream. */
void sha256_pair_add(struct sha256_pair *h, enum sha256_of_pair which, const void *p, size_t n);
/* Add the next bytes of both streams; fastest if their lengths so far differ by a multiple of
 * 64. */
void sha256_pair_add_both(struct sha256_pair *h, const void *p, size_t n);
/* The hash of one stream; that one starts again from empty. */
void sha256_pair_end(struct sha256_pair *h, enum sha256_of_pair which, uint8_t ret[SHA256_BYTES]);
