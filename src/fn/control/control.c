/* SPDX-License-Identifier: Apache-2.0 */
/* The control plane, put together; see control.h. */
#include "fn/control/control_impl.h"

#include "base/log.h"
#include "base/sys.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

/* The address in the holder of a Lease: "ADDRESS_NAME_UUID"; "local_...": it has none. */
static struct str address_of(const char *identity)
{
    struct str address, rest;
    bool has_address = str_cut(str_of(identity), '_', &address, &rest);
    return has_address && str_find_char(address, ':') >= 0 ? address : STR("");
}

/* ---------------------------------------------------------------- leading or not */

static void drop_link(struct control *c)
{
    timer_stop(c->opts.loop, &c->link_timer);
    fn_stream_close(take_ptr(&c->link));
    free(take_ptr(&c->linked_to));
    c->link_is_up = false;
}

static void follow(struct control *c)
{
    scoped(free_scoped) char *address = str_dup(address_of(leader_holder(c->leader)));
    bool is_own = strcmp(leader_holder(c->leader), c->identity) == 0;
    bool led = plane_leads(c->plane);
    plane_follow(c->plane, is_own ? "" : address);
    if (!led)
        return;
    log_warn("functions: this control plane leads no longer", "name=%s", c->name);
    catalog_set_leads(c->catalog, false);
    list_each_safe (node, &c->peers)
        control_drop_peer(list_entry(node, struct peer_stream, node));
    if (c->opts.on_leads)
        c->opts.on_leads(c->opts.arg, false);
}

static void lead(struct control *c)
{
    drop_link(c);
    plane_lead(c->plane, leader_term(c->leader));
    catalog_set_leads(c->catalog, true);
    if (c->opts.on_leads)
        c->opts.on_leads(c->opts.arg, true);
}

static void dial_leader(struct control *c);

/* The holder of the Lease leads once it knows the functions. */
static void update(struct control *c)
{
    if (c->stopping)
        return;
    if (!leader_leads(c->leader) || strcmp(leader_holder(c->leader), c->identity) != 0) {
        follow(c);
        dial_leader(c);
    } else if (catalog_is_synced(c->catalog) &&
               !(plane_leads(c->plane) && plane_term(c->plane) == leader_term(c->leader))) {
        lead(c);
    }
}

static void on_leads(void *arg, bool leads)
{
    update(arg);
}

static void on_holder(void *arg, const char *identity)
{
    struct control *c = arg;
    if (c->leader)
        update(c);
}

static void on_synced(void *arg)
{
    struct control *c = arg;
    log_info("functions listed", "");
    update(c);
    if (!plane_leads(c->plane) && c->opts.on_leads)
        c->opts.on_leads(c->opts.arg, false); /* a follower is ready, too */
}

/* ---------------------------------------------------------------- detection of the leader's end */

static void on_link_timer(struct timer *t)
{
    dial_leader(container_of(t, struct control, link_timer));
}

static void on_link_message(void *arg, const ProtobufCMessage *m)
{
    struct control *c = arg;
    if (((const Dormouse__Fn__V1__PeerOrder *)m)->welcome)
        c->link_is_up = true;
}

static void on_link_end(void *arg, int r, const struct err *err)
{
    struct control *c = arg;
    bool was_up = c->link_is_up;
    scoped(free_scoped) char *holder = take_ptr(&c->linked_to);
    drop_link(c);
    if (was_up) {
        log_info("connection to the leader lost", "holder=%s", holder);
        plane_expect(c->plane);
        leader_holder_gone(c->leader, holder);
    }
    timer_start(c->opts.loop, &c->link_timer, c->opts.renew_ms, on_link_timer);
}

static const struct fn_stream_ops link_ops = { .on_message = on_link_message,
                                               .on_end = on_link_end };

static void dial_leader(struct control *c)
{
    const char *holder = leader_holder(c->leader);
    struct str address = address_of(holder);
    if (c->linked_to && strcmp(c->linked_to, holder) != 0)
        drop_link(c);
    if (c->link || !c->opts.peers || plane_leads(c->plane) || address.n == 0 ||
        strcmp(holder, c->identity) == 0)
        return;
    scoped(free_scoped) char *at = str_dup(address);
    Dormouse__Fn__V1__PeerReport hello = DORMOUSE__FN__V1__PEER_REPORT__INIT;
    hello.name = c->name;
    timer_stop(c->opts.loop, &c->link_timer);
    c->linked_to = xstrdup(holder);
    c->link =
        c->opts.peers->ops->dial(c->opts.peers, &dormouse__fn__v1__peer_order__descriptor, at);
    fn_stream_set(c->link, &link_ops, c);
    fn_stream_send(c->link, &hello.base);
}

