/* SPDX-License-Identifier: Apache-2.0 */
/* What an address is, for whoever connects to where somebody else has said. Pure. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

/*
 * A unicast address that the IANA registries of special purposes (RFC 6890, RFC 8190) do not keep
 * apart: no loopback, no link-local (where clouds have their metadata), no private network, none
 * shared by a carrier, for documentation or of multicast. An IPv6 address that carries an IPv4 one
 * (mapped, NAT64, 6to4) is what that is; Teredo is none.
 */
bool address_is_public(const struct sockaddr *addr);

/* Of a listener: "localhost", or the text of a loopback address; NULL is none. */
bool address_is_loopback_text(const char *host);
