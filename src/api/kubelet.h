/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that another server answers: the agent of a node (the kubelet's API, port 10250) for
 * logs, exec, attach and port forwarding; or, for proxies, the agent, a pod or an endpoint of a
 * Service. The other server's answer becomes that of the request; if it accepts another protocol
 * (SPDY, WebSocket), bytes pass both ways until both directions have ended.
 *
 *     client --request--> this server --TLS, certificate of system:masters--> agent
 *                         this server --plain, or TLS without verification--> pod
 *
 * The agent must show a certificate for its address that the cluster's CA has issued, unless the
 * client waives that for logs (insecureSkipTLSVerifyBackend). Each request has a connection of its
 * own.
 */
#pragma once

#include "api/core.h"

enum {
    KUBELET_PORT = 10250,
    KUBELET_CALLS_MAX = 512,         /* at a time; 429 beyond */
    KUBELET_HEAD_TIMEOUT_MS = 30000, /* to another protocol */
    KUBELET_CERTIFICATE_S = 3600,    /* validity of ours; each connection gets a new one */
    KUBELET_ERROR_MAX_BYTES = 4096   /* of a refusal of the agent that the client is shown */
};

/* How the server speaks to the other one. */
enum kubelet_way {
    KUBELET_VERIFIED, /* TLS with our certificate; its certificate is verified */
    KUBELET_ANY,      /* TLS with our certificate; its certificate is not verified */
    KUBELET_FOREIGN,  /* TLS without our certificate, and nothing is verified: a pod */
    KUBELET_PLAIN
};

struct kubelet_call { /* borrowed */
    struct str host;  /* of the node */
    uint16_t port;
    enum kubelet_way way;
    struct str target; /* "/containerLogs/NS/POD/CONTAINER?follow=true" */
    bool upgrades;     /* the request has to become another protocol; else its answer may
                        * begin at any time */
    /*
     * A proxy: the request's fields and body are sent, and the answer is passed on as it is,
     * whatever its status. prefix: of the paths that the client uses for those of the other server.
     */
    bool is_proxy;
    struct str prefix;
};

/*
 * Ask the agent and answer the request, also on failure. Only if kubelet_is_reachable(). The
 * request no longer counts as one in flight.
 */
void kubelet_relay(struct request *rq, const struct kubelet_call *call);
/*
 * TLS with which the server shows itself to agents, by a certificate that is made for it. Given:
 * tls_ctx_free() once no connection uses it. NULL for KUBELET_PLAIN.
 */
int kubelet_tls(const struct api *api, enum kubelet_way way, struct tls_ctx **ret, struct err *err);
/* Whether this server has what it needs to show agents who it is: the key of the CA. */
bool kubelet_is_reachable(const struct api *api);
