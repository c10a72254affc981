/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 of a stream on a separate thread, while the caller processes the same bytes. They are
 * copied into HASH_BESIDE_BLOCKS blocks, which are all of its memory; the caller waits while all
 * blocks are full. One calling thread at a time.
 */
#pragma once

#include "base/mem.h"
#include "base/str.h"
#include "codec/digest.h"

enum { HASH_BESIDE_BLOCKS = 8, HASH_BESIDE_BLOCK_BYTES = 128 << 10 };

struct hash_beside;

/* Starts the thread. NULL: no memory, or no thread could be started. */
struct hash_beside *hash_beside_new(void);
/* NULL is fine. */
void hash_beside_free(struct hash_beside *h);
DEFINE_SCOPED(hash_beside, hash_beside_free)
void hash_beside_add(struct hash_beside *h, const void *p, size_t n);
/* Wait until everything is hashed. Then only hash_beside_free() may be called. */
void hash_beside_end(struct hash_beside *h, uint8_t ret[SHA256_BYTES]);
