/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: pods that run to their end; and the deletion of finished ones after their TTL. */
#pragma once

#include "workload/frame/controller.h"

extern const struct workload_controller job_controller, job_ttl_controller;
