/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which addresses a worker or a gateway may name, since gateways send requests to them: for a peer
 * in this process any; otherwise those of the machine that it connects from, and those that the
 * administrator allows, except the listeners of the control plane itself. A peer's own claims prove
 * nothing: a compromised peer could direct gateways to the API, to a cloud's metadata service, or
 * to another tenant's container.
 */
#include "fn/control/plane_impl.h"

#include "base/log.h"
#include "io/address.h"

static bool is_allowed_by_option(const struct plane *p, struct str host)
{
    struct address at;
    struct address_net net;
    bool is_address = address_parse(host, &at);
    for (size_t i = 0; i < p->opts.n_worker_networks; i++) {
        struct str allowed = str_of(p->opts.worker_networks[i]);
        if (is_address ? address_net_parse(allowed, &net) && address_net_has(&net, &at)
                       : str_eq(allowed, host))
            return true;
    }
    return false;
}

static bool is_on_this_machine(const struct plane_peer *peer)
{
    struct address from;
    return address_parse(str_of(peer->from), &from) && address_is_loopback(&from);
}

/* The machine that it dials from. */
static bool is_own_host(const char *dials_from, struct str host)
{
    struct address at, from;
    if (!address_parse(str_of(dials_from), &from))
        return false;
    if (!address_parse(host, &at))
        return str_is(host, "localhost") && address_is_loopback(&from);
    return address_equal(&at, &from) || (address_is_loopback(&at) && address_is_loopback(&from));
}

/* A container on this machine, where each worker has containers in one network by default. */
static bool is_container_here(const struct plane_peer *peer, struct str host)
{
    const char *containers = peer->p->opts.containers;
    struct address at;
    struct address_net net;
    return containers && is_on_this_machine(peer) && address_parse(host, &at) &&
           address_net_parse(str_of(containers), &net) && address_net_has(&net, &at);
}

static bool is_ours(const struct plane *p, struct str host, uint16_t port)
{
    return p->opts.ops->is_ours && p->opts.ops->is_ours(p->opts.arg, host, port);
}

int plane_check_caller(const struct plane_caller *caller, const char *address, struct err *err)
{
    const struct plane *p = caller->p;
    const char *from = fn_stream_from(caller->stream);
    struct str host;
    uint16_t port;
    if (caller->is_local || address[0] == '\0')
        return 0;
    if (!address_split(str_of(address), &host, &port))
        return err_set(err, E_DENIED, "its address is not HOST:PORT");
    if (is_ours(p, host, port))
        return err_set(err, E_DENIED, "its address " STR_FMT ":%u is one of the control plane's",
                       STR_ARG(str_slice(host, 0, 64)), port);
    /* With TLS a gateway requires a certificate that names the host before it sends anything. */
    if (p->opts.has_tls || is_own_host(from, host) || is_allowed_by_option(p, host))
        return 0;
    return err_set(err, E_DENIED,
                   "its address " STR_FMT " is not the one that it dials from (%s), nor in a "
                   "--worker-network of the control plane",
                   STR_ARG(str_slice(host, 0, 64)), from);
}

int plane_check_endpoint(const struct plane_worker *w, const char *address, bool by_worker,
                         struct err *err)
{
    const struct plane_peer *peer = &w->peer;
    struct str host;
    uint16_t port;
    if (peer->is_local || (by_worker && peer->address[0]))
        return 0; /* peer->address has been checked */
    if (!by_worker && address_split(str_of(address), &host, &port) &&
        !is_ours(peer->p, host, port) &&
        (is_own_host(peer->from, host) || is_container_here(peer, host) ||
         is_allowed_by_option(peer->p, host)))
        return 0;
    char quoted[LOG_QUOTE_MAX];
    return err_set(err, E_DENIED,
                   "worker %s named %s as the address of a sandbox, which is not its own",
                   peer->name, log_quote(quoted, str_slice(str_of(address), 0, 64)));
}
