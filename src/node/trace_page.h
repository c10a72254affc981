/* SPDX-License-Identifier: Apache-2.0 */
/* The page of the admin socket that streams the steps of an operator's activations. */
#pragma once

#include "operator/v1/trace.h"

struct http_exchange;

enum {
    TRACE_PAGE_BEHIND_MAX = 1 << 20 /* unsent bytes; beyond them a slow reader is disconnected */
};

/* Respond with the steps of `count` activations (0: without end), one JSON object per line. */
void trace_page_start(struct http_exchange *x, struct v1_trace *trace, uint64_t count);
