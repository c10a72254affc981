/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x-kubernetes-validations: rules of CustomResourceDefinitions, evaluated when a custom object is
 * written.
 *
 * A rule sees its part of the object as `self`, and on an update that has the same part, its old
 * value as `oldSelf`. A rule that reads oldSelf is evaluated only on such an update (or always,
 * with optionalOldSelf). Violations in a part that did not change are not errors ("ratcheting").
 */
#pragma once

#include "kube/model/field.h"
#include "kube/model/schema.h"

enum {
    CEL_BUDGET = 10000000,              /* cost of all rules of one write, upstream's limit */
    CEL_RULE_COST_MAX = 10000000,       /* estimated cost of one expression of a definition */
    CEL_DEFINITION_COST_MAX = 100000000 /* estimated cost of all expressions of a schema */
};

/*
 * Report violations of the object's rules. old: the object before, NULL for a create. If errs
 * already has errors that make rules pointless (a missing field), only that is reported.
 */
void cel_validate(const struct schema *s, const struct json *obj, const struct json *old,
                  struct field_errors *errs);
/*
 * Report rules of a definition's schema that cannot be used. stored: the stored definition, whose
 * rules are accepted even if they do not compile; NULL for a new one.
 */
void cel_validate_rules(const struct schema *s, const struct json *stored, const struct fpath *at,
                        struct field_errors *errs);
