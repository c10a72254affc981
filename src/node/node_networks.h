/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where nodes may be. A node says itself at which URL it is, and one that is taken over would have
 * the scheduler send requests to an API server or to a cloud's metadata. Pure.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <sys/socket.h>

struct node_networks {
    /* As address_net_parse() reads them, borrowed; none: everywhere but at loopback. */
    const char *const *at;
    size_t n;
};
/* Whatever the networks are: an address that a machine can have (address_is_machine()). arg: a
 * struct node_networks, as struct http_client_opts wants it. */
bool node_networks_may_connect(void *arg, const struct sockaddr *addr);
/* The same of a URL whose host is an address; a name, and what is no URL, may be: the connection
 * tells. */
bool node_networks_may_have(const struct node_networks *n, struct str url);
