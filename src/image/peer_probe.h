/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at one other node: the round trip, and how fast bytes go either way where that is wanted.
 *
 *     GET /v1/probe            opens the connection
 *     GET /v1/probe            the round trip, on the connection that is there
 *     GET /v1/probe?bytes=N    what this node can take
 *     POST /v1/probe           what it can send: N bytes, until the answer
 *
 * Loop thread only.
 */
#pragma once

#include "io/loop.h"
#include "io/tls.h"

enum {
    PEER_PROBE_BYTES = 1 << 20, /* either way */
    PEER_PROBE_STEP_MS = 10000, /* of each request */
};

struct peer_probe_result {
    int r;                   /* of the round trip; what follows is only set with 0 */
    uint64_t rtt_us;         /* at least 1 */
    uint64_t down_ms, up_ms; /* for PEER_PROBE_BYTES; 0: not measured */
};

struct peer_probe_opts {
    struct loop *loop;
    const char *url;     /* of the node, "http://10.0.0.2:7443"; copied, as the next two are */
    const char *token;   /* that it demands */
    const char *node;    /* this one */
    struct tls_ctx *tls; /* kept until the end; NULL: a URL with https is refused */
    bool wants_rates;
    void (*on_done)(void *arg, const struct peer_probe_result *res); /* once, unless cancelled */
    void *arg;
};

struct peer_probe;
/* Errors: E_INVALID, the URL. */
int peer_probe_start(const struct peer_probe_opts *opts, struct peer_probe **ret, struct err *err);
/* No callback comes any more, and opts.tls is not used. Not from on_done. NULL is fine. */
void peer_probe_cancel(struct peer_probe *p);
