/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which Service has an address with a protocol and port, or a node port: the API lets several
 * Services name the same external address, and the kernel takes one element for each key. The
 * first one has it, but cluster IPs and node ports, which the API gives to one Service each, take
 * precedence over external addresses. Pure; Services are told apart by pointers.
 */
#pragma once

#include "agent/proxy/service_elements.h"
#include "base/map.h"

struct service_owners { /* zeroed: empty */
    struct map by_way;
};

void service_owners_fini(struct service_owners *o);
/*
 * Leave in `wanted` what `who` has then, in its order. lost() runs for each Service that loses
 * something, perhaps several times; it must not change `o`. Returns whether something was left out.
 */
bool service_owners_claim(struct service_owners *o, void *who, service_elements *wanted,
                          void (*lost)(void *arg, void *loser), void *arg);
/* `who` gives up all that it has of these elements. */
void service_owners_release(struct service_owners *o, const void *who, const service_elements *is);
/* One of these elements has no owner. */
bool service_owners_are_free(const struct service_owners *o, const service_elements *elements);
/* Leave in `elements` what `who` has. */
void service_owners_keep(const struct service_owners *o, const void *who,
                         service_elements *elements);
