/* SPDX-License-Identifier: Apache-2.0 */
/* Lifecycle hooks of a container (Kubernetes, "Container Lifecycle Hooks"). One at a time: a
 * preStop hook ends a postStart hook that still runs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct agent_container;
struct agent_hook;

/* pod_life_hook_ended() follows on a later turn, unless it is cancelled. grace_ms: of a preStop
 * hook, which is cut off then; 0: no limit. */
void agent_hook_start(struct agent_container *c, bool is_pre_stop, uint64_t grace_ms);
/* The hook ends without a report. */
void agent_hook_cancel(struct agent_hook *h);
