/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of latencies in 88 bytes: four buckets for each power of two, up to 4 s. The past
 * fades: when a bucket is full, all are halved.
 *
 * Beside base/histogram because each guest has one: there the same buckets take 368 bytes and a
 * search among 88 bounds, here a count costs 4 ns, and percentiles are of late.
 */
#pragma once

#include <stdint.h>

struct latency;

/* *l NULL: none yet; it is made (free()). */
void latency_add(struct latency **l, uint64_t us);
/* The lower bound of the bucket that holds it, at most a fifth below; 0 without samples. */
uint64_t latency_percentile(const struct latency *l, unsigned percent);
