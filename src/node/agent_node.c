/* SPDX-License-Identifier: Apache-2.0 */
/* This machine as a node; see agent_node.h. */
#include "node/agent_node.h"

#include "agent/registration/joining.h"
#include "agent/registration/node_cert.h"
#include "base/log.h"
#include "base/sys.h"
#include "image/bdm_send.h"
#include "node/cluster_key.h"
#include "node/image_supply.h"
#include "node/pods.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { UNREGISTERED_MS = 2000 };

struct agent_node {
    struct agent_node_opts opts;
    struct timer unregistered; /* then pods start without the API server */
    char *name, *user;
    struct kubeconfig config; /* server and CA, for the file of the credentials */
    struct registration *registration;
    struct kube_identity identity;
    struct buf client_ca;       /* PEM */
    struct buf cluster_key;     /* empty: images are not shared */
    struct cluster_key *asking; /* for it; NULL: it does not */
    struct arena node_arena;    /* of node: as it was seen last; NULL: not yet */
    struct json *node;
    struct pods *pods;                  /* from the registration on; NULL: none */
    char *problem;                      /* why no pods run here; NULL: they do */
    struct node_cert *client, *serving; /* the former NULL beside the API server */
    char *serving_path;
    void (*done)(void *arg);
    void *done_arg;
};

