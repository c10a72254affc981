/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/routes.h"

#include "agent/agent_impl.h"
#include "agent/network/node_route.h"

static size_t read_cidrs(const struct json *spec, struct str ret[NODE_ROUTE_CIDRS_MAX])
{
    size_t n = 0;
    json_each (c, json_getc(spec, "podCIDRs")) {
        if (n < NODE_ROUTE_CIDRS_MAX)
            ret[n++] = json_str(c);
    }
    return n;
}

static size_t read_addresses(const struct json *status, struct str ret[NODE_ROUTE_CIDRS_MAX])
{
    size_t n = 0;
    json_each (a, json_getc(status, "addresses")) {
        if (n < NODE_ROUTE_CIDRS_MAX && str_is(json_get_str(a, "type"), "InternalIP"))
            ret[n++] = json_get_str(a, "address");
    }
    return n;
}

static void on_node(void *arg, const struct json *object)
{
    struct agent *a = arg;
    struct err err = { 0 };
    struct node_route node = { .name = json_get_str(json_getc(object, "metadata"), "name") };
    node.n_cidrs = read_cidrs(json_getc(object, "spec"), node.cidrs);
    node.n_addresses = read_addresses(json_getc(object, "status"), node.addresses);
    if (node_routes_set(a->routes, &node, &err) < 0)
        log_warn("pods of a node cannot be reached", "node=" STR_FMT " error=\"%s\"",
                 STR_ARG(node.name), err_text(&err));
}

static void on_deleted(void *arg, struct str namespace, struct str name)
{
    struct agent *a = arg;
    node_routes_remove(a->routes, name);
}

static void on_synced(void *arg)
{
    struct agent *a = arg;
    node_routes_synced(a->routes);
}

static const struct reflector_ops watch_ops = {
    .on_object = on_node,
    .on_deleted = on_deleted,
    .on_synced = on_synced,
};

int agent_routes_start(struct agent *a, struct err *err)
{
    const struct node_routes_opts routes = { .loop = a->loop, .own = str_of(a->node_name) };
    const struct reflector_opts watch = {
        .loop = a->loop,
        .transport = a->transport,
        .hub = a->hub,
        /* With the process's own rights; a node of its own has those of dormouse:node-routes. */
        .key = { .group_version = STR("v1"), .plural = STR("nodes") },
        .streams = true,
        .ops = &watch_ops,
        .arg = a,
    };
    int r = node_routes_new(&routes, &a->routes, err);
    return r < 0 ? r : reflector_start(&watch, &a->nodes, err);
}

static void on_closed(void *arg)
{
    agent_part_stopped(arg);
}

void agent_routes_stop(struct agent *a)
{
    if (a->nodes)
        reflector_close(take_ptr(&a->nodes));
    if (!a->routes)
        return;
    a->n_stopping++;
    node_routes_close(take_ptr(&a->routes), on_closed, a);
}
