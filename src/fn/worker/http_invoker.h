/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of sandboxes with an address, for a worker whose sandboxes gateways on other machines
 * cannot reach: the worker receives the request through worker_http.h and passes it on.
 *
 * Loop thread only.
 */
#pragma once

#include "fn/invoke.h"
#include "io/loop.h"

struct http_invoker;

enum { HTTP_INVOKER_CONNECTIONS = 256, HTTP_INVOKER_CONNECT_MS = 5000 };

/* address: "IPv4:PORT". h2c: by prior knowledge. Errors: E_INVALID the address. */
int http_invoker_new(struct loop *loop, const char *address, bool h2c, struct http_invoker **ret,
                     struct err *err);
/*
 * Running calls end with -ECONNRESET, on later turns; memory is freed after the last. NULL is fine.
 */
void http_invoker_close(struct http_invoker *v);
struct invoker *http_invoker_get(struct http_invoker *v);
