/* SPDX-License-Identifier: Apache-2.0 */
/* One server process; see server.h. Read from server_run() at the end upwards. */
#include "node/server_impl.h"

#include "agent/registration/joining.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "base/version.h"
#include "client/http_transport.h"
#include "client/leader.h"
#include "client/watch_hub.h"
#include "codec/url.h"
#include "fn/function.h"
#include "guest/module.h"
#include "guest/runner_pool.h"
#include "io/address.h"
#include "io/http.h"
#include "node/data_lock.h"
#include "node/host.h"
#include "operator/host/objects.h"
#include "sched/object/node_image_state.h"
#include "workload/controllers.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum {
    STATUS_LINE_MS = 1000,
    /* For another cluster, where each watch holds a connection; other requests need some too. */
    UPSTREAMS_MAX = HTTP_TRANSPORT_CONNECTIONS * 3 / 4
};

/* ---------------------------------------------------------------- stopping */

/* Without a file to read again, SIGHUP from a closed terminal ends the process as usual. */
static bool hears_hangup(const struct server_opts *o)
{
    return o->with_scheduler && o->scheduler.config_file;
}

static void on_sig_closed(struct sig_watch *w)
{
}

static void on_all_stopped(void *arg)
{
    struct server *s = arg;
    timer_stop(&s->loop, &s->deadline);
    sig_watch_close(&s->term, on_sig_closed);
    sig_watch_close(&s->interrupt, on_sig_closed);
    if (hears_hangup(&s->opts))
        sig_watch_close(&s->hangup, on_sig_closed);
    idle_trim_close(&s->idle_trim);
    loop_stop(&s->loop);
}

static void stop_next(void *arg)
{
    struct server *s = arg;
    while (s->n_rows > 0) {
        const struct service *row = &server_services[--s->n_rows];
        if (*server_slot(s, row)) {
            row->stop(s);
            return;
        }
    }
    on_all_stopped(s);
}

static void stop_cluster(struct server *s)
{
    cluster_stop(take_ptr(&s->cluster), SERVER_STOP_GRACE_MS, stop_next, s);
}

static void stop_remote(struct server *s)
{
    http_transport_close(take_ptr(&s->remote), stop_next, s);
}

static void stop_joining(struct server *s)
{
    joining_stop(take_ptr(&s->joining), stop_next, s);
}

static void stop_hub(struct server *s)
{
    watch_hub_close(take_ptr(&s->hub), stop_next, s);
}

static void stop_leader(struct server *s)
{
    leader_stop(take_ptr(&s->leader), stop_next, s);
}

static void stop_mechanisms(struct server *s)
{
    pool_free(take_ptr(&s->runners));
    module_cache_close(take_ptr(&s->modules), stop_next, s);
}

static void stop_host(struct server *s)
{
    host_stop(take_ptr(&s->host), stop_next, s);
}

static void stop_images(struct server *s)
{
    image_supply_close(take_ptr(&s->images), stop_next, s);
}

static void stop_functions(struct server *s)
{
    functions_stop(take_ptr(&s->functions), stop_next, s);
}

static void stop_scheduling(struct server *s)
{
    scheduling_stop(take_ptr(&s->scheduling), stop_next, s);
}

static void stop_workload(struct server *s)
{
    workload_stop(take_ptr(&s->workload));
    stop_next(s);
}

static void stop_agent(struct server *s)
{
    agent_node_stop(take_ptr(&s->agent), stop_next, s);
}

static void stop_admin(struct server *s)
{
    admin_close(take_ptr(&s->admin), stop_next, s);
}

static void stop_health(struct server *s)
{
    health_close(take_ptr(&s->health), stop_next, s);
}

static void on_stop(struct defer *d)
{
    struct server *s = container_of(d, struct server, stop);
    timer_stop(&s->loop, &s->status_line);
    cluster_key_cancel(take_ptr(&s->asking));
    s->n_rows = N_SERVICES;
    stop_next(s);
}

