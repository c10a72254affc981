/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 of a stream on a thread of its own, beside what the giver does with the same bytes. They
 * are copied into HASH_BESIDE_BLOCKS blocks, which is all the memory; the giver waits while these
 * are full. One giving thread at a time.
 */
#pragma once

#include "base/mem.h"
#include "base/str.h"
#include "codec/digest.h"

enum { HASH_BESIDE_BLOCKS = 8, HASH_BESIDE_BLOCK_BYTES = 128 << 10 };

struct hash_beside;

/* The thread has begun: from now on it waits, hashes and ends. NULL: no memory, or no thread could
 * be started. */
struct hash_beside *hash_beside_new(void);
/* NULL is fine. */
void hash_beside_free(struct hash_beside *h);
DEFINE_SCOPED(hash_beside, hash_beside_free)
void hash_beside_add(struct hash_beside *h, const void *p, size_t n);
/* Wait until all is hashed. Then only hash_beside_free(). */
void hash_beside_end(struct hash_beside *h, uint8_t ret[SHA256_BYTES]);
