/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes of kind `image` (Kubernetes, "Use an Image Volume With a Pod"): pulled while the pod is
 * prepared, and kept as long as it lives. */
#pragma once

#include "agent/pod/spec.h"

struct agent_pod;

/* Start what is not under way; agent_prepare_update() of the pod follows each end. */
void agent_image_volumes_start(struct agent_pod *p);
void agent_image_volumes_drop(struct agent_pod *p);
/* As volume_supply.image; arg: the struct agent. */
int agent_image_volume_find(void *arg, const struct pod_spec *pod, const struct pod_volume *v,
                            struct str *ret_path, struct err *err);
