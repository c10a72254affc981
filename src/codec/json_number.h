/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal number texts of the JSON grammar, without rounding and without the locale. */
#pragma once

#include "base/str.h"

/* Whether two texts have the same mathematical value: 10, 1e1 and 10.0 are equal, and so are -0 and
 * 0. */
bool json_number_equal(struct str a, struct str b);
/* 0, or -EINVAL unless an integer that fits. */
int json_number_to_int(struct str text, int64_t *ret);
/* Nearest double; -EINVAL when it is too large for one. */
int json_number_to_float(struct str text, double *ret);

enum { NUMBER_FLOAT_MAX = 32 };
/* Write the shortest text that reads back equal, in Go's choice of notation. Returns its length. v
 * is finite. */
size_t json_number_from_float(double v, char out[NUMBER_FLOAT_MAX]);
