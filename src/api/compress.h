/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed answers, as upstream: gzip at its cheapest level for what is longer than 128 KiB, if
 * the client takes it, and never for a watch.
 *
 * It stands between a request and its sink. A long answer is compressed in slices, one for each
 * turn of the loop, so that nobody else waits for it.
 */
#pragma once

#include "api/request.h"

enum {
    COMPRESS_MIN_BYTES = 128 << 10, /* shorter answers are sent as they are */
    COMPRESS_MAX = 16,              /* answers at once, of GZIP_STATE_BYTES; further ones are not */
    COMPRESS_SLICE_BYTES = 256 << 10
};

struct compress;

/* Whether the client accepts a compressed answer. A caller may compress it itself: an answer with a
 * content-encoding is left as it is. */
bool compress_may(const struct request *rq);
/*
 * The answer with this head shall be compressed if it may be: adds its fields to h and puts itself
 * before the sink. body_n as for sink_ops.head(); *ret_n is what to give there. Does nothing
 * without memory.
 */
void compress_begin(struct request *rq, struct headers *h, uint64_t body_n, uint64_t *ret_n);
/* The sink can take more; whoever writes is told when that is so for him, too. */
void compress_writable(struct request *rq);
void compress_free(struct request *rq);
