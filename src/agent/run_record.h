/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process that starts again needs to know of a pod: how its containers have ended. A file in
 * memory (/run), so that a machine that boots again starts its pods from the beginning.
 *
 *     RUN/pods/UID.json   {"containers": {NAME: {"restarts", "exitCode", "reason", ...}}}
 */
#pragma once

#include "agent/pod/life.h"

struct agent;
struct agent_pod;

void agent_run_record_write(const struct agent_pod *p);
void agent_run_record_remove(const struct agent_pod *p);
bool agent_run_record_exists(const struct agent_pod *p);
/*
 * Give the life cycle of the pod the ends in its record; containers that run are restored before.
 * false: there is no record.
 */
bool agent_run_record_restore(struct agent_pod *p);
/* Remove the records of pods that are not known. */
void agent_run_record_sweep(const struct agent *a);