bool agent_node_is_wanted(const struct agent_node_opts *opts)
{
    scoped(free_scoped) char *problem = NULL;
    if (opts->wanted == AGENT_NODE_AUTO)
        problem = pods_problem();
    if (problem)
        log_info("this machine is no node of the cluster", "reason=\"%s\"", problem);
    return opts->wanted == AGENT_NODE_YES || (opts->wanted == AGENT_NODE_AUTO && !problem);
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

/* ---------------------------------------------------------------- registration */

/* The user of requests; beside the API server there is no certificate that says it. */
static struct kube_identity identity_of(const struct agent_node *n)
{
    static const struct str groups[] = { { "system:nodes", 12 }, { "system:authenticated", 20 } };
    return (struct kube_identity){ .user = str_of(n->user),
                                   .groups = groups,
                                   .n_groups = ARRAY_LEN(groups) };
}

static void start_serving(struct agent_node *n);

static void on_pods(void *arg, size_t n_pods)
{
    struct agent_node *n = arg;
    registration_set_pods(n->registration, n_pods);
}

static void on_images(void *arg)
{
    struct agent_node *n = arg;
    registration_changed(n->registration);
}

static void on_removed(void *arg)
{
    struct agent_node *n = arg;
    image_supply_changed(n->opts.images);
}

static void on_reclaimed(void *arg)
{
    struct agent_node *n = arg;
    registration_look(n->registration);
}

static void on_node_event(void *arg, const char *reason, const char *message)
{
    struct agent_node *n = arg;
    registration_warn(n->registration, reason, message);
}

static size_t list_images(void *arg, struct arena *a, const struct registration_image **ret)
{
    const struct agent_node *n = arg;
    (void)a;
    return image_supply_list(n->opts.images, ret);
}

static void on_listening(void *arg, uint16_t port)
{
    struct agent_node *n = arg;
    log_info("the agent serves logs and commands of pods", "port=%u", port);
    registration_set_kubelet_port(n->registration, port);
}

static void start_pods(struct agent_node *n)
{
    const struct agent_node_opts *o = &n->opts;
    struct err err = { 0 };
    struct pods_opts opts = { .loop = o->loop,
                              .data_dir = o->data_dir,
                              .node_name = n->name,
                              .transport = o->transport,
                              .hub = o->hub,
                              .identity = o->embedded ? &n->identity : NULL,
                              .images = o->images,
                              .cluster_ca = buf_str(&n->client_ca),
                              .image_host = o->image_host,
                              .image_port = o->image_port,
                              .image_listens_elsewhere = o->image_listens_elsewhere,
                              .image_quota_bytes = o->image_quota_bytes,
                              .image_probe_ms = o->image_probe_ms,
                              .gc = o->gc,
                              .sysctls = o->sysctls,
                              .n_sysctls = o->n_sysctls,
                              .no_service_proxy = o->no_service_proxy,
                              .dns = o->dns,
                              .log_dir = o->log_dir,
                              .manifest_dir = o->manifest_dir,
                              .listen_host = o->listen_host,
                              .listen_port = o->listen_port,
                              .listens_elsewhere = o->listens_elsewhere,
                              .client_ca = buf_cstr(&n->client_ca),
                              .on_listening = on_listening,
                              .on_pods = on_pods,
                              .on_images = on_images,
                              .on_removed = on_removed,
                              .on_reclaimed = on_reclaimed,
                              .on_node_event = on_node_event,
                              .arg = n };
    opts.addresses = registration_addresses(n->registration, &opts.n_addresses);
    if (pods_start(&opts, &n->pods, &err) < 0) {
        log_error("no pods run on this node", "reason=\"%s\"", err_text(&err));
        free(n->problem);
        n->problem = xstrdup(err_text(&err));
        registration_changed(n->registration);
    } else {
        registration_set_runtime(n->registration, pods_runtime(n->pods));
    }
    if (n->node)
        pods_set_node(n->pods, n->node);
}

/* A node that cannot run pods says so, also before it has tried. */
static const char *why_not_ready(void *arg)
{
    const struct agent_node *n = arg;
    if (n->pods && pods_are_shutting_down(n->pods))
        return "node is shutting down";
    return n->problem;
}

static void on_pressure(void *arg, const struct registration_pressure *p)
{
    struct agent_node *n = arg;
    const struct agent_pressure now = { .memory = p->memory_now,
                                        .disk = p->disk_now,
                                        .processes = p->pid_now,
                                        .available = p->available,
                                        .minimum = p->minimum };
    if (n->pods)
        pods_set_pressure(n->pods, &now);
}

static void on_node(void *arg, const struct json *node)
{
    struct agent_node *n = arg;
    arena_reset(&n->node_arena);
    n->node = json_clone(&n->node_arena, node);
    if (n->pods)
        pods_set_node(n->pods, node);
}

/* An API server that is away must not keep containers of before and static pods waiting. */
static void on_unregistered(struct timer *t)
{
    struct agent_node *n = container_of(t, struct agent_node, unregistered);
    log_warn("the API server does not answer; containers of before and static pods go on",
             "node=%s", n->name);
    start_pods(n);
}

static void start_parts(struct agent_node *n)
{
    timer_stop(n->opts.loop, &n->unregistered);
    if (!n->pods)
        start_pods(n);
    if (n->cluster_key.n)
        pods_share_images(n->pods, buf_str(&n->cluster_key));
    start_serving(n);
    if (n->opts.on_ready)
        n->opts.on_ready(n->opts.arg);
}

static void on_key(void *arg, int r, struct str key, const struct err *err)
{
    struct agent_node *n = arg;
    n->asking = NULL;
    if (r < 0 && r != -ENOENT)
        log_warn("images are not shared with other nodes", "reason=\"%s\"", err_text(err));
    (void)buf_add_str(&n->cluster_key, key);
    start_parts(n);
}

static void on_registered(void *arg)
{
    struct agent_node *n = arg;
    const struct agent_node_opts *o = &n->opts;
    bool asks = !o->shares_no_images && !o->cluster_key_file;
    if (!asks || cluster_key_get(o->transport, o->embedded ? &n->identity : NULL, false, on_key, n,
                                 &n->asking, NULL) < 0)
        start_parts(n);
}

/* The API server verifies the name by which it reaches the node. */
static void on_address(void *arg)
{
    struct agent_node *n = arg;
    if (!n->serving)
        return;
    node_cert_stop(take_ptr(&n->serving));
    free(take_ptr(&n->serving_path));
    start_serving(n);
}

static int start_registration(struct agent_node *n, struct err *err)
{
    const struct agent_node_opts *o = &n->opts;
    const struct kube_identity identity = identity_of(n);
    struct agent_node_lists lists;
    int r = read_lists(o, &lists, err);
    if (r < 0)
        return r;
    const struct registration_opts opts = {
        .loop = o->loop,
        .transport = o->transport,
        .identity = o->embedded ? &identity : NULL,
        .hub = o->hub,
        .node_name = n->name,
        .data_dir = o->data_dir,
        .image_dir = image_supply_dir(o->images),
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
        .records_events = true,
        .not_ready = why_not_ready,
        .images = list_images,
        .on_registered = on_registered,
        .on_node = on_node,
        .on_pressure = on_pressure,
        .on_address = on_address,
        .arg = n,
    };
    return registration_start(&opts, &n->registration, err);
}

/* ---------------------------------------------------------------- certificates */

char *agent_node_credentials(const char *data_dir)
{
    return xasprintf("%s/node.kubeconfig", data_dir);
}

/* The file first: a process that starts again must not have less than this one. */
static void on_client_cert(void *arg, struct str cert_pem, struct str key_pem)
{
    struct agent_node *n = arg;
    struct err err = { 0 };
    scoped(free_scoped) char *cert = str_dup(cert_pem), *key = str_dup(key_pem);
    struct kubeconfig config = n->config;
    config.client_cert_pem = cert;
    config.client_key_pem = key;
    int r = joining_write(n->opts.credentials, &config, n->name, &err);
    if (r >= 0)
        r = http_transport_set_cert(n->opts.remote, cert_pem, key_pem, &err);
    if (r < 0)
        log_error("a renewed certificate is not used", "reason=\"%s\"", err_text(&err));
    explicit_bzero(key, strlen(key));
}

static void start_client(struct agent_node *n)
{
    const struct kubeconfig *c = n->opts.config;
    const struct node_cert_opts opts = { .loop = n->opts.loop,
                                         .transport = n->opts.transport,
                                         .use = NODE_CERT_CLIENT,
                                         .node_name = n->name,
                                         .valid_s = n->opts.cert_s,
                                         .cert_pem = str_of(c->client_cert_pem),
                                         .key_pem = str_of(c->client_key_pem),
                                         .on_cert = on_client_cert,
                                         .arg = n };
    n->config.server = xstrdup(c->server);
    n->config.ca_pem = xstrdup(c->ca_pem);
    node_cert_start(&opts, &n->client);
}

static void serve(struct agent_node *n, struct str cert_pem, struct str key_pem)
{
    if (n->pods)
        pods_set_cert(n->pods, cert_pem, key_pem);
}

/* Certificate and key are in one file, so that they always belong together. */
static void on_serving_cert(void *arg, struct str cert_pem, struct str key_pem)
{
    struct agent_node *n = arg;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(2 * NODE_CERT_MAX_BYTES);
    (void)buf_add_str(&text, cert_pem);
    (void)buf_add_str(&text, key_pem);
    if (sys_write_file_atomic(AT_FDCWD, n->serving_path, buf_str(&text), 0600, &err) < 0)
        log_warn("the serving certificate is not kept", "reason=\"%s\"", err_text(&err));
    serve(n, cert_pem, key_pem);
}

static void start_serving(struct agent_node *n)
{
    size_t n_addresses;
    const char *const *addresses = registration_addresses(n->registration, &n_addresses);
    const char *const names[] = { n->name, addresses[0] };
    const struct kube_identity identity = identity_of(n);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(2 * NODE_CERT_MAX_BYTES);
    n->serving_path = xasprintf("%s/node-serving.pem", n->opts.data_dir);
    (void)sys_read_file(AT_FDCWD, n->serving_path, &text, NULL);
    const struct node_cert_opts opts = { .loop = n->opts.loop,
                                         .transport = n->opts.transport,
                                         .identity = n->opts.embedded ? &identity : NULL,
                                         .use = NODE_CERT_SERVER,
                                         .node_name = n->name,
                                         .names = names,
                                         .n_names = ARRAY_LEN(names),
                                         .valid_s = n->opts.cert_s,
                                         .cert_pem = buf_str(&text),
                                         .key_pem = buf_str(&text),
                                         .on_cert = on_serving_cert,
                                         .arg = n };
    node_cert_start(&opts, &n->serving);
    if (node_cert_is_valid(n->serving))
        serve(n, buf_str(&text), buf_str(&text));
}

/* ---------------------------------------------------------------- life */

static void free_node(struct agent_node *n)
{
    node_cert_stop(n->client);
    node_cert_stop(n->serving);
    free(n->config.server);
    free(n->config.ca_pem);
    buf_fini(&n->client_ca);
    buf_fini(&n->cluster_key);
    arena_fini(&n->node_arena);
    free(n->serving_path);
    free(n->problem);
    free(n->name);
    free(n->user);
    free(n);
}

/* Beside the API server: that of its data directory. Without it only tokens are accepted. */
static void read_client_ca(struct agent_node *n)
{
    struct err err = { 0 };
    scoped(free_scoped) char *path = xasprintf("%s/pki/ca.crt", n->opts.data_dir);
    if (sys_read_file(AT_FDCWD, path, &n->client_ca, &err) < 0)
        log_warn("clients of the node's agent need tokens", "error=\"%s\"", err_text(&err));
}

int agent_node_start(const struct agent_node_opts *opts, struct agent_node **ret, struct err *err)
{
    struct agent_node *n = xnew(struct agent_node);
    n->opts = *opts;
    n->name = agent_node_name(opts->node_name);
    n->user = xasprintf("system:node:%s", n->name);
    n->identity = identity_of(n);
    n->client_ca = BUF_INIT(1 << 20);
    if (opts->client_ca)
        (void)buf_add_cstr(&n->client_ca, opts->client_ca);
    else
        read_client_ca(n);
    n->problem = pods_problem();
    n->cluster_key = BUF_INIT(IMAGE_BDM_KEY_MAX_BYTES);
    int r = opts->cluster_key_file && !opts->shares_no_images
                ? image_bdm_key_read(opts->cluster_key_file, &n->cluster_key, err)
                : 0;
    r = r < 0 ? r : start_registration(n, err);
    if (r < 0) {
        free_node(n);
        return err_ctx(err, r, "node");
    }
    if (opts->remote) {
        start_client(n);
        timer_start(opts->loop, &n->unregistered, UNREGISTERED_MS, on_unregistered);
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

static void stop_registration(void *arg)
{
    struct agent_node *n = arg;
    registration_stop(take_ptr(&n->registration), on_stopped, n);
}

void agent_node_stop(struct agent_node *n, void (*done)(void *arg), void *arg)
{
    n->done = done;
    n->done_arg = arg;
    node_cert_stop(take_ptr(&n->client));
    node_cert_stop(take_ptr(&n->serving));
    cluster_key_cancel(take_ptr(&n->asking));
    timer_stop(n->opts.loop, &n->unregistered);
    if (n->pods)
        pods_stop(take_ptr(&n->pods), stop_registration, n);
    else
        stop_registration(n);
}

int agent_node_shut_down(struct agent_node *n, const struct pod_shutdown_plan *plan,
                         void (*done)(void *arg, size_t n_ended, size_t n_left), void *arg,
                         struct err *err)
{
    int r = n->pods ? pods_shut_down(n->pods, plan, done, arg, err)
                    : err_set(err, E_UNSUPPORTED, "no pods run on this node");
    if (r >= 0)
        registration_changed(n->registration);
    return r;
}

void agent_node_shut_down_forget(struct agent_node *n)
{
    if (n->pods)
        pods_shut_down_forget(n->pods);
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