static void on_deadline(struct timer *t)
{
    log_error("not stopped in time, ending", "limit_ms=%d", SERVER_STOP_MAX_MS);
    _exit(1);
}

static void begin_stop(struct server *s, int r, const struct err *err)
{
    if (r < 0 && s->r >= 0) {
        s->r = r;
        s->err = err ? *err : (struct err){ .code = r };
    }
    if (s->stopping)
        return;
    s->stopping = true;
    timer_start(&s->loop, &s->deadline, SERVER_STOP_MAX_MS, on_deadline);
    defer_start(&s->loop, &s->stop, on_stop);
}

static void on_signal(struct sig_watch *w, int signum)
{
    struct server *s = signum == SIGTERM ? container_of(w, struct server, term)
                                         : container_of(w, struct server, interrupt);
    log_info("stopping", "signal=%d", signum);
    begin_stop(s, 0, NULL);
}

static void on_hangup(struct sig_watch *w, int signum)
{
    struct server *s = container_of(w, struct server, hangup);
    if (s->scheduling)
        scheduling_reload(s->scheduling);
}

/* ---------------------------------------------------------------- readiness */

/* A status line that is rewritten in place. Only on a terminal; the timer runs only there. */
static void on_status_line(struct timer *t)
{
    struct server *s = container_of(t, struct server, status_line);
    struct host_counts n = { 0 };
    char line[sizeof s->last_line];
    host_get_counts(s->host, &n);
    (void)snprintf(line, sizeof line,
                   "%zu operators: %zu awake, %zu asleep, %zu failed; %" PRIu64
                   " activations, %" PRIu64 " wakes",
                   n.operators, n.awake, n.asleep, n.failed, n.activations, n.wakes);
    if (strcmp(line, s->last_line) != 0) {
        memcpy(s->last_line, line, sizeof line);
        (void)printf("\r\033[K%s", line);
        (void)fflush(stdout);
    }
    timer_start(&s->loop, &s->status_line, STATUS_LINE_MS, on_status_line);
}

static void say_ready(struct server *s)
{
    s->ready = true;
    (void)printf("ready");
    if (!s->cluster)
        (void)printf(" data-dir=%s pid=%d", s->opts.data_dir, (int)getpid());
    for (const struct service *row = server_services; row < server_services + N_SERVICES; row++)
        if (row->ready_words && *server_slot(s, row))
            row->ready_words(s);
    (void)putchar('\n');
    (void)fflush(stdout);
    if (s->host && isatty(STDOUT_FILENO))
        timer_start(&s->loop, &s->status_line, STATUS_LINE_MS, on_status_line);
}

/* ---------------------------------------------------------------- starting */

static void on_synced(void *arg)
{
    log_info("operators are known", "");
}

static void on_leads(void *arg, bool leads)
{
    struct server *s = arg;
    if (s->host)
        host_set_standby(s->host, !leads);
}

static int start_leader(struct server *s, struct transport *transport, struct err *err)
{
    if (!s->opts.leader_elect)
        return 0;
    char host[64] = "dormouse", uuid[37];
    (void)gethostname(host, sizeof host - 1);
    sys_uuid(uuid);
    scoped(free_scoped) char *identity = xasprintf("%s_%s", host, uuid);
    struct leader_opts opts = {
        .loop = &s->loop,
        .transport = transport,
        .namespace = s->lease_namespace,
        .name = s->opts.lease_name ? s->opts.lease_name : "dormouse",
        .identity = identity,
        .on_change = on_leads,
        .arg = s,
    };
    s->leader = leader_start(&opts);
    return 0;
}

/* A process that waits to become leader is ready. */
static const char *not_ready(void *arg)
{
    struct server *s = arg;
    if (s->stopping)
        return "it is being stopped";
    const char *why = NULL;
    for (const struct service *row = server_services; !why && row < server_services + N_SERVICES;
         row++)
        if (row->not_ready && *server_slot(s, row))
            why = row->not_ready(s);
    return why;
}

static void render_all_metrics(void *arg, struct buf *to)
{
    server_metrics(arg, to);
}

