/* SPDX-License-Identifier: Apache-2.0 */
/* Go's durations (time.Duration, metav1.Duration): "1h30m", "-1.5s", "0". */
#pragma once

#include "base/buf.h"

/* Nanoseconds. false: not a duration, or out of range. */
bool duration_parse(struct str s, int64_t *ret);
/* Go's error message for an invalid duration, without the quoted text at its end. */
const char *duration_problem(struct str s);
/* In the format of Go's String(): "1h30m0s", "1.5s", "300ms", "0s". */
void duration_print(struct buf *to, int64_t ns);
