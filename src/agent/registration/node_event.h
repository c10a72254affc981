/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events about a Node, as kubelet records them: "Starting", "NodeReady", "Rebooted". Best effort:
 * one request at a time, a few wait, and one that fails is dropped. Loop thread only.
 */
#pragma once

#include "client/ask.h"

enum { NODE_EVENT_WAITING_MAX = 16 /* further ones are dropped */ };

struct node_events {
    struct transport *transport;          /* kept */
    const struct kube_identity *identity; /* kept */
    const char *node_name;                /* kept */
    struct client_ask *call;
    char *waiting[NODE_EVENT_WAITING_MAX]; /* bodies; a ring */
    size_t first, n_waiting;
    uint64_t n_made;
};

void node_events_init(struct node_events *e, struct transport *transport,
                      const struct kube_identity *identity, const char *node_name);
/* What waits is dropped; a request that runs is cancelled. */
void node_events_fini(struct node_events *e);
void node_event_record(struct node_events *e, bool is_warning, const char *reason,
                       const char *message);
