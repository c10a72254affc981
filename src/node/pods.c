/* SPDX-License-Identifier: Apache-2.0 */
#include "node/pods.h"

#include "agent/answer.h"
#include "api/node_cidrs.h"
#include "base/log.h"
#include "base/sys.h"
#include "container/program.h"
#include "node/image_supply.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

enum { POD_CIDRS_MAX = 2, PODS_DRAIN_MS = 500 };

struct pods {
    struct pods_opts opts;
    struct agent *agent;
    bool is_running; /* false: pods_start() failed; what it made waits for pods_stop() */
    struct agent_reviewer *reviewer;
    struct agent_server *server; /* NULL: there is no certificate yet */
    void (*done)(void *arg);
    void *arg;
};

char *pods_problem(void)
{
    char *program = NULL;
    struct err err = { 0 };
    if (geteuid() != 0)
        return xstrdup("pods need root");
    if (container_program_find(NULL, &program, &err) < 0)
        return xasprintf("pods need an OCI runtime: %s", err_text(&err));
    free(program);
    return NULL;
}

void pods_share_images(struct pods *p, struct str cluster_key)
{
    const struct pods_opts *o = &p->opts;
    if (o->n_addresses == 0)
        return;
    image_supply_share(o->images,
                       &(struct image_node_opts){ .node_name = o->node_name,
                                                  .transport = o->transport,
                                                  .identity = o->identity,
                                                  .cluster_key = cluster_key,
                                                  .ca_pem = o->cluster_ca,
                                                  .listen_host = o->image_host,
                                                  .listen_port = o->image_port,
                                                  .listens_elsewhere = o->image_listens_elsewhere,
                                                  .address = o->addresses[0],
                                                  .quota_bytes = o->image_quota_bytes,
                                                  .probe_ms = o->image_probe_ms,
                                                  .prefetches = o->image_quota_bytes > 0 });
}

static int start_agent(struct pods *p, const struct pods_opts *o, struct err *err)
{
    const struct agent_opts opts = { .loop = o->loop,
                                     .transport = o->transport,
                                     .hub = o->hub,
                                     .identity = o->identity,
                                     .node_name = o->node_name,
                                     .data_dir = o->data_dir,
                                     .images = image_supply_interface(o->images),
                                     .image_dir = image_supply_dir(o->images),
                                     .gc = o->gc,
                                     .sysctls = o->sysctls,
                                     .n_sysctls = o->n_sysctls,
                                     .no_service_proxy = o->no_service_proxy,
                                     .dns = o->dns,
                                     .log_dir = o->log_dir,
                                     .manifest_dir = o->manifest_dir,
                                     .addresses = o->addresses,
                                     .n_addresses = o->n_addresses,
                                     .on_synced = o->on_synced,
                                     .on_pods = o->on_pods,
                                     .on_images = o->on_removed,
                                     .on_reclaimed = o->on_reclaimed,
                                     .on_node_event = o->on_node_event,
                                     .arg = o->arg };
    return agent_start(&opts, &p->agent, err);
}

/* ---------------------------------------------------------------- HTTP interface */

static int start_server(struct pods *p, struct str cert, struct str key, struct err *err)
{
    const struct pods_opts *o = &p->opts;
    struct agent_server_opts opts = { .loop = o->loop,
                                      .host = o->listen_host ? o->listen_host : "0.0.0.0",
                                      .port = o->listen_port,
                                      .cert = cert,
                                      .key = key,
                                      .ca = str_of(o->client_ca ? o->client_ca : ""),
                                      .node = str_of(o->node_name),
                                      .ops = &agent_answer_ops,
                                      .arg = p->agent };
    opts.reviewer = p->reviewer = agent_reviewer_new(o->transport);
    int r = agent_server_start(&opts, &p->server, err);
    if (r == -EADDRINUSE && o->listens_elsewhere) {
        opts.port = 0;
        r = agent_server_start(&opts, &p->server, err);
    }
    if (r < 0)
        agent_reviewer_free(take_ptr(&p->reviewer));
    return r;
}

