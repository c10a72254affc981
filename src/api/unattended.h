/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workloads that stay objects: a Deployment is stored and served like any other kind, and its Pods
 * are made by a controller, which this process does not have. The client that creates one gets a
 * warning.
 */
#pragma once

#include "base/map.h"

enum {
    UNATTENDED_WARNED_MAX = 1024 /* remembered clients and kinds; beyond, all are forgotten */
};

struct request;

/* Zeroed: no warning was given yet. */
struct unattended {
    struct map warned; /* "kind", "kind peer" */
    bool is_on;
};

void unattended_fini(struct unattended *u);
/*
 * `rq` has created an object. If its kind is a workload, no client watches all objects of that
 * kind, and this connection has not been warned yet, the answer gets a Warning. The first time for
 * each kind a line is logged.
 */
void unattended_warn(struct request *rq);
