/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse store check: find, and remove, damaged values in the stores of a data directory. */
#include "base/buf.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "store/store.h"

#include <stdio.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 8192 };

static const char *data_dir;
static bool remove_damaged;

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR",
      "of the server (/var/lib/dormouse as root, else ~/.local/state/dormouse)", CMD_STRING,
      &data_dir, 0, 0 },
    { "remove", 0, NULL, "delete what is damaged, so that the rest can be used", CMD_FLAG,
      &remove_damaged, 0, 0 },
    { 0 },
};

static const struct cmd_opt *store_check_opts(void)
{
    return opts;
}

static void on_damage(void *arg, const struct store_damage *d)
{
    (void)arg;
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(LINE_MAX_BYTES);
    cmd_add_safe(&line, d->key);
    (void)printf("damaged  %s  revision %llu%s\n", buf_cstr(&line), (unsigned long long)d->rev,
                 d->is_current ? "" : " (an older state)");
}

/* A cmd_exit. */
static int check_file(const char *path)
{
    struct err err = { 0 };
    struct store_check_result res;
    int r = store_check(path, remove_damaged, on_damage, NULL, &res, &err);
    if (r < 0)
        return cmd_fail(CMD_FAILED, &err);
    uint64_t damaged = res.damaged_now + res.damaged_old;
    (void)printf("%s: %llu keys, %llu damaged%s%llu older states damaged%s\n", path,
                 (unsigned long long)res.keys, (unsigned long long)res.damaged_now, ", ",
                 (unsigned long long)res.damaged_old,
                 damaged && remove_damaged ? "; they are removed" : "");
    return damaged && !remove_damaged ? CMD_FAILED : CMD_OK;
}

static int run(int argc, char **argv)
{
    size_t n;
    int r = cmd_parse(&cmd_store_check, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    scoped(free_scoped) char *dir = cmd_server_data_dir(data_dir);
    scoped(free_scoped) char *objects = xasprintf("%s/store.db", dir);
    scoped(free_scoped) char *calls = xasprintf("%s/async.db", dir);
    if (access(objects, F_OK) < 0)
        return cmd_failf(CMD_FAILED, "'%s' is no data directory of a server: it has no store.db",
                         dir);
    int status = check_file(objects);
    if (access(calls, F_OK) == 0) {
        int of_calls = check_file(calls);
        status = status == CMD_OK ? of_calls : status;
    }
    return status;
}

const struct cmd cmd_store_check = {
    .name = "store check",
    .doc = "find, and remove, damaged objects in a data directory",
    .help =
        "Reads every object that a data directory holds and compares it with its checksum. The\n"
        "server must be stopped. With --remove, what is damaged is deleted, and clients list\n"
        "everything again; make a copy of the directory first if you want to look into it.\n"
        "Exit status: 0 nothing is damaged any more, 1 something is.\n"
        "\n"
        "  dormouse store check --data-dir DIR\n"
        "  dormouse store check --data-dir DIR --remove\n",
    .run = run,
    .opts = store_check_opts,
};
