/* SPDX-License-Identifier: Apache-2.0 */
/* The controllers that a process with workloads runs, for workload_start(). */
#pragma once

#include "workload/frame/start.h"

enum { WORKLOAD_CONTROLLERS = 8 };
extern const struct workload_controller *const workload_controllers[WORKLOAD_CONTROLLERS];
