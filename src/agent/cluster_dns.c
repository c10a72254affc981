/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/cluster_dns.h"

#include "agent/agent_impl.h"
#include "base/log.h"
#include "base/sm.h"
#include "dns/resolver.h"

enum { DNS_PORT = 53 };

enum agent_dns_at { AGENT_DNS_OFF, AGENT_DNS_IDLE, AGENT_DNS_ON, AGENT_DNS_OVER };

static const struct sm_state dns_table[] = {
    [AGENT_DNS_OFF] = { "off", EDGE(AGENT_DNS_OVER) },
    [AGENT_DNS_IDLE] = { "idle", EDGE(AGENT_DNS_OFF) | EDGE(AGENT_DNS_ON) | EDGE(AGENT_DNS_OVER) },
    [AGENT_DNS_ON] = { "on", EDGE(AGENT_DNS_OVER) },
    [AGENT_DNS_OVER] = { "over", 0 },
};

struct agent_dns {
    struct agent *agent;
    struct sm sm;
    bool is_named; /* by options: `texts` are these servers, or none are wanted */
    char texts[AGENT_DNS_SERVERS_MAX][ADDRESS_TEXT_BYTES];
    size_t n_texts; /* of the servers that pods have */
    struct dns_servers upstreams;
    struct dns_stub *stubs;
    size_t n_stubs;
    struct dns_zone *zone;
    struct reflector *slices;
    struct dns_resolver *resolver; /* NULL: it does not listen */
    struct pod_networks_view view; /* with which it was started */
    bool is_refused;               /* it could not listen, which was logged */
    unsigned n_closing;            /* resolvers */
};

/* ---------------------------------------------------------------- options */

static int name_server(struct agent_dns *d, struct str text, struct err *err)
{
    struct address ip;
    d->is_named = true;
    if (str_is(text, "none"))
        return 0;
    if (!address_parse(text, &ip))
        return err_set(err, E_INVALID, "--cluster-dns '" STR_FMT "' is neither an address nor none",
                       STR_ARG(text));
    if (d->n_texts == AGENT_DNS_SERVERS_MAX)
        return err_set(err, E_LIMIT, "more than %d --cluster-dns", AGENT_DNS_SERVERS_MAX);
    address_format(&ip, d->texts[d->n_texts++]);
    return 0;
}

static int read_options(struct agent_dns *d, const struct agent_dns_opts *o, struct err *err)
{
    int r = 0;
    for (size_t i = 0; i < o->n_servers && r == 0; i++)
        r = name_server(d, str_of(o->servers[i]), err);
    for (size_t i = 0; i < o->n_upstreams && r == 0; i++)
        r = dns_servers_add(&d->upstreams, str_of(o->upstreams[i]), err);
    if (r < 0)
        return err_ctx(err, r, "DNS");
    if (o->n_stubs > DNS_FORWARD_STUBS_MAX)
        return err_set(err, E_LIMIT, "more than %d --dns-stub", DNS_FORWARD_STUBS_MAX);
    d->stubs = xnew_n(struct dns_stub, o->n_stubs + 1);
    for (; d->n_stubs < o->n_stubs && r == 0; d->n_stubs++)
        r = dns_stub_parse(str_of(o->stubs[d->n_stubs]), &d->stubs[d->n_stubs], err);
    return r < 0 ? err_ctx(err, r, "--dns-stub") : 0;
}

int agent_dns_new(struct agent *a, const struct agent_dns_opts *opts, struct agent_dns **ret,
                  struct err *err)
{
    struct agent_dns *d = *ret = xnew(struct agent_dns);
    d->agent = a;
    int r = read_options(d, opts, err);
    sm_init(&d->sm, dns_table, r < 0 || d->is_named ? AGENT_DNS_OFF : AGENT_DNS_IDLE);
    return r;
}

/* ---------------------------------------------------------------- slices */

static void on_slice(void *arg, const struct json *object)
{
    struct agent_dns *d = arg;
    dns_zone_put_slice(d->zone, object);
}

static void on_slice_deleted(void *arg, struct str namespace, struct str name)
{
    struct agent_dns *d = arg;
    dns_zone_delete_slice(d->zone, namespace, name);
}

static void on_slices_synced(void *arg)
{
    struct agent_dns *d = arg;
    dns_zone_slices_synced(d->zone);
}

static const struct reflector_ops slice_ops = {
    .on_object = on_slice,
    .on_deleted = on_slice_deleted,
    .on_synced = on_slices_synced,
};

static int follow_slices(struct agent_dns *d, struct err *err)
{
    struct agent *a = d->agent;
    const struct reflector_opts watch = {
        .loop = a->loop,
        .transport = a->transport,
        .hub = a->hub,
        /* With the process's own rights, as agent/proxy, which has the same watch; a node of its
         * own has those of dormouse:node-routes. */
        .key = { .group_version = STR("discovery.k8s.io/v1"), .plural = STR("endpointslices") },
        .streams = true,
        .ops = &slice_ops,
        .arg = d,
    };
    return reflector_start(&watch, &d->slices, err);
}

