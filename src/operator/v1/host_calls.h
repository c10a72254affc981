/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a guest of ABI v1 calls and waits for: requests to the API, reads from the cache,
 * configurations (docs/guest-abi.md sections 5, 6, 7). One call of one instance at a time.
 *
 *     guest_ops.on_call -> host_call_begin() -> exchange | cache read | config read
 *                                                  |
 *     guest_reply()     <- done() <----------------'
 *
 * A call that is given up ends without an answer; what a request has done by then stays done.
 */
#pragma once

#include "guest/guest.h"
#include "operator/allow.h"
#include "operator/v1/config.h"
#include "operator/v1/interests.h"

enum {
    HOST_CALL_ANSWER_MAX_BYTES = 16 << 20, /* what a guest reads as the result of a call */
    HOST_CALL_BODY_MAX_BYTES =
        HOST_CALL_ANSWER_MAX_BYTES - (128 << 10), /* leaves the headers room */
    HOST_CALL_ITEMS_MAX = 500,                    /* of a list without a limit, */
    HOST_CALL_LIMIT_MAX = 10000                   /* and the largest limit */
};

/* What an operator's calls need; kept. Members may change between calls. */
struct host_calls {
    struct loop *loop;
    struct transport *transport; /* speaks as the operator */
    const struct allow *allow;   /* NULL: all */
    const char *namespace, *name;
    const struct declaration *declaration;
    struct interests *interests;
    struct configs *configs;
};

struct host_call;

/* value: what the call returns in the guest; bytes: its result, borrowed for the call. */
typedef void (*host_call_done_fn)(void *arg, int64_t value, struct str bytes);

/*
 * Every kind but GUEST_CALL_DECLARE. Strings of `call` are borrowed. done() is called once, not
 * before this has returned. The call is valid until done() or host_call_cancel().
 */
struct host_call *host_call_begin(const struct host_calls *env, const struct guest_call *call,
                                  host_call_done_fn done, void *arg);
/* done() is not called any more. NULL is fine. */
void host_call_cancel(struct host_call *c);
/* "GET /api/v1/...", "cache_list pods": for traces. */
const char *host_call_what(const struct host_call *c);

/* The code that a guest sees for one of ours. */
enum guest_error host_call_error(int r);
