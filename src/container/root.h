/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root file system of a container, seen from outside: no link in it leads out of it. Blocking,
 * any thread.
 */
#pragma once

#include <stdbool.h>

enum { CONTAINER_ROOT_LOOKUPS_MAX = 1 << 16 };

/* As open(2), below root_fd, whatever links are there. Returns a descriptor or -errno. */
int container_root_open(int root_fd, const char *path, int flags);

/*
 * Make the directory or empty file `path`, and the directories on the way, where they are missing:
 * the program that starts a container makes mount points, and fails where another start on the same
 * root file system is faster. What cannot be made is left to that program to complain about.
 * left: names that may still be looked up, of CONTAINER_ROOT_LOOKUPS_MAX for a root file system.
 */
void container_root_make_point(int root_fd, const char *path, bool is_file, unsigned *left);
