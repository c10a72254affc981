/* SPDX-License-Identifier: Apache-2.0 */
/* Prediction by harmonics; see escargot.h. */
#include "fn/scale/escargot.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { N = ESCARGOT_MINUTES, HALF = N / 2 };
#define TWO_PI     6.283185307179586
#define SAFETY     1.5 /* more sandboxes than the mean load needs */
#define NEGLIGIBLE 0.1 /* calls in a minute */

/* Least squares through (0, x0), (1, x1), ... */
static void line_through(const double x[N], double *ret_at_0, double *ret_slope)
{
    double mean_t = (N - 1) / 2.0, mean_x = 0, num = 0, den = 0;
    for (int t = 0; t < N; t++)
        mean_x += x[t] / N;
    for (int t = 0; t < N; t++) {
        num += (t - mean_t) * (x[t] - mean_x);
        den += (t - mean_t) * (t - mean_t);
    }
    *ret_slope = num / den;
    *ret_at_0 = mean_x - *ret_slope * mean_t;
}

struct component {
    double re, im, power;
    bool kept;
};

/* Is it among the ESCARGOT_HARMONICS strongest? Of equals the slower one. */
static bool is_strong(const struct component *all, int k)
{
    int stronger = 0;
    for (int i = 1; i <= HALF; i++)
        stronger += all[i].power > all[k].power || (all[i].power == all[k].power && i < k);
    return stronger < ESCARGOT_HARMONICS;
}

/*
 * 60 points, 31 frequencies: direct sums are fast enough. All frequencies divide the hour, so that
 * the next hour equals this one, without the dropped components.
 */
void escargot_forecast(const float counts[N], float ret[N])
{
    double x[N], at_0, slope;
    struct component c[HALF + 1];
    for (int t = 0; t < N; t++)
        x[t] = (double)counts[t];
    line_through(x, &at_0, &slope);
    for (int t = 0; t < N; t++)
        x[t] -= at_0 + slope * t;
    double cosine[N], sine[N];
    for (int t = 0; t < N; t++) {
        cosine[t] = cos(TWO_PI * t / N);
        sine[t] = sin(TWO_PI * t / N);
    }
    for (int k = 0; k <= HALF; k++) {
        c[k] = (struct component){ 0 };
        for (int t = 0; t < N; t++) {
            c[k].re += x[t] * cosine[k * t % N];
            c[k].im -= x[t] * sine[k * t % N];
        }
        c[k].power = c[k].re * c[k].re + c[k].im * c[k].im;
    }
    for (int k = 1; k <= HALF; k++)
        c[k].kept = is_strong(c, k);
    for (int t = 0; t < N; t++) {
        double sum = c[0].re;
        for (int k = 1; k <= HALF; k++)
            if (c[k].kept) /* the frequency in the middle has no twin */
                sum +=
                    (k == HALF ? 1 : 2) * (c[k].re * cosine[k * t % N] - c[k].im * sine[k * t % N]);
        ret[t] = (float)MAX(sum / N + at_0 + slope * (N + t), 0.0);
    }
}

uint32_t escargot_sandboxes(double p, double duration_ms)
{
    if (p < NEGLIGIBLE)
        return 0;
    if (p <= 1)
        return 1;
    return (uint32_t)ceil(MIN(SAFETY * p * duration_ms / 60000, p));
}

uint32_t escargot_plan(const float predicted[ESCARGOT_MINUTES], double duration_ms,
                       uint16_t ret[ESCARGOT_EPOCHS])
{
    enum { PER_MINUTE = ESCARGOT_EPOCHS / ESCARGOT_MINUTES };
    uint16_t minutes[ESCARGOT_MINUTES];
    uint32_t most = 0;
    for (int m = 0; m < ESCARGOT_MINUTES; m++) {
        minutes[m] =
            (uint16_t)MIN(escargot_sandboxes((double)predicted[m], duration_ms), UINT16_MAX);
        most = MAX(most, minutes[m]);
    }
    for (int e = 0; e < ESCARGOT_EPOCHS; e++) {
        ret[e] = 0;
        for (int i = e; i > e - ESCARGOT_SMOOTH && i >= 0; i--)
            ret[e] = MAX(ret[e], minutes[i / PER_MINUTE]);
    }
    return most;
}

/*
 * Sum of what plans create in epoch e (sign 1), or remove (sign -1). All sums are recomputed after
 * each move of an epoch's surplus: 1,800 epochs of some thousand functions, four times an hour.
 */
static uint64_t changes(uint16_t *const *plans, const uint16_t *before, size_t n, int e, int sign)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        int was = e ? plans[i][e - 1] : before[i];
        sum += (uint64_t)MAX(sign * (plans[i][e] - was), 0);
    }
    return sum;
}

/* One sandbox more in epoch `at` for each plan in turn that changes in epoch e, until `surplus` are
 * moved. */
static void move(uint16_t *const *plans, const uint16_t *before, size_t n, int e, int sign, int at,
                 uint64_t surplus)
{
    while (surplus > 0) {
        uint64_t left = surplus;
        for (size_t i = 0; i < n && surplus > 0; i++) {
            int was = e ? plans[i][e - 1] : before[i];
            if (sign * (plans[i][e] - was) <= 0)
                continue;
            plans[i][at]++;
            surplus--;
        }
        if (left == surplus)
            return;
    }
}

void escargot_level(uint16_t *const *plans, const uint16_t *before, size_t n, uint32_t per_epoch)
{
    /* Create a sandbox one epoch earlier; in the first epoch this is impossible. */
    for (int e = ESCARGOT_EPOCHS - 1; e > 0; e--) {
        uint64_t creations = changes(plans, before, n, e, 1);
        if (creations > per_epoch)
            move(plans, before, n, e, 1, e - 1, creations - per_epoch);
    }
    /* Keep a sandbox one epoch longer. */
    for (int e = 0; e < ESCARGOT_EPOCHS; e++) {
        uint64_t removals = changes(plans, before, n, e, -1);
        if (removals > per_epoch)
            move(plans, before, n, e, -1, e, removals - per_epoch);
    }
}
