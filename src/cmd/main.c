/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse: the table of subcommands, help, completion, and main(). */
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "cmd/commands.h"
#include "image/layer_child.h"
#include "image/lazy_guard.h"
#include "image/provide_child.h"

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
    "Usage: dormouse COMMAND [OPTION...] [ARGUMENT...]\n";

static const char outro[] = "\n"
                            "dormouse COMMAND --help says more about one of them.\n"
                            "\n"
                            "Exit status: 0 done, 1 failed (the message says why), 2 wrong usage,\n"
                            "3 the server or cluster that was asked is not there.\n";

/* Titles of the groups in the help, by the first word of their commands. */
static const struct {
    const char *word, *title;
} sections[] = { { "up", "Clusters" },           { "operator", "Operators" },
                 { "fn", "Functions" },          { "scheduler", "Scheduling" },
                 { "image", "Images" },          { "module", "Modules" },
                 { "guests", "What runs here" }, { "kubeconfig", "Administration" } };

static void print_help(FILE *to)
{
    struct str word, rest, last = STR("");
    (void)fputs(intro, to);
    for (const struct cmd *const *c = commands; *c; c++) {
        (void)str_cut(str_of((*c)->name), ' ', &word, &rest);
        for (size_t i = 0; i < ARRAY_LEN(sections) && !str_eq(word, last); i++)
            if (str_is(word, sections[i].word))
                (void)fprintf(to, "\n%s:\n", sections[i].title);
        last = word;
        (void)fprintf(to, "  %-18s %s\n", (*c)->name, (*c)->doc);
    }
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
    if (to == stderr)
        (void)fprintf(to, "error: 'dormouse %s' is followed by one of its commands\n\n", word);
    (void)fprintf(to, "Usage: dormouse %s COMMAND\n\nCommands:\n", word);
    for (const struct cmd *const *c = commands; *c; c++)
        if (str_has_prefix(str_of((*c)->name), str_of(word)) && (*c)->name[strlen(word)] == ' ')
            (void)fprintf(to, "  %-18s %s\n", (*c)->name, (*c)->doc);
    return to == stdout ? CMD_OK : CMD_USAGE;
}

static const struct cmd *find_command(int argc, char **argv, int *ret_words)
{
    const struct cmd *found = NULL;
    *ret_words = 0;
    for (const struct cmd *const *c = commands; *c; c++) {
        int words = match(*c, argc, argv);
        if (words > *ret_words) { /* "scheduler explain" is not "scheduler" with an argument */
            found = *c;
            *ret_words = words;
        }
    }
    return found;
}

/* Report an unknown command and suggest the nearest one, by its first one or two words. */
static int complain(int argc, char **argv)
{
    const char *names[ARRAY_LEN(commands)];
    size_t n = 0;
    bool in_group = argc > 1 && argv[1][0] != '-' && is_group(argv[0]);
    scoped(free_scoped) char *word =
        in_group ? xasprintf("%s %s", argv[0], argv[1]) : xstrdup(argv[0]);
    for (const struct cmd *const *c = commands; *c; c++)
        names[n++] = (*c)->name;
    const char *near = cmd_nearest(word, names, n);
    if (near && in_group &&
        !(str_has_prefix(str_of(near), str_of(argv[0])) && near[strlen(argv[0])] == ' '))
        near = NULL;
    for (size_t i = 0; !near && !in_group && i < ARRAY_LEN(sections); i++) /* "oprator run" */
        near = cmd_nearest(word, &sections[i].word, 1);
    (void)fprintf(stderr, "error: unknown command '%s'; %s%s%s'dormouse %s%s--help' lists them\n",
                  word, near ? "did you mean '" : "", near ? near : "", near ? "'? " : "",
                  in_group ? argv[0] : "", in_group ? " " : "");
    return CMD_USAGE;
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
    (void)signal(SIGCHLD, SIG_DFL); /* inherited as ignored, no child could be waited for */
    (void)signal(SIGABRT, crash_dump);
    if (argc > 1 && str_is(str_of(argv[1]), LAYER_CHILD_WORD)) /* no command for people */
        return layer_child_main(argc, argv);
    if (argc > 1 && str_is(str_of(argv[1]), PROVIDE_CHILD_WORD)) /* likewise */
        return provide_child_main();
    if (argc > 1 && str_is(str_of(argv[1]), LAZY_GUARD_WORD)) /* likewise */
        return lazy_guard_main(argc, argv);
    if (argc < 2) {
        print_help(stderr);
        return CMD_USAGE;
    }
    static char help_word[] = "--help";
    char *help_argv[] = { help_word };
    int words;
    bool is_help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
                   strcmp(argv[1], "help") == 0;
    if (is_help && argc == 2) {
        print_help(stdout);
        return CMD_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-v") == 0)
        return cmd_version.run(argc - 2, argv + 2);
    argc -= 1 + is_help; /* "help fn deploy" is "fn deploy --help" */
    argv += 1 + is_help;
    const struct cmd *found = find_command(argc, argv, &words);
    bool wants_help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    /* Another word after a group that takes no arguments is a misspelt command of the group. */
    if (found && words == 1 && is_group(argv[0]) && !found->args && argc > 1 && argv[1][0] != '-')
        return complain(argc, argv);
    if (found)
        return is_help ? found->run(1, help_argv) : found->run(argc - words, argv + words);
    if (is_group(argv[0]) && (argc == 1 || wants_help))
        return print_group(argv[0], is_help || wants_help ? stdout : stderr);
    return complain(argc, argv);
}
