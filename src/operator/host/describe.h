/* SPDX-License-Identifier: Apache-2.0 */
/* A complete description of one operator, for `dormouse operator describe`. */
#pragma once

#include "operator/host/operator.h"

/* Appends one JSON object. now_ms: of the loop. */
void operator_describe(const struct operator* o, uint64_t now_ms, struct buf *to);
/*
 * Appends the members that describe the guest in `dormouse guests -o json`, each after '{' or ','.
 */
void operator_describe_guest(const struct operator_view *v, struct buf *to);
