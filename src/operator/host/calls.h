/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outer half of ABIs G1 and G2 for one guest: performs the operations that the guest started
 * and delivers their completions.
 *
 *     request, watch=true with a version   -> shared watch, one delivery per event, never renewed
 *                                             by the guest
 *     request, stream                      -> head, then pieces as they arrive (watches: one line
 *                                             a piece)
 *     request                              -> head and whole body together, so that a failure after
 *                                             the head can still become a proper 5xx
 *     delay                                -> timer of the loop
 *     watch (G1)                           -> kind to plural by discovery, then as above
 *
 * The ABIs cannot express transport errors: they become a 503 or 504 response with a Status body,
 * or the end of a stream. While the guest's queue is full, the source is paused and one piece waits
 * here.
 */
#pragma once

#include "client/transport.h"
#include "client/watch_hub.h"
#include "guest/guest.h"
#include "io/loop.h"
#include "operator/allow.h"
#include "operator/client.h"

enum {
    CALLS_REQUESTS_MAX = 16, /* concurrent exchanges of one guest; further ones wait in order */
    CALLS_REQUEST_TIMEOUT_MS = 60000 /* until the response head arrives; then 504 */
};

struct discovery;

/* Shared by all operators; kept. */
struct calls_env {
    struct loop *loop;
    struct transport *transport; /* with the host's identity */
    struct watch_hub *hub;       /* under the host's identity, like discovery */
    struct discovery *discovery;
};

struct calls;

/*
 * client, allow: borrowed for the life of the result. client NULL: requests use the host's own
 * identity. allow NULL: everything is allowed.
 *
 * A shared watch is joined only after the API has said that the client's identity may watch. Where
 * the host itself may not watch, the watch runs under that identity.
 */
struct calls *calls_new(const struct calls_env *env, enum guest_abi abi,
                        struct operator_client *client, const struct allow *allow);
/* Set the guest that starts the operations; once, before the first. */
void calls_set_guest(struct calls *c, struct guest *g);
/* For guest_ops.on_op and guest_ops.on_room. */
void calls_on_op(struct calls *c, const struct guest_op *op);
void calls_on_room(struct calls *c);
/* The incarnation ended: drop every operation. Requests that were already sent may take effect. */
void calls_reset(struct calls *c);
/* calls_reset() and free; running exchanges end on their own. */
void calls_free(struct calls *c);

struct calls_stats {
    size_t requests, queued, streams, watches, timers;
    uint64_t next_timer_ms; /* loop time of the earliest timer; 0: none */
};
void calls_get_stats(const struct calls *c, struct calls_stats *ret);
