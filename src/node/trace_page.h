/* SPDX-License-Identifier: Apache-2.0 */
/* The page of the admin socket that tells what an operator's activations do, as it happens. */
#pragma once

#include "operator/v1/trace.h"

struct http_exchange;

enum {
    TRACE_PAGE_BEHIND_MAX = 1 << 20 /* bytes that a slow reader may owe; then it is cut off */
};

/* Answer with the steps of `count` activations (0: without end), one JSON object a line. */
void trace_page_start(struct http_exchange *x, struct v1_trace *trace, uint64_t count);
