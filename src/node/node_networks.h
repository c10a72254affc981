/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The networks in which nodes may be. A node announces its own URL; without this check a
 * compromised node could make the scheduler send requests to an API server or to a cloud's metadata
 * service. Pure.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <sys/socket.h>

struct node_networks {
    /* As address_net_parse() returns them, borrowed; none: every address except loopback. */
    const char *const *at;
    size_t n;
};
/*
 * Whether the address may be connected to. Independent of the networks it must be one that a
 * machine can have (address_is_machine()). arg: a struct node_networks, as struct http_client_opts
 * requires.
 */
bool node_networks_may_connect(void *arg, const struct sockaddr *addr);
/*
 * The same for a URL whose host is an address. A URL with a host name, or an invalid one, passes:
 * the address is checked when connecting.
 */
bool node_networks_may_have(const struct node_networks *n, struct str url);
