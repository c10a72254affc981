/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse operator run: the operators of a directory, against any cluster. */
#include "base/mem.h"
#include "cmd/host_opts.h"
#include "node/server.h"

static const char *data_dir, *kubeconfig, *context;

static const struct cmd_opt opts[] = {
    { "kubeconfig", 0, "FILE",
      "the cluster ($KUBECONFIG, ~/.kube/config, or the pod's service account)", CMD_STRING,
      &kubeconfig, 0, 0 },
    { "context", 0, "NAME", "context of the kubeconfig (its current one)", CMD_STRING, &context, 0,
      0 },
    { "data-dir", 0, "DIR", "compiled modules and swap files", CMD_STRING, &data_dir, 0, 0 },
    CMD_HOST_OPTS,
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
    struct err err = { 0 };
    int r = cmd_parse(&cmd_operator_run, opts, argc, argv, 1, &n);
    if (r || (r = cmd_setup_log()))
        return r > 0 ? r - 1 : r;
    if (n != 1)
        return cmd_failf(
            CMD_USAGE,
            "which directory? 'dormouse operator run DIR', with a wasm_config.yaml in it");
    scoped(free_scoped) char *base = data_dir ? xstrdup(data_dir) : cmd_default_data_dir();
    struct server_opts server = {
        .data_dir = base,
        .kubeconfig = kubeconfig,
        .context = context,
        .with_operators = true,
        .operators_dir = argv[0],
        .guests = cmd_host,
    };
    if ((r = cmd_operator_identity(&server.identity)))
        return r;
    return server_run(&server, &err) < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_operator_run = {
    .name = "operator run",
    .args = "DIR",
    .doc = "run the operators of DIR/wasm_config.yaml against a cluster",
    .help = "The directory is watched: operators come, change and go with wasm_config.yaml and the "
            "modules.\n"
            "\n"
            "  dormouse operator run ./operators --kubeconfig ~/.kube/config\n",
    .run = run,
    .opts = operator_run_opts,
};
