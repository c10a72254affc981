/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a gateway reads from the fields of a request, and which fields it passes on. Pure.
 *
 * Removed in both directions: fields that describe the connection (RFC 9110 section 7.6.1), also
 * those that `connection` names; from requests also every x-dormouse-* field, which only the
 * gateway may set. Added to a request, as nginx's and Knative's proxies do:
 *
 *     x-forwarded-for       the client's address, appended to the addresses in the request
 *     x-forwarded-proto, x-forwarded-host    set by the gateway; the client's values are dropped
 *     x-forwarded-prefix    the part of the path that the gateway removed, if any
 *     forwarded             RFC 7239: one element, appended to those in the request
 *     traceparent           W3C trace context, unless the request has a valid one
 *     x-call-id             the id that logs have; the client's value is dropped
 *
 * `via` is passed unchanged, as nginx does.
 */
#pragma once

#include "base/random.h"
#include "codec/headers.h"

struct fields { /* of a request; borrowed from its headers */
    struct str host, tag, forwarded_by, for_, forwarded, trace, call_id, authorization;
    bool is_async; /* prefer: respond-async, or an equivalent field of another platform */
    bool is_grpc;
    bool te_trailers;
    bool names_connection; /* `connection` names fields that go */
};

void fields_scan(const struct headers *h, struct fields *ret);

struct fields_add {
    struct str peer, prefix, call_id; /* peer: "address:port" */
    const char *trace;                /* NULL: the request's own */
    bool is_tls;
    bool add_host; /* for invokers that speak HTTP */
    bool upgrade;
    bool is_trusted; /* from another gateway, which has added all these already */
};
/* to: empty. Errors: -EMSGSIZE too many fields. */
int fields_for_sandbox(struct headers *to, const struct headers *h, const struct fields *f,
                       const struct fields_add *add);
/* to: empty. What else is added, the caller adds. */
int fields_for_gateway(struct headers *to, const struct headers *h, const struct fields *f,
                       const struct fields_add *add);
/*
 * Fields of an answer. *ret_length is set to content-length (UINT64_MAX: none). upgrade: keep
 * `upgrade`. by_gateway: the answer of another gateway: keep its fields x-dormouse-*, which are
 * dropped from a sandbox's answer.
 */
int fields_for_client(struct headers *to, const struct headers *h, bool upgrade, bool by_gateway,
                      uint64_t *ret_length);

/*
 * Trailer fields of requests and responses. Some readers merge them into the head, so fields that a
 * proxy interprets are dropped as in a head. to: empty. by_gateway: keep x-dormouse-*. -EMSGSIZE.
 */
int fields_trailers(struct headers *to, const struct headers *trailers, bool by_gateway);

/* An id has 16 digits, that of an asynchronous call 40. */
enum { FIELDS_TRACE_BYTES = 56, FIELDS_CALL_ID_BYTES = 41 };
void fields_hex(char to[16], uint64_t v); /* 16 digits */
void fields_make_trace(struct rng *random, char to[FIELDS_TRACE_BYTES]);
bool fields_is_trace(struct str s);
