/* SPDX-License-Identifier: Apache-2.0 */
/* A program with subcommands: its table, its help, and the command that a command line names. */
#pragma once

#include "cmd/cmd.h"

struct cmd_section {
    const char *word, *title; /* the first word of the section's commands, and its title in help */
};

struct cmd_program {
    const char *name;                  /* "dormouse" */
    const char *intro, *outro;         /* of --help, before and after the commands */
    const struct cmd *const *commands; /* in the order of help; ends with NULL */
    const struct cmd_section *sections;
    size_t n_sections;
    int (*print_version)(int argc, char **argv); /* for --version; as cmd.run */
};

/* Set up the signals of a program with subcommands: SIGABRT prints the last log lines. */
void cmd_set_signals(void);
/* Run the command that argv[1..] names, or print help. argv[0] is ignored. Returns a cmd_exit. */
int cmd_dispatch(const struct cmd_program *p, int argc, char **argv);
