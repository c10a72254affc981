/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes' behaviour for its built-in kinds: preparation, defaults, validation, columns of
 * tables. The model (kube/model) has their structure, the rules their behaviour; the model reaches
 * the rules through the strategy of each resource.
 */
#pragma once

#include "kube/model/resource.h"

/* Register the built-in resources that are served. */
void rules_register(struct kube_registry *reg);
