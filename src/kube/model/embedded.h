/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Complete objects inside custom resources (x-kubernetes-embedded-resource): their metadata is
 * decoded into upstream's struct, like that of the resource itself, and they must have apiVersion
 * and kind.
 */
#pragma once

#include "kube/model/schema.h"

/*
 * Normalize the metadata of all embedded objects; unknown fields are dropped and reported.
 * E_INVALID: wrong types in one of them.
 */
int embedded_normalize(struct arena *a, const struct schema *s, struct json *obj,
                       schema_unknown_fn unknown, void *arg, struct err *err);
void embedded_validate(const struct schema *s, const struct json *obj, struct field_errors *errs);
