/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commands about one operator have in common: its name, "NAME", "NAMESPACE/NAME", or "/NAME"
 * for one of a directory; and where its server is.
 */
#pragma once

#include "base/buf.h"
#include "cmd/cmd.h"

/* Static in the command; its table of options writes into it. */
struct operator_args {
    const char *data_dir, *in_namespace, *output; /* as given */
    char namespace[254], name[254];               /* namespace "": of a directory */
    bool json;                                    /* --output json */
    char *dir;                                    /* the data directory; free() */
};

/* The first rows of the table of options. */
#define OPERATOR_ARGS_OPTS(args)                                                                   \
    { "data-dir", 0,                                                                               \
      "DIR",      "data directory of the server " CMD_SERVER_DATA_DIR_DEFAULT,                     \
      CMD_STRING, &(args).data_dir,                                                                \
      0,          0 },                                                                             \
        { "namespace",          'n', "NS", "of the Operator object (default)", CMD_STRING,         \
          &(args).in_namespace, 0,   0 },                                                          \
    {                                                                                              \
        "output", 'o', "FORMAT", "text or json (text)", CMD_STRING, &(args).output, 0, 0           \
    }

/* As cmd_parse(), for exactly one operator. */
int operator_args_parse(const struct cmd *cmd, const struct cmd_opt *opts, int argc, char **argv,
                        struct operator_args *args);
/* "PAGE?namespace=NS&name=NAME" of the admin socket, appended. */
void operator_args_target(const struct operator_args *args, const char *page, struct buf *to);
/* The exit status for a failure of admin_get() or admin_follow(), which it prints. */
int operator_args_fail(const struct err *err);
