/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of CustomResourceDefinition objects, with upstream's texts. */
#pragma once

#include "kube/model/field.h"

/* Validates the name of a new definition. */
void crd_validate_name(const struct json *obj, struct field_errors *errs);
/* Validates the object. old: NULL for a create. */
void crd_validate(const struct json *obj, const struct json *old, struct field_errors *errs);
/* spec.conversion has an invalid CA bundle: the definition is not established. */
bool crd_has_bad_bundle(const struct json *obj);
