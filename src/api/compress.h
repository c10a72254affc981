/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed answers, as upstream: gzip at its cheapest level for answers longer than 128 KiB, if
 * the client accepts it, and never for a watch.
 *
 * It sits between a request and its sink. A long answer is compressed in slices, one per turn of
 * the loop, so that it does not delay other requests.
 */
#pragma once

#include "api/request.h"

enum {
    COMPRESS_MIN_BYTES = 128 << 10, /* shorter answers are sent as they are */
    COMPRESS_MAX = 16, /* answers compressed at once, GZIP_STATE_BYTES each; further ones are sent
                          uncompressed */
    COMPRESS_SLICE_BYTES = 256 << 10
};

struct compress;

/*
 * Whether the client accepts a compressed answer. A caller may compress the answer itself: an
 * answer with a content-encoding is left as it is.
 */
bool compress_may(const struct request *rq);
/*
 * Compress the answer with this head if allowed: adds its fields to h and puts itself in front of
 * the sink. body_n as for sink_ops.head(); *ret_n is the value for that call. Does nothing if
 * memory is short.
 */
void compress_begin(struct request *rq, struct headers *h, uint64_t body_n, uint64_t *ret_n);
/* The sink can take more. The writer in front is notified in turn when it may continue. */
void compress_writable(struct request *rq);
void compress_free(struct request *rq);
