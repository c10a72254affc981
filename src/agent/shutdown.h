/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods end, because the machine is about to stop: group after group, those of low priority
 * first. From the beginning on no new pod is admitted; that ends with the process.
 *
 * Loop thread only.
 */
#pragma once

#include "agent/agent.h"

struct agent_pod;
struct agent_shutdown;

/* NULL is fine. done() does not run any more. */
void agent_shutdown_free(struct agent_shutdown *s);
/* A pod has ended, or the server has taken its status. */
void agent_shutdown_look(struct agent *a);
