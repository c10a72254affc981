/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts warnings about the fields of a body into the body's order. */
#pragma once

#include "kube/rules/object_rules.h"

/*
 * Upstream finds unknown and repeated fields of built-in kinds in one pass over the JSON text; here
 * the parser finds repeated ones and the schema unknown ones. Puts them into the text's order and
 * drops repetitions of and inside unknown fields, which upstream does not see. json: well-formed.
 */
void object_order_warnings(struct object_warnings *w, struct str json);
