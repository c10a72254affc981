/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods are ended where the machine runs short, one after the other, and where one uses more storage
 * than it may. agent_set_pressure() reports the former, again as long as it lasts; pods with
 * limits of storage are measured every AGENT_STORAGE_MS, and no other ones.
 *
 * Loop thread only.
 */
#pragma once

#include "agent/pod/spec.h"

struct agent;
struct agent_pod;
struct agent_evict;

struct agent_evict *agent_evict_new(struct agent *a);
/* Measurements that run have ended, or will without a callback to it. */
void agent_evict_free(struct agent_evict *e);
/* Its spec is new or has changed: measure it from now on, if it has limits. */
void agent_evict_watch(struct agent_pod *p);
/* Not any more. */
void agent_evict_forget(struct agent_pod *p);
