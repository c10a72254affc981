/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands in containers that run: as the container's own user, with its environment, directory
 * and capabilities, which its config.json has (kubectl exec has no other).
 */
#pragma once

#include "container/exec.h"

struct agent_exec;
struct agent_run;

enum { AGENT_EXEC_OUTPUT_MAX = 10 << 10 };

/* What container_exec_start() needs; strings are in the arena. */
struct agent_exec_process {
    struct container_process process;
    struct container_user user;
    struct container_strings args, env;
};
/* argv: kept. Reads the configuration of the run. Errors: -ESRCH: it does not run; E_CORRUPT. */
int agent_exec_process(struct arena *a, const struct agent_run *r, const struct str *argv, size_t n,
                       struct agent_exec_process *ret, struct err *err);

/*
 * Run it and collect what it prints, for hooks and probes. done: exactly once, on a later turn,
 * unless it is cancelled. r 0: the exit status (128 + the signal), and the first bytes of stdout
 * and stderr. r < 0: it could not be run, `output` says why. Errors: -ESRCH: the container does not
 * run; those of starting it.
 */
int agent_exec_capture(struct agent_run *r, const struct str *command, size_t n,
                       void (*done)(void *arg, int r, int status, struct str output), void *arg,
                       struct agent_exec **ret, struct err *err);
/* End the command; done() follows. */
void agent_exec_stop(struct agent_exec *e);
/* End the command; no callback. */
void agent_exec_cancel(struct agent_exec *e);
