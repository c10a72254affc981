/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a guest of ABI v1 that the guest waits for: requests to the API, reads from the cache,
 * configurations (docs/guest-abi.md sections 5, 6, 7). One call of one instance at a time.
 *
 *     guest_ops.on_call -> host_call_begin() -> exchange | cache read | config read
 *                                                  |
 *     guest_reply()     <- done() <----------------'
 *
 * A cancelled call ends without a reply; the effects of its request so far remain.
 */
#pragma once

#include "guest/guest.h"
#include "operator/allow.h"
#include "operator/v1/config.h"
#include "operator/v1/interests.h"

enum {
    HOST_CALL_ANSWER_MAX_BYTES = 16 << 20, /* the result of a call, as the guest reads it */
    HOST_CALL_BODY_MAX_BYTES =
        HOST_CALL_ANSWER_MAX_BYTES - (128 << 10), /* leaves space for the headers */
    HOST_CALL_ITEMS_MAX = 500,                    /* of a list without a limit */
    HOST_CALL_LIMIT_MAX = 10000                   /* largest limit */
};

/* What the calls of one operator need; kept. Members may change between calls. */
struct host_calls {
    struct loop *loop;
    struct transport *transport; /* uses the operator's identity */
    const struct allow *allow;   /* NULL: all */
    const char *namespace, *name;
    const struct declaration *declaration;
    struct interests *interests;
    struct configs *configs;
};

struct host_call;

/* value: the return value of the call in the guest; bytes: its result, borrowed for the call. */
typedef void (*host_call_done_fn)(void *arg, int64_t value, struct str bytes);

/*
 * For every kind except GUEST_CALL_DECLARE. Strings of `call` are borrowed. done() runs once, never
 * before this function has returned. The call is valid until done() or host_call_cancel().
 */
struct host_call *host_call_begin(const struct host_calls *env, const struct guest_call *call,
                                  host_call_done_fn done, void *arg);
/* done() does not run afterwards. NULL is fine. */
void host_call_cancel(struct host_call *c);
/* "GET /api/v1/...", "cache_list pods": for traces. */
const char *host_call_what(const struct host_call *c);

/* The guest-visible code for one of our error codes. */
enum guest_error host_call_error(int r);
