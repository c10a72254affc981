/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of the API server under upstream's names. What is counted lives here; what can be read
 * off the server when somebody asks is read then (monitor.c).
 */
#pragma once

#include "base/buf.h"
#include "base/map.h"

enum { METRICS_BUCKETS = 27, METRICS_CODES_MAX = 12, METRICS_SERIES_MAX = 4096 };

/* One combination of verb, group, version, resource, subresource, scope. */
struct metrics_series {
    uint64_t n, sum_us;
    uint64_t bucket[METRICS_BUCKETS]; /* not cumulative; what is longer than all is in n alone */
    struct {
        uint32_t code; /* 0: the rest of the table is empty */
        uint32_t n;
    } codes[METRICS_CODES_MAX];
};

struct metrics {
    struct map series; /* label text -> struct metrics_series */
    uint64_t watch_events, dropped;
    size_t watchers;
};

void metrics_fini(struct metrics *m);
/* labels: `verb="GET",...` without braces. Beyond METRICS_SERIES_MAX combinations they are only
 * counted. */
void metrics_request(struct metrics *m, struct str labels, int code, uint64_t us);
void metrics_write(const struct metrics *m, struct buf *to);
/* The two lines that stand before a metric. */
void metrics_head(struct buf *to, const char *name, const char *type, const char *help);
