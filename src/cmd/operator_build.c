/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse operator build: a project's source to its module. */
#include "cmd/cmd.h"
#include "cmd/operator_sdk.h"

#include <stdio.h>
#include <sys/stat.h>

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
    size_t n;
    struct err err = { 0 };
    int r = cmd_parse(&cmd_operator_build, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    const char *dir = n ? argv[0] : ".";
    if (operator_project_build(dir, sdk, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    char path[4096];
    struct stat st;
    (void)snprintf(path, sizeof(path), "%s/%s", dir, OPERATOR_MODULE);
    if (stat(path, &st) == 0)
        (void)printf("%s: %lld bytes\n", path, (long long)st.st_size);
    return CMD_OK;
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
