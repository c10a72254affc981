/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosts from which modules may be fetched. A user who may create an Operator names a URL, and
 * the host connects to it: without restrictions the user could make it send requests to its own
 * network.
 *
 *     no entries        any host, under any name, but only at public addresses (io/address.h)
 *     entries           only these hosts, at any address: "name", "name:port", ".suffix" (names
 *                       below it), an address; "*" is any host at public addresses
 *
 * The name is checked for each hop of a redirect, and after name resolution each address is checked
 * before a connection is made. With a proxy only names can be checked, because the proxy resolves
 * them.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct module_hosts {
    const char *const *entries; /* kept */
    size_t n;
};

/* How a process reaches hosts of modules. Texts are kept. */
struct module_site {
    struct module_hosts hosts;
    bool is_any_host;    /* ignore `hosts`: the user who runs this process chose the references */
    const char *ca_file; /* PEM: CAs of registries besides the system's; NULL: none */
    const char *const *plain_hosts; /* registries to contact without TLS, named as in references;
                                       loopback registries need no entry */
    size_t n_plain_hosts;
};

/* Check the syntax of the entries. E_INVALID names the first invalid one. */
int module_hosts_check(const struct module_hosts *hosts, struct err *err);

enum module_host {
    MODULE_HOST_DENIED,
    MODULE_HOST_PUBLIC, /* only if its address is public */
    MODULE_HOST_NAMED   /* at any address */
};
/* host: as in a URL, without brackets. */
enum module_host module_hosts_find(const struct module_hosts *hosts, const char *host,
                                   uint16_t port);
