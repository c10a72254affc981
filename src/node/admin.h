/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Unix socket in the data directory: DIR/admin.sock, mode 0600, HTTP.
 *
 *     GET /metrics   Prometheus text
 *     GET /guests    JSON list, as `dormouse guests -o json`
 *     GET /status    JSON: process ids (runners included) and counts
 *     GET /functions JSON list of the functions and counts of this process's gateway
 *     GET /operator?namespace=NS&name=NAME   JSON: operator/host/describe.h
 *     GET /trace?namespace=NS&name=NAME      JSON lines as they happen: operator/v1/trace.h
 *     GET /scheduler/explain?namespace=NS&name=POD   JSON: sched/explain/explain.h
 *     POST /node/shutdown?groups=...         JSON: node/shutdown_page.h
 *     /v1/namespaces/NS/functions...         functions by REST: fn/control/rest.c
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"

struct admin;
struct http_exchange;
struct http_request;
struct url_target;

struct admin_page {
    const char *path, *content_type;
    /*
     * A page sets one of render, serve and stream. render: appends the response to `to` and returns
     * its status; `to` is an error text if that is not 200.
     */
    int (*render)(void *arg, const struct url_target *target, struct buf *to);
    /*
     * Handles any path and method. Returns true if the request belongs to this page and was taken.
     */
    bool (*serve)(void *arg, struct http_exchange *x, const struct http_request *req);
    /* Responds itself, at once or over time. */
    void (*stream)(void *arg, const struct url_target *target, struct http_exchange *x);
};

enum { ADMIN_PAGE_MAX_BYTES = 64 << 20 };

/*
 * pages: kept, ended by an entry without path and serve(). Replaces a socket that a dead process
 * left behind.
 */
int admin_start(struct loop *loop, const char *data_dir, const struct admin_page *pages, void *arg,
                struct admin **ret, struct err *err);
/* done() runs on a later turn. */
void admin_close(struct admin *a, void (*done)(void *arg), void *arg);
