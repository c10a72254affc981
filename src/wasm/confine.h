/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rights that dormouse-runner and dormouse-compile drop before they read foreign code, apart
 * from system calls: files, networks, other processes, identity and capabilities. They have opened
 * all descriptors that they need by then.
 */
#pragma once

#include "base/err.h"

enum {
    /* User and group of these processes when dormouse runs as root. No other program uses this id,
     * and it fits in the 16 bits that containers usually map. */
    CONFINE_ID = 60999,
    CONFINE_OOM_SCORE = 500 /* when memory is short, the kernel kills such a process first */
};

/*
 * Make the kernel kill this process first when the machine runs out of memory. To be called before
 * confine_enter(), while /proc can be opened. Failure is ignored.
 */
void confine_oom(void);
/*
 * Drop these rights permanently; the process must have one thread. A process without privileges
 * makes its namespaces (mount: an empty root; network; IPC) in a user namespace; a namespace that
 * the kernel refuses is left as it is. Clears PR_SET_PDEATHSIG.
 * Errors: of the system calls that drop identity and capabilities.
 */
int confine_enter(struct err *err);
