/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the round trip to a registry: a first GET /v2/ opens the connection, a second one is
 * timed. Any answer below 500 except 429 is valid, also one that demands credentials; none are
 * sent. It uses the proxy of the environment, as pulls do. The bandwidth of a registry is measured
 * by pulls (image/node_state.h): there is no object that every registry would send.
 *
 * Loop thread only.
 */
#pragma once

#include "io/loop.h"
#include "oci/remote.h"

enum { REGISTRY_PROBE_MS = 10000 }; /* all of it */

struct registry_probe_opts {
    struct loop *loop;
    const char *host;                     /* "docker.io", "localhost:5000" */
    const struct oci_remote_opts *remote; /* how it is reached; its login does not count */
    /* Once, unless cancelled. r < 0: there was no answer. rtt_us: at least 1. */
    void (*on_done)(void *arg, int r, uint64_t rtt_us);
    void *arg;
};

struct registry_probe;
/* Errors: E_PARSE (the host), those of oci_remote_registry(). */
int registry_probe_start(const struct registry_probe_opts *opts, struct registry_probe **ret,
                         struct err *err);
/* No callback comes any more. Not from on_done. NULL is fine. */
void registry_probe_cancel(struct registry_probe *p);
