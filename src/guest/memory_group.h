/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control group of memory that runners and compilers share: beside their own limits, which
 * bound each of them, it bounds what all take together, page cache and memory of the kernel
 * included. When it is full, the kernel ends one of them and nothing else.
 *
 *     OWN GROUP/dormouse-guests-PID    runners and compilers
 *     OWN GROUP/dormouse-main-PID      v2, where OWN GROUP may have no processes then: this process
 *
 * v2 where the group of this process is delegated to it (as systemd does it with Delegate=yes, or
 * as the root of a container's own namespace of groups); else v1's memory controller; else nothing,
 * which is logged once. One group for the process, made for the first child, removed with the last
 * reference. Children move there themselves (confine_join_memory()): the kernel may take
 * milliseconds for that, which main's loop has not. Loop thread only.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct memory_group {
    int procs_fd; /* cgroup.procs of dormouse-guests-PID; -1: there is none */
    char *parent;
    bool is_v2, has_moved; /* this process, into dormouse-main-PID */
    bool is_final;         /* there is none, and the log says why */
};

/* Who may start such processes holds a reference. */
void memory_group_ref(void);
void memory_group_unref(void);
/* What such a process gets as its standard input, so that it can move there; borrowed until the
 * next call or the last reference. -1: there is no group. */
int memory_group_stdin(void);

/* ---- for tests ---- */

/*
 * root: where control groups are mounted; proc: text of /proc/self/cgroup; max_bytes: 0: what is
 * left of the limit that binds us, or of the machine's memory, without a sixteenth for ourselves.
 */
int memory_group_open(struct memory_group *g, const char *root, struct str proc, uint64_t max_bytes,
                      struct err *err);
void memory_group_close(struct memory_group *g);
