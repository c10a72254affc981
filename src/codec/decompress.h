/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decompression of a stream; its first bytes tell the format: gzip (RFC 1952, several members are
 * one stream), zstd (RFC 8878, several frames, skippable ones too). Anything else passes unchanged.
 * Memory: 40 KiB for gzip, 350 KiB if inflate_fast_load() has found ISA-L (codec/inflate_fast.h);
 * at most DECOMPRESS_ZSTD_WINDOW_MAX for zstd. One thread at a time.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum {
    DECOMPRESS_ZSTD_WINDOW_LOG_MAX = 27, /* what `zstd --long` writes and each decoder must read */
    DECOMPRESS_ZSTD_WINDOW_MAX = 1 << DECOMPRESS_ZSTD_WINDOW_LOG_MAX,
    DECOMPRESS_PIECE_BYTES = 64 << 10, /* the most that the sink gets in one call */
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
/* The input is complete. Errors: those of decompressor_add(); E_PARSE also if it is truncated. */
int decompressor_end(struct decompressor *d, struct err *err);
/* The error code for a failed result of zstd: -ENOMEM: this machine's memory; E_PARSE: the
 * bytes. */
int decompress_zstd_code(size_t result);
