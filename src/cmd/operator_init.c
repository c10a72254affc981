/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse operator init: a new project from an SDK's template. */
#include "cmd/project.h"

static const char *language, *sdk;

static const struct cmd_opt opts[] = {
    { "lang", 'l', "LANG", "c, rust or go", CMD_STRING, &language, 0, 0 },
    { "sdk", 0, "DIR", "directory of the SDKs (beside the program, $DORMOUSE_SDK)", CMD_STRING,
      &sdk, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *operator_init_opts(void)
{
    return opts;
}

static int run(int argc, char **argv)
{
    return project_init_run(&cmd_operator_init, opts, &project_operator, &language, &sdk, argc,
                            argv);
}

const struct cmd cmd_operator_init = {
    .name = "operator init",
    .args = "NAME",
    .doc = "start an operator's project in C, Rust or Go",
    .help = "Makes the directory NAME with an operator that works, its manifests, and a copy of "
            "the SDK.\n"
            "\n"
            "  dormouse operator init --lang c hello\n"
            "  dormouse operator build hello\n"
            "  dormouse operator run hello\n",
    .run = run,
    .opts = operator_init_opts,
};
