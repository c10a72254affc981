/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gateway's own error responses: a status, a reason, a sentence; for gRPC clients a gRPC
 * status.
 */
#include "fn/gateway/call.h"

#include <stdio.h>

static int grpc_status(int status)
{
    switch (status) {
    case 400:
        return 13; /* INTERNAL */
    case 401:
        return 16; /* UNAUTHENTICATED */
    case 404:
        return 12; /* UNIMPLEMENTED */
    case 413:
        return 8; /* RESOURCE_EXHAUSTED */
    case 504:
        return 4; /* DEADLINE_EXCEEDED */
    default:
        return 14; /* UNAVAILABLE: the client may retry */
    }
}

void refusal_send(struct http_exchange *x, bool is_grpc, const struct gateway_refusal *why,
                  const char *call_id, const char *text)
{
    struct headers h = { 0 };
    char number[16], body[640];
    (void)headers_addc(&h, "x-dormouse-reason", why->reason);
    if (call_id)
        (void)headers_addc(&h, "x-dormouse-call-id", call_id);
    if (why->retry_after_s) {
        (void)snprintf(number, sizeof number, "%u", why->retry_after_s);
        (void)headers_addc(&h, "retry-after", number);
    }
    if (why->status == 401)
        (void)headers_addc(&h, "www-authenticate", "Bearer");
    if (is_grpc) { /* a trailers-only answer */
        (void)snprintf(number, sizeof number, "%d", grpc_status(why->status));
        (void)headers_addc(&h, "content-type", "application/grpc");
        (void)headers_addc(&h, "grpc-status", number);
        (void)headers_addc(&h, "grpc-message", why->reason);
        http_respond(x, 200, &h, 0);
        http_end(x);
    } else {
        (void)headers_addc(&h, "content-type", "text/plain; charset=utf-8");
        (void)snprintf(body, sizeof body, "%s: %s\n", why->reason, text);
        http_reply(x, why->status, &h, str_of(body));
    }
    headers_fini(&h);
}
