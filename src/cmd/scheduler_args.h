/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands about the scheduler have in common: its configuration. */
#pragma once

#include "cmd/cmd.h"
#include "sched/config/config.h"

/*
 * Reads the configuration of `file` (for messages; NULL: none) into the arena and prints its
 * warnings. Errors: those of sched_config_read(), with the file in front.
 */
int scheduler_config_read(struct arena *a, const char *file, struct str text,
                          struct sched_config *ret, struct err *err);
/* The same of a file; text: receives what stands there, NULL: not wanted. file NULL: the defaults.
 */
int scheduler_config_load(struct arena *a, const char *file, struct sched_config *ret,
                          struct buf *text, struct err *err);
