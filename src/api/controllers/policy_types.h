/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.typeChecking of ValidatingAdmissionPolicies: what is wrong with their expressions for the
 * kinds that they name, written once for each generation.
 *
 *     create or change of spec -> expressions checked -> status applied, with observedGeneration
 *
 * Warnings change nothing about what a policy does.
 */
#pragma once

#include "api/controllers/controllers.h"

/* Check the policies that an earlier process left unchecked, or that the store refused. */
void policy_types_start(struct controllers *c);
void policy_types_stop(struct controllers *c);
/* Check a policy whose generation was not checked yet; no-op for other kinds. */
void policy_types_written(struct controllers *c, const struct written *w);
