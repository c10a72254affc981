/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A field path as operators write it: ".spec.a['b.c/d'].e", "[*]" for every element of a list.
 * Smaller than the JSONPath of printer columns, and evaluated without allocation.
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
/* Calls `fn` for each value found; stops when it returns false, and returns false then. */
bool field_path_each(const struct field_path *p, const struct json *root,
                     bool (*fn)(void *arg, const struct json *value), void *arg);
/* The first value, NULL if there is none. */
const struct json *field_path_first(const struct field_path *p, const struct json *root);
/* Remove the values found from `root`. */
void field_path_strip(const struct field_path *p, struct json *root);
