/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse trace: what an operator does in one activation, with each host call and its time. */
#include "base/buf.h"
#include "base/mem.h"
#include "cmd/operator_args.h"
#include "codec/json.h"
#include "node/admin_client.h"

#include <inttypes.h>
#include <stdio.h>

static struct operator_args args;
static uint64_t count = 1;

static const struct cmd_opt opts[] = {
    OPERATOR_ARGS_OPTS(args),
    { "count", 'c', "N", "end after N activations; 0: go on (1)", CMD_U64, &count, 0, UINT32_MAX },
    { .name = NULL },
};

static const struct cmd_opt *trace_opts(void)
{
    return opts;
}

static int64_t number(const struct json *o, const char *key)
{
    return json_int_or(json_getc(o, key), 0);
}

/* ---- steps ---- */

static void add_activation(struct buf *to, const struct json *s)
{
    const char *sep = " because of ";
    (void)buf_add_cstr(to, "activation: ");
    cmd_add_safe(to, json_get_str(s, "controller"));
    (void)buf_add_char(to, ' ');
    cmd_add_safe(to, json_get_str(s, "key"));
    json_each (r, json_getc(s, "reasons")) {
        (void)buf_add_cstr(to, sep);
        cmd_add_safe(to, json_str(r));
        sep = ", ";
    }
    if (number(s, "attempt"))
        (void)buf_printf(to, ", after %" PRId64 " failures", number(s, "attempt"));
    (void)buf_printf(to, "; instance %" PRId64 " was " STR_FMT, number(s, "instance"),
                     STR_ARG(json_get_str(s, "state")));
}

static void add_call(struct buf *to, const struct json *s)
{
    (void)buf_printf(to, "%8" PRId64 " us  ", number(s, "atUs"));
    cmd_add_safe(to, json_get_str(s, "call"));
    (void)buf_printf(to, ": %" PRId64 " us, ", number(s, "tookUs"));
    if (number(s, "value") < 0)
        (void)buf_printf(to, "error %" PRId64, number(s, "value"));
    else
        (void)buf_printf(to, "%" PRId64 " bytes", number(s, "bytes"));
}

static void add_post(struct buf *to, const struct json *s)
{
    (void)buf_printf(to, "%8" PRId64 " us  ", number(s, "atUs"));
    cmd_add_safe(to, json_get_str(s, "call"));
    (void)buf_add_cstr(to, ": ");
    cmd_add_safe(to, json_get_str(s, "what"));
}

static void add_end(struct buf *to, const struct json *s)
{
    (void)buf_printf(to, "%8" PRId64 " us  end: ", number(s, "atUs"));
    cmd_add_safe(to, json_get_str(s, "result"));
    if (number(s, "delayMs"))
        (void)buf_printf(to, ", next in %" PRId64 " ms", number(s, "delayMs"));
    if (json_bool(json_getc(s, "trapped")))
        (void)buf_add_cstr(to, ", trapped");
    (void)buf_printf(to, "; the guest ran %" PRId64 " of %" PRId64 " us", number(s, "busyUs"),
                     number(s, "workUs"));
    if (json_getc(s, "message")) {
        (void)buf_add_cstr(to, ": ");
        cmd_add_safe(to, json_get_str(s, "message"));
    }
}

static void print_step(struct str line)
{
    static const struct {
        const char *event;
        void (*add)(struct buf *to, const struct json *step);
    } steps[] = { { "activation", add_activation },
                  { "call", add_call },
                  { "post", add_post },
                  { "end", add_end } };
    struct arena arena = { 0 };
    struct json *s;
    struct err ignored;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(64 << 10);
    if (json_parse(&arena, line, NULL, &s, &ignored) == 0)
        for (size_t i = 0; i < ARRAY_LEN(steps); i++)
            if (str_is(json_get_str(s, "event"), steps[i].event))
                steps[i].add(&text, s);
    if (text.n)
        (void)puts(buf_cstr(&text));
    arena_fini(&arena);
}

static void on_lines(void *arg, struct str chunk)
{
    struct buf *rest = arg;
    struct str line;
    while (str_find_char(chunk, '\n') >= 0) {
        (void)str_cut(chunk, '\n', &line, &chunk);
        (void)buf_add(rest, line.p, line.n);
        if (args.json)
            (void)puts(buf_cstr(rest));
        else
            print_step(buf_str(rest));
        buf_reset(rest);
    }
    (void)buf_add(rest, chunk.p, chunk.n);
    (void)fflush(stdout);
}

/* ---- the command ---- */

static int run(int argc, char **argv)
{
    struct err err = { 0 };
    int r = operator_args_parse(&cmd_trace, opts, argc, argv, &args);
    if (r)
        return r - 1;
    scoped(free_scoped) char *dir = take_ptr(&args.dir);
    scoped(buf_fini_scoped) struct buf target = BUF_INIT(4096);
    scoped(buf_fini_scoped) struct buf rest = BUF_INIT(1 << 20);
    operator_args_target(&args, "/trace", &target);
    (void)buf_printf(&target, "&count=%" PRIu64, count);
    if (admin_follow(dir, buf_cstr(&target), on_lines, &rest, &err) < 0)
        return operator_args_fail(&err);
    return CMD_OK;
}

const struct cmd cmd_trace = {
    .name = "trace",
    .args = "[NAMESPACE/]NAME",
    .doc = "show an operator's next activation: each host call and its time",
    .help = "Waits for the next activation of an operator of ABI v1. Times count from when the "
            "host handed it "
            "over, so the first one contains the wake.\n"
            "\n"
            "  dormouse trace operators/certificates\n"
            "  dormouse trace -n operators certificates --count 0 -o json\n",
    .run = run,
    .opts = trace_opts,
};
