/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories below /run of agents whose data directory was removed: a start of an agent removes
 * them, since no process will ever use them again.
 *
 *     /run/dormouse-agent-HASH/owner    the path of the data directory; a shared lock of each
 *                                       agent that runs, an exclusive one while it is removed
 *     /run/dormouse-pod-HASH, /run/dormouse-roots-HASH
 *
 * They stay while an agent has the lock, while the path exists, and while a process is in the
 * control groups of the data directory. Directories without the file are left alone.
 */
#pragma once

#include "base/err.h"

struct agent;

enum { AGENT_RUN_DIRS_MAX = 1024 /* data directories that one start looks at */ };

/*
 * Before anything else is made in run_dir: name its data directory, and take the shared lock.
 * Waits for the end of its removal. ret_fd: the lock, until it is closed. Blocks.
 */
int agent_run_dir_claim(const char *run_dir, const char *data_dir, int *ret_fd, struct err *err);
/* Look for those to remove, and remove them one by one, on other threads; failures are logged.
 * Afterwards a->sweep is NULL, and agent_part_stopped() was called if the agent stops. */
void agent_run_dirs_sweep(struct agent *a);