static int start_health(struct server *s, struct transport *transport, struct err *err)
{
    struct health_opts opts = { .loop = &s->loop,
                                .host = s->opts.health_host,
                                .port = s->opts.health_port,
                                .not_ready = not_ready,
                                .metrics = render_all_metrics,
                                .arg = s };
    return s->opts.health_host ? health_start(&opts, &s->health, err) : 0;
}

static void request_progress(void *api)
{
    api_tell_progress(api);
}

static void on_policy(void *arg)
{
    struct server *s = arg;
    if (s->host)
        host_rights_changed(s->host);
}

/* One module cache and one pool of runners for all services of the process. */
static int start_mechanisms(struct server *s, struct transport *transport, struct err *err)
{
    const struct server_opts *o = &s->opts;
    const struct functions_opts *f = &o->functions;
    bool has_worker = (f->roles & FUNCTIONS_WORKER) && !f->simulate;
    if (!o->with_operators && !o->with_scheduler && !has_worker)
        return 0;
    scoped(free_scoped) char *dir = xasprintf("%s/modules", o->data_dir);
    const struct module_cache_config config = { .dir = dir };
    int r = module_cache_new(&s->loop, &config, &s->modules, err);
    if (r >= 0)
        s->runners = pool_new(&s->loop, NULL);
    return r;
}

static bool has_agent(const struct server_opts *o)
{
    assert(o->agent.wanted != AGENT_NODE_AUTO);
    return o->agent.wanted == AGENT_NODE_YES;
}

/* As functions. */
static bool runs_containers(const struct server_opts *o)
{
    const struct functions_opts *f = &o->functions;
    return (f->roles & FUNCTIONS_WORKER) && !f->simulate && (f->n_bundle_dirs || o->images.n_hosts);
}

/* One store for functions and pods. */
static int start_images(struct server *s, struct transport *transport, struct err *err)
{
    struct image_supply_opts opts = s->opts.images;
    opts.loop = &s->loop;
    opts.data_dir = s->opts.data_dir;
    if (!runs_containers(&s->opts) && !has_agent(&s->opts))
        return 0;
    return image_supply_new(&opts, &s->images, err);
}

static int start_host(struct server *s, struct transport *transport, struct err *err)
{
    const struct server_opts *o = &s->opts;
    struct host_opts opts = { .loop = &s->loop,
                              .data_dir = o->data_dir,
                              .modules = s->modules,
                              .runners = s->runners,
                              .transport = transport,
                              .hub = s->hub,
                              .embedded = s->cluster != NULL,
                              .module_dirs = o->module_dirs,
                              .n_module_dirs = o->n_module_dirs,
                              .module_site = o->module_site,
                              .operators_dir = o->operators_dir,
                              .namespace = o->namespace,
                              .standby = o->leader_elect,
                              .identity = o->identity,
                              .guests = o->guests,
                              .on_synced = on_synced,
                              .arg = s };
    if (s->cluster) {
        opts.request_progress = request_progress;
        opts.progress_arg = cluster_api(s->cluster);
    }
    if (!o->with_operators)
        return 0;
    int r = host_start(&opts, &s->host, err);
    if (r >= 0 && s->cluster)
        api_on_policy(cluster_api(s->cluster), on_policy, s);
    return r;
}

static void on_functions_ready(void *arg)
{
    struct server *s = arg;
    if (!s->stopping)
        say_ready(s);
}

static int start_functions(struct server *s, struct transport *transport, struct err *err)
{
    struct functions_opts opts = s->opts.functions;
    opts.loop = &s->loop;
    opts.data_dir = s->opts.data_dir;
    opts.modules = s->modules;
    opts.runners = s->runners;
    opts.transport = transport;
    opts.hub = s->hub;
    opts.embedded = s->cluster != NULL;
    opts.images = runs_containers(&s->opts) ? s->images : NULL;
    opts.on_ready = on_functions_ready;
    opts.arg = s;
    opts.listeners[0] = s->cluster ? api_port(cluster_api(s->cluster)) : s->api_port;
    opts.listeners[1] = s->opts.health_host ? s->opts.health_port : 0;
    return opts.roles ? functions_start(&opts, &s->functions, err) : 0;
}

