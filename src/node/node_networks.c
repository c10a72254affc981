/* SPDX-License-Identifier: Apache-2.0 */
/* The networks of nodes; see node_networks.h. */
#include "node/node_networks.h"

#include "base/mem.h"
#include "io/address.h"
#include "io/fetch_url.h"

static bool has(const struct node_networks *n, const struct address *a)
{
    struct address_net net;
    if (!address_is_machine(a))
        return false;
    for (size_t i = 0; i < n->n; i++)
        if (address_net_parse(str_of(n->at[i]), &net) && address_net_has(&net, a))
            return true;
    return n->n == 0 && !address_is_loopback(a);
}

bool node_networks_may_connect(void *arg, const struct sockaddr *addr)
{
    struct address a;
    return address_of_socket(addr, &a) && has(arg, &a);
}

bool node_networks_may_have(const struct node_networks *n, struct str url)
{
    struct fetch_url u;
    struct address a;
    scoped(free_scoped) char *text = str_dup(url);
    if (fetch_url_parse(text, NULL, &u, NULL) < 0)
        return true;
    bool ok = !address_parse(str_of(u.host), &a) || has(n, &a);
    fetch_url_fini(&u);
    return ok;
}
