/* SPDX-License-Identifier: Apache-2.0 */
/* This machine as a node; see agent_node.h. */
#include "node/agent_node.h"

#include "base/log.h"
#include "base/sys.h"

#include <ctype.h>
#include <unistd.h>

struct agent_node {
    struct agent_node_opts opts;
    char *name, *user;
    struct registration *registration;
    void (*done)(void *arg);
    void *done_arg;
};

bool agent_node_is_wanted(const struct agent_node_opts *opts)
{
    /* TODO: AGENT_NODE_AUTO becomes container_host_new() succeeds, once pods run here. */
    return opts->wanted == AGENT_NODE_YES;
}

char *agent_node_name(const char *given)
{
    char host[256] = "";
    if (given)
        return xstrdup(given);
    if (gethostname(host, sizeof host - 1) < 0 || !host[0])
        return xstrdup("localhost");
    for (char *c = host; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return xstrdup(host);
}

/* ---------------------------------------------------------------- options */

struct agent_node_lists {
    struct registration_label labels[64];
    struct registration_taint taints[64];
    struct str addresses[64];
};

static int read_lists(const struct agent_node_opts *o, struct agent_node_lists *ret,
                      struct err *err)
{
    int r = 0;
    if (o->n_labels > ARRAY_LEN(ret->labels) || o->n_taints > ARRAY_LEN(ret->taints) ||
        o->n_addresses > ARRAY_LEN(ret->addresses))
        return err_set(err, E_INVALID, "too many labels, taints or addresses");
    for (size_t i = 0; r >= 0 && i < o->n_labels; i++)
        r = registration_read_label(str_of(o->labels[i]), &ret->labels[i], err);
    for (size_t i = 0; r >= 0 && i < o->n_taints; i++)
        r = registration_read_taint(str_of(o->taints[i]), &ret->taints[i], err);
    for (size_t i = 0; i < o->n_addresses; i++)
        ret->addresses[i] = str_of(o->addresses[i]);
    return r;
}

/* ---------------------------------------------------------------- life */

static void on_registered(void *arg)
{
    struct agent_node *n = arg;
    if (n->opts.on_ready)
        n->opts.on_ready(n->opts.arg);
}

static int start_registration(struct agent_node *n, struct err *err)
{
    static const struct str groups[] = { { "system:nodes", 12 }, { "system:authenticated", 20 } };
    const struct agent_node_opts *o = &n->opts;
    const struct kube_identity identity = { .user = str_of(n->user),
                                            .groups = groups,
                                            .n_groups = ARRAY_LEN(groups) };
    struct agent_node_lists lists;
    int r = read_lists(o, &lists, err);
    if (r < 0)
        return r;
    const struct registration_opts opts = {
        .loop = o->loop,
        .transport = o->transport,
        .identity = o->embedded ? &identity : NULL,
        .node_name = n->name,
        .data_dir = o->data_dir,
        .server = o->server,
        .addresses = lists.addresses,
        .n_addresses = o->n_addresses,
        .labels = lists.labels,
        .n_labels = o->n_labels,
        .taints = lists.taints,
        .n_taints = o->n_taints,
        .max_pods = o->max_pods,
        .reserved = o->reserved,
        .embedded = o->embedded,
        .on_registered = on_registered,
        .arg = n,
    };
    return registration_start(&opts, &n->registration, err);
}

static void free_node(struct agent_node *n)
{
    free(n->name);
    free(n->user);
    free(n);
}

int agent_node_start(const struct agent_node_opts *opts, struct agent_node **ret, struct err *err)
{
    struct agent_node *n = xnew(struct agent_node);
    n->opts = *opts;
    n->name = agent_node_name(opts->node_name);
    n->user = xasprintf("system:node:%s", n->name);
    int r = start_registration(n, err);
    if (r < 0) {
        free_node(n);
        return err_ctx(err, r, "node");
    }
    *ret = n;
    return 0;
}

static void on_stopped(void *arg)
{
    struct agent_node *n = arg;
    void (*done)(void *) = n->done;
    void *done_arg = n->done_arg;
    free_node(n);
    done(done_arg);
}

void agent_node_stop(struct agent_node *n, void (*done)(void *arg), void *arg)
{
    n->done = done;
    n->done_arg = arg;
    registration_stop(n->registration, on_stopped, n);
}

const char *agent_node_not_ready(const struct agent_node *n)
{
    return registration_is_registered(n->registration) ? NULL : "its node is not registered";
}

const char *agent_node_name_of(const struct agent_node *n)
{
    return n->name;
}

void agent_node_status(const struct agent_node *n, struct buf *to)
{
    (void)buf_printf(to, "\"node\":{\"name\":\"%s\",\"registered\":%s}", n->name,
                     registration_is_registered(n->registration) ? "true" : "false");
}