static void on_scheduling_ready(void *arg, int r, const struct err *err)
{
    struct server *s = arg;
    if (s->stopping)
        return;
    if (r < 0)
        begin_stop(s, r, err);
    else if (!s->cluster)
        say_ready(s);
}

static int start_scheduling(struct server *s, struct transport *transport, struct err *err)
{
    struct scheduling_opts opts = s->opts.scheduler;
    opts.loop = &s->loop;
    opts.data_dir = s->opts.data_dir;
    opts.modules = s->modules;
    opts.transport = transport;
    opts.hub = s->hub;
    opts.embedded = s->cluster != NULL;
    opts.on_ready = on_scheduling_ready;
    opts.arg = s;
    if (s->cluster && !opts.plans.peer_ca) { /* certificates of nodes are those of this cluster */
        s->node_ca = xasprintf("%s/pki/ca.crt", s->opts.data_dir);
        opts.plans.peer_ca = s->node_ca;
    }
    opts.plans.key = str_of(s->image_key ? s->image_key : "");
    return s->opts.with_scheduler ? scheduling_start(&opts, &s->scheduling, err) : 0;
}

static void on_agent_ready(void *arg)
{
    struct server *s = arg;
    if (!s->stopping && !s->cluster)
        say_ready(s);
}

static int start_agent(struct server *s, struct transport *transport, struct err *err)
{
    struct agent_node_opts opts = s->opts.agent;
    opts.loop = &s->loop;
    opts.data_dir = s->opts.data_dir;
    opts.transport = transport;
    opts.hub = s->hub;
    opts.embedded = s->cluster != NULL;
    opts.images = s->images;
    opts.server = s->opts.join.server;
    opts.remote = s->remote;
    opts.config = s->config;
    opts.credentials = s->credentials;
    opts.on_ready = on_agent_ready;
    opts.client_ca = s->config ? s->config->ca_pem : NULL;
    opts.arg = s;
    return has_agent(&s->opts) ? agent_node_start(&opts, &s->agent, err) : 0;
}

static int start_workload(struct server *s, struct transport *transport, struct err *err)
{
    const struct workload_opts opts = { .loop = &s->loop,
                                        .transport = transport,
                                        .hub = s->hub,
                                        .controllers = workload_controllers,
                                        .n_controllers = WORKLOAD_CONTROLLERS };
    return s->opts.with_workloads ? workload_start(&opts, &s->workload, err) : 0;
}

/* Start the watch hub. There is one per process, so that services share watches. */
static int start_hub(struct server *s, struct transport *transport, struct err *err)
{
    const struct server_opts *o = &s->opts;
    if (!o->with_operators && !o->with_scheduler && !o->functions.roles && !has_agent(o) &&
        !o->with_workloads)
        return 0;
    struct watch_hub_opts opts = { .transport = transport };
    if (!s->cluster) {
        opts.widen_at = WATCH_WIDEN_AFTER;
        opts.max_upstreams = UPSTREAMS_MAX;
    }
    return transport ? watch_hub_new(&s->loop, &opts, &s->hub, err) : 0;
}

static int start_admin(struct server *s, struct transport *transport, struct err *err)
{
    return admin_start(&s->loop, s->opts.data_dir, server_pages, s, &s->admin, err);
}

static const char *host_not_ready(const struct server *s)
{
    return host_is_synced(s->host) ? NULL : "its operators are not known yet";
}

static const char *roles_not_ready(const struct server *s)
{
    return functions_not_ready(s->functions);
}

static const char *scheduler_not_ready(const struct server *s)
{
    return scheduling_not_ready(s->scheduling);
}

static const char *workload_not_ready(const struct server *s)
{
    return workload_is_synced(s->workload) ? NULL : "the workloads are not known yet";
}

