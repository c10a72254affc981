/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time. Monotonic milliseconds unless the name says wall_; RFC 3339 text as Kubernetes writes it.
 * Any thread.
 */
#pragma once

#include "base/str.h"

#include <time.h>

uint64_t clock_mono_ms(void);
uint64_t clock_mono_ns(void);
/* CLOCK_MONOTONIC `ms` from now, without clock_skip(): for pthread_cond_timedwait(). */
struct timespec clock_mono_in(uint64_t ms);
int64_t clock_wall_ms(void); /* since 1970-01-01 UTC */
int64_t clock_wall_us(void);
uint64_t clock_cpu_ms(void); /* CPU time that all threads of this process have used */

/*
 * Virtual time: move all clocks of this process forward by `ms`. For tests of behaviour that takes
 * hours. The caller makes sure that no other thread measures time meanwhile (io/loop.h,
 * loop_skip()).
 */
void clock_skip(uint64_t ms);
uint64_t clock_skipped_ms(void);

enum { RFC3339_MAX = 40 };
/* "2026-01-02T03:04:05Z" (metav1.Time) */
void rfc3339_format(int64_t wall_s, char out[RFC3339_MAX]);
/* "2026-01-02T03:04:05.000006Z" (metav1.MicroTime) */
void rfc3339_format_us(int64_t wall_us, char out[RFC3339_MAX]);
/* RFC 3339 section 5.6, with fraction and offset; -EINVAL. *ret_wall_us: microseconds, truncated.
 */
int rfc3339_parse(struct str s, int64_t *ret_wall_us);
