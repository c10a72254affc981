/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The next step of a stream on a thread of its own, so that both steps run at once where two
 * processors are free. Bytes are copied into BESIDE_BLOCKS blocks, which is all the memory; the
 * giver waits while they are full.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum { BESIDE_BLOCKS = 8, BESIDE_BLOCK_BYTES = 256 << 10 };

/* The next bytes, borrowed for the call. After a negative code it is not called again. */
typedef int (*beside_sink)(void *arg, struct str bytes, struct err *err);

struct beside;

/* arg: kept until beside_end() or beside_free(). *ret: given, beside_free(). Errors: -ENOMEM, of
 * starting a thread. */
int beside_new(beside_sink sink, void *arg, struct beside **ret, struct err *err);
/* Errors: what the sink returned for earlier bytes. One thread at a time. */
int beside_add(struct beside *b, struct str bytes, struct err *err);
/* All bytes were given: wait until the sink has had them. Then only beside_free(). */
int beside_end(struct beside *b, struct err *err);
/* Without beside_end() what the sink has not had yet is dropped. NULL is fine. */
void beside_free(struct beside *b);
DEFINE_SCOPED(beside, beside_free)
