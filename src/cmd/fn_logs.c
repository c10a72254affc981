/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse fn logs: what a function has logged on this machine, one line for each line that an
 * instance or container has written, with the call it belongs to.
 */
#include "base/mem.h"
#include "cmd/log_files.h"
#include "fn/worker/logs.h"

#include <string.h>

static const char *data_dir, *in_namespace, *output, *call;
static uint64_t tail, since_ms, revision;
static bool follow;

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "data directory of the worker " CMD_SERVER_DATA_DIR_DEFAULT, CMD_STRING,
      &data_dir, 0, 0 },
    { "namespace", 'n', "NS", "of the function (default)", CMD_STRING, &in_namespace, 0, 0 },
    { "follow", 'f', NULL, "go on with new lines as they come", CMD_FLAG, &follow, 0, 0 },
    { "call", 0, "ID", "only lines of this call (x-dormouse-call-id)", CMD_STRING, &call, 0, 0 },
    { "revision", 0, "N", "only lines of this revision", CMD_U64, &revision, 1, UINT32_MAX },
    { "tail", 0, "LINES", "only so many of the newest lines (all)", CMD_U64, &tail, 1, UINT32_MAX },
    { "since", 0, "TIME", "only lines younger than this: 90s, 5m, 1h (all)", CMD_DURATION,
      &since_ms, 0, 0 },
    { "output", 'o', "FORMAT", "text or json (text)", CMD_STRING, &output, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *fn_logs_opts(void)
{
    return opts;
}

static int show(const char *namespace, const char *name)
{
    scoped(free_scoped) char *dir = cmd_server_data_dir(data_dir);
    scoped(free_scoped) char *logs = xasprintf("%s/" FN_LOGS_DIR, dir);
    scoped(free_scoped) char *number = xasprintf("%llu", (unsigned long long)revision);
    scoped(free_scoped) char *missing =
        xasprintf("function %s/%s has logged nothing on this machine below '%s'; --data-dir says "
                  "where its worker keeps its data",
                  namespace, name, logs);
    struct log_files l = { .dir = logs,
                           .namespace = namespace,
                           .name = name,
                           .json = output && strcmp(output, "json") == 0,
                           .follow = follow,
                           .tail = tail,
                           .since_ms = since_ms,
                           .missing = missing };
    if (call) {
        l.where_key = "call";
        l.where_value = call;
    } else if (revision) {
        l.where_key = "revision";
        l.where_value = number;
    }
    return log_files_print(&l);
}

static int run(int argc, char **argv)
{
    size_t n;
    struct str namespace, name;
    int r = cmd_parse(&cmd_fn_logs, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    if (n != 1)
        return cmd_failf(CMD_USAGE, "which function? 'dormouse fn logs [NAMESPACE/]NAME'");
    if (output && strcmp(output, "json") != 0 && strcmp(output, "text") != 0)
        return cmd_failf(CMD_USAGE, "--output is text or json, not '%s'", output);
    if (call && revision)
        return cmd_failf(CMD_USAGE, "--call and --revision: one of them");
    bool both = str_cut(str_of(argv[0]), '/', &namespace, &name);
    if (both && in_namespace && !str_is(namespace, in_namespace))
        return cmd_failf(CMD_USAGE, "'%s' and --namespace %s contradict each other", argv[0],
                         in_namespace);
    if (!both) {
        name = namespace;
        namespace = str_of(in_namespace ? in_namespace : "default");
    }
    scoped(free_scoped) char *ns = str_dup(namespace), *fn = str_dup(name);
    return show(ns, fn);
}

const struct cmd cmd_fn_logs = {
    .name = "fn logs",
    .args = "[NAMESPACE/]NAME",
    .doc = "print what a function has logged on this machine",
    .help = "Reads the files of the worker on this machine, which keep the newest 1 to 2 MiB of "
            "each function.\n"
            "\n"
            "  dormouse fn logs -f hello\n"
            "  dormouse fn logs hello --call 01J9Z6 -o json\n",
    .run = run,
    .opts = fn_logs_opts,
};
