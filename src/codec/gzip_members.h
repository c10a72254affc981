/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gzip (RFC 1952) for blobs that are written once and read often: slower and smaller than
 * codec/gzip.h. The stream is cut into pieces of GZIP_MEMBER_BYTES, each of which becomes a member
 * of its own; readers take several members as one stream. The result depends on the input and the
 * compressor alone, not on how the input came in. docs/decisions/layer-compression.md says why.
 *
 * Memory: twice GZIP_MEMBER_BYTES and the compressor's, about 1 MiB. One thread at a time.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum { GZIP_MEMBER_BYTES = 4 << 20 };

/* The next compressed bytes, borrowed for the call. A negative code ends the compression. */
typedef int (*gzip_members_sink)(void *arg, struct str bytes, struct err *err);

struct gzip_members;

/* `arg` is kept until gzip_members_free(). NULL: no memory. */
struct gzip_members *gzip_members_new(gzip_members_sink sink, void *arg);
void gzip_members_free(struct gzip_members *g);
DEFINE_SCOPED(gzip_members, gzip_members_free)
/* Errors: what the sink returned; then only gzip_members_free(). */
int gzip_members_add(struct gzip_members *g, struct str bytes, struct err *err);
/* What follows begins a member of its own; nothing, where one begins anyway. Errors: likewise. */
int gzip_members_cut(struct gzip_members *g, struct err *err);
/* Nothing follows. An empty input becomes one empty member. */
int gzip_members_end(struct gzip_members *g, struct err *err);