/* ---------------------------------------------------------------- server */

static void free_dns(struct agent_dns *d)
{
    dns_zone_free(d->zone);
    free(d->stubs);
    free(d);
}

static void end_if_closed(struct agent_dns *d)
{
    struct agent *a = d->agent;
    if (d->sm.at != AGENT_DNS_OVER || d->n_closing > 0)
        return;
    free_dns(d);
    agent_part_stopped(a);
}

static void on_resolver_closed(void *arg)
{
    struct agent_dns *d = arg;
    d->n_closing--;
    end_if_closed(d);
}

static void close_resolver(struct agent_dns *d)
{
    if (!d->resolver)
        return;
    d->n_closing++;
    d->n_texts = 0;
    dns_resolver_close(take_ptr(&d->resolver), on_resolver_closed, d);
}

static bool is_same_view(const struct pod_networks_view *a, const struct pod_networks_view *b)
{
    bool is_same = a->n_gateways == b->n_gateways;
    for (size_t i = 0; is_same && i < a->n_gateways; i++)
        is_same = address_equal(&a->gateways[i], &b->gateways[i]);
    return is_same;
}

static void listen_at(struct agent_dns *d, const struct pod_networks_view *view)
{
    struct err err = { 0 };
    const struct dns_resolver_opts opts = { .loop = d->agent->loop,
                                            .zone = d->zone,
                                            .ips = view->gateways,
                                            .n_ips = view->n_gateways,
                                            .port = DNS_PORT,
                                            .clients = view->pods,
                                            .n_clients = view->n_pods,
                                            .servers = d->upstreams,
                                            .stubs = d->stubs,
                                            .n_stubs = d->n_stubs };
    if (dns_resolver_start(&opts, &d->resolver, &err) < 0) {
        if (!d->is_refused)
            log_warn("pods have no DNS of the cluster, trying again with the next change of a pod",
                     "error=\"%s\"", err_text(&err));
        d->is_refused = true;
        d->view = (struct pod_networks_view){ 0 };
        return;
    }
    d->is_refused = false;
    for (size_t i = 0; i < view->n_gateways; i++)
        address_format(&view->gateways[i], d->texts[d->n_texts++]);
    log_info("pods have DNS of the cluster", "address=%s", d->texts[0]);
}

/* Pods of before keep the address of before in their files: podCIDRs of a node do not change, and
 * the range that is used without them is a makeshift. */
static void look_at_addresses(struct agent_dns *d)
{
    struct pod_networks_view view;
    pod_networks_view(d->agent->networks, &view);
    if (d->resolver)
        dns_server_set_clients(dns_resolver_server(d->resolver), view.pods, view.n_pods);
    if (is_same_view(&view, &d->view))
        return;
    d->view = view;
    close_resolver(d);
    if (view.n_gateways)
        listen_at(d, &view);
}

/* ---------------------------------------------------------------- start and end */

/* Without the slices names of headless Services are not answered; all others are. */
static void turn_on(struct agent_dns *d)
{
    struct pod_networks_view view;
    struct err err = { 0 };
    pod_networks_view(d->agent->networks, &view);
    if (view.n_gateways == 0 || dns_zone_new(STR(AGENT_CLUSTER_DOMAIN), &d->zone, &err) < 0) {
        sm_move(&d->sm, AGENT_DNS_OFF);
        return;
    }
    sm_move(&d->sm, AGENT_DNS_ON);
    if (follow_slices(d, &err) < 0)
        log_error("cannot follow EndpointSlices", "error=\"%s\"", err_text(&err));
}

void agent_dns_look(struct agent *a)
{
    struct agent_dns *d = a->dns;
    struct err err = { 0 };
    if (a->pods.n == 0 || a->is_stopping)
        return;
    if (d->sm.at == AGENT_DNS_IDLE)
        turn_on(d);
    if (agent_services_follow(a->services, d->zone, &err) < 0)
        log_error("cannot follow Services", "error=\"%s\"", err_text(&err));
    if (d->sm.at == AGENT_DNS_ON && a->are_cidrs_known)
        look_at_addresses(d);
}

size_t agent_dns_servers(const struct agent_dns *d, struct str ret[AGENT_DNS_SERVERS_MAX],
                         bool *ret_is_off)
{
    for (size_t i = 0; i < d->n_texts; i++)
        ret[i] = str_of(d->texts[i]);
    *ret_is_off = d->is_named && d->n_texts == 0;
    return d->n_texts;
}

void agent_dns_stop(struct agent *a)
{
    struct agent_dns *d = take_ptr(&a->dns);
    if (!d)
        return;
    a->n_stopping++;
    if (d->slices)
        reflector_close(take_ptr(&d->slices));
    close_resolver(d);
    sm_move(&d->sm, AGENT_DNS_OVER);
    end_if_closed(d);
}
