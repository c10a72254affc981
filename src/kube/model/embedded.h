/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole objects within custom resources (x-kubernetes-embedded-resource): their metadata is
 * upstream's struct as that of the resource itself is, and they must say what they are.
 */
#pragma once

#include "kube/model/schema.h"

/*
 * Bring the metadata of all of them into shape; what it does not know goes and is told. E_INVALID:
 * wrong types in one of them.
 */
int embedded_normalize(struct arena *a, const struct schema *s, struct json *obj,
                       schema_unknown_fn unknown, void *arg, struct err *err);
void embedded_validate(const struct schema *s, const struct json *obj, struct field_errors *errs);
