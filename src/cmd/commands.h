/* SPDX-License-Identifier: Apache-2.0 */
/* The commands in the order in which --help shows them; each is defined in the file named after it. */
#pragma once

#include "cmd/cmd.h"

#define COMMANDS &cmd_api, &cmd_version,
