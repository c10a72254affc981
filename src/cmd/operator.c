/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse operator run: the operators of a directory, or of Operator objects, for any cluster. */
#include "base/mem.h"
#include "cmd/host_opts.h"
#include "cmd/operator_watch.h"
#include "node/server.h"

#include <errno.h>
#include <unistd.h>

static const char *data_dir, *kubeconfig, *context, *sdk;
static const char *namespace, *lease_name, *lease_namespace, *health_at;
static struct cmd_list modules;
static bool watch, leader_elect;

static const struct cmd_opt opts[] = {
    { "kubeconfig", 0, "FILE",
      "the cluster ($KUBECONFIG, ~/.kube/config, or the pod's service account)", CMD_STRING,
      &kubeconfig, 0, 0 },
    { "context", 0, "NAME", "context of the kubeconfig (its current one)", CMD_STRING, &context, 0,
      0 },
    { "data-dir", 0, "DIR", "compiled modules and swap files; a process each " CMD_DATA_DIR_DEFAULT,
      CMD_STRING, &data_dir, 0, 0 },
    { "watch", 'w', NULL, "DIR is a project: build it, and again whenever a source is saved",
      CMD_FLAG, &watch, 0, 0 },
    { "sdk", 0, "DIR", "with --watch: as in 'operator build'", CMD_STRING, &sdk, 0, 0 },
    { "namespace", 'n', "NAME", "without DIR: Operator objects of this namespace alone (all)",
      CMD_STRING, &namespace, 0, 0 },
    { "modules", 0, "DIR", "without DIR: Operator objects may name modules below it; repeatable",
      CMD_LIST, &modules, 0, 0 },
    CMD_SECTION("Several processes"),
    { "leader-elect", 0, NULL, "of several such processes, run operators in one at a time",
      CMD_FLAG, &leader_elect, 0, 0 },
    { "lease-name", 0, "NAME", "the Lease for that (dormouse)", CMD_STRING, &lease_name, 0, 0 },
    { "lease-namespace", 0, "NAME", "and where it is (the context's or the pod's)", CMD_STRING,
      &lease_namespace, 0, 0 },
    { "health-listen", 0, "HOST:PORT", "serve /healthz, /readyz and /metrics there (nowhere)",
      CMD_STRING, &health_at, 0, 0 },
    CMD_SECTION("Guests"),
    CMD_HOST_OPTS,
    CMD_SECTION("Log"),
    CMD_LOG_OPTS,
    { .name = NULL },
};

static const struct cmd_opt *operator_run_opts(void)
{
    return opts;
}

static int run(int argc, char **argv)
{
    size_t n;
    char health_host[256];
    struct err err = { 0 };
    struct server_opts server = { .with_operators = true };
    int r = cmd_parse(&cmd_operator_run, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    r = cmd_setup_log();
    if (r)
        return r;
    if (n == 0 && watch)
        return cmd_failf(CMD_USAGE, "--watch needs a project: 'dormouse operator run --watch DIR'");
    if (n == 1 && (namespace || modules.n))
        return cmd_failf(CMD_USAGE, "--namespace and --modules are for Operator objects, not for "
                                    "the operators of a directory");
    if (health_at &&
        cmd_parse_listen(health_at, health_host, sizeof health_host, &server.health_port, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    if (n &&
        access(argv[0], R_OK | X_OK) < 0) { /* before it is built, or the data directory taken */
        (void)err_sys(&err, -errno, "operator directory '%s'", argv[0]);
        return cmd_fail(CMD_FAILED, &err);
    }
    if (watch && (r = operator_watch(argv[0], sdk, &err)) != 0)
        return r < 0 ? cmd_fail(CMD_FAILED, &err) : r - 1;
    scoped(free_scoped) char *base = cmd_data_dir(data_dir);
    server.data_dir = base;
    server.kubeconfig = kubeconfig;
    server.context = context;
    server.operators_dir = n ? argv[0] : NULL;
    server.module_dirs = modules.at;
    server.n_module_dirs = modules.n;
    server.namespace = namespace;
    server.leader_elect = leader_elect;
    server.lease_name = lease_name;
    server.lease_namespace = lease_namespace;
    server.health_host = health_at ? health_host : NULL;
    if ((r = cmd_take_host_opts(&server)))
        return r;
    return server_run(&server, &err) < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_operator_run = {
    .name = "operator run",
    .args = "[DIR]",
    .doc = "run operators against a cluster: those of DIR, or its Operator objects",
    .help =
        "The directory is watched: operators come, change and go with wasm_config.yaml and the "
        "modules.\n"
        "Without one, the cluster's Operator objects say what runs ('dormouse manifest operator' "
        "prints what they need);\n"
        "each acts as its own service account, by tokens that this process asks for.\n"
        "\n"
        "  dormouse operator run ./operators --kubeconfig ~/.kube/config\n"
        "  dormouse operator run --leader-elect   # in a pod, or with the current kubeconfig\n"
        "  dormouse operator run --watch hello    # of 'operator init': build and swap on save\n",
    .run = run,
    .opts = operator_run_opts,
};
