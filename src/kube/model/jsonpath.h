/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSONPath of printer columns, selectable fields and scale: ".spec.a", ".items[0].b",
 * ".a[*].b",
 * ".conditions[?(@.type==\"Ready\")].status", "['key']", "..name".
 */
#pragma once

#include "codec/json.h"

enum {
    JSONPATH_MAX_BYTES = 1024,
    JSONPATH_MAX_STEPS = 64,
    JSONPATH_MAX_RESULTS = 1024,
    JSONPATH_MAX_VISITS = 200000 /* values visited; several ".." multiply */
};

struct jsonpath;
/* In the arena. Errors: E_INVALID with the reason. */
int jsonpath_parse(struct arena *a, struct str text, struct jsonpath **ret, struct err *err);
/*
 * Finds nodes, borrowed from `root`, at most max. Missing parts give no node. budget: two steps for
 * each visited value, and no more nodes once it is used up; NULL: only JSONPATH_MAX_VISITS applies.
 */
size_t jsonpath_find(const struct jsonpath *p, const struct json *root, const struct json **ret,
                     size_t max, struct budget *budget);