static const char *agent_not_ready(const struct server *s)
{
    return agent_node_not_ready(s->agent);
}

static void cluster_metrics(struct server *s, struct buf *to)
{
    api_metrics(cluster_api(s->cluster), to);
}

static void modules_metrics(struct server *s, struct buf *to)
{
    host_modules_metrics(s->modules, to);
}

static void operators_metrics(struct server *s, struct buf *to)
{
    host_metrics(s->host, to);
}

static void roles_metrics(struct server *s, struct buf *to)
{
    functions_metrics(s->functions, to);
}

static void scheduler_metrics(struct server *s, struct buf *to)
{
    scheduling_metrics(s->scheduling, to);
}

static void roles_status(struct server *s, struct buf *to)
{
    functions_status(s->functions, to);
}

static void scheduler_status(struct server *s, struct buf *to)
{
    scheduling_status(s->scheduling, to);
}

static void agent_status(struct server *s, struct buf *to)
{
    agent_node_status(s->agent, to);
}

static void agent_words(struct server *s)
{
    (void)printf(" node=%s", agent_node_name_of(s->agent));
}

static void cluster_words(struct server *s)
{
    (void)printf(" url=%s kubeconfig=%s data-dir=%s pid=%d listen=%s", cluster_url(s->cluster),
                 cluster_kubeconfig(s->cluster), s->opts.data_dir, (int)getpid(),
                 cluster_listen(s->cluster));
}

static void roles_words(struct server *s)
{
    if (functions_gateway(s->functions)[0])
        (void)printf(" gateway=%s://%s", s->opts.functions.gateway_cert ? "https" : "http",
                     functions_gateway(s->functions));
    if (functions_control(s->functions)[0])
        (void)printf(" control-plane=%s", functions_control(s->functions));
}

static void health_words(struct server *s)
{
    if (!s->cluster)
        (void)printf(" health-port=%u", health_port(s->health));
}

/* When all of their roles work. */
static bool roles_say_ready(const struct server *s)
{
    return true;
}

/* When the objects of the cluster are known; beside the embedded API it waits for the first pod. */
static bool scheduler_says_ready(const struct server *s)
{
    return !s->cluster;
}

/* When the node is registered; beside the embedded API that follows. */
static bool agent_says_ready(const struct server *s)
{
    return !s->cluster;
}

#define SLOT(member) .slot = offsetof(struct server, member)
/* The leader stops after the guests, so that no other process starts them before they have ended.
 */
const struct service server_services[N_SERVICES] = {
    { SLOT(cluster), .stop = stop_cluster, .metrics = cluster_metrics,
      .ready_words = cluster_words },
    { SLOT(joining), .stop = stop_joining },
    { SLOT(remote), .stop = stop_remote },
    { SLOT(hub), start_hub, stop_hub },
    { SLOT(leader), start_leader, stop_leader },
    { SLOT(modules), start_mechanisms, stop_mechanisms, .metrics = modules_metrics },
    { SLOT(host), start_host, stop_host, host_not_ready, operators_metrics },
    { SLOT(images), start_images, stop_images },
    { SLOT(functions), start_functions, stop_functions, roles_not_ready, roles_metrics,
      roles_status, roles_words, roles_say_ready },
    { SLOT(scheduling), start_scheduling, stop_scheduling, scheduler_not_ready, scheduler_metrics,
      scheduler_status, .says_ready = scheduler_says_ready },
    { SLOT(workload), start_workload, stop_workload, .not_ready = workload_not_ready },
    { SLOT(agent), start_agent, stop_agent, agent_not_ready, .status = agent_status,
      .ready_words = agent_words, .says_ready = agent_says_ready },
    { SLOT(admin), start_admin, stop_admin },
    { SLOT(health), start_health, stop_health, .ready_words = health_words },
};
#undef SLOT

/*
 * All but the first rows, which give the transport. transport: NULL for roles of functions that
 * need none.
 */
