/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse guests: what runs and what sleeps in a server of this machine. */
#include "base/buf.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "codec/json.h"
#include "node/admin_client.h"

#include <inttypes.h>
#include <stdio.h>

static const char *data_dir, *output = "";

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "data directory of the server", CMD_STRING, &data_dir, 0, 0 },
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

static void print_row(const struct json *g, bool wide)
{
    struct str ns = json_get_str(g, "namespace"), name = json_get_str(g, "name");
    (void)printf("%-16.*s %-28.*s %-4.*s %-9.*s %8" PRId64 " %8" PRId64 " %11" PRId64 " %8" PRId64 " %8" PRId64, STR_ARG(ns),
                 STR_ARG(name), STR_ARG(json_get_str(g, "abi")), STR_ARG(json_get_str(g, "state")),
                 number(g, "residentBytes") / 1024, number(g, "swapBytes") / 1024, number(g, "activations"),
                 number(g, "wakes"), number(g, "restarts"));
    if (wide)
        (void)printf(" %8" PRId64 " %8" PRId64 "  " STR_FMT, number(json_getc(g, "wakeMicroseconds"), "p50"),
                     number(json_getc(g, "wakeMicroseconds"), "p99"), STR_ARG(json_get_str(g, "lastError")));
    (void)printf("\n");
}

/* Operators of a directory have no namespace. */
static void print_name(struct str namespace, struct str name)
{
    (void)printf(STR_FMT "%s" STR_FMT "\n", STR_ARG(namespace), namespace.n ? "/" : "", STR_ARG(name));
}

static int print_guests(const struct json *list)
{
    bool wide = strcmp(output, "wide") == 0;
    if (strcmp(output, "name") == 0) {
        json_each(g, list) print_name(json_get_str(g, "namespace"), json_get_str(g, "name"));
        return CMD_OK;
    }
    if (output[0] && !wide)
        return cmd_failf(CMD_USAGE, "--output is json, wide or name, not '%s'", output);
    (void)printf("%-16s %-28s %-4s %-9s %8s %8s %11s %8s %8s%s\n", "NAMESPACE", "NAME", "ABI", "STATE", "RES(KiB)",
                 "SWAP(KiB)", "ACTIVATIONS", "WAKES", "RESTARTS", wide ? "  P50(us)  P99(us)  LAST-ERROR" : "");
    json_each(g, list) print_row(g, wide);
    return CMD_OK;
}

static int run(int argc, char **argv)
{
    size_t n;
    struct err err = { 0 };
    int r = cmd_parse(&cmd_guests, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    scoped(free_scoped) char *dir = data_dir ? xstrdup(data_dir) : cmd_default_data_dir();
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
        status = print_guests(list);
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
