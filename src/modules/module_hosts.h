/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From where modules may be fetched. Whoever may create an Operator names a URL, and the host goes
 * there: without bounds it would be asked to look at its own neighbours.
 *
 *     no entries        any host, at public addresses alone (io/address.h), by any of its names
 *     entries           those hosts and no others, wherever they are: "name", "name:port",
 *                       ".suffix" (names below it), an address; "*" is any host at public addresses
 *
 * Checked for each hop of a redirect, and after the name was resolved for each address before a
 * connection is made. Through a proxy only names can be checked: it resolves them.
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

/* How a process reaches the places of modules. Texts are kept. */
struct module_site {
    struct module_hosts hosts;
    bool is_any_host;    /* `hosts` does not count: references are of who runs this process */
    const char *ca_file; /* PEM, which registries' certificates may be signed with besides
                          * the system's; NULL: none */
    const char *const *plain_hosts; /* registries that are spoken to without TLS, as references
                                     * name them; loopback ones are without being named */
    size_t n_plain_hosts;
};

/* Are they entries? E_INVALID names the first that is none. */
int module_hosts_check(const struct module_hosts *hosts, struct err *err);

enum module_host {
    MODULE_HOST_DENIED,
    MODULE_HOST_PUBLIC, /* if its address is */
    MODULE_HOST_NAMED   /* at any address */
};
/* host: as in a URL, without brackets. */
enum module_host module_hosts_find(const struct module_hosts *hosts, const char *host,
                                   uint16_t port);
