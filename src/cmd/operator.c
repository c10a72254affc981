/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse operator run: the operators of a directory, against any cluster. */
#include "base/mem.h"
#include "cmd/cmd.h"
#include "node/server.h"

static const char *data_dir, *kubeconfig, *context;
static uint64_t idle_ms = 1000, swap_quota = (uint64_t)1 << 30;
static bool sleep_always, sleep_never;

static const struct cmd_opt opts[] = {
    { "kubeconfig", 0, "FILE",
      "the cluster ($KUBECONFIG, ~/.kube/config, or the pod's service account)", CMD_STRING,
      &kubeconfig, 0, 0 },
    { "context", 0, "NAME", "context of the kubeconfig (its current one)", CMD_STRING, &context, 0,
      0 },
    { "data-dir", 0, "DIR", "compiled modules and swap files", CMD_STRING, &data_dir, 0, 0 },
    { "idle", 0, "TIME", "an operator without work for this long falls asleep (1s)", CMD_DURATION,
      &idle_ms, 0, 0 },
    { "swap-quota", 0, "SIZE", "disk for sleeping operators (1Gi)", CMD_SIZE, &swap_quota, 0, 0 },
    { "sleep-always", 0, NULL, "put an operator to sleep after every activation (to measure)",
      CMD_FLAG, &sleep_always, 0, 0 },
    { "sleep-never", 0, NULL, "keep every operator awake (to measure)", CMD_FLAG, &sleep_never, 0,
      0 },
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
        .guests = { .idle_ms = idle_ms,
                    .swap_quota_bytes = swap_quota,
                    .sleep_always = sleep_always,
                    .sleep_never = sleep_never },
    };
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
