/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups version 2 (Linux, admin-guide/cgroup-v2.rst): enable controllers for the children
 * of a cgroup. Any thread; blocks on the kernel alone.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>

/* `path`, or its parent if `path` is the child into which cgroup_give() moved this process;
 * borrowed from `path`. */
struct str cgroup_without_own(struct str path);
/* Whether a file of the cgroup, such as "cgroup.controllers", contains the word. */
bool cgroup_has_word(int group_fd, const char *file, const char *word);
/*
 * Enable controllers for the children of this cgroup: "+cpu +memory". The kernel refuses this for a
 * cgroup that holds processes, unless it is the root cgroup. If this process is the only one in it,
 * the function first moves the process into a child, "dormouse-main-PID".
 *
 * Returns 1 if the process was moved, else 0. Errors: -EBUSY: the cgroup holds other processes;
 * those of the system calls.
 */
int cgroup_give(int group_fd, const char *controllers);
/* Move this process back to the parent, and remove the child cgroup. */
void cgroup_move_back(int group_fd);
