/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse up: a cluster and its operators in one process. */
#include "base/mem.h"
#include "cmd/cluster_opts.h"
#include "cmd/host_opts.h"
#include "node/server.h"

static const char *data_dir, *listen_at = "127.0.0.1:6443", *kubeconfig;
static struct cmd_list modules;

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "state: store, keys, compiled modules, swap files", CMD_STRING,
      &data_dir, 0, 0 },
    { "listen", 0, "HOST:PORT", "address of the API (127.0.0.1:6443); port 0 picks a free one",
      CMD_STRING, &listen_at, 0, 0 },
    { "kubeconfig", 0, "FILE", "write the kubeconfig here (DIR/kubeconfig)", CMD_STRING,
      &kubeconfig, 0, 0 },
    { "modules", 0, "DIR",
      "Operator objects may name modules below it; repeatable (DIR/operators always)", CMD_LIST,
      &modules, 0, 0 },
    CMD_CLUSTER_OPTS,
    CMD_HOST_OPTS,
    CMD_LOG_OPTS,
    { .name = NULL },
};

static const struct cmd_opt *up_opts(void)
{
    return opts;
}

static int run(int argc, char **argv)
{
    size_t n;
    char host[256];
    struct err err = { 0 };
    int r = cmd_parse(&cmd_up, opts, argc, argv, 0, &n);
    if (r || (r = cmd_setup_log()))
        return r > 0 ? r - 1 : r;
    scoped(free_scoped) char *dir = data_dir ? xstrdup(data_dir) : cmd_default_data_dir();
    struct server_opts server = {
        .data_dir = dir,
        .with_cluster = true,
        .host = host,
        .kubeconfig = kubeconfig,
        .token_file = cmd_token_file,
        .sa_issuer = cmd_sa_issuer,
        .event_ttl_ms = cmd_event_ttl_ms,
        .with_operators = true,
        .module_dirs = modules.at,
        .n_module_dirs = modules.n,
        .guests = cmd_host,
    };
    if (cmd_parse_listen(listen_at, host, sizeof host, &server.port, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    if ((r = cmd_operator_identity(&server.identity)))
        return r;
    return server_run(&server, &err) < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_up = {
    .name = "up",
    .doc = "run the API server and the operators of its Operator objects",
    .help = "Prints 'ready url=... kubeconfig=...' once the API answers. SIGTERM ends it within 10 "
            "seconds.\n"
            "\n"
            "  dormouse up --data-dir /tmp/d --modules build/guests\n"
            "  export KUBECONFIG=/tmp/d/kubeconfig\n"
            "  kubectl apply -f operator.yaml\n",
    .run = run,
    .opts = up_opts,
};
