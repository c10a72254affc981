/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decompression of a stream whose format its first bytes tell: gzip (RFC 1952, several members are
 * one stream), zstd (RFC 8878, several frames, skippable ones too), anything else passes as it is.
 * Memory: 40 KiB for gzip, 350 KiB if inflate_fast_load() has found ISA-L (codec/inflate_fast.h);
 * at most DECOMPRESS_ZSTD_WINDOW_MAX for zstd. One thread at a time.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum {
    DECOMPRESS_ZSTD_WINDOW_LOG_MAX =
        27, /* what `zstd --long` writes and every decoder has to read */
    DECOMPRESS_ZSTD_WINDOW_MAX = 1 << DECOMPRESS_ZSTD_WINDOW_LOG_MAX,
    DECOMPRESS_PIECE_BYTES = 64 << 10, /* the most that the sink is given at once */
};

/* The next bytes, borrowed for the call. A negative code ends the decompression. */
typedef int (*decompress_sink)(void *arg, struct str bytes, struct err *err);

struct decompressor;

/* `arg` is kept until decompressor_free(). */
struct decompressor *decompressor_new(decompress_sink sink, void *arg);
void decompressor_free(struct decompressor *d);
DEFINE_SCOPED(decompressor, decompressor_free)
/* Errors: E_PARSE, -ENOMEM, what the sink returned; then only decompressor_free(). */
int decompressor_add(struct decompressor *d, struct str bytes, struct err *err);
/* The input is complete. Errors: those of decompressor_add(); E_PARSE also: it is cut short. */
int decompressor_end(struct decompressor *d, struct err *err);
/* The code of what zstd returned, where it is an error: -ENOMEM, of this machine; E_PARSE, of the
 * bytes. */
int decompress_zstd_code(size_t result);
