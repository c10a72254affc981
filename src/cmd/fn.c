/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse fn controlplane, gateway, worker: one role of functions in a process of its own. */
#include "base/mem.h"
#include "cmd/fn_roles.h"
#include "cmd/host_opts.h"
#include "io/address.h"
#include "node/server.h"

#include <string.h>

struct fn_role_args fn_role;
static const char *data_dir, *kubeconfig, *context, *namespace, *lease_name, *lease_namespace,
    *health_at;
static struct cmd_list modules;

/* ---------------------------------------------------------------- what all have in common */

/* option: what names the address where a process has all roles. */
static int set_address(const char *text, const char *option, const char *advertise,
                       char host[FN_ADDRESS_MAX], struct functions_address *to)
{
    struct err err = { 0 };
    if (!text)
        return 0;
    if (cmd_parse_listen(text, host, FN_ADDRESS_MAX, &to->port, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    to->host = host;
    to->option = fn_role.is_alone ? "--listen" : option;
    to->advertise = advertise;
    return 0;
}

static int set_policies(struct functions_opts *to)
{
    if (fn_role.placement) {
        to->placement = place_policy_of(str_of(fn_role.placement));
        if (to->placement == PLACE_POLICY_COUNT)
            return cmd_failf(CMD_USAGE, "--placement: there is no policy '%s'", fn_role.placement);
    }
    if (fn_role.eviction && strcmp(fn_role.eviction, "random") == 0)
        to->eviction = PLACE_EVICT_RANDOM;
    else if (fn_role.eviction && strcmp(fn_role.eviction, "idlest") != 0)
        return cmd_failf(CMD_USAGE, "--eviction is idlest or random");
    return 0;
}

static bool is_network(struct str text)
{
    struct address_net net;
    bool may_be_name = str_find_char(text, '/') < 0 && str_find_char(text, ':') < 0;
    return text.n > 0 && (may_be_name || address_net_parse(text, &net));
}

int fn_role_options(struct functions_opts *to)
{
    int r = set_policies(to);
    if (r == 0)
        r = set_address(fn_role.gateway, "--gateway", fn_role.gateway_advertise,
                        fn_role.gateway_host, &to->gateway);
    if (r == 0)
        r = set_address(fn_role.control, "--fn-listen", fn_role.control_advertise,
                        fn_role.control_host, &to->control);
    if (r == 0)
        r = set_address(fn_role.worker, "--fn-worker-listen", fn_role.worker_advertise,
                        fn_role.worker_host, &to->worker);
    if (r)
        return r;
    if (!fn_role.cert != !fn_role.key)
        return cmd_failf(CMD_USAGE, "--gateway-cert and --gateway-key go together");
    for (size_t i = 0; i < fn_role.labels.n; i++)
        if (!strchr(fn_role.labels.at[i], '='))
            return cmd_failf(CMD_USAGE, "--label: '%s' is not KEY=VALUE", fn_role.labels.at[i]);
    for (size_t i = 0; i < fn_role.worker_networks.n; i++)
        if (!is_network(str_of(fn_role.worker_networks.at[i])))
            return cmd_failf(CMD_USAGE,
                             "--worker-network: '%s' is no network, address or host name",
                             fn_role.worker_networks.at[i]);
    if (!fn_role.tls_cert != !fn_role.tls_ca || !fn_role.tls_key != !fn_role.tls_ca)
        return cmd_failf(CMD_USAGE, "--tls-cert, --tls-key and --tls-ca go together");
    to->tls_cert = fn_role.tls_cert;
    to->tls_key = fn_role.tls_key;
    to->tls_ca = fn_role.tls_ca;
    to->persist_sandboxes = fn_role.persist_sandboxes;
    to->name = fn_role.name;
    to->token_file = fn_role.token_file;
    to->trace_dir = fn_role.trace_dir;
    to->control_planes = fn_role.control_planes.at;
    to->n_control_planes = fn_role.control_planes.n;
    to->gateway_cert = fn_role.cert;
    to->gateway_key = fn_role.key;
    to->domain = fn_role.domain;
    to->private_urls = fn_role.private_urls;
    to->cpu_milli = fn_role.cpu;
    to->memory_bytes = fn_role.memory;
    to->worker_networks = fn_role.worker_networks.at;
    to->n_worker_networks = fn_role.worker_networks.n;
    to->labels = fn_role.labels.at;
    to->n_labels = fn_role.labels.n;
    to->bundle_dirs = fn_role.bundles.at;
    to->n_bundle_dirs = fn_role.bundles.n;
    to->subnet = fn_role.subnet;
    to->unlimited_containers = fn_role.unlimited_containers;
    to->simulate = (uint32_t)fn_role.simulate;
    to->lease_ms = fn_role.lease_ms;
    to->peer_lease_ms = fn_role.peer_lease_ms;
    return 0;
}

static int run_role(const struct cmd *cmd, const struct cmd_opt *opts, unsigned roles, int argc,
                    char **argv)
{
    size_t n;
    char health_host[256];
    struct err err = { 0 };
    struct server_opts server = { 0 };
    fn_role.is_alone = true;
    int r = cmd_parse(cmd, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    r = cmd_setup_log();
    if (r)
        return r;
    if ((r = fn_role_options(&server.functions)) || (r = cmd_take_module_site(&server)))
        return r;
    if (!(roles & FUNCTIONS_CONTROL) && fn_role.control_planes.n == 0)
        return cmd_failf(CMD_USAGE, "--control-plane HOST:PORT is needed: where one listens");
    if (health_at &&
        cmd_parse_listen(health_at, health_host, sizeof health_host, &server.health_port, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    scoped(free_scoped) char *base = cmd_data_dir(data_dir);
    server.without_cluster = !(roles & FUNCTIONS_CONTROL) && !kubeconfig;
    server.data_dir = base;
    server.kubeconfig = kubeconfig;
    server.context = context;
    server.health_host = health_at ? health_host : NULL;
    server.functions.roles = roles;
    server.functions.namespace = namespace;
    server.functions.lease_name = lease_name;
    server.functions.lease_namespace = lease_namespace;
    server.functions.module_dirs = modules.at;
    server.functions.n_module_dirs = modules.n;
    server.functions.module_site = server.module_site;
    server.images = cmd_image_opts(fn_role.image_store, &fn_role.image_registries);
    return server_run(&server, &err) < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

#define DATA_DIR_OPT                                                                               \
    {                                                                                              \
        "data-dir", 0, "DIR", "state of this process " CMD_DATA_DIR_DEFAULT, CMD_STRING,           \
            &data_dir, 0, 0                                                                        \
    }
#define HEALTH_OPT                                                                                 \
    {                                                                                              \
        "health-listen", 0, "HOST:PORT", "serve /healthz, /readyz and /metrics there (nowhere)",   \
            CMD_STRING, &health_at, 0, 0                                                           \
    }
#define CLUSTER_OPTS                                                                               \
    {                                                                                              \
        "kubeconfig",                                                                              \
        0,                                                                                         \
        "FILE",                                                                                    \
        "the cluster that Functions and ConfigMaps are read from",                                 \
        CMD_STRING,                                                                                \
        &kubeconfig,                                                                               \
        0,                                                                                         \
        0                                                                                          \
    },                                                                                             \
    {                                                                                              \
        "context", 0, "NAME", "context of the kubeconfig (its current one)", CMD_STRING, &context, \
            0, 0                                                                                   \
    }
#define CONTROL_PLANE_OPT                                                                          \
    {                                                                                              \
        "control-plane", 'c', "HOST:PORT",                                                         \
            "where a control plane listens; repeatable: name all of them", CMD_LIST,               \
            &fn_role.control_planes, 0, 0                                                          \
    }

/* ---------------------------------------------------------------- control plane */

static const struct cmd_opt control_opts[] = {
    { "listen", 0, "HOST:PORT",
      "for gateways, workers, other control planes and REST "
      "(127.0.0.1:7070)",
      CMD_STRING, &fn_role.control, 0, 0 },
    { "advertise", 0, "HOST:PORT", "how others reach it (as it listens)", CMD_STRING,
      &fn_role.control_advertise, 0, 0 },
    CLUSTER_OPTS,
    DATA_DIR_OPT,
    { "namespace", 'n', "NAME", "Functions of this namespace alone (all)", CMD_STRING, &namespace,
      0, 0 },
    { "lease-name", 0, "NAME", "the Lease of the leader (dormouse-functions)", CMD_STRING,
      &lease_name, 0, 0 },
    { "lease-namespace", 0, "NAME", "and where it is (default)", CMD_STRING, &lease_namespace, 0,
      0 },
    { "lease", 0, "TIME", "a leader that does not renew it for this long loses it (1s)",
      CMD_DURATION, &fn_role.lease_ms, 0, 0 },
    FN_CONTROL_OPTS,
    CMD_SECTION("This process"),
    FN_COMMON_OPTS,
    HEALTH_OPT,
    CMD_LOG_OPTS,
    { .name = NULL },
};

static const struct cmd_opt *controlplane_opts(void)
{
    return control_opts;
}

static int run_controlplane(int argc, char **argv)
{
    fn_role.control = "127.0.0.1:7070";
    return run_role(&cmd_fn_controlplane, control_opts, FUNCTIONS_CONTROL, argc, argv);
}

const struct cmd cmd_fn_controlplane = {
    .name = "fn controlplane",
    .doc = "run a control plane of functions: one leads, others wait",
    .help = "Follows Function objects of a cluster ('dormouse manifest fn' prints what that "
            "needs), decides how many sandboxes\n"
            "there are and where, and informs gateways and workers. It listens for REST, too: "
            "/v1/namespaces/NS/functions.\n"
            "\n"
            "  dormouse fn controlplane --kubeconfig ~/.kube/config --listen 10.0.0.1:7070 "
            "--token-file token\n",
    .run = run_controlplane,
    .opts = controlplane_opts,
};

/* ---------------------------------------------------------------- gateway */

static const struct cmd_opt gateway_opts[] = {
    { "listen", 0, "HOST:PORT", "for requests (127.0.0.1:8080)", CMD_STRING, &fn_role.gateway, 0,
      0 },
    { "advertise", 0, "HOST:PORT", "how other gateways reach it (as it listens)", CMD_STRING,
      &fn_role.gateway_advertise, 0, 0 },
    CONTROL_PLANE_OPT,
    { "kubeconfig", 0, "FILE", "the cluster whose objects triggers watch (none)", CMD_STRING,
      &kubeconfig, 0, 0 },
    { "context", 0, "NAME", "context of the kubeconfig (its current one)", CMD_STRING, &context, 0,
      0 },
    DATA_DIR_OPT,
    FN_GATEWAY_OPTS,
    CMD_SECTION("This process"),
    FN_COMMON_OPTS,
    HEALTH_OPT,
    CMD_LOG_OPTS,
    { .name = NULL },
};

static const struct cmd_opt *gateway_opts_table(void)
{
    return gateway_opts;
}

static int run_gateway(int argc, char **argv)
{
    fn_role.gateway = "127.0.0.1:8080";
    return run_role(&cmd_fn_gateway, gateway_opts, FUNCTIONS_GATEWAY, argc, argv);
}

const struct cmd cmd_fn_gateway = {
    .name = "fn gateway",
    .doc = "run a gateway of functions: it takes requests",
    .help = "  dormouse fn gateway --listen 0.0.0.0:80 -c 10.0.0.1:7070 -c 10.0.0.2:7070 "
            "--token-file token\n",
    .run = run_gateway,
    .opts = gateway_opts_table,
};

/* ---------------------------------------------------------------- worker */

static const struct cmd_opt worker_opts[] = {
    { "listen", 0, "HOST:PORT", "for gateways: requests to modules (127.0.0.1:0)", CMD_STRING,
      &fn_role.worker, 0, 0 },
    { "advertise", 0, "HOST:PORT", "how gateways reach it (as it listens)", CMD_STRING,
      &fn_role.worker_advertise, 0, 0 },
    CONTROL_PLANE_OPT,
    DATA_DIR_OPT,
    CLUSTER_OPTS,
    { "modules", 0, "DIR", "Functions may name modules below it; repeatable (DIR/functions always)",
      CMD_LIST, &modules, 0, 0 },
    CMD_MODULE_SITE_OPTS,
    FN_WORKER_OPTS,
    { "simulate", 0, "N", "be N workers with fake sandboxes, to measure", CMD_U64,
      &fn_role.simulate, 0, 10000 },
    FN_COMMON_OPTS,
    HEALTH_OPT,
    CMD_LOG_OPTS,
    { .name = NULL },
};

static const struct cmd_opt *worker_opts_table(void)
{
    return worker_opts;
}

static int run_worker(int argc, char **argv)
{
    fn_role.worker = "127.0.0.1:0";
    return run_role(&cmd_fn_worker, worker_opts, FUNCTIONS_WORKER, argc, argv);
}

const struct cmd cmd_fn_worker = {
    .name = "fn worker",
    .doc = "run a worker of functions: it holds sandboxes",
    .help = "Without --kubeconfig it runs modules of files and URLs, not those of ConfigMaps.\n"
            "\n"
            "  dormouse fn worker --listen 10.0.0.7:7080 -c 10.0.0.1:7070 -c 10.0.0.2:7070 "
            "--token-file token\n",
    .run = run_worker,
    .opts = worker_opts_table,
};
