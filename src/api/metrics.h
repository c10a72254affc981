/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of the API server under upstream's names. This file holds what has to be counted;
 * monitor.c reads the current values of everything else when the metrics are requested.
 */
#pragma once

#include "base/histogram.h"
#include "base/map.h"

enum { METRICS_BUCKETS = 27, METRICS_CODES_MAX = 12, METRICS_SERIES_MAX = 4096 };

/* One combination of verb, group, version, resource, subresource, scope. */
struct metrics_series {
    HISTOGRAM(uint64_t, METRICS_BUCKETS) us;
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
/*
 * labels: `verb="GET",...` without braces. Combinations beyond METRICS_SERIES_MAX are only counted.
 */
void metrics_request(struct metrics *m, struct str labels, int code, uint64_t us);
void metrics_write(const struct metrics *m, struct buf *to);
