/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of one operator to the API: a transport that speaks as the operator's identity and counts
 * its requests against its rate.
 *
 *     request -> rate (waits; 429 far beyond) -> identity (waits while it is fetched) -> transport
 *
 * Whoever makes requests for a guest uses this one, and nothing else. Watches that operators share
 * run under the host's identity; whether an operator may see what they bring is asked here
 * (gate_ask()) before it is let in, and again from time to time.
 * Loop thread only.
 */
#pragma once

#include "kube/model/resource.h"
#include "operator/identity.h"

struct gate;
struct gate_query;

enum {
    GATE_WAITING_MAX = 64,           /* requests waiting for the identity; -EBUSY beyond */
    GATE_DELAYED_MAX = 64,           /* requests waiting because of the rate, */
    GATE_DELAY_MAX_MS = 5000,        /* at most for so long; others are answered 429 at once */
    GATE_ACCESS_TTL_MS = 30000,      /* an answer of gate_ask() is remembered for this long, */
    GATE_ACCESS_KEPT = 32,           /* for so many questions of one operator */
    GATE_ACCESS_RECHECK_MS = 300000, /* whoever goes on using an answer asks again after this */
    GATE_WHAT_MAX = 128              /* bytes that name a request for people; cut */
};

struct gate_opts {
    struct loop *loop;
    struct transport *transport; /* kept */
    struct identity *identity;   /* a reference of its own is taken; NULL: the host's own */
    uint32_t per_second, burst;  /* requests; 0: not bounded */
    /* A request has to wait, or was refused, because of the rate; may be NULL. */
    void (*on_limited)(void *arg);
    /* gate_denied() says something else now; may be NULL. */
    void (*on_denied)(void *arg);
    void *arg;
};

struct gate *gate_new(const struct gate_opts *opts);
/* Requests still running are cancelled and end by themselves; no callback of opts comes any more.
 * NULL is fine. */
void gate_free(struct gate *g);
/* Valid until gate_free(). A request's own identity must be NULL. */
struct transport *gate_transport(struct gate *g);

/* "system:serviceaccount:NS:NAME"; NULL: the host's own identity. */
const char *gate_user(const struct gate *g);

struct access_query {
    enum kube_verb verb;
    struct str group_version; /* "v1", "group/version" */
    struct str resource, subresource;
    struct str namespace; /* "" all, or cluster-scoped */
    struct str name;      /* "" all */
};
/*
 * May the identity do that? Asked of the server (SelfSubjectAccessReview), or remembered. cb: once,
 * on a later turn, unless cancelled; r 0: `allowed` says it; else it could not be asked. The
 * host's own identity may ask for anything.
 */
typedef void (*gate_cb)(void *arg, int r, bool allowed, const struct err *err);
struct gate_query *gate_ask(struct gate *g, const struct access_query *q, gate_cb cb, void *arg);
void gate_ask_cancel(struct gate_query *q);
/* What is remembered: 1 yes, 0 no, -EAGAIN: must be asked. */
int gate_known(struct gate *g, const struct access_query *q);

struct gate_stats {
    uint64_t requests, limited, failed; /* limited: 429 of our own; failed: without any answer */
    uint64_t delayed;                   /* had to wait because of the rate */
    uint64_t by_class[6];               /* answers with 1xx to 5xx; 0: 429 of our own */
};
void gate_get_stats(const struct gate *g, struct gate_stats *ret);
/*
 * What the identity was last told that it may not do (403), until it was done after all: "GET
 * /api/v1/namespaces/a/pods". "": nothing. A guest that has no rights need not fail by that.
 */
const char *gate_denied(const struct gate *g);
