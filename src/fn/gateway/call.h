/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files that handle calls share: calls.c holds the life of a call, request.c and submit.c
 * create calls, refusal.c writes the gateway's own error responses.
 */
#pragma once

#include "fn/gateway/gateway_int.h"

struct gateway_refusal {
    int status;
    const char *reason;
    unsigned retry_after_s; /* 0: not said */
};
/* call_id may be NULL. */
void refusal_send(struct http_exchange *x, bool is_grpc, const struct gateway_refusal *why,
                  const char *call_id, const char *text);

/* In CALL_NEW, without client, function and fields. */
struct gateway_call *call_new(struct gateway *g);
void call_id_make(struct gateway_call *c);
/* Its limits; its function and revision; the pool, which is this gateway's. */
void call_use_spec(struct gateway_call *c, const struct fn_spec *spec);
void call_use_function(struct gateway_call *c, const struct gateway_function *f, uint32_t revision);
void call_use_pool(struct gateway_call *c, struct gateway_function *f);
/* Start it in a sandbox, else append it to the queue; or refuse it. */
void call_place(struct gateway_call *c);
/* To the gateway that owns the function. */
void call_forward(struct gateway_call *c, size_t member);
/* Both assert the edge, and what must hold in the new state. */
void call_move(struct gateway_call *c, enum call_at to);
void call_body_move(struct gateway_call *c, enum call_body_at to);
static inline bool call_has_whole_body(const struct gateway_call *c)
{
    return c->body.at == CALL_BODY_NONE || c->body.at == CALL_BODY_WHOLE;
}
/* A piece of the request's body; false: full. */
bool call_take_body(struct gateway_call *c, struct str chunk);
/* Callbacks of the exchange that a call belongs to. */
extern const struct http_exchange_ops call_exchange_ops;

/* Send an error response, or cut a response that has begun. CALL_OVER afterwards. */
void call_fail(struct gateway_call *c, const struct gateway_refusal *why, const char *text);
/* Report the end to the submitter, on the next turn. */
void call_report_end(struct gateway_call *c, int code, const char *reason);
void call_leave_queue(struct gateway_call *c);
/* No recipient waits for the answer any more. */
void call_over(struct gateway_call *c);
/* Free the call if it is over and no callback can still arrive. */
void call_settle(struct gateway_call *c);
void call_free(struct gateway_call *c);
