/* SPDX-License-Identifier: Apache-2.0 */
/* The image of a container, by its pull policy and the pull Secrets of its pod. */
#pragma once

#include "container/images.h"

struct agent;
struct agent_container;
struct agent_pod;

/* Ask for an image with the pull Secrets of the pod, of which the store uses the first that names
 * the registry; skip: without so many at the beginning. is_root: below the files of
 * a container, which may be mounted lazily where the pod asks for it. As container_images_ops.get.
 */
int agent_pull_image(struct agent_pod *p, struct str image, struct str policy, size_t skip,
                     bool is_root, struct container_image_call *call, struct err *err);
/* Follow the images that are mounted lazily: Events of their pods, and the end of containers whose
 * files are wrong or gone. */
void agent_pull_follow(struct agent *a);

/*
 * Ask for the images of the containers that start first, while the pod's network and volumes are
 * being made. Not where that takes a Secret or asks the registry each time.
 */
void agent_pull_early(struct agent_pod *p);
/* pod_life_pulled() follows, unless it is cancelled; at once, where an early request has ended. */
void agent_pull_start(struct agent_container *c);
/* Fine if none is under way. */
void agent_pull_cancel(struct agent_container *c);
