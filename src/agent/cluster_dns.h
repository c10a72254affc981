/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster's DNS for the pods of this node (dns/resolver.h): at the addresses of their gateway,
 * port 53, where pods have native networks. It starts with the first pod.
 *
 *     OFF    switched off, or another server is named, or CNI makes the networks
 *     IDLE --the first pod--> ON --agent_dns_stop()--> OVER
 *
 * In ON it follows Services and EndpointSlices, and listens once the node's podCIDRs are known.
 */
#pragma once

#include "agent/agent.h"
#include "base/str.h"

#define AGENT_CLUSTER_DOMAIN "cluster.local"

struct agent_dns;

/* Errors: E_INVALID, E_LIMIT: of options. */
int agent_dns_new(struct agent *a, const struct agent_dns_opts *opts, struct agent_dns **ret,
                  struct err *err);
/* There is a pod, or the addresses of pods have changed. Follows the Services in any case. */
void agent_dns_look(struct agent *a);
/*
 * What pods have as their name servers; borrowed until the loop's next turn. 0: none. is_off: that
 * is what the options ask for.
 */
size_t agent_dns_servers(const struct agent_dns *d, struct str ret[AGENT_DNS_SERVERS_MAX],
                         bool *ret_is_off);
/* After agent_services_free(). One of agent.n_stopping stops, then or later. NULL is fine. */
void agent_dns_stop(struct agent *a);
