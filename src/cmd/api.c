/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse api: the API server alone, on a data directory. */
#include "base/mem.h"
#include "cmd/cluster_opts.h"
#include "node/server.h"

static const char *data_dir, *listen_at = "127.0.0.1:6443", *kubeconfig;

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "where everything is kept " CMD_DATA_DIR_DEFAULT, CMD_STRING, &data_dir,
      0, 0 },
    { "listen", 0, "HOST:PORT", "address of the API; port 0 picks a free one (127.0.0.1:6443)",
      CMD_STRING, &listen_at, 0, 0 },
    { "kubeconfig", 0, "FILE", "where to write the administrator's kubeconfig (DIR/kubeconfig)",
      CMD_STRING, &kubeconfig, 0, 0 },
    CMD_CLUSTER_OPTS,
    CMD_LOG_OPTS,
    { 0 },
};

static const struct cmd_opt *api_opts_table(void)
{
    return opts;
}

static int run(int argc, char **argv)
{
    size_t n_words;
    char host[256];
    struct err err = { 0 };
    int r = cmd_parse(&cmd_api, opts, argc, argv, 0, &n_words);
    if (r)
        return r - 1;
    r = cmd_setup_log();
    if (r)
        return r;
    scoped(free_scoped) char *dir = cmd_data_dir(data_dir);
    struct server_opts server = {
        .data_dir = dir, .with_cluster = true, .host = host, .kubeconfig = kubeconfig
    };
    if (cmd_parse_listen(listen_at, host, sizeof host, &server.port, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    if ((r = cmd_take_cluster_opts(&server)))
        return r;
    return server_run(&server, &err) < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_api = {
    .name = "api",
    .doc = "serve the Kubernetes API alone",
    .help = "Makes or opens a data directory, writes a kubeconfig for the administrator, and "
            "serves until TERM.\n"
            "Prints one line when it is ready: 'ready url=... kubeconfig=...'.\n"
            "\n"
            "Example:\n"
            "  dormouse api --data-dir /tmp/cluster --listen 127.0.0.1:0\n"
            "  kubectl --kubeconfig /tmp/cluster/kubeconfig get namespaces\n",
    .run = run,
    .opts = api_opts_table,
};
