/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cold_start_trace.csv, one line for each creation, with Dirigent's columns (specs: microseconds,
 * but `time` in nanoseconds since 1970). Lines are gathered and appended at most once a second.
 */
#pragma once

#include "fn/control/plane.h"

struct cold_trace;

enum { COLD_TRACE_BUFFER_BYTES = 256 << 10, COLD_TRACE_FLUSH_MS = 1000 };

/* Create dir/cold_start_trace.csv, or append to the existing file. */
int cold_trace_open(struct loop *loop, const char *dir, struct cold_trace **ret, struct err *err);
/* NULL is fine. */
void cold_trace_close(struct cold_trace *t);
void cold_trace_add(struct cold_trace *t, const struct plane_created *c);
