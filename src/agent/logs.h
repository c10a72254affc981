/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories of the pods' logs: made, and removed with their pod. They are outside the data
 * directory, where other agents may have theirs: DATA/agent/logs/UID is a link to each that is
 * ours.
 */
#pragma once

#include "base/err.h"

#include <stdint.h>

struct agent;
struct agent_pod;

/* Fine if it exists. */
int agent_logs_make(const struct agent_pod *p, struct err *err);
/* The pod is gone. The next process repeats what this one does not finish. */
void agent_logs_remove(const struct agent_pod *p);
/* Those of pods that are not known. */
void agent_logs_sweep(const struct agent *a);
/* Run `restarts` of the container begins: only the log of the one before is kept. */
void agent_logs_drop_old(const struct agent_pod *p, const char *container, uint32_t restarts);
