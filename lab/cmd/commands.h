/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of dormouse-lab, each defined in the file named after it. */
#pragma once

#include "cmd/cmd.h"

extern const struct cmd image_replay_command, nodes_simulate_command, operator_test_command,
    replay_command, scheduler_simulate_command;
