/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse operator describe: why an operator last ran, what it waits for, when it will wake.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "cmd/operator_args.h"
#include "codec/json.h"
#include "node/admin_client.h"

#include <inttypes.h>
#include <stdio.h>

static struct operator_args args;

static const struct cmd_opt opts[] = {
    OPERATOR_ARGS_OPTS(args),
    { .name = NULL },
};

static const struct cmd_opt *operator_describe_opts(void)
{
    return opts;
}

/* ---- lines: a label, and a text that others may have written ---- */

enum { LABEL_WIDTH = 14, TEXT_MAX = 64 << 10 };

__attribute__((format(printf, 2, 3))) static void line(const char *label, const char *fmt, ...)
{
    scoped(buf_fini_scoped) struct buf raw = BUF_INIT(TEXT_MAX);
    scoped(buf_fini_scoped) struct buf safe = BUF_INIT(TEXT_MAX);
    va_list ap;
    va_start(ap, fmt);
    (void)buf_vprintf(&raw, fmt, ap);
    va_end(ap);
    cmd_add_safe(&safe, buf_str(&raw));
    (void)printf("%-*s %s\n", LABEL_WIDTH, label, buf_cstr(&safe));
}

static void line_if(const char *label, struct str text)
{
    if (text.n)
        line(label, STR_FMT, STR_ARG(text));
}

static int64_t number(const struct json *o, const char *key)
{
    return json_int_or(json_getc(o, key), 0);
}

/* "640 us", "85 ms", "12.3 s", "4 min" */
static const char *duration_us(char out[32], int64_t us)
{
    int64_t ms = us / 1000;
    if (us < 10000)
        (void)snprintf(out, 32, "%" PRId64 " us", us);
    else if (ms < 1000)
        (void)snprintf(out, 32, "%" PRId64 " ms", ms);
    else if (ms < 120000)
        (void)snprintf(out, 32, "%" PRId64 ".%" PRId64 " s", ms / 1000, ms % 1000 / 100);
    else
        (void)snprintf(out, 32, "%" PRId64 " min", ms / 60000);
    return out;
}

static const char *duration(char out[32], int64_t ms)
{
    return duration_us(out, MIN(ms, INT64_MAX / 1000) * 1000);
}

/* ---- sections ---- */

static void show_guest(const struct json *g)
{
    line("State", STR_FMT, STR_ARG(json_get_str(g, "state")));
    line_if("ABI", json_get_str(g, "abi"));
    line("Memory",
         "%" PRId64 " KiB linear, %" PRId64 " KiB resident, %" PRId64 " KiB in its swap file",
         number(g, "memoryBytes") / 1024, number(g, "residentBytes") / 1024,
         number(g, "swapBytes") / 1024);
    line("Activations", "%" PRId64 ", wakes %" PRId64 ", suspends %" PRId64 ", restarts %" PRId64,
         number(g, "activations"), number(g, "wakes"), number(g, "suspends"),
         number(g, "restarts"));
    const struct json *wake = json_getc(g, "wakeMicroseconds");
    if (number(g, "wakes"))
        line("Wake", "%" PRId64 " us last, %" PRId64 " us p50, %" PRId64 " us p99",
             number(wake, "last"), number(wake, "p50"), number(wake, "p99"));
    line_if("Last error", json_get_str(g, "lastError"));
}

static void show_operations(const struct json *o)
{
    char text[32];
    line("Waits for",
         "%" PRId64 " watches, %" PRId64 " streams, %" PRId64 " requests, %" PRId64 " timers",
         number(o, "watches"), number(o, "streams"), number(o, "requests"), number(o, "timers"));
    if (json_getc(o, "nextTimerInMs"))
        line("Wakes", "in %s by a timer of its own, or by an event",
             duration(text, number(o, "nextTimerInMs")));
    else
        line("Wakes", "by an event; no timer is set");
}

static void show_last(const struct json *last)
{
    char work[32], delay[32], ago[32];
    scoped(buf_fini_scoped) struct buf why = BUF_INIT(TEXT_MAX);
    json_each (r, json_getc(last, "reasons"))
        (void)buf_printf(&why, "%s" STR_FMT, why.n ? ", " : "", STR_ARG(json_str(r)));
    struct str result = json_get_str(last, "result");
    line("  last run", "%s ago, " STR_FMT " because of %s: " STR_FMT " in %s",
         duration(ago, number(last, "agoMs")), STR_ARG(json_get_str(last, "key")), buf_cstr(&why),
         STR_ARG(result), duration_us(work, number(last, "durationUs")));
    if (number(last, "delayMs"))
        line("  ", "%s in %s, attempt %" PRId64, str_is(result, "failed") ? "again" : "due",
             duration(delay, number(last, "delayMs")), number(last, "attempt"));
    line_if("  message", json_get_str(last, "message"));
}

