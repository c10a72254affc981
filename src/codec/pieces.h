/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gzip (RFC 1952) or zstd (RFC 8878) for blobs that are written once and read often: slower and
 * smaller than codec/gzip.h. The stream is cut into pieces of PIECE_BYTES, each of which becomes a
 * member or a frame of its own; readers treat several as one stream. The result depends on the
 * input and the compressor alone, not on how the input was divided into calls.
 * docs/decisions/layer-compression.md says why.
 *
 * Memory: twice PIECE_BYTES and the compressor's, about 1 MiB (zstd: 13 MiB). One thread at a time.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum { PIECE_BYTES = 4 << 20 };

/* Gets one whole member or frame, borrowed for the call. A negative code ends the compression. */
typedef int (*pieces_sink)(void *arg, struct str bytes, struct err *err);

enum pieces_how { PIECES_GZIP, PIECES_ZSTD };

struct pieces;

/* `arg` is kept until pieces_free(). NULL: no memory. */
struct pieces *pieces_new(enum pieces_how how, pieces_sink sink, void *arg);
void pieces_free(struct pieces *g);
DEFINE_SCOPED(pieces, pieces_free)
/* Errors: what the sink returned, -ENOMEM; then only pieces_free(). */
int pieces_add(struct pieces *g, struct str bytes, struct err *err);
/* Begin a new piece here; no effect at the beginning of a piece. Errors: as pieces_add(). */
int pieces_cut(struct pieces *g, struct err *err);
/* The input is complete. An empty input becomes one empty piece. */
int pieces_end(struct pieces *g, struct err *err);
