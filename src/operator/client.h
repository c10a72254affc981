/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operator's access to the API: a transport that uses the operator's identity and limits its
 * rate of requests.
 *
 *     request -> rate (waits; 429 far beyond) -> identity (waits while it is fetched) -> transport
 *
 * All requests for a guest must go through its client. Watches that operators share run under the
 * host's identity: operator_client_ask() checks whether an operator may see their events before it
 * joins such a watch, and the check is repeated from time to time. Loop thread only.
 */
#pragma once

#include "kube/model/resource.h"
#include "operator/identity.h"

struct operator_client;
struct operator_client_query;

enum {
    OPERATOR_CLIENT_WAITING_MAX = 64, /* requests that wait for the identity; -EBUSY beyond */
    OPERATOR_CLIENT_DELAYED_MAX = 64, /* requests that wait because of the rate */
    OPERATOR_CLIENT_DELAY_MAX_MS =
        5000, /* longest such wait; beyond it a request gets 429 at once */
    OPERATOR_CLIENT_ACCESS_TTL_MS =
        30000,                        /* how long an answer of operator_client_ask() is cached */
    OPERATOR_CLIENT_ACCESS_KEPT = 32, /* cached answers of one operator */
    OPERATOR_CLIENT_ACCESS_RECHECK_MS =
        300000,                    /* a caller that keeps using an answer asks again after this */
    OPERATOR_CLIENT_WHAT_MAX = 128 /* bytes of the text that describes a request; cut */
};

struct operator_client_opts {
    struct loop *loop;
    struct transport *transport; /* kept */
    struct identity *identity;   /* the client takes a reference; NULL: the host's identity */
    uint32_t per_second, burst;  /* requests; 0: not limited */
    /* A request has to wait, or was refused, because of the rate. May be NULL. */
    void (*on_limited)(void *arg);
    /* The result of operator_client_denied() has changed. May be NULL. */
    void (*on_denied)(void *arg);
    void *arg;
};

struct operator_client *operator_client_new(const struct operator_client_opts *opts);
/*
 * Running requests are cancelled and end on their own; no callback of opts runs afterwards. NULL is
 * fine.
 */
void operator_client_free(struct operator_client *g);
/* Valid until operator_client_free(). The identity of a request must be NULL. */
struct transport *operator_client_transport(struct operator_client *g);

/* "system:serviceaccount:NS:NAME"; NULL: the host's own identity. */
const char *operator_client_user(const struct operator_client *g);

struct access_query {
    enum kube_verb verb;
    struct str group_version; /* "v1", "group/version" */
    struct str resource, subresource;
    struct str namespace; /* "": all, or cluster-scoped */
    struct str name;      /* "": all */
};
/*
 * Check whether the identity may do this: asks the server (SelfSubjectAccessReview), or returns the
 * cached answer. The host's own identity may ask for anything.
 *
 * cb: runs once, on a later turn, unless cancelled. r 0: `allowed` is the answer; else the server
 * could not be asked.
 */
typedef void (*operator_client_cb)(void *arg, int r, bool allowed, const struct err *err);
struct operator_client_query *operator_client_ask(struct operator_client *g,
                                                  const struct access_query *q,
                                                  operator_client_cb cb, void *arg);
void operator_client_ask_cancel(struct operator_client_query *q);
/* The cached answer: 1 yes, 0 no, -EAGAIN: none cached. */
int operator_client_known(struct operator_client *g, const struct access_query *q);

struct operator_client_stats {
    uint64_t requests, limited,
        failed;           /* limited: 429 of the client; failed: without any response */
    uint64_t delayed;     /* waited because of the rate */
    uint64_t by_class[6]; /* responses with 1xx to 5xx; 0: the client's own 429 */
};
void operator_client_get_stats(const struct operator_client *g, struct operator_client_stats *ret);
/*
 * The request that the API last refused the identity (403), until the same request succeeds: "GET
 * /api/v1/namespaces/a/pods"; "": none. A guest without rights need not fail because of this.
 */
const char *operator_client_denied(const struct operator_client *g);
