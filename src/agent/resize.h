/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources of containers that change while they run (Kubernetes, "Resize CPU and Memory Resources
 * assigned to Containers"). A container whose resizePolicy says so for a resource that changed is
 * started again; others get new limits.
 */
#pragma once

#include "agent/pod/spec.h"

struct agent_pod;
struct arena;
struct json;

/* The spec of the pod is the new one; old: the one before. */
void agent_resize(struct agent_pod *p, const struct pod_spec *old);
/* Members `resources` and `allocatedResources` of the status of container i. */
void agent_resize_status(const struct agent_pod *p, struct arena *a, size_t i,
                         struct json *container_status);