/* ---------------------------------------------------------------- streams of followers */

void control_drop_peer(struct peer_stream *peer)
{
    list_remove(&peer->node);
    fn_stream_close(peer->stream);
    free(peer);
}

static void on_peer_message(void *arg, const ProtobufCMessage *m)
{
}

static void on_peer_end(void *arg, int r, const struct err *err)
{
    control_drop_peer(arg);
}

static const struct fn_stream_ops peer_ops = { .on_message = on_peer_message,
                                               .on_end = on_peer_end };

void control_accept_peer(struct control *c, struct fn_stream *s)
{
    Dormouse__Fn__V1__PeerOrder m = DORMOUSE__FN__V1__PEER_ORDER__INIT;
    Dormouse__Fn__V1__Welcome welcome = DORMOUSE__FN__V1__WELCOME__INIT;
    Dormouse__Fn__V1__Redirect redirect = DORMOUSE__FN__V1__REDIRECT__INIT;
    bool leads = plane_leads(c->plane) && !c->stopping;
    welcome.term = plane_term(c->plane);
    welcome.leader = c->name;
    redirect.address = (char *)"";
    m.welcome = leads ? &welcome : NULL;
    m.redirect = leads ? NULL : &redirect;
    fn_stream_send(s, &m.base);
    if (!leads) {
        fn_stream_close(s);
        return;
    }
    struct peer_stream *peer = xnew(struct peer_stream);
    peer->stream = s;
    list_push_back(&c->peers, &peer->node);
    fn_stream_set(s, &peer_ops, peer);
}

/* ---------------------------------------------------------------- streams */

void control_accept_gateway(struct control *c, struct fn_stream *s, bool is_local)
{
    plane_accept_gateway(c->plane, s, is_local);
}

void control_accept_worker(struct control *c, struct fn_stream *s, bool is_local)
{
    plane_accept_worker(c->plane, s, is_local);
}

static struct fn_stream *dial_gateway(struct fn_dialer *d, const ProtobufCMessageDescriptor *in,
                                      const char *address)
{
    struct control *c = container_of(d, struct control, gateway_dialer);
    struct fn_stream *theirs, *ours;
    fn_stream_pair(c->opts.loop, in, &dormouse__fn__v1__gateway_report__descriptor, &theirs, &ours);
    plane_accept_gateway(c->plane, ours, true);
    return theirs;
}

static struct fn_stream *dial_worker(struct fn_dialer *d, const ProtobufCMessageDescriptor *in,
                                     const char *address)
{
    struct control *c = container_of(d, struct control, worker_dialer);
    struct fn_stream *theirs, *ours;
    fn_stream_pair(c->opts.loop, in, &dormouse__fn__v1__worker_report__descriptor, &theirs, &ours);
    plane_accept_worker(c->plane, ours, true);
    return theirs;
}

static const struct fn_dialer_ops gateway_dialer_ops = { .dial = dial_gateway };
static const struct fn_dialer_ops worker_dialer_ops = { .dial = dial_worker };

struct fn_dialer *control_gateway_dialer(struct control *c)
{
    return &c->gateway_dialer;
}

struct fn_dialer *control_worker_dialer(struct control *c)
{
    return &c->worker_dialer;
}

/* ---------------------------------------------------------------- plane_ops */

static void on_change(void *arg, uint32_t function)
{
    struct control *c = arg;
    catalog_on_change(c->catalog, function);
}

static void on_resolve(void *arg, uint32_t function, uint32_t revision)
{
    struct control *c = arg;
    catalog_on_resolve(c->catalog, function, revision);
}

static void on_deposed(void *arg)
{
    struct control *c = arg;
    leader_look(c->leader);
}

static void on_created(void *arg, const struct plane_created *created)
{
    struct control *c = arg;
    if (c->trace)
        cold_trace_add(c->trace, created);
}

static void on_persist(void *arg, uint32_t function, uint64_t sandbox, bool is_gone)
{
    struct control *c = arg;
    catalog_persist(c->catalog, function, sandbox, is_gone);
}

static bool is_ours(void *arg, struct str host, uint16_t port)
{
    const struct control *c = arg;
    return c->opts.is_ours && c->opts.is_ours(c->opts.arg, host, port);
}

static const struct plane_ops plane_ops = { .on_persist = on_persist,
                                            .is_ours = is_ours,
                                            .on_change = on_change,
                                            .on_resolve = on_resolve,
                                            .on_deposed = on_deposed,
                                            .on_created = on_created };

