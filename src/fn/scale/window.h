/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of one metric over a sliding window, of one of two kinds.
 *
 * Momentary: a ring of the last n values, one pushed at each tick; a mean uses the newest ones.
 * Averaged: buckets of SCALE_BUCKET_MS that hold the integral of the metric over their time; a mean
 * is integral over time, from the first sample on.
 */
#pragma once

#include "fn/scale/scale.h"

struct scale_window {
    bool averaged;
    uint32_t cap;
    uint32_t n, newest;     /* momentary */
    uint64_t begin_ms;      /* averaged: there are no samples before */
    uint64_t newest_bucket; /* averaged: its number; all of [0, newest_bucket] not older than cap */
    float *at;              /* cap values, or integrals in metric * ms */
};

/* length_ms: of the longest mean; step_ms: between two momentary samples. */
void scale_window_init(struct scale_window *w, bool averaged, uint64_t length_ms, uint64_t step_ms,
                       uint64_t now_ms);
void scale_window_fini(struct scale_window *w);
/* Change kind or length: samples of the same kind are kept if there is room. */
void scale_window_change(struct scale_window *w, bool averaged, uint64_t length_ms,
                         uint64_t step_ms, uint64_t now_ms);

void scale_window_push(struct scale_window *w, double value);
/* n samples of 0 before the first: a ring that was given up while all of it was 0. */
void scale_window_push_zeros(struct scale_window *w, uint32_t n);
/* integral: metric * ms, spread evenly over (from_ms, to_ms]; what is older than the window is
 * dropped. */
void scale_window_add(struct scale_window *w, uint64_t from_ms, uint64_t to_ms, double integral);

/* Of the last n samples, or all while there are fewer; 0 without any. */
double scale_window_mean_last(const struct scale_window *w, uint32_t n);
/* Of the length_ms before end_ms, in whole buckets the newest of which may be part of one. */
double scale_window_mean_until(const struct scale_window *w, uint64_t end_ms, uint64_t length_ms);
