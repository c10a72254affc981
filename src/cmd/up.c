/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse up: a cluster and its operators in one process. */
#include "base/mem.h"
#include "cmd/agent_opts.h"
#include "cmd/cluster_opts.h"
#include "cmd/fn_roles.h"
#include "cmd/host_opts.h"
#include "node/server.h"

#include <string.h>

#define POD_CIDR_DEFAULT "10.244.0.0/16"

static const char *data_dir, *listen_at = "127.0.0.1:6443", *kubeconfig;
static const char *scheduler_config;
static struct cmd_list modules;
static bool no_scheduler, no_workloads, no_agent, shares_images;
static int agent = -1;

static const struct cmd_opt opts[] = {
    CMD_SECTION("Cluster"),
    { "data-dir", 0, "DIR", "store, keys, compiled modules, swap files " CMD_DATA_DIR_DEFAULT,
      CMD_STRING, &data_dir, 0, 0 },
    { "listen", 0, "HOST:PORT", "address of the API (127.0.0.1:6443); port 0 picks a free one",
      CMD_STRING, &listen_at, 0, 0 },
    { "kubeconfig", 0, "FILE", "write the kubeconfig here (DIR/kubeconfig)", CMD_STRING,
      &kubeconfig, 0, 0 },
    { "modules", 0, "DIR",
      "Operators and Functions may name modules below it; repeatable (DIR/operators and "
      "DIR/functions always)",
      CMD_LIST, &modules, 0, 0 },
    CMD_CLUSTER_OPTS,
    CMD_SECTION("Functions"),
    { "gateway", 0, "HOST:PORT",
      "where functions are called; port 0 picks a free one (127.0.0.1:8080, or any port if that is "
      "taken or --listen says 0); none: no functions",
      CMD_STRING, &fn_role.gateway, 0, 0 },
    { "fn-simulate", 0, "N", "be N workers with fake sandboxes, to measure", CMD_U64,
      &fn_role.simulate, 0, 10000 },
    FN_GATEWAY_OPTS,
    FN_WORKER_OPTS,
    CMD_SECTION("Functions whose roles are in several processes"),
    { "fn-listen", 0, "HOST:PORT",
      "for gateways and workers of other processes, and REST, with the token of --token-file or "
      "DIR/fn.token (nowhere)",
      CMD_STRING, &fn_role.control, 0, 0 },
    { "fn-worker-listen", 0, "HOST:PORT",
      "for requests of those gateways to modules here (127.0.0.1:0 with --fn-listen)", CMD_STRING,
      &fn_role.worker, 0, 0 },
    FN_COMMON_OPTS,
    FN_CONTROL_OPTS,
    CMD_SECTION("Scheduler"),
    { "scheduler-config", 0, "FILE",
      "KubeSchedulerConfiguration of the scheduler here, read again when it changes (the defaults)",
      CMD_STRING, &scheduler_config, 0, 0 },
    CMD_PLUGIN_CHECK_OPT("scheduler-plugin-check"),
    CMD_PLAN_OPTS,
    { "no-scheduler", 0, NULL, "another one gives pods their nodes", CMD_FLAG, &no_scheduler, 0,
      0 },
    CMD_SECTION("Workloads"),
    { "no-workloads", 0, NULL, "another process runs the controllers of Deployments and the like",
      CMD_FLAG, &no_workloads, 0, 0 },
    CMD_SECTION("Node"),
    { "agent", 0, NULL,
      "this machine is a node of the cluster; =false: it is not (where it can run containers)",
      CMD_BOOL, &agent, 0, 0 },
    { "no-agent", 0, NULL, "as --agent=false", CMD_FLAG, &no_agent, 0, 0 },
    CMD_AGENT_OPTS("node-"),
    { "share-images", 0, NULL,
      "nodes give each other layers of images: the scheduler sends plans, and nodes that join get "
      "the key for them (no)",
      CMD_FLAG, &shares_images, 0, 0 },
    CMD_SECTION("Operators"),
    CMD_HOST_OPTS,
    CMD_SECTION("Log"),
    CMD_LOG_OPTS,
    { .name = NULL },
};

