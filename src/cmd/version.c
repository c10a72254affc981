/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse version */
#include "cmd/cmd.h"

#include <stdio.h>

static const struct cmd_opt opts[] = { { .name = NULL } };

static const struct cmd_opt *version_opts(void)
{
    return opts;
}

static int run(int argc, char **argv)
{
    size_t n;
    int r = cmd_parse(&cmd_version, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    (void)printf("dormouse %s\n", DORMOUSE_VERSION);
    return CMD_OK;
}

const struct cmd cmd_version = {
    .name = "version",
    .doc = "print the version",
    .run = run,
    .opts = version_opts,
};
