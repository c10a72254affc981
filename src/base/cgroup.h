/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups of version 2 (Linux, admin-guide/cgroup-v2.rst): controllers for the groups below
 * one. Any thread; blocks, but only on the kernel.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>

/* The path of a group, or of the one above if cgroup_give() has moved this process into it;
 * borrowed from `path`. */
struct str cgroup_without_own(struct str path);
/* Whether a file of the group, such as "cgroup.controllers", has the word. */
bool cgroup_has_word(int group_fd, const char *file, const char *word);
/*
 * Give controllers to the groups below this one: "+cpu +memory". A group with processes cannot do
 * so, unless it is the root of all: if this process is alone in it, it moves to
 * "dormouse-main-PID" below first.
 *
 * Returns 1 if it has moved, else 0. Errors: -EBUSY, there are other processes; of the system
 * calls.
 */
int cgroup_give(int group_fd, const char *controllers);
/* Move this process back, and remove its group. */
void cgroup_move_back(int group_fd);