static const struct cmd_opt *up_opts(void)
{
    return opts;
}

/* All three roles, unless they are not wanted. */
static int set_functions(struct server_opts *server)
{
    struct functions_opts *f = &server->functions;
    bool by_default = !fn_role.gateway;
    f->module_site = server->module_site;
    if (fn_role.gateway && strcmp(fn_role.gateway, "none") == 0)
        return 0;
    if (by_default)
        fn_role.gateway = server->port == 0 ? "127.0.0.1:0" : "127.0.0.1:8080";
    if ((fn_role.control || fn_role.simulate) && !fn_role.worker)
        fn_role.worker = "127.0.0.1:0";
    int r = fn_role_options(f);
    f->gateway.or_any = by_default;
    f->roles = FUNCTIONS_CONTROL | FUNCTIONS_GATEWAY | FUNCTIONS_WORKER;
    f->module_dirs = modules.at;
    f->n_module_dirs = modules.n;
    return r;
}

static int run(int argc, char **argv)
{
    size_t n;
    char host[256];
    struct err err = { 0 };
    int r = cmd_parse(&cmd_up, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    r = cmd_setup_log();
    if (r)
        return r;
    scoped(free_scoped) char *dir = cmd_data_dir(data_dir);
    struct server_opts server = {
        .data_dir = dir,
        .with_cluster = true,
        .host = host,
        .kubeconfig = kubeconfig,
        .with_operators = true,
        .module_dirs = modules.at,
        .n_module_dirs = modules.n,
        .with_scheduler = !no_scheduler,
        .with_workloads = !no_workloads,
        .warn_unattended = true,
        .scheduler = { .config_file = scheduler_config, .leader.elect = 0 },
    };
    if (!cmd_pod_cidr)
        cmd_pod_cidr = POD_CIDR_DEFAULT;
    if (cmd_parse_listen(listen_at, host, sizeof host, &server.port, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    if ((r = cmd_take_cluster_opts(&server)) || (r = cmd_take_host_opts(&server)) ||
        (r = set_functions(&server)))
        return r;
    server.images = cmd_image_opts(fn_role.image_store, &fn_role.image_registries);
    server.scheduler.check_ms = cmd_plugin_check_ms;
    server.scheduler.registries = cmd_registry_site();
    if ((r = cmd_take_agent_opts(&server.agent, server.port == 0)) != 0)
        return r;
    server.agent.wanted = no_agent || agent == 0 ? AGENT_NODE_NO
                          : agent > 0            ? AGENT_NODE_YES
                                                 : AGENT_NODE_AUTO;
    if ((r = cmd_take_plan_opts(shares_images, &server.scheduler.plans)) != 0)
        return r;
    server.agent.cluster_key_file = server.scheduler.plans.key_file;
    server.agent.shares_no_images |= !shares_images && !server.scheduler.plans.key_file;
    server.shares_images = shares_images && !server.scheduler.plans.key_file;
    if (no_scheduler && server.scheduler.plans.key_file)
        return cmd_failf(CMD_USAGE, "--send-plans is for pods that the scheduler here binds");
    /* Pods may name those that functions may. */
    server.scheduler.image_hosts =
        (struct module_hosts){ fn_role.image_registries.at, fn_role.image_registries.n };
    return server_run(&server, &err) < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_up = {
    .name = "up",
    .doc = "run the API server, its operators, functions and scheduler",
    .help = "Prints 'ready url=... kubeconfig=...' once the API answers. SIGTERM ends it within 10 "
            "seconds.\n"
            "\n"
            "  dormouse up --data-dir /tmp/d --modules build/guests\n"
            "  export KUBECONFIG=/tmp/d/kubeconfig\n"
            "  kubectl apply -f operator.yaml\n",
    .run = run,
    .opts = up_opts,
};
