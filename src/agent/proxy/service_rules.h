/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nftables of Services: the table "dormouse_services", whose rules depend on how many endpoints
 * there are and not on which, so that a change of a Service changes elements of maps and nothing
 * else. In nft(8)'s words, for IPv4:
 *
 *     chain arriving  { hook prerouting dstnat; jump services }
 *     chain own       { hook output dstnat;     jump services }
 *     chain services  { ip daddr . meta l4proto . th dport vmap @addresses4
 *                       ip daddr 127.0.0.0/8 return
 *                       fib daddr type local meta l4proto . th dport vmap @node_ports4 }
 *     chain to4-3     { dnat ip to ip daddr . meta l4proto . th dport . numgen random mod 3
 *                           map @endpoints4 }
 *     chain leaving   { hook postrouting srcnat; meta mark & 0x4000 != 0 masquerade
 *                       ip saddr . ip daddr @self4 masquerade }
 *     chain arrived   { hook prerouting dstnat + 1; jump refusing }     also sent, at output
 *     chain refusing  { ip daddr . meta l4proto . th dport vmap @refused4
 *                       fib daddr type local meta l4proto . th dport vmap @refused_ports4
 *                       ip daddr @cluster4 jump reject }
 *     chain reject    { meta l4proto tcp reject with tcp reset; reject }
 *
 * A chain of node ports ("port4-3") looks for endpoints of the address 0.0.0.0; one whose name has
 * "-m" sets the mark; one for client affinity ("-10800", seconds) looks first whether @affinity4
 * has an endpoint for the client that is still in @alive4, and writes there what it chose.
 *
 * Refusing comes before routing: the machine may have no route to the address of a Service.
 *
 * Calls add changes to a batch; the caller commits it on any thread.
 */
#pragma once

#include "agent/proxy/service_elements.h"
#include "base/map.h"
#include "container/nftables.h"

#define SERVICE_RULES_TABLE "dormouse_services"

enum {
    SERVICE_RULES_MARK = 0x4000, /* the bit that kube-proxy uses */
    SERVICE_AFFINITY_MAX = 65536 /* clients of all Services of a family */
};

/* What several Services share, and how many elements use it. Zeroed: nothing. */
struct service_chains {
    struct map by_name; /* -> struct service_chain_use */
    struct map selves;  /* key of an element of SERVICE_SELF -> struct service_self_use */
};

void service_chains_fini(struct service_chains *c);
/* The table with its fixed parts and no elements; chains is emptied. */
void service_rules_renew(struct nftables_batch *b, struct service_chains *chains);
/*
 * Change what is there for one Service to what is wanted; both are sorted. chains is changed as if
 * the batch had been committed: where that fails, renew.
 */
void service_rules_change(struct nftables_batch *b, struct service_chains *chains,
                          const service_elements *is, const service_elements *wanted);
/* Chains that no element uses since the changes of the batch. The last call for a batch. */
void service_rules_drop_chains(struct nftables_batch *b, struct service_chains *chains);
