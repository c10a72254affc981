/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse fn build: a project's source to its module. */
#include "cmd/project.h"

static const char *sdk;

static const struct cmd_opt opts[] = {
    { "sdk", 0, "DIR", "directory of the SDKs, instead of the project's copy ($DORMOUSE_SDK)",
      CMD_STRING, &sdk, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *fn_build_opts(void)
{
    return opts;
}

static int run(int argc, char **argv)
{
    return project_build_run(&cmd_fn_build, opts, &project_function, &sdk, argc, argv);
}

const struct cmd cmd_fn_build = {
    .name = "fn build",
    .args = "[DIR]",
    .doc = "compile a function's project into " FUNCTION_MODULE,
    .help =
        "The language shows in the project's files. A tool that is missing is named with what to\n"
        "install. 'fn deploy DIR' builds as well.\n"
        "\n"
        "  dormouse fn build hello\n",
    .run = run,
    .opts = fn_build_opts,
};
