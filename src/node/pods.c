/* SPDX-License-Identifier: Apache-2.0 */
#include "node/pods.h"

#include "agent/answer.h"
#include "base/log.h"
#include "base/sys.h"
#include "container/program.h"
#include "modules/module_hosts.h"
#include "node/image_node.h"
#include "node/images.h"
#include "node/images_unused.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

enum { POD_CIDRS_MAX = 2, PODS_DRAIN_MS = 500, IMAGE_KEEP_MS = 10000 };

struct pods {
    struct pods_opts opts;
    char *store, *owner; /* of images, and of their leases: not that of functions' */
    struct provide_site site;
    struct image_node *image_node; /* NULL: images are not shared */
    struct node_images *images;
    struct images_list *list;
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

static void start_image_node(struct pods *p, const struct pods_opts *o)
{
    p->site = (struct provide_site){ .hosts = o->image_hosts,
                                     .n_hosts = o->n_image_hosts,
                                     .ca_file = o->ca_file,
                                     .plain_hosts = xnew_n(struct str, o->n_plain_hosts + 1),
                                     .n_plain_hosts = o->n_plain_hosts };
    for (size_t i = 0; i < o->n_plain_hosts; i++)
        p->site.plain_hosts[i] = str_of(o->plain_hosts[i]);
    const struct image_node_opts opts = { .loop = o->loop,
                                          .node_name = o->node_name,
                                          .store = p->store,
                                          .transport = o->transport,
                                          .identity = o->identity,
                                          .cluster_key = o->cluster_key,
                                          .ca_pem = o->cluster_ca,
                                          .listen_host = o->image_host,
                                          .listen_port = o->image_port,
                                          .listens_elsewhere = o->image_listens_elsewhere,
                                          .address = o->addresses[0],
                                          .site = &p->site,
                                          .quota_bytes = o->image_quota_bytes,
                                          .probe_ms = o->image_probe_ms,
                                          .prefetches = o->image_quota_bytes > 0 };
    p->image_node = image_node_start(&opts);
}

char *pods_image_store(const char *image_store, const char *data_dir)
{
    const char *env = getenv("DORMOUSE_IMAGE_STORE");
    return image_store     ? xstrdup(image_store)
           : env && env[0] ? xstrdup(env)
                           : xasprintf("%s/images", data_dir);
}

static void on_pulled(void *arg)
{
    struct pods *p = arg;
    images_list_look(p->list);
}

static void on_list(void *arg)
{
    struct pods *p = arg;
    if (p->opts.on_images)
        p->opts.on_images(p->opts.arg);
}

size_t pods_images(const struct pods *p, const struct registration_image **ret)
{
    return p->list ? images_list_get(p->list, ret) : 0;
}

/* The agent has removed some. */
static void on_images(void *arg)
{
    struct pods *p = arg;
    images_list_look(p->list);
    if (p->image_node)
        image_node_changed(p->image_node);
}

static void on_synced(void *arg)
{
    struct pods *p = arg;
    if (p->opts.on_synced)
        p->opts.on_synced(p->opts.arg);
}

static void on_pods(void *arg, size_t n_pods)
{
    struct pods *p = arg;
    p->opts.on_pods(p->opts.arg, n_pods);
}

static void on_reclaimed(void *arg)
{
    struct pods *p = arg;
    p->opts.on_reclaimed(p->opts.arg);
}

static void on_node_event(void *arg, const char *reason, const char *message)
{
    struct pods *p = arg;
    p->opts.on_node_event(p->opts.arg, reason, message);
}

static int start_images(struct pods *p, const struct pods_opts *o, struct err *err)
{
    scoped(free_scoped) char *dir = pods_image_store(o->image_store, o->data_dir);
    int r = module_hosts_check(&(struct module_hosts){ o->image_hosts, o->n_image_hosts }, err);
    r = r < 0 ? err_ctx(err, r, "--image-registry") : sys_mkdir_all(dir, 0700, err);
    if (r < 0)
        return r;
    p->store = realpath(dir, NULL);
    if (!p->store)
        return err_sys(err, -errno, "'%s'", dir);
    p->owner = xasprintf("%s/agent", o->data_dir);
    if (o->cluster_key.n && o->n_addresses)
        start_image_node(p, o);
    const struct images_opts opts = { .loop = o->loop,
                                      .node = p->image_node,
                                      .store = p->store,
                                      .owner = p->owner,
                                      .is_mounted = true,
                                      .hosts = o->image_hosts,
                                      .n_hosts = o->n_image_hosts,
                                      .plain_hosts = o->plain_hosts,
                                      .n_plain_hosts = o->n_plain_hosts,
                                      .ca_file = o->ca_file,
                                      .keep_ms = IMAGE_KEEP_MS,
                                      .on_pulled = on_pulled,
                                      .arg = p };
    p->images = images_new(&opts);
    p->list = images_list_new(o->loop, p->images, p->store, on_list, p);
    return 0;
}

static int start_agent(struct pods *p, const struct pods_opts *o, struct err *err)
{
    const struct agent_opts opts = { .loop = o->loop,
                                     .transport = o->transport,
                                     .hub = o->hub,
                                     .identity = o->identity,
                                     .node_name = o->node_name,
                                     .node_uid = o->node_uid,
                                     .data_dir = o->data_dir,
                                     .images = images_interface(p->images),
                                     .image_dir = p->store,
                                     .gc = o->gc,
                                     .log_dir = o->log_dir,
                                     .manifest_dir = o->manifest_dir,
                                     .addresses = o->addresses,
                                     .n_addresses = o->n_addresses,
                                     .on_synced = on_synced,
                                     .on_pods = on_pods,
                                     .on_images = on_images,
                                     .on_reclaimed = on_reclaimed,
                                     .on_node_event = on_node_event,
                                     .arg = p };
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
    if (p->image_node)
        image_node_set_cert(p->image_node, cert, key);
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

static void free_pods(struct pods *p)
{
    free(p->store);
    free(p->owner);
    free(p->site.plain_hosts);
    free(p);
}

int pods_start(const struct pods_opts *opts, struct pods **ret, struct err *err)
{
    struct pods *p = *ret = xnew(struct pods);
    p->opts = *opts;
    int r = start_images(p, opts, err);
    r = r < 0 ? r : start_agent(p, opts, err);
    p->is_running = r >= 0;
    return r;
}

static void on_image_node_closed(void *arg)
{
    struct pods *p = arg;
    void (*done)(void *) = p->done;
    void *done_arg = p->arg;
    free_pods(p);
    done(done_arg);
}

static void on_images_closed(void *arg)
{
    struct pods *p = arg;
    if (p->image_node)
        image_node_close(take_ptr(&p->image_node), on_image_node_closed, p);
    else
        on_image_node_closed(p);
}

static void on_agent_stopped(void *arg)
{
    struct pods *p = arg;
    images_list_free(take_ptr(&p->list));
    images_close(take_ptr(&p->images), on_images_closed, p);
}

static void stop_agent(void *arg)
{
    struct pods *p = arg;
    if (p->reviewer)
        agent_reviewer_free(take_ptr(&p->reviewer));
    if (p->agent)
        agent_stop(take_ptr(&p->agent), on_agent_stopped, p);
    else if (p->images)
        on_agent_stopped(p);
    else
        on_images_closed(p);
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

void pods_set_node(struct pods *p, const struct json *node)
{
    const struct json *spec = json_getc(node, "spec");
    struct str cidrs[POD_CIDRS_MAX];
    struct err err = { 0 };
    size_t n = 0;
    json_each (c, json_getc(spec, "podCIDRs")) {
        if (n < POD_CIDRS_MAX)
            cidrs[n++] = json_str(c);
    }
    if (!p->is_running)
        return;
    agent_set_node(p->agent, node);
    if (n == 0 && json_get_str(spec, "podCIDR").n)
        cidrs[n++] = json_get_str(spec, "podCIDR");
    if (n > 0 && agent_set_pod_cidrs(p->agent, cidrs, n, &err) < 0)
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
