/* SPDX-License-Identifier: Apache-2.0 */
/* Send a plan to the node that it is for, and wait for the outcome. */
#pragma once

#include "image/cluster_file.h"

struct image_plan_send {
    const char *key_file, *peer_ca, *store;
    uint64_t deadline_ms;
    bool is_json, is_push;
};
/* Prints how it ends. Returns a cmd_exit. */
int image_plan_send(const struct image_plan_send *o, const struct image_cluster_file *f,
                    const struct image_tasks *tasks);
