/* SPDX-License-Identifier: Apache-2.0 */
/* Routes to the pods of other nodes (network/node_route.h), from the Node objects of the cluster.
 */
#pragma once

#include "base/err.h"

struct agent;

/* Errors: of the watch, of the kernel's interface. */
int agent_routes_start(struct agent *a, struct err *err);
/* Routes stay. done: agent_part_stopped() for one of agent.n_stopping. */
void agent_routes_stop(struct agent *a);
