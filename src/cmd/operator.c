/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse operator run: the operators of a directory, against any cluster. */
#include "base/mem.h"
#include "cmd/host_opts.h"
#include "cmd/operator_watch.h"
#include "node/server.h"

static const char *data_dir, *kubeconfig, *context, *sdk;
static bool watch;

static const struct cmd_opt opts[] = {
    { "kubeconfig", 0, "FILE",
      "the cluster ($KUBECONFIG, ~/.kube/config, or the pod's service account)", CMD_STRING,
      &kubeconfig, 0, 0 },
    { "context", 0, "NAME", "context of the kubeconfig (its current one)", CMD_STRING, &context, 0,
      0 },
    { "data-dir", 0, "DIR", "compiled modules and swap files", CMD_STRING, &data_dir, 0, 0 },
    { "watch", 'w', NULL, "DIR is a project: build it, and again whenever a source is saved",
      CMD_FLAG, &watch, 0, 0 },
    { "sdk", 0, "DIR", "with --watch: as of 'operator build'", CMD_STRING, &sdk, 0, 0 },
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
    if (watch && (r = operator_watch(argv[0], sdk, &err)) != 0)
        return r < 0 ? cmd_fail(CMD_FAILED, &err) : r - 1;
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
    .help =
        "The directory is watched: operators come, change and go with wasm_config.yaml and the "
        "modules.\n"
        "\n"
        "  dormouse operator run ./operators --kubeconfig ~/.kube/config\n"
        "  dormouse operator run --watch hello    # of 'operator init': build and swap on save\n",
    .run = run,
    .opts = operator_run_opts,
};
