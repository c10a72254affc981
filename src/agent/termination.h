/* SPDX-License-Identifier: Apache-2.0 */
/* How a container ended, for its status: exit code, reason, and its termination message
 * (Kubernetes, "Determine the Reason for Pod Failure"). */
#pragma once

#include "agent/pod/life.h"
#include "container/container.h"

struct agent_run;

enum {
    AGENT_TERMINATION_MAX = 4096,     /* bytes of the file */
    AGENT_TERMINATION_LOG_MAX = 2048, /* bytes of the log instead, */
    AGENT_TERMINATION_LOG_LINES = 80
};

/* Blocking, a few KiB. c: NULL: not known, its log is not read. */
void agent_termination_read(const struct agent_run *r, const struct pod_container *c,
                            const struct container_end *end, struct pod_container_end *ret);
