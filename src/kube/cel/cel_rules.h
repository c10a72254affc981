/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x-kubernetes-validations: rules in definitions, evaluated when a custom object is written.
 *
 * A rule sees its part of the object as `self`, and with an update of the same part `oldSelf`; one
 * that reads oldSelf is evaluated only then (or always, with optionalOldSelf). What a rule says
 * against a part that did not change is no complaint ("ratcheting").
 */
#pragma once

#include "kube/model/field.h"
#include "kube/model/schema.h"

enum {
    CEL_BUDGET = 10000000,              /* cost of all rules of one write, as upstream's */
    CEL_RULE_COST_MAX = 10000000,       /* estimated, of one expression of a definition */
    CEL_DEFINITION_COST_MAX = 100000000 /* of all of a schema */
};

/*
 * Report what the rules say of an object. old: as it was, NULL for a create. With complaints that
 * make rules pointless (a missing field) in errs already, only that is told.
 */
void cel_validate(const struct schema *s, const struct json *obj, const struct json *old,
                  struct field_errors *errs);
/*
 * Report rules of a definition's schema that cannot be used. stored: the definition as it is now,
 * whose rules are let through if they do not compile; NULL for a new one.
 */
void cel_validate_rules(const struct schema *s, const struct json *stored, const struct fpath *at,
                        struct field_errors *errs);
