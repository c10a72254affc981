/* SPDX-License-Identifier: Apache-2.0 */
/* The types of hostPath volumes. Blocking, any thread. */
#pragma once

#include "base/err.h"
#include "base/str.h"

/*
 * Check that `path` is what the type of a hostPath volume asks for, and make it for
 * DirectoryOrCreate and FileOrCreate. An empty type checks nothing. Errors: E_INVALID or -errno
 * with upstream's texts.
 */
int volume_host_path_check(const char *path, struct str type, struct err *err);
