/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse operator build: a project's source to its module. */
#include "cmd/project.h"

static const char *sdk;

static const struct cmd_opt opts[] = {
    { "sdk", 0, "DIR", "directory of the SDKs, instead of the project's copy ($DORMOUSE_SDK)",
      CMD_STRING, &sdk, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *operator_build_opts(void)
{
    return opts;
}

static int run(int argc, char **argv)
{
    return project_build_run(&cmd_operator_build, opts, &project_operator, &sdk, argc, argv);
}

const struct cmd cmd_operator_build = {
    .name = "operator build",
    .args = "[DIR]",
    .doc = "compile an operator's project into " OPERATOR_MODULE,
    .help =
        "The language shows in the project's files. A tool that is missing is named with what to\n"
        "install.\n"
        "\n"
        "  dormouse operator build hello\n",
    .run = run,
    .opts = operator_build_opts,
};
