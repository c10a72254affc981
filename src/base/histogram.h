/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms and the Prometheus text of metrics.
 *
 *     static const double bounds_us[] = { 100, 1000, 10000 };
 *     static const struct histogram_kind times = { bounds_us, ARRAY_LEN(bounds_us), 1e6, 6, NULL };
 *     HISTOGRAM(uint64_t, 3) h = { 0 };
 *     histogram_add(&times, &h, us);
 *     histogram_write(to, &times, &(struct histogram_text){ .name = STR("x_seconds") },
 *                     histogram_view(&h));
 *
 * Values are kept in the unit in which they are measured and divided when they are written, so that
 * sums of microseconds are exact. A histogram takes no more memory than its counters. These can
 * have 32 bits where each of many objects has a histogram; Prometheus treats a counter that wraps
 * around as one that was reset. For percentiles in few bytes see guest/latency.h.
 */
#pragma once

#include "base/buf.h"

struct histogram_kind {
    const double *bounds; /* ascending; a value belongs to the first bound that is not below it */
    size_t n;
    double unit;  /* of values, in one unit of the text: 1e6 for microseconds shown as seconds */
    int decimals; /* of the sum; negative: as many as %g writes */
    /* Write a bound or the sum (in units of the text); NULL: by %g, and `decimals`. */
    void (*number)(struct buf *to, double value);
};

/* The members of a histogram: counts[i] counts the values above bound i - 1 and up to bound i;
 * values above the last bound are counted in n alone. Zeroed is empty. type: uint32_t or uint64_t.
 */
#define HISTOGRAM_FIELDS(type, n_bounds)                                                           \
    uint64_t n;                                                                                    \
    double sum;                                                                                    \
    type counts[n_bounds]
#define HISTOGRAM(type, n_bounds)                                                                  \
    struct {                                                                                       \
        HISTOGRAM_FIELDS(type, n_bounds);                                                          \
    }

/* Index of the bound that `value` belongs to; k->n: it is above all bounds. */
static inline size_t histogram_bucket(const struct histogram_kind *k, double value)
{
    size_t i = 0;
    while (i < k->n && value > k->bounds[i])
        i++;
    return i;
}

#define histogram_add(k, h, value)                                                                 \
    do {                                                                                           \
        double histogram_value_ = (double)(value);                                                 \
        size_t histogram_at_ = histogram_bucket(k, histogram_value_);                              \
        (h)->n++;                                                                                  \
        (h)->sum += histogram_value_;                                                              \
        if (histogram_at_ < (k)->n)                                                                \
            (h)->counts[histogram_at_]++;                                                          \
    } while (0)

/* ---- text ---- */

struct histogram_view {
    const void *counts;
    size_t width; /* of a counter, in bytes: 4 or 8 */
    uint64_t n;
    double sum;
};
/* h: a HISTOGRAM *; borrowed. */
#define histogram_view(h)                                                                          \
    ((struct histogram_view){ (h)->counts, sizeof((h)->counts[0]), (h)->n, (h)->sum })

enum histogram_lines {
    HISTOGRAM_ALL,
    HISTOGRAM_TOTAL, /* +Inf, sum and count */
    HISTOGRAM_SUM,   /* sum and count */
};

struct histogram_text {
    struct str name, labels; /* labels: `a="b",c="d"` or empty */
    enum histogram_lines lines;
    const bool *is_shown; /* which bounds are written; NULL: all */
};

void histogram_write(struct buf *to, const struct histogram_kind *k, const struct histogram_text *t,
                     struct histogram_view h);
/* The HELP and TYPE lines of a metric; type: "counter", "gauge", "histogram". */
void metric_head(struct buf *to, const char *name, const char *type, const char *help);
