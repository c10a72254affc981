/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of latencies in 88 bytes: four buckets for each power of two, up to 4 s. Old samples
 * fade: when a bucket is full, all are halved.
 *
 * Each guest has one, so base/histogram does not fit: with the same buckets it takes 368 bytes and
 * searches 88 bounds for each sample. Here a sample costs 4 ns, and percentiles reflect recent
 * samples.
 */
#pragma once

#include <stdint.h>

struct latency;

/* Allocates *l if it is NULL (free()). */
void latency_add(struct latency **l, uint64_t us);
/*
 * The lower bound of the bucket that holds the percentile, at most a fifth too low; 0 without
 * samples.
 */
uint64_t latency_percentile(const struct latency *l, unsigned percent);
