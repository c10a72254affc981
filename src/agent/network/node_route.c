/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes to other nodes; see node_route.h. One batch at a time compares the wanted routes with
 * those that the kernel has from us, and changes what differs; so a batch that failed is simply
 * repeated.
 */
#include "agent/network/node_route.h"

#include "agent/network/node_route_batch.h"
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

struct route_batch {
    struct job job;
    struct node_routes *of;
    struct node_route_plan plan;
    int r;
    struct err err;
};

struct node_routes {
    struct loop *loop;
    char *own_name;
    enum node_route_mode mode;
    struct node_route_peer own;
    struct map nodes; /* struct node_route_peer */
    bool is_synced, is_changed, is_running;
    unsigned n_failures;
    struct defer turn; /* starts a batch, or reports the end */
    struct timer retry;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* ---------------------------------------------------------------- batches */

static void start_batch(struct node_routes *r);

static void work(struct job *job)
{
    struct route_batch *b = container_of(job, struct route_batch, job);
    b->r = node_route_batch_apply(&b->plan, &b->err);
}

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
    free(r->own_name);
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
    vec_fini(&b->plan.peers);
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
    b->plan.mode = r->mode;
    b->plan.own = r->own;
    b->plan.removes = r->is_synced;
    map_each (e, &r->nodes)
        vec_push(&b->plan.peers, *(struct node_route_peer *)e->value);
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
    r->own_name = str_dup(o->own);
    r->mode = o->mode;
    *ret = r;
    return 0;
}

static int read_node(const struct node_route *from, struct node_route_peer *to, struct err *err)
{
    assert(from->n_cidrs <= NODE_ROUTE_CIDRS_MAX && from->n_addresses <= NODE_ROUTE_CIDRS_MAX);
    for (; to->n_addresses < from->n_addresses; to->n_addresses++)
        if (!pod_range_parse_ip(from->addresses[to->n_addresses], &to->addresses[to->n_addresses]))
            return err_set(err, E_INVALID, "node '" STR_FMT "': '" STR_FMT "' is no address",
                           STR_ARG(from->name), STR_ARG(from->addresses[to->n_addresses]));
    for (; to->n_cidrs < from->n_cidrs; to->n_cidrs++) {
        struct netlink_ip *range = &to->cidrs[to->n_cidrs];
        if (!pod_range_parse(from->cidrs[to->n_cidrs], range) || range->prefix == 0)
            return err_set(err, E_INVALID, "node '" STR_FMT "': '" STR_FMT "' is no range",
                           STR_ARG(from->name), STR_ARG(from->cidrs[to->n_cidrs]));
    }
    return 0;
}

/* The place for the node; NULL: E_LIMIT. */
static struct node_route_peer *place_of(struct node_routes *r, struct str name)
{
    struct node_route_peer *peer = str_is(name, r->own_name) ? &r->own : map_get(&r->nodes, name);
    if (peer || r->nodes.n >= NODE_ROUTES_MAX)
        return peer;
    peer = xnew(struct node_route_peer);
    (void)map_put(&r->nodes, name, peer);
    return peer;
}

int node_routes_set(struct node_routes *r, const struct node_route *node, struct err *err)
{
    struct node_route_peer read = { 0 };
    int status = read_node(node, &read, err);
    if (status < 0)
        return status;
    struct node_route_peer *peer = place_of(r, node->name);
    if (!peer)
        return err_set(err, E_LIMIT, "more than %d nodes", NODE_ROUTES_MAX);
    if (memcmp(peer, &read, sizeof read) == 0)
        return 0;
    *peer = read;
    mark_changed(r);
    return 0;
}

void node_routes_remove(struct node_routes *r, struct str name)
{
    struct node_route_peer *node = map_del(&r->nodes, name);
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
