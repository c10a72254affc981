/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the spec of an Operator object, with checks beyond its schema. */
#pragma once

#include "codec/json.h"
#include "operator/host/operator.h"

struct object_spec_opts {
    char *const *module_dirs; /* real paths; spec.module.file must lie below one of them */
    size_t n_module_dirs;
};

/*
 * Strings of ret live in the arena or in the object; ret->allow is given, allow_free().
 * Errors: E_INVALID, E_DENIED, -ENOENT, E_LIMIT; the text names the field and the value.
 */
int object_spec_read(struct arena *a, const struct json *object,
                     const struct object_spec_opts *opts, struct operator_spec *ret,
                     struct err *err);