static void start_services(struct server *s, struct transport *transport)
{
    struct err err = { 0 };
    int r = 0;
    bool is_said = true;
    for (const struct service *row = server_services; r >= 0 && row < server_services + N_SERVICES;
         row++) {
        if (row->start)
            r = row->start(s, transport, &err);
        if (r >= 0 && row->says_ready && *server_slot(s, row) && row->says_ready(s))
            is_said = false;
    }
    if (r < 0)
        begin_stop(s, r, &err);
    else if (is_said)
        say_ready(s);
}

static void start_all(struct server *s)
{
    start_services(s, api_transport(cluster_api(s->cluster)));
}

static void on_image_key(void *arg, int r, struct str key, const struct err *err)
{
    struct server *s = arg;
    s->asking = NULL;
    if (r < 0) {
        begin_stop(s, r, err);
        return;
    }
    s->image_key = str_dup(key);
    start_all(s);
}

static void ensure_image_key(struct server *s)
{
    struct err err = { 0 };
    if (!s->opts.shares_images)
        start_all(s);
    else if (cluster_key_get(api_transport(cluster_api(s->cluster)), NULL, true, on_image_key, s,
                             &s->asking, &err) < 0)
        begin_stop(s, err.code, &err);
}

static void ensure_kinds(struct server *s);

static void on_kinds(void *arg, int r, const struct err *err)
{
    struct server *s = arg;
    if (s->stopping)
        return;
    if (r < 0)
        begin_stop(s, r, err);
    else
        ensure_kinds(s);
}

/* Apply our kinds one after the other: operators, NodeImageStates, functions. */
static void ensure_kinds(struct server *s)
{
    struct err err = { 0 };
    const struct str kinds[] = { objects_crd(), sched_crd(),
                                 s->opts.functions.roles ? fn_crds() : STR("") };
    while (s->n_kinds < ARRAY_LEN(kinds) && !kinds[s->n_kinds].n)
        s->n_kinds++;
    if (s->n_kinds == ARRAY_LEN(kinds)) {
        ensure_image_key(s);
        return;
    }
    int r = api_ensure_objects(cluster_api(s->cluster), kinds[s->n_kinds++], on_kinds, s, &err);
    if (r < 0)
        begin_stop(s, r, &err);
}

static void on_cluster_ready(void *arg, int r, const struct err *cause)
{
    struct server *s = arg;
    struct err err = cause ? *cause : (struct err){ 0 };
    if (s->stopping)
        return;
    if (r < 0) {
        begin_stop(s, r, &err);
    } else if (!s->opts.with_operators) {
        start_services(s, api_transport(cluster_api(s->cluster)));
    } else {
        ensure_kinds(s);
    }
}

static int start_cluster(struct server *s, struct err *err)
{
    struct cluster_opts opts = { .loop = &s->loop,
                                 .data_dir = s->opts.data_dir,
                                 .host = s->opts.host,
                                 .port = s->opts.port,
                                 .kubeconfig = s->opts.kubeconfig,
                                 .token_file = s->opts.token_file,
                                 .tls_names = s->opts.tls_names,
                                 .n_tls_names = s->opts.n_tls_names,
                                 .sa_issuer = s->opts.sa_issuer,
                                 .event_ttl_ms = s->opts.event_ttl_ms,
                                 .node_cidrs = s->opts.node_cidrs,
                                 .commit = s->opts.commit,
                                 .commit_date = s->opts.commit_date,
                                 .warn_unattended = s->opts.warn_unattended,
                                 .no_anonymous = s->opts.no_anonymous,
                                 .on_ready = on_cluster_ready,
                                 .arg = s };
    return cluster_start(&opts, &s->cluster, err);
}

