/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control plane: follows Function objects, decides how many sandboxes run and where, and sends
 * orders to gateways and workers. Several may run; one leads, by a Lease. The leaseTransitions of
 * the Lease are the term in all its messages.
 *
 *     FOLLOWS --the Lease is ours, and every function is known--> LEADS --the Lease is lost-->
 * FOLLOWS
 *
 * A follower knows all functions, so that it can lead immediately; it answers streams with a
 * redirect. Loop thread only.
 */
#pragma once

#include "base/buf.h"
#include "client/transport.h"
#include "client/watch_hub.h"
#include "fn/stream.h"
#include "place/evict.h"
#include "place/place.h"

struct catalog_modules;
struct control;
struct http_exchange;
struct http_request;

enum {
    CONTROL_LEASE_MS = 1000, /* a holder that has not renewed it for this time has lost it */
    CONTROL_RENEW_MS = 250
};

/* The location of the Lease, unless control_opts names another. */
#define CONTROL_LEASE_NAMESPACE "default"
#define CONTROL_LEASE_NAME      "dormouse-functions"

struct control_opts {
    struct loop *loop;
    struct transport *transport;          /* kept */
    struct watch_hub *hub;                /* kept */
    const struct kube_identity *identity; /* kept; NULL: the transport's own */
    const char *name;                     /* of this control plane; unique; copied */
    const char *address;   /* host:port of its streams, for redirects; "": none; copied */
    const char *namespace; /* Functions of it alone; NULL: all; kept */
    const char *lease_namespace, *lease_name; /* NULL: those above */
    uint64_t lease_ms, renew_ms;              /* of that; 0: the values above */
    /*
     * The API runs in this process, so no other control plane can outlive it: take the Lease
     * immediately and renew it only seldom.
     */
    bool is_alone;
    uint64_t peer_lease_ms; /* of gateways and workers; 0: PLANE_LEASE_MS */
    struct place_options place;
    enum place_eviction eviction;
    bool persists; /* plane_opts.persists */
    bool has_tls;  /* these as in plane_opts; kept */
    const char *const *worker_networks;
    size_t n_worker_networks;
    const char *containers;
    bool (*is_ours)(void *arg, struct str host, uint16_t port); /* plane_ops.is_ours */
    const char *trace_dir; /* directory of cold_start_trace.csv; NULL: do not write it */
    /* While it follows: how to connect to the leader, to notice its end; NULL: do not. */
    struct fn_dialer *peers;
    const struct catalog_modules
        *modules; /* fn/control/catalog.h; kept; NULL: no modules are visible */
    /* It leads, no longer leads, or could lead; may be NULL. */
    void (*on_leads)(void *arg, bool leads);
    void *arg;
};

/* The CustomResourceDefinitions must exist, or appear later. */
int control_start(const struct control_opts *opts, struct control **ret, struct err *err);
/* End the streams, release the Lease; done() last. */
void control_stop(struct control *c, void (*done)(void *arg), void *arg);

/* NULL: it can lead, or leads; else what it waits for. */
const char *control_not_ready(const struct control *c);
/* Before "/fn/NAMESPACE/NAME" in status; copied. */
void control_set_url(struct control *c, const char *url);

/* Taken; is_local: the peer is in this process. */
void control_accept_gateway(struct control *c, struct fn_stream *s, bool is_local);
void control_accept_worker(struct control *c, struct fn_stream *s, bool is_local);
void control_accept_peer(struct control *c, struct fn_stream *s);

/* For gateways and workers of this process: streams without a socket. Valid until control_stop().
 */
struct fn_dialer *control_gateway_dialer(struct control *c);
struct fn_dialer *control_worker_dialer(struct control *c);

/* REST and Dirigent's forms (docs/functions.md). false: the path belongs to neither. */
bool control_serve(struct control *c, struct http_exchange *x, const struct http_request *req);

/* Prometheus text; JSON: the leader, workers, gateways. */
void control_metrics(const struct control *c, struct buf *to);
void control_json(const struct control *c, struct buf *to);
