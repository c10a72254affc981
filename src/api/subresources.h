/* SPDX-License-Identifier: Apache-2.0 */
/* Subresources with code of their own. */
#pragma once

#include "api/core.h"

/*
 * Serves the request if it is for such a subresource; false: it is not, and nothing has happened.
 */
bool subresource_serve(struct request *rq);

/* pods/eviction (eviction.c) */
void eviction_create(struct request *rq);
/* pods/log, exec, attach, portforward (streams.c) */
void streams_serve(struct request *rq);
/* nodes/proxy, pods/proxy, services/proxy (proxy.c) */
void proxy_serve(struct request *rq);

/* Where the agent of a node listens. An address in the order that kubeadm sets, since names of
 * nodes often cannot be resolved; "": the Node has none. */
struct str streams_node_address(const struct json *node);
uint16_t streams_node_port(const struct json *node);
