/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about one operator; see operator_args.h. */
#include "cmd/operator_args.h"

#include "base/mem.h"
#include "codec/url.h"

#include <stdio.h>

static int take_name(const char *text, struct operator_args *args, struct err *err)
{
    struct str head, tail;
    bool has_slash = str_cut(str_of(text), '/', &head, &tail);
    struct str ns = has_slash ? head : str_of(args->in_namespace ? args->in_namespace : "default");
    struct str name = has_slash ? tail : head;
    if (has_slash && args->in_namespace && !str_is(head, args->in_namespace))
        return err_set(err, E_INVALID, "'%s' and --namespace %s contradict each other", text,
                       args->in_namespace);
    if (name.n == 0 || str_find_char(name, '/') >= 0 || name.n >= sizeof args->name ||
        ns.n >= sizeof args->namespace)
        return err_set(err, E_INVALID, "'%s' is not [NAMESPACE/]NAME of an operator", text);
    (void)snprintf(args->namespace, sizeof args->namespace, STR_FMT, STR_ARG(ns));
    (void)snprintf(args->name, sizeof args->name, STR_FMT, STR_ARG(name));
    return 0;
}

int operator_args_parse(const struct cmd *cmd, const struct cmd_opt *opts, int argc, char **argv,
                        struct operator_args *args)
{
    size_t n;
    struct err err = { 0 };
    int r = cmd_parse(cmd, opts, argc, argv, 1, &n);
    if (r)
        return r;
    if (n != 1)
        return 1 + cmd_failf(CMD_USAGE, "which operator? 'dormouse %s %s'", cmd->name, cmd->args);
    args->json = args->output && strcmp(args->output, "json") == 0;
    if (args->output && !args->json && strcmp(args->output, "text") != 0)
        return 1 + cmd_failf(CMD_USAGE, "--output is text or json, not '%s'", args->output);
    if (take_name(argv[0], args, &err) < 0)
        return 1 + cmd_fail(CMD_USAGE, &err);
    args->dir = cmd_server_data_dir(args->data_dir);
    return 0;
}

void operator_args_target(const struct operator_args *args, const char *page, struct buf *to)
{
    (void)buf_printf(to, "%s?namespace=", page);
    (void)url_encode(to, str_of(args->namespace));
    (void)buf_add_cstr(to, "&name=");
    (void)url_encode(to, str_of(args->name));
}

int operator_args_fail(const struct err *err)
{
    return cmd_fail(err->code == E_UNSUPPORTED ? CMD_FAILED : CMD_UNAVAILABLE, err);
}
