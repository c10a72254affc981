/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an object holds and no other may: addresses and node ports of Services. Each is a key of
 * its own in the store, written and removed in the transaction that writes the object, so that
 * nothing has to be remembered and nothing can leak. Those of an object that was removed because it
 * could not be read stay behind until another Service wants them: claims_reclaim().
 *
 *     /claims/services/ips/10.96.0.1  ->  default/kubernetes
 */
#pragma once

#include "api/core.h"

enum { CLAIMS_MAX_ATTEMPTS = 64 }; /* at finding something free */

struct service_claim;

/* The claims of one write; zeroed to begin with, all in the request's arena. */
struct claims {
    const struct service_claim *asked; /* what the client chose itself */
    size_t n_asked;
    size_t first, n;        /* operations of the transaction that are claims */
    const struct str *keys; /* theirs */
};

/* Choose what the object does not say. NULL, or the Status that refuses it. */
struct json *claims_choose(struct request *rq, struct claims *c, struct json *obj,
                           const struct json *old);
/*
 * Append the operations from what `old` holds (NULL: nothing) to what `obj` holds (NULL: nothing).
 * ops has room for STORE_TXN_MAX_OPS; E_LIMIT.
 */
int claims_ops(struct arena *a, struct claims *c, const struct kube_resource *res,
               const struct json *old, const struct json *obj, struct store_op *ops, size_t *n,
               struct err *err);
/* The transaction failed at an operation that is a claim. */
bool claims_lost(const struct claims *c, size_t failed_op);
/*
 * After that: remove the claim if the Service that it names does not hold it. done: is_free: the
 * write may be tried again; the last thing that is done with `c`, so it may rewind the request's
 * arena. It is not called when the client has gone. A negative code: nor then.
 */
int claims_reclaim(struct request *rq, const struct claims *c, size_t failed_op,
                   void (*done)(void *arg, bool is_free), void *arg);
/* After that: the Status if the client had asked for just this; NULL: another choice may do. */
struct json *claims_refuse(struct request *rq, const struct claims *c, const struct json *obj,
                           size_t failed_op);
