/* SPDX-License-Identifier: Apache-2.0 */
/* Classification of IP addresses, for code that connects to addresses from a foreign source.
 * Pure. */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * A unicast address that is not in the IANA special-purpose registries (RFC 6890, RFC 8190): not
 * loopback, link-local (where clouds serve metadata), private, shared by a carrier, for
 * documentation or multicast. Also not 168.63.129.16, at which a cloud serves its own machines. An
 * IPv6 address that carries an IPv4 one
 * (mapped, NAT64, 6to4) is classified by the latter; Teredo is not public.
 */
bool address_is_public(const struct sockaddr *addr);

/* host, of a listener: "localhost", or the text of a loopback address. NULL: false. */
bool address_is_loopback_text(const char *host);

/* IPv4 as IPv6 (mapped), so that both forms of one address are equal. */
struct address {
    uint8_t bytes[16];
};
/* "10.0.0.7", "fd00::7" or "[fd00::7]". false: not an address. */
bool address_parse(struct str text, struct address *ret);
/* false: neither IPv4 nor IPv6. */
bool address_of_socket(const struct sockaddr *addr, struct address *ret);
bool address_equal(const struct address *a, const struct address *b);
bool address_is_loopback(const struct address *a);
bool address_is_v4(const struct address *a);
enum { ADDRESS_TEXT_BYTES = 46 };
/* As address_parse() reads it, without brackets. */
void address_format(const struct address *a, char ret[ADDRESS_TEXT_BYTES]);
/* An address that a machine can have, loopback included: not unspecified, link-local, of a cloud's
 * metadata or services, multicast or reserved. An IPv6 address that carries an IPv4 one by NAT64 or
 * 6to4 counts if the latter is public; one by a site-local NAT64 (RFC 8215) never does. */
bool address_is_machine(const struct address *a);
/* The same, as may_connect() of struct http_client_opts; arg: NULL. */
bool address_may_connect(void *arg, const struct sockaddr *addr);

struct address_net {
    struct address base;
    unsigned bits;
};
/* "10.0.0.0/8", "fd00::/8", or a single address. false: neither. */
bool address_net_parse(struct str text, struct address_net *ret);
bool address_net_has(const struct address_net *net, const struct address *a);

/* The host of "HOST:PORT", brackets included. false: there is no port. */
bool address_host(struct str text, struct str *ret);
/* Host and port of "HOST:PORT". */
bool address_split(struct str text, struct str *ret_host, uint16_t *ret_port);