/* ---------------------------------------------------------------- new and free */

static void start_leader(struct control *c)
{
    char uuid[37];
    sys_uuid(uuid);
    c->identity = xasprintf("%s_%s_%s", c->address[0] ? c->address : "local", c->name, uuid);
    struct leader_opts opts = {
        .loop = c->opts.loop,
        .transport = c->opts.transport,
        .namespace = c->opts.lease_namespace ? c->opts.lease_namespace : CONTROL_LEASE_NAMESPACE,
        .name = c->opts.lease_name ? c->opts.lease_name : CONTROL_LEASE_NAME,
        .identity = c->identity,
        .lease_ms = c->opts.lease_ms,
        .deadline_ms = c->opts.lease_ms - c->opts.renew_ms,
        .retry_ms = c->opts.renew_ms,
        .alone = c->opts.is_alone,
        .on_change = on_leads,
        .on_holder = on_holder,
        .arg = c,
    };
    c->leader = leader_start(&opts);
}

static void free_control(struct control *c)
{
    if (c->catalog)
        catalog_close(c->catalog);
    plane_free(c->plane);
    cold_trace_close(c->trace);
    free(c->identity);
    free(c->name);
    free(c->address);
    free(c->url);
    free(c);
}

int control_start(const struct control_opts *opts, struct control **ret, struct err *err)
{
    struct control *c = xnew(struct control);
    c->opts = *opts;
    c->opts.lease_ms = opts->lease_ms ? opts->lease_ms : (uint64_t)CONTROL_LEASE_MS;
    c->opts.renew_ms = opts->renew_ms ? opts->renew_ms : c->opts.lease_ms / 4;
    c->name = xstrdup(opts->name);
    c->address = xstrdup(opts->address ? opts->address : "");
    c->url = xstrdup("");
    c->gateway_dialer.ops = &gateway_dialer_ops;
    c->worker_dialer.ops = &worker_dialer_ops;
    list_init(&c->peers);
    list_init(&c->rest);
    struct plane_opts plane = { .loop = opts->loop,
                                .name = c->name,
                                .lease_ms = opts->peer_lease_ms,
                                .place = opts->place,
                                .eviction = opts->eviction,
                                .persists = opts->persists,
                                .has_tls = opts->has_tls,
                                .worker_networks = opts->worker_networks,
                                .n_worker_networks = opts->n_worker_networks,
                                .containers = opts->containers,
                                .ops = &plane_ops,
                                .arg = c };
    c->plane = plane_new(&plane);
    struct catalog_opts catalog = { .loop = opts->loop,
                                    .transport = opts->transport,
                                    .hub = opts->hub,
                                    .identity = opts->identity,
                                    .namespace = opts->namespace,
                                    .plane = c->plane,
                                    .url = c->url,
                                    .modules = opts->modules,
                                    .on_synced = on_synced,
                                    .arg = c };
    int r = opts->trace_dir ? cold_trace_open(opts->loop, opts->trace_dir, &c->trace, err) : 0;
    if (r >= 0)
        r = catalog_start(&catalog, &c->catalog, err);
    if (r < 0) {
        free_control(c);
        return r;
    }
    start_leader(c);
    *ret = c;
    return 0;
}

static void on_leader_stopped(void *arg)
{
    struct control *c = arg;
    void (*done)(void *) = c->done;
    void *done_arg = c->done_arg;
    free_control(c);
    done(done_arg);
}

void control_stop(struct control *c, void (*done)(void *arg), void *arg)
{
    c->stopping = true;
    c->done = done;
    c->done_arg = arg;
    drop_link(c);
    control_end_rest(c);
    plane_follow(c->plane, "");
    catalog_set_leads(c->catalog, false);
    list_each_safe (node, &c->peers)
        control_drop_peer(list_entry(node, struct peer_stream, node));
    leader_stop(take_ptr(&c->leader), on_leader_stopped, c);
}

const char *control_not_ready(const struct control *c)
{
    return catalog_is_synced(c->catalog) ? NULL : "its functions are not known yet";
}

void control_set_url(struct control *c, const char *url)
{
    char *old = c->url;
    c->url = xstrdup(url);
    catalog_set_url(c->catalog, c->url);
    free(old);
}

void control_metrics(const struct control *c, struct buf *to)
{
    plane_metrics(c->plane, to);
}

void control_json(const struct control *c, struct buf *to)
{
    plane_json(c->plane, to);
}
