/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defaults of built-in kinds. As upstream, defaults belong to types, wherever a type occurs: a
 * table has the values of a type's absent fields, and a few types have a function for defaults that
 * depend on other fields. Defaults that the types' markers declare (+default) come from the
 * generated schema. Internal to src/kube.
 */
#pragma once

#include "kube/model/schema.h"

/* Fill in `obj`, which schema_normalize() has normalized. Idempotent. */
void defaults_apply(struct arena *a, const struct schema *s, struct json *obj);
/* Set a member at its position in the struct; v taken. */
void defaults_put(struct arena *a, const struct schema *s, struct json *obj, const char *name,
                  struct json *v);
