/* SPDX-License-Identifier: Apache-2.0 */
/* From counts to calls; see trace.h. */
#include "base/vec.h"
#include "lab/fn/trace.h"

#include <math.h>

#define MINUTE_US 60000000.0

void trace_calls_fini(struct trace_calls *c)
{
    vec_fini(c);
}

/* Values between two known quantiles are uniformly distributed. */
static double draw_value(const struct trace_distribution *d, struct rng *rng)
{
    double q = rng_unit(rng), within = rng_unit(rng);
    if (d->n == 0)
        return (double)d->average;
    int i = 0;
    while (i < d->n && (double)d->quantile[i] < q)
        i++;
    if (i == 0)
        return (double)d->value[0];
    if (i == d->n)
        return (double)d->value[d->n - 1];
    double low = (double)d->value[i - 1], high = (double)d->value[i];
    return low + within * (high - low);
}

/*
 * Draw n times between calls with the sum of one minute, and store their running sums from 0 on:
 * the first call is at the beginning of the minute, and the last time ends at the next minute.
 * `shift` rotates all of them by one drawn offset.
 */
static void draw_times(const struct trace_draw *d, uint32_t n, struct rng *rng, double *at_us)
{
    double sum = 0, turn = d->shift ? rng_unit(rng) * MINUTE_US : 0;
    for (uint32_t i = 0; i < n; i++) {
        at_us[i] = sum;
        switch (d->arrivals) {
        case TRACE_EXPONENTIAL:
            sum += rng_exponential(rng);
            break;
        case TRACE_UNIFORM:
            sum += rng_unit(rng);
            break;
        case TRACE_EQUIDISTANT:
            sum += 1;
            break;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        at_us[i] = (sum > 0 ? at_us[i] * MINUTE_US / sum : 0) + turn;
        if (at_us[i] >= MINUTE_US)
            at_us[i] = fmod(at_us[i], MINUTE_US);
    }
}

/* A count times the scale; its fraction is the probability of one more call. */
static uint32_t scaled(uint32_t count, double scale, struct rng *rng)
{
    double want = count * scale;
    if (scale <= 0 || want >= TRACE_PER_MINUTE_MAX)
        return scale <= 0 ? 0 : TRACE_PER_MINUTE_MAX;
    uint32_t n = (uint32_t)want;
    return n + (rng_unit(rng) < want - n);
}

static void draw_function(const struct trace *t, const struct trace_draw *d, uint32_t function,
                          uint32_t minute, struct trace_calls *to)
{
    const struct trace_function *f = &t->functions[function];
    struct rng rng = rng_fork(d->seed, function, minute);
    uint32_t n = scaled(f->counts[minute], d->scale, &rng);
    if (n == 0)
        return;
    scoped(free_scoped) double *at_us = xnew_n(double, n);
    draw_times(d, n, &rng, at_us);
    for (uint32_t i = 0; i < n; i++) {
        double run_ms = fmin(fmax(draw_value(&f->run_ms, &rng), 1), TRACE_RUN_MAX_MS);
        double mib = f->has_memory ? draw_value(&f->memory_mib, &rng) : TRACE_MEMORY_DEFAULT_MIB;
        struct trace_call c = {
            .at_us = minute * (uint64_t)MINUTE_US + (uint64_t)at_us[i],
            .function = function,
            .run_us = (uint32_t)(run_ms * 1000),
            .memory_mib = (uint32_t)fmin(fmax(mib, 1), TRACE_MEMORY_MAX_MIB),
        };
        vec_push(to, c);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct trace_call *x = a, *y = b;
    if (x->at_us != y->at_us)
        return x->at_us < y->at_us ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->run_us < y->run_us ? -1 : x->run_us > y->run_us;
}

/* Single calls are kept, repeated or left out according to the scale. */
static void draw_single(const struct trace *t, const struct trace_draw *d, uint32_t minute,
                        struct trace_calls *to)
{
    uint64_t from_us = minute * (uint64_t)MINUTE_US, to_us = from_us + (uint64_t)MINUTE_US;
    size_t low = 0, high = t->n_calls;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (t->calls[mid].at_us < from_us)
            low = mid + 1;
        else
            high = mid;
    }
    for (size_t i = low; i < t->n_calls && t->calls[i].at_us < to_us; i++) {
        struct rng rng = rng_fork(d->seed, i, UINT64_MAX);
        for (uint32_t n = scaled(1, d->scale, &rng); n > 0; n--)
            vec_push(to, t->calls[i]);
    }
}

void trace_draw_minute(const struct trace *t, const struct trace_draw *d, uint32_t minute,
                       struct trace_calls *to)
{
    to->n = 0;
    if (minute >= t->n_minutes)
        return;
    for (uint32_t i = 0; i < t->n_functions; i++)
        if (t->functions[i].counts)
            draw_function(t, d, i, minute, to);
    draw_single(t, d, minute, to);
    if (to->n)
        qsort(to->p, to->n, sizeof *to->p, by_time);
}
