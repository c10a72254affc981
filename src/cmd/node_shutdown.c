/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse node shutdown: the pods of this machine end, since it is about to stop. */
#include "base/buf.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "codec/json.h"
#include "node/admin_client.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    GRACE_MS = 60000,
    CRITICAL_MS = 20000,
    CRITICAL = 2000000000, /* the priority of system-cluster-critical */
};

static const char *data_dir;
static uint64_t grace_ms = GRACE_MS, critical_ms = CRITICAL_MS;
static struct cmd_list priorities;

static const struct cmd_opt opts[] = {
    { "shutdown-grace-period", 0, "TIME", "for all pods together (60s)", CMD_DURATION, &grace_ms, 0,
      0 },
    { "shutdown-grace-period-critical-pods", 0, "TIME",
      "of that, for critical pods, which end last (20s)", CMD_DURATION, &critical_ms, 0, 0 },
    { "shutdown-grace-period-by-pod-priority", 0, "PRIORITY=TIME",
      "instead: for the pods of this priority and above, up to the next one given; repeatable",
      CMD_LIST, &priorities, 0, 0 },
    { "data-dir", 0, "DIR", "data directory of the server " CMD_SERVER_DATA_DIR_DEFAULT, CMD_STRING,
      &data_dir, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *node_shutdown_opts(void)
{
    return opts;
}

static int add_priority(struct buf *to, const char *word)
{
    struct str priority, time;
    int64_t p;
    uint64_t ms;
    if (!str_cut(str_of(word), '=', &priority, &time) ||
        parse_i64(priority, INT32_MIN, INT32_MAX, &p) < 0 || cmd_parse_duration(time, &ms) < 0)
        return cmd_failf(CMD_USAGE, "'%s' is no PRIORITY=TIME, such as 1000=30s", word);
    (void)buf_printf(to, "%s%" PRId64 ":%" PRIu64, to->n ? "," : "", p, ms);
    return 0;
}

/* "0:40000,2000000000:20000" */
static int make_groups(struct buf *to)
{
    int r = 0;
    for (size_t i = 0; i < priorities.n && r == 0; i++)
        r = add_priority(to, priorities.at[i]);
    if (r || priorities.n)
        return r;
    if (critical_ms > grace_ms)
        return cmd_failf(CMD_USAGE, "--shutdown-grace-period-critical-pods is a part of "
                                    "--shutdown-grace-period, and not longer");
    (void)buf_printf(to, "0:%" PRIu64 ",%d:%" PRIu64, grace_ms - critical_ms, CRITICAL,
                     critical_ms);
    return 0;
}

static void add_to_buf(void *arg, struct str chunk)
{
    (void)buf_add_str(arg, chunk);
}

static int print_result(struct str text)
{
    struct arena a = { 0 };
    struct json *v = NULL;
    (void)json_parse(&a, text, NULL, &v, NULL);
    int64_t ended = json_int_or(json_getc(v, "ended"), 0),
            left = json_int_or(json_getc(v, "left"), 0);
    arena_fini(&a);
    if (left > 0)
        return cmd_failf(CMD_FAILED, "%" PRId64 " pods have not ended in time", left);
    (void)printf("%" PRId64 " pods have ended\n", ended);
    return CMD_OK;
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf groups = BUF_INIT(4096), path = BUF_INIT(8192),
                                       answer = BUF_INIT(4096);
    int r = cmd_parse(&cmd_node_shutdown, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    if ((r = make_groups(&groups)) != 0)
        return r;
    (void)buf_printf(&path, "/node/shutdown?groups=" STR_FMT, STR_ARG(buf_str(&groups)));
    scoped(free_scoped) char *dir = cmd_data_dir(data_dir);
    if (admin_post(dir, buf_cstr(&path), add_to_buf, &answer, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    return print_result(buf_str(&answer));
}

const struct cmd cmd_node_shutdown = {
    .name = "node shutdown",
    .args = "",
    .doc = "end the pods of this machine before it stops",
    .help =
        "For the moment before a machine is switched off or restarted; a stop of dormouse alone "
        "leaves\n"
        "containers running. The node becomes NotReady, takes no new pods, and ends its pods with "
        "the\n"
        "phase Failed and the reason Terminated: those of low priority first, critical pods "
        "(priority\n"
        "2000000000 and above) last. A pod has its own grace period, or that of its group if it "
        "is\n"
        "shorter. The command returns when all pods have ended; it fails if one has not in time.\n"
        "The next start of dormouse makes the machine a node again.\n"
        "\n"
        "  dormouse node shutdown --shutdown-grace-period 2m && poweroff\n",
    .run = run,
    .opts = node_shutdown_opts,
};
