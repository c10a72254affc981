/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Kubernetes does with its built-in kinds: preparation, defaults, validation, columns of
 * tables. The model (kube/model) knows their structure, the rules know their behaviour; the model
 * reaches it through the strategy of each resource.
 */
#pragma once

#include "kube/model/resource.h"

/* Add the built-in resources that are served. */
void rules_register(struct registry *reg);
