/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse fn init: a new project from an SDK's template. */
#include "cmd/project.h"

static const char *language, *sdk;

static const struct cmd_opt opts[] = {
    { "lang", 'l', "LANG", "c, rust or go", CMD_STRING, &language, 0, 0 },
    { "sdk", 0, "DIR", "directory of the SDKs (beside the program, $DORMOUSE_SDK)", CMD_STRING,
      &sdk, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *fn_init_opts(void)
{
    return opts;
}

static int run(int argc, char **argv)
{
    return project_init_run(&cmd_fn_init, opts, &project_function, &language, &sdk, argc, argv);
}

const struct cmd cmd_fn_init = {
    .name = "fn init",
    .args = "NAME",
    .doc = "start a function's project in C, Rust or Go",
    .help = "Makes the directory NAME with a function that works and a copy of the SDK.\n"
            "\n"
            "  dormouse fn init --lang c hello\n"
            "  dormouse fn deploy hello\n"
            "  dormouse fn call hello\n",
    .run = run,
    .opts = fn_init_opts,
};
