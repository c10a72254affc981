/* SPDX-License-Identifier: Apache-2.0 */
/* A plan of transfers (image/orchestrate.h) for people: where layers come from, and why. Pure. */
#pragma once

#include "base/buf.h"
#include "image/cluster_file.h"

struct json;

/* "registry" or the name of the node; borrowed. */
struct str image_plan_source(const struct image_cluster_file *f, int source);
/* In the arena. */
const char *image_plan_why(const struct image_orchestrate *o, const struct image_task *t,
                           struct arena *a);
/*
 * In the arena: {"node", "seconds", "transfers": [{"priority", "layer", "fromByte", "toByte",
 * "how", "source", "alternatives", "expectMilliseconds", "why"}]}.
 */
struct json *image_plan_json(const struct image_cluster_file *f, const struct image_tasks *tasks,
                             struct arena *a);
/* "2 transfers (3.1 MB) from n1, 1 transfer (0.2 MB) from the registry", in an empty buffer. */
void image_plan_summary(const struct image_cluster_file *f, const struct image_tasks *tasks,
                        struct buf *to);
