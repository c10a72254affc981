/* SPDX-License-Identifier: Apache-2.0 */
/* EndpointSlices of the Services that have a selector: plan.h decides. */
#pragma once

#include "workload/frame/controller.h"

extern const struct workload_controller endpoints_controller;
