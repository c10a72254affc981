/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container in the foreground: one program of a command with one thread, without a loop.
 * Blocking.
 *
 * The container is below a PID namespace whose first process is the runtime, which gets SIGKILL
 * when this process ends: kill -9 of it leaves files alone.
 */
#pragma once

#include "base/err.h"

#include <signal.h>

/*
 * Run the bundle (a directory with config.json; the runtime keeps its files in runtime/ there) with
 * the standard files of this process, by the program of container_program_find(). Signals that
 * other processes send to this one are passed on; they stay blocked after it. crun makes no
 * control group; runc makes one by the name `id`, below that of this process, and removes it unless
 * it is killed. A terminal is left as it was if the runtime had no chance to do so. What this
 * process starts later is not in the container's namespaces. *ret_status: its exit status, 128 +
 * signal if one ended it, 127 without a runtime. Errors: of starting the runtime.
 */
int container_foreground_run(const char *program, const char *bundle, const char *id,
                             int *ret_status, struct err *err);

/* The signal by which a thread of this process ends the container, as SIGKILL does: the process
 * sends it to itself. Block it, before container_foreground_run(), as soon as a thread may. */
#define CONTAINER_FOREGROUND_KILL SIGRTMIN
/* Send it. Any thread. */
void container_foreground_kill(void);