void pods_set_cert(struct pods *p, struct str cert, struct str key)
{
    struct err err = { 0 };
    image_supply_set_cert(p->opts.images, cert, key);
    if (!p->is_running)
        return;
    bool is_first = !p->server;
    int r = is_first ? start_server(p, cert, key, &err)
                     : agent_server_set_tls(p->server, cert, key, STR(""), &err);
    if (r < 0)
        log_error("logs and commands of pods cannot be served", "error=\"%s\"", err_text(&err));
    else if (is_first)
        p->opts.on_listening(p->opts.arg, agent_server_port(p->server));
}

/* ---------------------------------------------------------------- start and stop */

int pods_start(const struct pods_opts *opts, struct pods **ret, struct err *err)
{
    struct pods *p = *ret = xnew(struct pods);
    p->opts = *opts;
    image_supply_follow(opts->images, opts->on_images, opts->arg);
    int r = start_agent(p, opts, err);
    p->is_running = r >= 0;
    return r;
}

static void on_agent_stopped(void *arg)
{
    struct pods *p = arg;
    image_supply_unfollow(p->opts.images);
    void (*done)(void *) = p->done;
    void *done_arg = p->arg;
    free(p);
    done(done_arg);
}

static void stop_agent(void *arg)
{
    struct pods *p = arg;
    if (p->reviewer)
        agent_reviewer_free(take_ptr(&p->reviewer));
    if (p->agent)
        agent_stop(take_ptr(&p->agent), on_agent_stopped, p);
    else
        on_agent_stopped(p);
}

void pods_stop(struct pods *p, void (*done)(void *arg), void *arg)
{
    p->done = done;
    p->arg = arg;
    if (p->server)
        agent_server_close(take_ptr(&p->server), PODS_DRAIN_MS, stop_agent, p);
    else
        stop_agent(p);
}

const char *pods_runtime(const struct pods *p)
{
    return p->is_running ? agent_runtime(p->agent) : "";
}

static size_t read_pod_cidrs(const struct json *node, struct str ret[POD_CIDRS_MAX])
{
    const struct json *spec = json_getc(node, "spec");
    size_t n = 0;
    json_each (c, json_getc(spec, "podCIDRs")) {
        if (n < POD_CIDRS_MAX)
            ret[n++] = json_str(c);
    }
    if (n == 0 && json_get_str(spec, "podCIDR").n)
        ret[n++] = json_get_str(spec, "podCIDR");
    return n;
}

/* None where another controller than dormouse's gives out podCIDRs. */
static size_t read_cluster_cidrs(const struct json *node, struct str ret[POD_CIDRS_MAX])
{
    struct str rest =
        json_str(json_path(node, "metadata", "annotations", NODE_CIDRS_ANNOTATION, NULL));
    size_t n = 0;
    while (rest.n && n < POD_CIDRS_MAX)
        (void)str_cut(rest, ',', &ret[n++], &rest);
    return n;
}

void pods_set_node(struct pods *p, const struct json *node)
{
    struct str cidrs[POD_CIDRS_MAX], cluster[POD_CIDRS_MAX];
    struct err err = { 0 };
    if (!p->is_running)
        return;
    agent_set_node(p->agent, node);
    size_t n = read_pod_cidrs(node, cidrs), n_cluster = read_cluster_cidrs(node, cluster);
    if (n > 0 && agent_set_pod_cidrs(p->agent, cidrs, n, cluster, n_cluster, &err) < 0)
        log_warn("the node's podCIDRs are not used", "error=\"%s\"", err_text(&err));
}

void pods_set_pressure(struct pods *p, const struct agent_pressure *pressure)
{
    if (p->is_running)
        agent_set_pressure(p->agent, pressure);
}

int pods_shut_down(struct pods *p, const struct pod_shutdown_plan *plan,
                   void (*done)(void *arg, size_t n_ended, size_t n_left), void *arg,
                   struct err *err)
{
    return p->is_running ? agent_shut_down(p->agent, plan, done, arg, err)
                         : err_set(err, E_UNSUPPORTED, "no pods run on this node");
}

void pods_shut_down_forget(struct pods *p)
{
    if (p->is_running)
        agent_shut_down_forget(p->agent);
}

bool pods_are_shutting_down(const struct pods *p)
{
    return p->is_running && agent_is_shutting_down(p->agent);
}
