/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing an object with a part of it that a test expects. Pure. */
#pragma once

#include "base/buf.h"
#include "codec/json.h"

/*
 * True if `got` has all values of `wanted`. Objects of `got` may have more members; lists have
 * equally many elements in the same order; the string "*" stands for any value, and null for an
 * absent value. The first difference is appended to `why`: ".spec.replicas is 2, expected 3".
 */
bool test_match(const struct json *wanted, const struct json *got, struct buf *why);
/*
 * Replace values that differ from run to run by "*", in place: uids, resourceVersions, times (RFC
 * 3339) and the values of managedFields.
 */
void test_normalize(struct arena *a, struct json *v);
