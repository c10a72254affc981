/* SPDX-License-Identifier: Apache-2.0 */
/* ReplicaSets and ReplicationControllers: as many pods of a template as are wanted. */
#pragma once

#include "workload/frame/controller.h"

extern const struct workload_controller replicas_set_controller, replicas_replication_controller;
