/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defaults of built-in kinds. Upstream defaults by type, wherever a type occurs, and so does this:
 * a table says what the fields of a type become when they are absent, and a few types have a
 * function for what depends on something. Defaults that the types' markers declare (+default) come
 * from the generated schema. Internal to src/kube.
 */
#pragma once

#include "kube/model/schema.h"

/* Fill in `obj`, which schema_normalize() has brought into shape. Idempotent. */
void defaults_apply(struct arena *a, const struct schema *s, struct json *obj);
/* Set a member at the place where the struct has it; v taken. */
void defaults_put(struct arena *a, const struct schema *s, struct json *obj, const char *name,
                  struct json *v);
