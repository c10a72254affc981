/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the API server under upstream's names. */
#pragma once

#include "base/buf.h"
#include "base/map.h"

enum { METRICS_BUCKETS = 12, METRICS_SERIES_MAX = 4096 };

/* One combination of verb, group, version, resource, subresource, scope, code. */
struct metrics_series {
    uint64_t n;
    uint64_t sum_us;
    uint64_t bucket[METRICS_BUCKETS];
};

struct metrics {
    struct map series; /* label text -> struct metrics_series */
    uint64_t watch_events, dropped;
    size_t watchers;
};

void metrics_fini(struct metrics *m);
/* labels: `verb="GET",...` without braces. Beyond METRICS_SERIES_MAX combinations it is only
 * counted. */
void metrics_request(struct metrics *m, struct str labels, uint64_t us);
void metrics_write(const struct metrics *m, struct buf *to);
