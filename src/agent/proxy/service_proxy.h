/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the addresses of Services work on this machine: follows Services and EndpointSlices, and
 * keeps the table of service_rules.h up to date.
 *
 * When both are known and somebody may use a Service, the table is made anew, in one batch together
 * with the elements of all Services, or of the first ones if they do not fit. Somebody may: a pod
 * of this node (service_proxy_want()), or whoever made a Service beside default/kubernetes. A
 * machine where neither is has no rules. Afterwards a batch holds what has changed
 * since the batch before; one is on its way at a time, on a pool thread. A batch that fails is
 * followed by a new table, after a pause. The table stays when the process ends, so that
 * connections and addresses go on through a restart.
 *
 * Loop thread only. An idle proxy has no timers.
 */
#pragma once

#include "client/reflector.h"

struct service_proxy;

enum {
    SERVICE_PROXY_MAX = 65536,              /* Services, and as many slices; others have no rules */
    SERVICE_PROXY_BATCH_BYTES = 4 << 20,    /* of a batch; the rest waits for the next one */
    SERVICE_PROXY_RENEWAL_BYTES = 12 << 20, /* of the one with a new table */
    SERVICE_PROXY_RETRY_MS = 1000,          /* after a batch that failed; longer each time */
    SERVICE_PROXY_RETRY_MAX_MS = 60000
};

struct service_proxy_opts {
    struct loop *loop;
    struct transport *transport; /* kept; the next two as well */
    struct watch_hub *hub;
    const struct kube_identity *identity; /* NULL: the process's own */
    const char *node;                     /* name; copied */
};

struct service_proxy_stats {
    uint64_t n_services, n_elements, n_chains, n_batches, n_failed;
};

/* Errors: of starting a watch. */
int service_proxy_start(const struct service_proxy_opts *opts, struct service_proxy **ret,
                        struct err *err);
/* There is a pod on this node. */
void service_proxy_want(struct service_proxy *p);
/* Of the node, label topology.kubernetes.io/zone; "": it is in none. */
void service_proxy_set_zone(struct service_proxy *p, struct str zone);
struct service_proxy_stats service_proxy_stats(const struct service_proxy *p);
/* done() runs once, on a later turn, when no batch is on its way; the proxy is freed. */
void service_proxy_close(struct service_proxy *p, void (*done)(void *arg), void *arg);
