/* SPDX-License-Identifier: Apache-2.0 */
/* All there is to know about one operator, for `dormouse operator describe`. */
#pragma once

#include "operator/host/operator.h"

/* One JSON object appended. now_ms: of the loop. */
void operator_describe(const struct operator* o, uint64_t now_ms, struct buf *to);
/* Members of a guest as `dormouse guests -o json` has them, after '{' or ','. */
void operator_describe_guest(const struct operator_view *v, struct buf *to);
