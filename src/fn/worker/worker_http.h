/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listener of a worker for sandboxes without an address of their own (Endpoint.by_worker):
 * gateways of other processes send a request here, and it becomes a call of the runtime.
 *
 * Fields from the gateway, removed before the sandbox sees the request:
 *
 *     x-dormouse-sandbox      the sandbox's number in decimal; required
 *     x-dormouse-token        the shared token, if one is configured
 *     x-dormouse-call-id, x-dormouse-peer
 *     x-dormouse-scheme       "https": the client used TLS
 *     x-dormouse-timeout-ms   the remaining time of the request
 *     x-dormouse-response-max, x-dormouse-script-name    as in struct invoke_request
 *
 * Fields to the gateway. No sandbox can forge them, since fields of these names are dropped from
 * answers:
 *
 *     x-dormouse-error        the invocation's end, on status 502: "ECONNREFUSED" (nothing has
 * run), "EBUSY", "ETIMEDOUT", "E_TRAP", ... as err_name() prints it x-dormouse-reason       the
 * reason of on_end()
 *
 * An answer that breaks after its head is cut. 401: the client is not authorised; 400: no sandbox
 * is named.
 */
#pragma once

#include "fn/worker/worker.h"
#include "io/http.h"

struct worker_http;

enum { WORKER_TOKEN_MIN = 16 }; /* bytes */

struct worker_http_opts {
    struct loop *loop;
    const char *host;    /* NULL: 127.0.0.1 */
    uint16_t port;       /* 0: any */
    struct tls_ctx *tls; /* kept; NULL: plain */
    /*
     * The authorised clients. With a token: a client that sends it; with an organisation: a client
     * with a certificate of tls's CA that names it (O). Without either only on loopback. Copied.
     */
    const char *token, *organisation;
};

/* Errors: E_INVALID a listener that would be open to everyone; as http_server_start(). */
int worker_http_start(const struct worker_http_opts *opts, struct worker_http **ret,
                      struct err *err);
uint16_t worker_http_port(const struct worker_http *h);
/*
 * The sandboxes: worker_invoker() or simulate_invoker(), kept until closed. Requests before this
 * call are refused: a worker needs the port when it starts.
 */
void worker_http_serve(struct worker_http *h, struct invoker *invoker);
/* Before the worker is stopped. */
void worker_http_close(struct worker_http *h, uint64_t grace_ms, void (*done)(void *arg),
                       void *arg);
