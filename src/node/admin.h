/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Unix socket in the data directory: DIR/admin.sock, mode 0600, HTTP.
 *
 *     GET /metrics   Prometheus text
 *     GET /guests    JSON list, as `dormouse guests -o json`
 *     GET /status    JSON: process ids (runners included) and counts
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"

struct admin;

struct admin_page {
    const char *path, *content_type;
    void (*render)(void *arg, struct buf *to);
};

enum { ADMIN_PAGE_MAX_BYTES = 64 << 20 };

/* pages: kept, ends with a NULL path. Replaces a socket that a dead process left behind. */
int admin_start(struct loop *loop, const char *data_dir, const struct admin_page *pages, void *arg,
                struct admin **ret, struct err *err);
/* done() on a later turn. */
void admin_close(struct admin *a, void (*done)(void *arg), void *arg);
