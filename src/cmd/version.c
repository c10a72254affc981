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

/* What tools/describe-commit printed: commit and date, "unknown" without git, and the version. */
struct built {
    struct str commit, date, version;
};

static struct built built(void)
{
    struct built b;
    struct str rest;
    (void)str_cut(STR(DORMOUSE_BUILT), ' ', &b.commit, &rest);
    (void)str_cut(rest, ' ', &b.date, &b.version);
    return b;
}

void cmd_commit(struct str *ret_commit, struct str *ret_date)
{
    struct built b = built();
    bool is_known = !str_is(b.commit, "unknown");
    *ret_commit = is_known ? b.commit : STR("");
    *ret_date = is_known ? b.date : STR("");
}

static int run(int argc, char **argv)
{
    size_t n;
    int r = cmd_parse(&cmd_version, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    struct built b = built();
    if (strcmp(output, "json") == 0)
        (void)printf("{\"version\":\"" STR_FMT "\",\"commit\":\"" STR_FMT "\",\"date\":\"" STR_FMT
                     "\"}\n",
                     STR_ARG(b.version), STR_ARG(b.commit), STR_ARG(b.date));
    else if (output[0])
        return cmd_failf(CMD_USAGE, "--output is json, not '%s'", output);
    else
        (void)printf("dormouse " STR_FMT " (commit " STR_FMT ", " STR_FMT ")\n", STR_ARG(b.version),
                     STR_ARG(b.commit), STR_ARG(b.date));
    return CMD_OK;
}

const struct cmd cmd_version = {
    .name = "version",
    .doc = "print the version, and the commit that was built",
    .run = run,
    .opts = version_opts,
};
