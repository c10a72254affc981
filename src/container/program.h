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
/* By its name: it knows options of crun. */
bool container_program_is_crun(const char *path);
