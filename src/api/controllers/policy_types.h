/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.typeChecking of ValidatingAdmissionPolicies: type errors of their expressions for the
 * kinds that they name, written once per generation.
 *
 *     create or change of spec -> expressions checked -> status applied, with observedGeneration
 *
 * These warnings do not change the effect of a policy.
 */
#pragma once

#include "api/controllers/controllers.h"

/*
 * Check the policies that were left unchecked, by an earlier process or after an error of the
 * store.
 */
void policy_types_start(struct controllers *c);
void policy_types_stop(struct controllers *c);
/* Check a policy whose generation is not checked yet; no-op for other kinds. */
void policy_types_written(struct controllers *c, const struct written *w);
