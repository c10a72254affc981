/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes to other nodes; see node_route.h. One batch at a time compares the wanted routes with
 * those that the kernel has from us, and changes what differs; so a batch that failed is simply
 * repeated.
 */
#include "agent/network/node_route.h"

#include "agent/network/pod_range.h"
#include "base/backoff.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RETRY_MAX_MS = 300000 };

struct wanted_route {
    struct netlink_ip to, gateway;
};

struct route_node {
    struct wanted_route routes[NODE_ROUTE_CIDRS_MAX];
    size_t n;
};

typedef VEC(struct wanted_route) wanted_routes;

struct route_batch {
    struct job job;
    struct node_routes *of;
    wanted_routes wanted, present;
    bool removes; /* those that are not wanted */
    int r;        /* of the first change that failed */
    struct err err;
};

struct node_routes {
    struct loop *loop;
    char *own;
    struct map nodes; /* struct route_node */
    bool is_synced, is_changed, is_running;
    unsigned n_failures;
    struct defer turn; /* starts a batch, or reports the end */
    struct timer retry;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* ---------------------------------------------------------------- on a pool thread */

static void add_present(void *arg, const struct netlink_route *route)
{
    struct route_batch *b = arg;
    struct wanted_route one = { .to = route->to };
    if (route->gateway)
        one.gateway = *route->gateway;
    vec_push(&b->present, one);
}

static bool is_same_net(const struct netlink_ip *a, const struct netlink_ip *b)
{
    return pod_range_equal(a, b);
}

static const struct wanted_route *find_route(const wanted_routes *list, const struct netlink_ip *to)
{
    for (size_t i = 0; i < list->n; i++)
        if (is_same_net(&list->p[i].to, to))
            return &list->p[i];
    return NULL;
}

static bool is_same_gateway(const struct netlink_ip *a, const struct netlink_ip *b)
{
    return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

static void note(struct route_batch *b, const struct wanted_route *route, int r,
                 const struct err *err)
{
    char to[POD_RANGE_TEXT_BYTES], gateway[POD_RANGE_TEXT_BYTES];
    if (r >= 0 || b->r < 0)
        return;
    pod_range_format(&route->to, to);
    pod_range_format(&route->gateway, gateway);
    b->r = err_set(&b->err, r, "%s/%u by %s: %s", to, route->to.prefix, gateway, err_text(err));
}

static void set_route(struct route_batch *b, int fd, const struct wanted_route *route)
{
    struct err err = { 0 };
    struct netlink_route nr = { .to = route->to,
                                .gateway = &route->gateway,
                                .protocol = NODE_ROUTE_PROTOCOL };
    note(b, route, netlink_set_route(fd, &nr, &err), &err);
}

static void del_route(struct route_batch *b, int fd, const struct wanted_route *route)
{
    struct err err = { 0 };
    struct netlink_route nr = { .to = route->to, .protocol = NODE_ROUTE_PROTOCOL };
    int r = netlink_del_route(fd, &nr, &err);
    note(b, route, r == -ESRCH ? 0 : r, &err);
}

static void change(struct route_batch *b, int fd)
{
    for (size_t i = 0; b->removes && i < b->present.n; i++)
        if (!find_route(&b->wanted, &b->present.p[i].to))
            del_route(b, fd, &b->present.p[i]);
    for (size_t i = 0; i < b->wanted.n; i++) {
        const struct wanted_route *has = find_route(&b->present, &b->wanted.p[i].to);
        if (!has || !is_same_gateway(&has->gateway, &b->wanted.p[i].gateway))
            set_route(b, fd, &b->wanted.p[i]);
    }
}

static void work(struct job *job)
{
    struct route_batch *b = container_of(job, struct route_batch, job);
    scoped(fd_scoped) int fd = netlink_open(&b->err);
    b->r = fd < 0 ? fd : 0;
    if (b->r == 0)
        b->r = netlink_each_route(fd, AF_INET, NODE_ROUTE_PROTOCOL, add_present, b, &b->err);
    if (b->r == 0)
        b->r = netlink_each_route(fd, AF_INET6, NODE_ROUTE_PROTOCOL, add_present, b, &b->err);
    if (b->r == 0)
        change(b, fd);
}

/* ---------------------------------------------------------------- batches */

static void start_batch(struct node_routes *r);

static void on_retry(struct timer *t)
{
    start_batch(container_of(t, struct node_routes, retry));
}

static void on_closed(struct defer *d)
{
    struct node_routes *r = container_of(d, struct node_routes, turn);
    void (*closed)(void *) = r->closed;
    void *arg = r->closed_arg;
    map_each (e, &r->nodes)
        free(e->value);
    map_fini(&r->nodes);
    free(r->own);
    free(r);
    closed(arg);
}

static void on_worked(struct job *job, int status)
{
    struct route_batch *b = container_of(job, struct route_batch, job);
    struct node_routes *r = b->of;
    int failed = status < 0 ? status : b->r;
    r->is_running = false;
    if (failed < 0 && !r->closed) {
        uint64_t after = backoff_wait(NODE_ROUTE_RETRY_MS, RETRY_MAX_MS, r->n_failures);
        if (r->n_failures++ == 0)
            log_warn("pods of other nodes cannot be reached", "error=\"%s\"", err_text(&b->err));
        timer_start(r->loop, &r->retry, after, on_retry);
    } else
        r->n_failures = 0;
    vec_fini(&b->wanted);
    vec_fini(&b->present);
    free(b);
    if (r->closed)
        defer_start(r->loop, &r->turn, on_closed);
    else if (r->is_changed)
        start_batch(r);
}

static void start_batch(struct node_routes *r)
{
    if (r->is_running)
        return;
    struct route_batch *b = xnew(struct route_batch);
    b->of = r;
    b->removes = r->is_synced;
    map_each (e, &r->nodes) {
        const struct route_node *node = e->value;
        for (size_t i = 0; i < node->n; i++)
            vec_push(&b->wanted, node->routes[i]);
    }
    timer_stop(r->loop, &r->retry);
    r->is_changed = false;
    r->is_running = true;
    b->job = (struct job){ .work = work, .done = on_worked };
    if (job_start(r->loop, &b->job) < 0)
        abort(); /* it fails without a work function only */
}

static void on_turn(struct defer *d)
{
    start_batch(container_of(d, struct node_routes, turn));
}

static void mark_changed(struct node_routes *r)
{
    r->is_changed = true;
    if (!r->is_running)
        defer_start(r->loop, &r->turn, on_turn);
}

/* ---------------------------------------------------------------- nodes */

int node_routes_new(const struct node_routes_opts *o, struct node_routes **ret, struct err *err)
{
    struct node_routes *r = xnew(struct node_routes);
    r->loop = o->loop;
    r->own = str_dup(o->own);
    *ret = r;
    return 0;
}

static const struct netlink_ip *find_gateway(const struct netlink_ip *addresses, size_t n,
                                             uint8_t family)
{
    for (size_t i = 0; i < n; i++)
        if (addresses[i].family == family)
            return &addresses[i];
    return NULL;
}

/* A range without an address of its family has no route. */
static int read_node(const struct node_route *from, struct route_node *to, struct err *err)
{
    struct netlink_ip addresses[NODE_ROUTE_CIDRS_MAX], range;
    assert(from->n_cidrs <= NODE_ROUTE_CIDRS_MAX && from->n_addresses <= NODE_ROUTE_CIDRS_MAX);
    for (size_t i = 0; i < from->n_addresses; i++)
        if (!pod_range_parse_ip(from->addresses[i], &addresses[i]))
            return err_set(err, E_INVALID, "node '" STR_FMT "': '" STR_FMT "' is no address",
                           STR_ARG(from->name), STR_ARG(from->addresses[i]));
    for (size_t i = 0; i < from->n_cidrs; i++) {
        if (!pod_range_parse(from->cidrs[i], &range) || range.prefix == 0)
            return err_set(err, E_INVALID, "node '" STR_FMT "': '" STR_FMT "' is no range",
                           STR_ARG(from->name), STR_ARG(from->cidrs[i]));
        const struct netlink_ip *gateway = find_gateway(addresses, from->n_addresses, range.family);
        if (gateway)
            to->routes[to->n++] = (struct wanted_route){ range, *gateway };
    }
    return 0;
}

int node_routes_set(struct node_routes *r, const struct node_route *node, struct err *err)
{
    struct route_node read = { 0 };
    if (str_is(node->name, r->own))
        return 0;
    int status = read_node(node, &read, err);
    if (status < 0)
        return status;
    struct route_node *has = map_get(&r->nodes, node->name);
    if (!has && r->nodes.n >= NODE_ROUTES_MAX)
        return err_set(err, E_LIMIT, "more than %d nodes", NODE_ROUTES_MAX);
    if (has && memcmp(has, &read, sizeof read) == 0)
        return 0;
    if (!has) {
        has = xnew(struct route_node);
        (void)map_put(&r->nodes, node->name, has);
    }
    *has = read;
    mark_changed(r);
    return 0;
}

void node_routes_remove(struct node_routes *r, struct str name)
{
    struct route_node *node = map_del(&r->nodes, name);
    if (!node)
        return;
    free(node);
    mark_changed(r);
}

void node_routes_synced(struct node_routes *r)
{
    r->is_synced = true;
    mark_changed(r);
}

void node_routes_close(struct node_routes *r, void (*done)(void *arg), void *arg)
{
    r->closed = done;
    r->closed_arg = arg;
    timer_stop(r->loop, &r->retry);
    if (!r->is_running)
        defer_start(r->loop, &r->turn, on_closed);
}
