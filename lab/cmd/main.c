/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dormouse-lab: simulators, replay of recorded load, simulated nodes, and the tests of operators.
 *
 * dormouse lists these commands and starts this program for them (cmd/lab.h), so their code is not
 * part of the server program.
 */
#include "base/version.h"
#include "cmd/dispatch.h"
#include "cmd/lab.h"
#include "lab/cmd/commands.h"
#include "version.h" /* made by meson: the commit that was built */

#include <stdio.h>
#include <string.h>

static const struct cmd *const commands[] = { &operator_test_command,  &scheduler_simulate_command,
                                              &nodes_simulate_command, &replay_command,
                                              &image_replay_command,   NULL };

static const char intro[] = "dormouse-lab: simulators, replay of recorded load, and the tests of "
                            "operators.\n"
                            "\n"
                            "dormouse starts this program for these commands of its own.\n"
                            "\n"
                            "Usage: " LAB_PROGRAM " COMMAND [OPTION...] [ARGUMENT...]\n"
                            "\n"
                            "Commands:\n";

static const char outro[] = "\n" LAB_PROGRAM " COMMAND --help says more about one of them.\n";

static int print_version(int argc, char **argv)
{
    (void)printf(LAB_PROGRAM " %s\n", strrchr(DORMOUSE_BUILT, ' ') + 1);
    return CMD_OK;
}

int main(int argc, char **argv)
{
    const struct cmd_program lab = { .name = LAB_PROGRAM,
                                     .intro = intro,
                                     .outro = outro,
                                     .commands = commands,
                                     .print_version = print_version };
    cmd_set_signals();
    version_set(strrchr(DORMOUSE_BUILT, ' ') + 1);
    return cmd_dispatch(&lab, argc, argv);
}
