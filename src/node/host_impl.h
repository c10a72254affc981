/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of an operator host, shared by host.c, host_metrics.c and the testbed of dormouse-lab
 * (host_rest.c).
 */
#pragma once

#include "client/object_cache.h"
#include "node/host.h"

struct host {
    struct host_opts opts;
    struct guest_host *guests;
    struct discovery *discovery;
    struct guest_logs *logs;
    struct identities *identities;             /* NULL: operators act as the host */
    struct identity_transport *in_their_names; /* set if that takes their tokens */
    struct object_cache *cache;
    struct v1_host *v1;
    struct module_sources *sources;
    bool synced;
    struct calls_env env;
    struct operators *operators;
    struct objects *objects;
    struct dir *dir;
    void (*stopped)(void *arg);
    void *stopped_arg;
};
