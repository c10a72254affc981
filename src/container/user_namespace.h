/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User namespaces that outlive the processes in them, for containers whose root is no root of the
 * machine: a file on which the namespace is mounted. Blocking, on any thread; a child of the
 * calling process enters the namespaces, for a process with threads cannot.
 */
#pragma once

#include "base/err.h"

#include <stdint.h>

/* Ids 0 to n - 1 of the namespace are those from `base` on of this machine. path: a file that is
 * made; fine if the namespace is there. Errors: E_UNSUPPORTED: the kernel allows none. */
int user_namespace_make(const char *path, uint32_t base, uint32_t n, struct err *err);
/* Fine if there is none. */
void user_namespace_remove(const char *path);
/*
 * A new namespace that belongs to the one at user_path; type: CLONE_NEWNET or CLONE_NEWIPC.
 * Returns its descriptor, given.
 */
int user_namespace_open_new(const char *user_path, int type, struct err *err);
/*
 * The mount at `path`, with what is below it in the same file system alone, as a mount of no place
 * where owners are mapped: what is root's there is shown as that of the namespace's root. Returns
 * its descriptor, given. Errors: E_UNSUPPORTED: the file system cannot do that.
 */
int user_namespace_map_mount(const char *user_path, const char *path, struct err *err);
