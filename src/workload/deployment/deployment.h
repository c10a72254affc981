/* SPDX-License-Identifier: Apache-2.0 */
/* Deployments: one ReplicaSet for each template that they had, and the change between them. */
#pragma once

#include "workload/frame/controller.h"

extern const struct workload_controller deployment_controller;
