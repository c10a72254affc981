/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse guests: what runs and what sleeps in a server of this machine. */
#include "base/buf.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "codec/json.h"
#include "node/admin_client.h"

#include <inttypes.h>
#include <stdio.h>

enum { LINE_MAX_BYTES = 16 << 10 };

static const char *data_dir, *output = "";

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "data directory of the server " CMD_SERVER_DATA_DIR_DEFAULT, CMD_STRING,
      &data_dir, 0, 0 },
    { "output", 'o', "FORMAT", "json, wide or name (a table)", CMD_STRING, &output, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *guests_opts(void)
{
    return opts;
}

static int64_t number(const struct json *guest, const char *key)
{
    return json_int_or(json_getc(guest, key), 0);
}

static void print_line(struct buf *line)
{
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(LINE_MAX_BYTES);
    cmd_add_safe(&safe, buf_str(line));
    (void)puts(buf_cstr(&safe));
    buf_reset(line);
}

static void print_row(struct buf *line, const struct json *g, bool wide)
{
    struct str ns = json_get_str(g, "namespace"), name = json_get_str(g, "name");
    buf_printf(line,
               "%-16.*s %-28.*s %-4.*s %-9.*s %8" PRId64 " %8" PRId64 " %11" PRId64 " %8" PRId64
               " %8" PRId64,
               STR_ARG(ns), STR_ARG(name), STR_ARG(json_get_str(g, "abi")),
               STR_ARG(json_get_str(g, "state")), number(g, "residentBytes") / 1024,
               number(g, "swapBytes") / 1024, number(g, "activations"), number(g, "wakes"),
               number(g, "restarts"));
    if (wide)
        buf_printf(line, " %8" PRId64 " %8" PRId64 "  " STR_FMT,
                   number(json_getc(g, "wakeMicroseconds"), "p50"),
                   number(json_getc(g, "wakeMicroseconds"), "p99"),
                   STR_ARG(json_get_str(g, "lastError")));
    print_line(line);
}

/* Operators of a directory have no namespace. */
static void print_name(struct buf *line, const struct json *g)
{
    struct str namespace = json_get_str(g, "namespace");
    buf_printf(line, STR_FMT "%s" STR_FMT, STR_ARG(namespace), namespace.n ? "/" : "",
               STR_ARG(json_get_str(g, "name")));
    print_line(line);
}

static void print_guests(const struct json *list)
{
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(LINE_MAX_BYTES);
    bool wide = strcmp(output, "wide") == 0;
    if (strcmp(output, "name") == 0) {
        json_each (g, list)
            print_name(&line, g);
        return;
    }
    (void)printf("%-16s %-28s %-4s %-9s %8s %8s %11s %8s %8s%s\n", "NAMESPACE", "NAME", "ABI",
                 "STATE", "RES(KiB)", "SWAP(KiB)", "ACTIVATIONS", "WAKES", "RESTARTS",
                 wide ? "  P50(us)  P99(us)  LAST-ERROR" : "");
    json_each (g, list)
        print_row(&line, g, wide);
}

static bool is_known_output(void)
{
    static const char *const known[] = { "", "json", "wide", "name" };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(output, known[i]) == 0)
            return true;
    return false;
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    int r = cmd_parse(&cmd_guests, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    if (!is_known_output())
        return cmd_failf(CMD_USAGE, "--output is json, wide or name, not '%s'", output);
    scoped(free_scoped) char *dir = cmd_server_data_dir(data_dir);
    scoped(buf_fini_scoped) struct buf body = BUF_INIT((size_t)64 << 20);
    if (admin_get(dir, "/guests", &body, &err) < 0)
        return cmd_fail(CMD_UNAVAILABLE, &err);
    if (strcmp(output, "json") == 0) {
        (void)printf("%s\n", buf_cstr(&body));
        return CMD_OK;
    }
    struct arena arena = { 0 };
    struct json *list;
    int status = CMD_OK;
    if (json_parse(&arena, buf_str(&body), NULL, &list, &err) < 0)
        status = cmd_fail(CMD_FAILED, &err);
    else
        print_guests(list);
    arena_fini(&arena);
    return status;
}

const struct cmd cmd_guests = {
    .name = "guests",
    .doc = "list the guests of the server on this machine",
    .help = "  dormouse guests --data-dir /tmp/d\n"
            "  dormouse guests -o json | jq '.[] | select(.state == \"Asleep\") | .name'\n",
    .run = run,
    .opts = guests_opts,
};
