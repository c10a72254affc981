/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse scheduler init and build: a project of a scheduler plugin, and its module. */
#include "cmd/project.h"

static const char *language, *sdk;

static const struct cmd_opt init_opts[] = {
    { "lang", 'l', "LANG", "c, rust or go", CMD_STRING, &language, 0, 0 },
    { "sdk", 0, "DIR", "directory of the SDKs (beside the program, $DORMOUSE_SDK)", CMD_STRING,
      &sdk, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *scheduler_init_opts(void)
{
    return init_opts;
}

static int run_init(int argc, char **argv)
{
    return project_init_run(&cmd_scheduler_init, init_opts, &project_scheduler, &language, &sdk,
                            argc, argv);
}

const struct cmd cmd_scheduler_init = {
    .name = "scheduler init",
    .args = "NAME",
    .doc = "start a scheduler plugin's project in C, Rust or Go",
    .help =
        "Makes the directory NAME with a plugin that works, a configuration that uses it, calls "
        "to try it with, and a copy of the SDK.\n"
        "\n"
        "  dormouse scheduler init --lang c near\n"
        "  dormouse scheduler build near\n"
        "  cd near && dormouse scheduler call < try.jsonl\n",
    .run = run_init,
    .opts = scheduler_init_opts,
};

static const struct cmd_opt build_opts[] = {
    { "sdk", 0, "DIR", "directory of the SDKs, instead of the project's copy ($DORMOUSE_SDK)",
      CMD_STRING, &sdk, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *scheduler_build_opts(void)
{
    return build_opts;
}

static int run_build(int argc, char **argv)
{
    return project_build_run(&cmd_scheduler_build, build_opts, &project_scheduler, &sdk, argc,
                             argv);
}

const struct cmd cmd_scheduler_build = {
    .name = "scheduler build",
    .args = "[DIR]",
    .doc = "compile a scheduler plugin's project into " PLUGIN_MODULE,
    .help =
        "The language shows in the project's files. A tool that is missing is named with what to "
        "install.\n"
        "\n"
        "  dormouse scheduler build near\n",
    .run = run_build,
    .opts = scheduler_build_opts,
};
