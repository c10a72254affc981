/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that the agent of a node (the kubelet's API, port 10250) answers: logs, exec, attach and
 * port forwarding. The answer of the agent becomes that of the request; if it accepts another
 * protocol (SPDY, WebSocket), bytes pass both ways until both directions have ended.
 *
 *     client --request--> this server --TLS, certificate of system:masters--> agent
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

struct kubelet_call { /* borrowed */
    struct str host;  /* of the node */
    uint16_t port;
    struct str target;    /* "/containerLogs/NS/POD/CONTAINER?follow=true" */
    bool upgrades;        /* the request has to become another protocol; else its answer may
                           * begin at any time */
    bool any_certificate; /* the agent's certificate is not verified */
};

/*
 * Ask the agent and answer the request, also on failure. Only if kubelet_is_reachable(). The
 * request no longer counts as one in flight.
 */
void kubelet_relay(struct request *rq, const struct kubelet_call *call);
/* Whether this server has what it needs to show agents who it is: the key of the CA. */
bool kubelet_is_reachable(const struct api *api);
