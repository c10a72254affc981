/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory cgroup that runners and compilers share. Each of them has a limit of its own; the
 * cgroup limits their sum, including page cache and kernel memory. When it is full, the kernel
 * kills one of them and no other process.
 *
 *     OWN GROUP/dormouse-guests-PID    runners and compilers
 *     OWN GROUP/dormouse-main-PID      v2, where OWN GROUP may have no processes then: this process
 *
 * cgroup v2 is used where the cgroup of this process is delegated to it (as systemd does with
 * Delegate=yes, or as the root of a container's own cgroup namespace); else v1's memory controller;
 * else no cgroup, which is logged once. The process has one such cgroup, created for the first
 * child and removed with the last reference. Children join it themselves (confine_join_memory()):
 * the kernel may take milliseconds for that, which would block the main loop. Loop thread only.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct memory_group {
    int procs_fd; /* cgroup.procs of dormouse-guests-PID; -1: no cgroup */
    char *parent;
    bool is_v2, has_moved; /* has_moved: this process is in dormouse-main-PID */
    bool is_final;         /* creating the cgroup failed, and the reason was logged */
};

/* Code that starts such processes holds a reference. */
void memory_group_ref(void);
void memory_group_unref(void);
/*
 * The descriptor to pass to a child as its standard input, by which it joins the cgroup; borrowed
 * until the next call or the last unref. -1: no cgroup.
 */
int memory_group_stdin(void);

/* ---- for tests ---- */

/*
 * root: mount point of the cgroup file systems.
 * proc: the text of /proc/self/cgroup.
 * max_bytes: the limit; 0: what is left of the limit that applies to us, or of the machine's
 * memory, less a sixteenth for this process.
 */
int memory_group_open(struct memory_group *g, const char *root, struct str proc, uint64_t max_bytes,
                      struct err *err);
void memory_group_close(struct memory_group *g);
