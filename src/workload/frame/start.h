/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs controllers (controller.h) against an API, in the process of the caller. Loop thread only.
 */
#pragma once

#include "client/watch_hub.h"
#include "workload/frame/controller.h"

struct workload_opts {
    struct loop *loop;           /* kept */
    struct transport *transport; /* kept; takes the identity of a controller as authenticated */
    struct watch_hub *hub;       /* kept; over that transport */
    const struct workload_controller *const *controllers; /* kept */
    size_t n_controllers;
};

/* Begins to follow the kinds of the controllers; calls begin when all of them are known. */
int workload_start(const struct workload_opts *opts, struct workload **ret, struct err *err);
/*
 * Requests are cancelled, some of which may be carried out all the same; the next process sees the
 * result. NULL is fine.
 */
void workload_stop(struct workload *w);
/* All kinds are known. */
bool workload_is_synced(const struct workload *w);
