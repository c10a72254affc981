/* SPDX-License-Identifier: Apache-2.0 */
/* DaemonSets: a pod on each node that fits. */
#pragma once

#include "workload/frame/controller.h"

extern const struct workload_controller daemonset_controller;
