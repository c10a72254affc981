/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse version */
#include "version.h" /* made by meson: what was built */
#include "cmd/cmd.h"

#include <stdio.h>
#include <string.h>

static const char *output = "";

static const struct cmd_opt opts[] = {
    { "output", 'o', "FORMAT", "json (a line)", CMD_STRING, &output, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *version_opts(void)
{
    return opts;
}

/* "COMMIT DATE", as tools/describe-commit prints them; both are "unknown" without git. */
static void split(struct str *ret_commit, struct str *ret_date)
{
    (void)str_cut(STR(DORMOUSE_COMMIT), ' ', ret_commit, ret_date);
}

void cmd_commit(struct str *ret_commit, struct str *ret_date)
{
    split(ret_commit, ret_date);
    if (str_is(*ret_commit, "unknown"))
        *ret_commit = *ret_date = STR("");
}

static int run(int argc, char **argv)
{
    size_t n;
    struct str commit, date;
    int r = cmd_parse(&cmd_version, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    split(&commit, &date);
    if (strcmp(output, "json") == 0)
        (void)printf("{\"version\":\"%s\",\"commit\":\"" STR_FMT "\",\"date\":\"" STR_FMT "\"}\n",
                     DORMOUSE_VERSION, STR_ARG(commit), STR_ARG(date));
    else if (output[0])
        return cmd_failf(CMD_USAGE, "--output is json, not '%s'", output);
    else
        (void)printf("dormouse %s (commit " STR_FMT ", " STR_FMT ")\n", DORMOUSE_VERSION,
                     STR_ARG(commit), STR_ARG(date));
    return CMD_OK;
}

const struct cmd cmd_version = {
    .name = "version",
    .doc = "print the version, and the commit that was built",
    .run = run,
    .opts = version_opts,
};
