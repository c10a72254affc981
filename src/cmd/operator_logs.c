/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse operator logs: what an operator of a server on this machine has logged. */
#include "base/mem.h"
#include "cmd/log_files.h"
#include "cmd/operator_args.h"

static struct operator_args args;
static uint64_t tail, since_ms;
static bool follow;

static const struct cmd_opt opts[] = {
    OPERATOR_ARGS_OPTS(args),
    { "follow", 'f', NULL, "go on with new lines as they come", CMD_FLAG, &follow, 0, 0 },
    { "tail", 0, "LINES", "only so many of the newest lines (all)", CMD_U64, &tail, 1, UINT32_MAX },
    { "since", 0, "TIME", "only lines younger than this: 90s, 5m, 1h (all)", CMD_DURATION,
      &since_ms, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *operator_logs_opts(void)
{
    return opts;
}

static int run(int argc, char **argv)
{
    int r = operator_args_parse(&cmd_operator_logs, opts, argc, argv, &args);
    if (r)
        return r - 1;
    scoped(free_scoped) char *dir = take_ptr(&args.dir);
    scoped(free_scoped) char *logs = xasprintf("%s/logs", dir);
    scoped(free_scoped) char *missing = xasprintf(
        "operator %s/%s has logged nothing below '%s'; 'dormouse guests' lists the operators, "
        "--data-dir says where their server keeps its data",
        args.namespace, args.name, logs);
    struct log_files l = { .dir = logs,
                           .namespace = args.namespace,
                           .name = args.name,
                           .json = args.json,
                           .follow = follow,
                           .tail = tail,
                           .since_ms = since_ms,
                           .missing = missing };
    return log_files_print(&l);
}

const struct cmd cmd_operator_logs = {
    .name = "operator logs",
    .args = "[NAMESPACE/]NAME",
    .doc = "print what an operator has logged",
    .help = "An operator of 'dormouse operator run' has no namespace: '/NAME'. Kept are the newest "
            "1 to "
            "2 MiB of each.\n"
            "\n"
            "  dormouse operator logs -f operators/mirror\n"
            "  dormouse operator logs -n operators mirror --tail 20 -o json\n",
    .run = run,
    .opts = operator_logs_opts,
};
