/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A field path as operators write it: ".spec.a['b.c/d'].e", "[*]" for every element of a list.
 * Smaller than the JSONPath of printer columns.
 */
#pragma once

#include "codec/json.h"

enum { FIELD_PATH_MAX_BYTES = 1024, FIELD_PATH_MAX_STEPS = 32 };

struct field_path {
    size_t n;
    struct str steps[]; /* p == NULL: [*] */
};

/* In the arena, with copies of the text. Errors: E_INVALID with the reason. */
int field_path_parse(struct arena *a, struct str text, const struct field_path **ret,
                     struct err *err);
