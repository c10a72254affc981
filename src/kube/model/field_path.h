/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A field as operators name it: ".spec.a['b.c/d'].e", "[*]" for every element of a list. Small and
 * walked without allocation, unlike the JSONPath of printer columns.
 */
#pragma once

#include "codec/json.h"

enum { FIELD_PATH_MAX_BYTES = 1024, FIELD_PATH_MAX_STEPS = 32 };

struct field_path {
    size_t n;
    struct str steps[]; /* p == NULL: [*] */
};

/* In the arena, with copies. Errors: E_INVALID with the reason. */
int field_path_parse(struct arena *a, struct str text, const struct field_path **ret,
                     struct err *err);
/* Call `fn` for each value that is there; false from it ends the walk and is what comes back. */
bool field_path_each(const struct field_path *p, const struct json *root,
                     bool (*fn)(void *arg, const struct json *value), void *arg);
/* The first value, NULL if there is none. */
const struct json *field_path_first(const struct field_path *p, const struct json *root);
/* Remove what it names from `root`. */
void field_path_strip(const struct field_path *p, struct json *root);
