/* SPDX-License-Identifier: Apache-2.0 */
/* What a test expects of an object: a part of it. Pure. */
#pragma once

#include "base/buf.h"
#include "codec/json.h"

/*
 * Does `got` have all that `wanted` says? Objects may have more members; lists have as many
 * elements, in order; the string "*" stands for any value that is there, null for one that is not
 * there. What differs first is appended to `why`: ".spec.replicas is 2, expected 3".
 */
bool test_match(const struct json *wanted, const struct json *got, struct buf *why);
/*
 * Replace what differs from run to run, in place: uids, resourceVersions, times (RFC 3339) and the
 * values of managedFields, by "*".
 */
void test_normalize(struct arena *a, struct json *v);
