/* SPDX-License-Identifier: Apache-2.0 */
/* A client of a running server's admin socket, for commands; blocks. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum { ADMIN_TIMEOUT_MS = 5000 };

/*
 * GET `path` from the server of data_dir; the body is appended to `to`. Errors: -ENOENT,
 * -ECONNREFUSED: no server is running there; -ETIMEDOUT; E_UNSUPPORTED: the status was not 200, and
 * `to` holds the body.
 */
int admin_get(const char *data_dir, const char *path, struct buf *to, struct err *err);

/*
 * As admin_get(), for a response that arrives over time and may never end: each piece is passed to
 * on_data. If the server ends meanwhile, that is an error.
 */
int admin_follow(const char *data_dir, const char *path, void (*on_data)(void *arg, struct str),
                 void *arg, struct err *err);
/* The same, by POST without a body. */
int admin_post(const char *data_dir, const char *path, void (*on_data)(void *arg, struct str),
               void *arg, struct err *err);