static int start_remote(struct server *s, struct err *err)
{
    scoped(kubeconfig_free_scoped) struct kubeconfig *config = NULL;
    if (s->opts.without_cluster) {
        start_services(s, NULL);
        return 0;
    }
    int r = kubeconfig_load(s->opts.kubeconfig, s->opts.context, &config, err);
    if (r >= 0)
        r = http_transport_new(&s->loop, config, &s->remote, err);
    if (r < 0)
        return r;
    struct str url = str_of(config->server), host;
    if (str_has_prefix(url, STR("https://")))
        url = str_slice(url, strlen("https://"), url.n);
    if (!address_split(url, &host, &s->api_port))
        s->api_port = 0;
    const char *namespace = s->opts.lease_namespace ? s->opts.lease_namespace : config->namespace;
    s->lease_namespace = xstrdup(namespace ? namespace : "default");
    start_services(s, http_transport_base(s->remote));
    return 0;
}

static void on_joining_closed(void *arg)
{
}

static void on_joined(void *arg, int r, struct kubeconfig *config, const struct err *cause)
{
    struct server *s = arg;
    struct err err = *cause;
    s->config = config;
    joining_stop(take_ptr(&s->joining), on_joining_closed, s);
    if (r >= 0)
        r = http_transport_new(&s->loop, config, &s->remote, &err);
    if (r < 0)
        begin_stop(s, r, &err);
    else if (!s->stopping)
        start_services(s, http_transport_base(s->remote));
}

static int start_joining(struct server *s, struct err *err)
{
    const struct server_join *join = &s->opts.join;
    scoped(free_scoped) char *name = agent_node_name(s->opts.agent.node_name);
    s->credentials = agent_node_credentials(s->opts.data_dir);
    const struct joining_opts opts = { .loop = &s->loop,
                                       .server = join->server,
                                       .token = join->token,
                                       .ca_file = join->ca_file,
                                       .ca_hash = join->ca_hash,
                                       .node_name = name,
                                       .path = s->credentials,
                                       .valid_s = s->opts.agent.cert_s,
                                       .on_done = on_joined,
                                       .arg = s };
    return joining_start(&opts, &s->joining, err);
}

static int start_transport(struct server *s, struct err *err)
{
    if (s->opts.with_cluster)
        return start_cluster(s, err);
    return s->opts.join.server ? start_joining(s, err) : start_remote(s, err);
}

int server_run(const struct server_opts *opts, struct err *err)
{
    struct server s = { .opts = *opts, .lock_fd = -1, .started_ms = clock_mono_ms() };
    sys_raise_files();
    s.opts.agent.wanted = agent_node_is_wanted(&opts->agent) ? AGENT_NODE_YES : AGENT_NODE_NO;
    int r = loop_init(&s.loop, err);
    if (r < 0)
        return r;
    r = sig_watch_start(&s.loop, &s.term, SIGTERM, true, on_signal, err);
    if (r < 0) {
        loop_fini(&s.loop);
        return r;
    }
    s.r = sig_watch_start(&s.loop, &s.interrupt, SIGINT, true, on_signal, &s.err);
    if (s.r < 0) {
        sig_watch_close(&s.term, on_sig_closed);
    } else if (hears_hangup(opts) &&
               (s.r = sig_watch_start(&s.loop, &s.hangup, SIGHUP, false, on_hangup, &s.err)) < 0) {
        sig_watch_close(&s.term, on_sig_closed);
        sig_watch_close(&s.interrupt, on_sig_closed);
    } else {
        struct err cause = { 0 };
        idle_trim_start(&s.loop, &s.idle_trim);
        s.made_dir = access(opts->data_dir, F_OK) < 0;
        r = s.lock_fd = data_lock(opts->data_dir, &cause);
        if (r >= 0)
            r = start_transport(&s, &cause);
        if (r < 0)
            begin_stop(&s, r, &cause);
    }
    loop_run(&s.loop);
    while (loop_turn(&s.loop, false)) /* turns for handles that are closing */
        ;
    loop_fini(&s.loop);
    fd_scoped(&s.lock_fd);
    if (s.r < 0 && s.made_dir)
        (void)rmdir(opts->data_dir); /* a failed first start has left nothing in it */
    free(s.lease_namespace);
    free(s.credentials);
    free(s.image_key);
    free(s.node_ca);
    kubeconfig_free(s.config);
    if (s.r < 0 && err)
        *err = s.err;
    return s.r;
}
