/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an operator host, for host.c and what it tells of itself (host_metrics.c). */
#pragma once

#include "client/object_cache.h"
#include "node/host.h"

struct host {
    struct host_opts opts;
    struct guest_host *guests;
    struct discovery *discovery;
    struct guest_logs *logs;
    struct identities *identities;             /* NULL: operators act as the host */
    struct identity_transport *in_their_names; /* where that takes a token of theirs */
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
