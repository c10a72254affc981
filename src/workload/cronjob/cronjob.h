/* SPDX-License-Identifier: Apache-2.0 */
/* CronJobs: a Job at each time of a schedule. */
#pragma once

#include "workload/frame/controller.h"

extern const struct workload_controller cronjob_controller;
