/* SPDX-License-Identifier: Apache-2.0 */
/* Ask a running server over its admin socket; blocks. For commands. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum { ADMIN_TIMEOUT_MS = 5000 };

/*
 * GET `path` of the server of data_dir, appended to `to`. Errors: -ENOENT, -ECONNREFUSED: no server
 * runs there; -ETIMEDOUT; E_UNSUPPORTED: it answered something else than
 * 200, and this is what.
 */
int admin_get(const char *data_dir, const char *path, struct buf *to, struct err *err);

/*
 * The same for an answer that comes over time and may never end: each piece goes to on_data. A
 * server that ends meanwhile is an error.
 */
int admin_follow(const char *data_dir, const char *path, void (*on_data)(void *arg, struct str),
                 void *arg, struct err *err);