static void show_controller(const struct json *c)
{
    char text[32];
    line("Controller", STR_FMT, STR_ARG(json_get_str(c, "name")));
    line("  keys", "%" PRId64 " ready, %" PRId64 " running, %" PRId64 " waiting",
         number(c, "ready"), number(c, "running"), number(c, "waiting"));
    if (json_getc(c, "nextInMs"))
        line("  next", "in %s by a timer, or by an event", duration(text, number(c, "nextInMs")));
    else
        line("  next", "by an event; no timer is set");
    if (json_getc(c, "last"))
        show_last(json_getc(c, "last"));
}

static void show_watch(const struct json *w)
{
    struct str message = json_get_str(w, "message");
    line("Watch", STR_FMT ": " STR_FMT " " STR_FMT " (" STR_FMT "), " STR_FMT "%s" STR_FMT,
         STR_ARG(json_get_str(w, "id")), STR_ARG(json_get_str(w, "apiVersion")),
         STR_ARG(json_get_str(w, "kind")), STR_ARG(json_get_str(w, "role")),
         STR_ARG(json_get_str(w, "state")), message.n ? ": " : "", STR_ARG(message));
}

static void show_v1(const struct json *v)
{
    line_if("Declared as", json_get_str(v, "name"));
    line_if("Version", json_get_str(v, "version"));
    line("Reconciles", "%" PRId64 ", of these failed %" PRId64, number(v, "reconciles"),
         number(v, "failures"));
    line_if("Waits for", json_get_str(v, "waitsFor"));
    line_if("In call", json_get_str(v, "call"));
    json_each (c, json_getc(v, "controllers"))
        show_controller(c);
    json_each (w, json_getc(v, "watches"))
        show_watch(w);
}

static void show(const struct json *o)
{
    const struct json *limit = json_getc(o, "lastLimit");
    char text[32];
    struct str ns = json_get_str(o, "namespace");
    line("Operator", STR_FMT "%s" STR_FMT, STR_ARG(ns), ns.n ? "/" : "",
         STR_ARG(json_get_str(o, "name")));
    line("Generation", "%" PRId64 ", running %" PRId64, number(o, "generation"),
         number(o, "runningGeneration"));
    line("Phase", STR_FMT " (" STR_FMT ")", STR_ARG(json_get_str(o, "phase")),
         STR_ARG(json_get_str(o, "reason")));
    line_if("Message", json_get_str(o, "message"));
    line_if("Returned", json_get_str(o, "returned"));
    if (json_get_str(o, "refusedReason").n)
        line("Update refused", STR_FMT ": " STR_FMT, STR_ARG(json_get_str(o, "refusedReason")),
             STR_ARG(json_get_str(o, "refusedMessage")));
    if (json_getc(o, "actsAs"))
        line("Acts as", STR_FMT, STR_ARG(json_get_str(o, "actsAs")));
    else if (number(o, "runningGeneration"))
        line("Acts as", "the host itself");
    line_if("  trouble", json_get_str(o, "identityTrouble"));
    line_if("  may not", json_get_str(o, "denied"));
    if (limit)
        line("Limit hit", STR_FMT ", %" PRId64 " times, last %s ago: " STR_FMT,
             STR_ARG(json_get_str(limit, "name")), number(limit, "count"),
             duration(text, number(limit, "agoMs")), STR_ARG(json_get_str(limit, "message")));
    if (json_getc(o, "guest"))
        show_guest(json_getc(o, "guest"));
    if (json_getc(o, "operations"))
        show_operations(json_getc(o, "operations"));
    if (json_getc(o, "v1"))
        show_v1(json_getc(o, "v1"));
}

/* ---- the command ---- */

static int run(int argc, char **argv)
{
    struct err err = { 0 };
    int r = operator_args_parse(&cmd_operator_describe, opts, argc, argv, &args);
    if (r)
        return r - 1;
    scoped(free_scoped) char *dir = take_ptr(&args.dir);
    scoped(buf_fini_scoped) struct buf target = BUF_INIT(4096);
    scoped(buf_fini_scoped) struct buf body = BUF_INIT((size_t)4 << 20);
    operator_args_target(&args, "/operator", &target);
    if (admin_get(dir, buf_cstr(&target), &body, &err) < 0)
        return operator_args_fail(&err);
    if (args.json) {
        (void)printf("%s\n", buf_cstr(&body));
        return CMD_OK;
    }
    struct arena arena = { 0 };
    struct json *o;
    int status = CMD_OK;
    if (json_parse(&arena, buf_str(&body), NULL, &o, &err) < 0)
        status = cmd_fail(CMD_FAILED, &err);
    else
        show(o);
    arena_fini(&arena);
    return status;
}

const struct cmd cmd_operator_describe = {
    .name = "operator describe",
    .args = "[NAMESPACE/]NAME",
    .doc = "show why an operator last ran, what it waits for, when it wakes",
    .help = "  dormouse operator describe operators/mirror\n"
            "  dormouse operator describe -n operators mirror -o json | jq .v1.controllers\n",
    .run = run,
    .opts = operator_describe_opts,
};
