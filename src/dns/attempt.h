/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One question to one server: by UDP from a port of its own, then by TCP if the answer is truncated
 * or somebody sends forged ones.
 *
 * An answer counts only from the server's address and port to our port, with our random id, and for
 * our question; others are ignored (RFC 5452).
 *
 * Loop thread only.
 */
#pragma once

#include "dns/message.h"
#include "io/loop.h"

enum {
    DNS_ATTEMPT_MS = 1500,      /* for an answer, by UDP and again by TCP */
    DNS_ATTEMPT_FORGED_MAX = 16 /* messages that are no answer; then TCP asks again */
};

struct dns_attempt;

struct dns_attempt_opts {
    struct loop *loop;
    const struct sockaddr *server;
    struct dns_question question; /* its name is kept until the end */
    /* Once, from the loop. r < 0: there is no answer. message: as dns_upstream_read() gives it. */
    void (*done)(void *arg, int r, struct str message, const struct dns_upstream_answer *answer);
    void *arg;
};

/* Errors: of sockets. */
int dns_attempt_start(const struct dns_attempt_opts *opts, struct dns_attempt **ret);
/* done() does not run any more. */
void dns_attempt_cancel(struct dns_attempt *a);
