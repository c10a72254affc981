/* SPDX-License-Identifier: Apache-2.0 */
/* The hybrid histogram; see hybrid.h. */
#include "fn/scale/hybrid.h"

#include "base/mem.h"

#include <math.h>

enum { HEAD_PERCENT = 5, TAIL_PERCENT = 99 };
#define OUTSIDE_SHARE   0.5  /* from this share on the histogram is not used */
#define SPREAD_MIN      2.0  /* coefficient of variation of the bins; not used below */
#define MARGIN          0.1  /* around the percentiles */
#define FORECAST_MARGIN 0.15 /* around a forecast */
/* Holt's smoothing of idle times. */
#define LEVEL_RATE 0.5
#define TREND_RATE 0.3

static void forecast_add(struct hybrid *h, double idle_ms)
{
    if (h->n == 0) {
        h->level = (float)idle_ms;
        return;
    }
    double level = LEVEL_RATE * idle_ms + (1 - LEVEL_RATE) * ((double)h->level + (double)h->trend);
    h->trend =
        (float)(TREND_RATE * (level - (double)h->level) + (1 - TREND_RATE) * (double)h->trend);
    h->level = (float)level;
}

void hybrid_add(struct hybrid *h, uint64_t idle_ms)
{
    forecast_add(h, (double)idle_ms);
    uint64_t bin = idle_ms / HYBRID_BIN_MS;
    h->n++;
    if (bin >= HYBRID_BINS) {
        h->n_outside++;
        return;
    }
    if (++h->bins[bin] < UINT16_MAX)
        return;
    /* Halve everything: old behaviour fades, shares stay the same. */
    h->n = h->n_outside /= 2;
    for (int i = 0; i < HYBRID_BINS; i++)
        h->n += h->bins[i] /= 2;
}

/* Of the counts in the bins: deviation over mean. */
static double spread(const struct hybrid *h)
{
    double mean = (double)(h->n - h->n_outside) / HYBRID_BINS, sum = 0;
    if (mean <= 0)
        return 0;
    for (int i = 0; i < HYBRID_BINS; i++)
        sum += (h->bins[i] - mean) * (h->bins[i] - mean);
    return sqrt(sum / HYBRID_BINS) / mean;
}

/* The bin in which `percent` of those inside are reached. */
static int percentile(const struct hybrid *h, uint32_t percent)
{
    uint64_t want = ((uint64_t)(h->n - h->n_outside) * percent + 99) / 100, seen = 0;
    int bin = 0;
    while (bin < HYBRID_BINS - 1 && (seen += h->bins[bin]) < MAX(want, 1))
        bin++;
    return bin;
}

void hybrid_windows(const struct hybrid *h, uint64_t *ret_prewarm_ms, uint64_t *ret_keep_ms)
{
    *ret_prewarm_ms = 0;
    *ret_keep_ms = (uint64_t)HYBRID_BINS * HYBRID_BIN_MS;
    if (h->n && h->n_outside >= OUTSIDE_SHARE * h->n) {
        double next = MAX((double)h->level + (double)h->trend, 0.0);
        *ret_prewarm_ms = (uint64_t)(next * (1 - FORECAST_MARGIN));
        *ret_keep_ms = (uint64_t)(next * (1 + FORECAST_MARGIN));
        return;
    }
    if (spread(h) < SPREAD_MIN)
        return;
    *ret_prewarm_ms =
        (uint64_t)(percentile(h, HEAD_PERCENT) * (double)HYBRID_BIN_MS * (1 - MARGIN));
    *ret_keep_ms =
        (uint64_t)((percentile(h, TAIL_PERCENT) + 1) * (double)HYBRID_BIN_MS * (1 + MARGIN));
}
