/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse: the table of subcommands, help, completion, and main(). */
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct cmd *const commands[] = { COMMANDS NULL };

static const char intro[] =
    "dormouse: an edge control plane that sleeps.\n"
    "\n"
    "Runs Kubernetes operators and functions as Wasm guests next to its own small Kubernetes\n"
    "API server; what is idle is written to disk, or nothing but a record.\n"
    "\n"
    "Usage: dormouse COMMAND [OPTION...] [ARGUMENT...]\n"
    "\n"
    "Commands:\n";

static const char outro[] = "\n"
                            "dormouse COMMAND --help says more about one of them.\n"
                            "\n"
                            "Exit status: 0 done, 1 failed (the message says why), 2 wrong usage,\n"
                            "3 the server or cluster that was asked is not there.\n";

static void print_help(FILE *to)
{
    (void)fputs(intro, to);
    for (const struct cmd *const *c = commands; *c; c++)
        (void)fprintf(to, "  %-18s %s\n", (*c)->name, (*c)->doc);
    (void)fputs(outro, to);
}

/* How many words of argv the command's name takes; 0: it is another command. */
static int match(const struct cmd *c, int argc, char **argv)
{
    struct str rest = str_of(c->name), word;
    for (int i = 0; rest.n; i++) {
        (void)str_cut(rest, ' ', &word, &rest);
        if (i >= argc || !str_is(word, argv[i]))
            return 0;
        if (rest.n == 0)
            return i + 1;
    }
    return 0;
}

static bool is_group(const char *word)
{
    for (const struct cmd *const *c = commands; *c; c++)
        if (str_has_prefix(str_of((*c)->name), str_of(word)) && (*c)->name[strlen(word)] == ' ')
            return true;
    return false;
}

static int print_group(const char *word, FILE *to)
{
    (void)fprintf(to, "Usage: dormouse %s COMMAND\n\nCommands:\n", word);
    for (const struct cmd *const *c = commands; *c; c++)
        if (str_has_prefix(str_of((*c)->name), str_of(word)) && (*c)->name[strlen(word)] == ' ')
            (void)fprintf(to, "  %-18s %s\n", (*c)->name, (*c)->doc);
    return to == stdout ? CMD_OK : CMD_USAGE;
}

static void crash_dump(int sig)
{
    log_dump_ring(STDERR_FILENO);
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
}

int main(int argc, char **argv)
{
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGABRT, crash_dump);
    if (argc < 2) {
        print_help(stderr);
        return CMD_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return CMD_OK;
    }
    if (strcmp(argv[1], "--version") == 0)
        return cmd_version.run(0, argv + 2);
    const struct cmd *found = NULL;
    int most = 0;
    for (const struct cmd *const *c = commands; *c; c++) {
        int words = match(*c, argc - 1, argv + 1);
        if (words > most) { /* "scheduler explain" is not "scheduler" with an argument */
            found = *c;
            most = words;
        }
    }
    if (found)
        return found->run(argc - 1 - most, argv + 1 + most);
    if (is_group(argv[1])) {
        bool help = argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0);
        return print_group(argv[1], help ? stdout : stderr);
    }
    (void)fprintf(stderr, "error: unknown command '%s'; 'dormouse --help' lists them\n", argv[1]);
    return CMD_USAGE;
}
