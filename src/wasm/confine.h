/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What dormouse-runner and dormouse-compile give up before they look at foreign code, apart from
 * system calls: files, networks, other processes, identity and capabilities. All that they need is
 * open by then.
 */
#pragma once

#include "base/err.h"

enum {
    /* User and group of these processes when dormouse is root: nobody else's, and within the 16
     * bits that containers usually map. */
    CONFINE_ID = 60999,
    CONFINE_OOM_SCORE = 500 /* the kernel, out of memory, ends such a process before others */
};

/*
 * While files can still be named: be the first to go when the machine is out of memory. May do
 * nothing.
 */
void confine_oom(void);
/*
 * For good; the process has one thread. Namespaces (mount: an empty root; network; IPC) are left as
 * they are where the kernel does not let us make them; a process without privileges gets them in a
 * user namespace. Clears PR_SET_PDEATHSIG.
 * Errors: of the system calls that drop identity and capabilities.
 */
int confine_enter(struct err *err);
