/* SPDX-License-Identifier: Apache-2.0 */
/* What an address is, for whoever connects to where somebody else has said. Pure. */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * A unicast address that the IANA registries of special purposes (RFC 6890, RFC 8190) do not keep
 * apart: no loopback, no link-local (where clouds have their metadata), no private network, none
 * shared by a carrier, for documentation or of multicast. Nor 168.63.129.16, where a cloud serves
 * its machines alone. An IPv6 address that carries an IPv4 one
 * (mapped, NAT64, 6to4) is what that is; Teredo is none.
 */
bool address_is_public(const struct sockaddr *addr);

/* Of a listener: "localhost", or the text of a loopback address; NULL is none. */
bool address_is_loopback_text(const char *host);

/* IPv4 as IPv6 (mapped), so that both forms of one address are equal. */
struct address {
    uint8_t bytes[16];
};
/* "10.0.0.7", "fd00::7" or "[fd00::7]". false: it is no address. */
bool address_parse(struct str text, struct address *ret);
/* false: it is of another family. */
bool address_of_socket(const struct sockaddr *addr, struct address *ret);
bool address_equal(const struct address *a, const struct address *b);
bool address_is_loopback(const struct address *a);
/* One that a machine can have, loopback among them: not unspecified, link-local, of a cloud's
 * metadata or its services, multicast or reserved. An IPv6 address that carries an IPv4 one by
 * NAT64 or 6to4 is one if the latter is public; none is by a NAT64 of the site (RFC 8215). */
bool address_is_machine(const struct address *a);
/* The same, as may_connect() of struct http_client_opts; arg: NULL. */
bool address_may_connect(void *arg, const struct sockaddr *addr);

struct address_net {
    struct address base;
    unsigned bits;
};
/* "10.0.0.0/8", "fd00::/8", or one address. false: it is neither. */
bool address_net_parse(struct str text, struct address_net *ret);
bool address_net_has(const struct address_net *net, const struct address *a);

/* "HOST:PORT" without the port; a host in brackets keeps them. false: there is no port. */
bool address_host(struct str text, struct str *ret);
/* The same with the port. */
bool address_split(struct str text, struct str *ret_host, uint16_t *ret_port);
