/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OCI runtime of this machine: crun or runc.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>

/*
 * name: a program in PATH or in the usual directories, or a path; NULL: crun, else runc. *ret: its
 * real path; given, free(). Errors: -ENOENT, for a path those of realpath().
 */
int container_program_find(const char *name, char **ret, struct err *err);
/*
 * The version of crun, 1000 * major + minor: "crun version 1.8.1" is 1008. Runs it, and waits for
 * at most CONTAINER_PROGRAM_VERSION_MS. Errors: -ETIMEDOUT; -EBADMSG: it says something else; those
 * of the system calls.
 */
int container_program_crun_version(const char *path);
enum { CONTAINER_PROGRAM_VERSION_MS = 2000 };
/* By its name: it knows options of crun. */
bool container_program_is_crun(const char *path);
