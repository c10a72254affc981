/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the addresses of Services work on this machine: follows Services and EndpointSlices, and
 * keeps the table of service_rules.h up to date.
 *
 * The proxy makes the table when both collections are known and either this node has had a pod
 * (service_proxy_want()) or the cluster has a Service besides default/kubernetes. One batch holds
 * the new table and the elements of all Services, or of the first ones if they do not fit. Each
 * later batch holds the changes since the one before. One batch runs at a time, on a pool thread.
 * After a batch that failed, the proxy waits and makes a new table. The table stays when the
 * process ends, so that connections and addresses outlive a restart.
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
