/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a subcommand by its words; see dispatch.h. */
#include "cmd/dispatch.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_help(const struct cmd_program *p, FILE *to)
{
    struct str word, rest, last = STR("");
    (void)fputs(p->intro, to);
    for (const struct cmd *const *c = p->commands; *c; c++) {
        (void)str_cut(str_of((*c)->name), ' ', &word, &rest);
        for (size_t i = 0; i < p->n_sections && !str_eq(word, last); i++)
            if (str_is(word, p->sections[i].word))
                (void)fprintf(to, "\n%s:\n", p->sections[i].title);
        last = word;
        (void)fprintf(to, "  %-18s %s\n", (*c)->name, (*c)->doc);
    }
    (void)fputs(p->outro, to);
}

/* The number of words of argv that are the command's name; 0: they name another command. */
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

static bool is_in_group(const char *name, const char *group)
{
    return str_has_prefix(str_of(name), str_of(group)) && name[strlen(group)] == ' ';
}

static bool is_group(const struct cmd_program *p, const char *word)
{
    for (const struct cmd *const *c = p->commands; *c; c++)
        if (is_in_group((*c)->name, word))
            return true;
    return false;
}

static int print_group(const struct cmd_program *p, const char *word, FILE *to)
{
    if (to == stderr)
        (void)fprintf(to, "error: '%s %s' is followed by one of its commands\n\n", p->name, word);
    (void)fprintf(to, "Usage: %s %s COMMAND\n\nCommands:\n", p->name, word);
    for (const struct cmd *const *c = p->commands; *c; c++)
        if (is_in_group((*c)->name, word))
            (void)fprintf(to, "  %-18s %s\n", (*c)->name, (*c)->doc);
    return to == stdout ? CMD_OK : CMD_USAGE;
}

static const struct cmd *find_command(const struct cmd_program *p, int argc, char **argv,
                                      int *ret_words)
{
    const struct cmd *found = NULL;
    *ret_words = 0;
    for (const struct cmd *const *c = p->commands; *c; c++) {
        int words = match(*c, argc, argv);
        if (words > *ret_words) { /* "scheduler explain" is not "scheduler" with an argument */
            found = *c;
            *ret_words = words;
        }
    }
    return found;
}

/* Report an unknown command and suggest the nearest one, by its first one or two words. */
static int complain(const struct cmd_program *p, int argc, char **argv)
{
    VEC(const char *) names = { 0 };
    bool in_group = argc > 1 && argv[1][0] != '-' && is_group(p, argv[0]);
    scoped(free_scoped) char *word =
        in_group ? xasprintf("%s %s", argv[0], argv[1]) : xstrdup(argv[0]);
    for (const struct cmd *const *c = p->commands; *c; c++)
        vec_push(&names, (*c)->name);
    const char *near = cmd_nearest(word, names.p, names.n);
    if (near && in_group && !is_in_group(near, argv[0]))
        near = NULL;
    for (size_t i = 0; !near && !in_group && i < p->n_sections; i++) /* "oprator run" */
        near = cmd_nearest(word, &p->sections[i].word, 1);
    (void)fprintf(stderr, "error: unknown command '%s'; %s%s%s'%s %s%s--help' lists them\n", word,
                  near ? "did you mean '" : "", near ? near : "", near ? "'? " : "", p->name,
                  in_group ? argv[0] : "", in_group ? " " : "");
    vec_fini(&names);
    return CMD_USAGE;
}

static void on_abort(int sig)
{
    log_dump_ring(STDERR_FILENO);
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
}

void cmd_set_signals(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGCHLD, SIG_DFL); /* inherited as ignored, no child could be waited for */
    (void)signal(SIGABRT, on_abort);
}

static int dispatch(const struct cmd_program *p, int argc, char **argv)
{
    if (argc < 2) {
        print_help(p, stderr);
        return CMD_USAGE;
    }
    static char help_word[] = "--help";
    char *help_argv[] = { help_word };
    int words;
    bool is_help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
                   strcmp(argv[1], "help") == 0;
    if (is_help && argc == 2) {
        print_help(p, stdout);
        return CMD_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-v") == 0)
        return p->print_version(argc - 2, argv + 2);
    argc -= 1 + is_help; /* "help fn deploy" is "fn deploy --help" */
    argv += 1 + is_help;
    const struct cmd *found = find_command(p, argc, argv, &words);
    bool wants_help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    /* Another word after a group that takes no arguments is a misspelt command of the group. */
    if (found && words == 1 && is_group(p, argv[0]) && !found->args && argc > 1 &&
        argv[1][0] != '-')
        return complain(p, argc, argv);
    if (found)
        return is_help ? found->run(1, help_argv) : found->run(argc - words, argv + words);
    if (is_group(p, argv[0]) && (argc == 1 || wants_help))
        return print_group(p, argv[0], is_help || wants_help ? stdout : stderr);
    return complain(p, argc, argv);
}

/* A reader that has left a pipe has what it wanted; elsewhere, lost output is a failure. */
static bool is_pipe(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

int cmd_dispatch(const struct cmd_program *p, int argc, char **argv)
{
    int r = dispatch(p, argc, argv);
    bool is_written = fflush(stdout) == 0 && !ferror(stdout);
    if (is_written || r != CMD_OK || is_pipe(STDOUT_FILENO))
        return r;
    return cmd_failf(CMD_FAILED, "standard output cannot be written");
}
