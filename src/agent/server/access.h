/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks the agent, and may they? As a kubelet with webhook authentication and authorization:
 *
 *     certificate of the client CA -> user CN, groups O      else bearer token -> TokenReview
 *     then SubjectAccessReview of nodes/SUBRESOURCE, one or two of them
 *
 * Requests without credentials are refused (401). Members of system:masters by certificate are
 * allowed without a review: they may do everything, and the API server, which is one, would be
 * asked about itself. Answers are kept for a while: of tokens 2 minutes, allowed 5 minutes, denied
 * 30 s; at most 1024 of each.
 *
 * Loop thread only.
 */
#pragma once

#include "base/mem.h"
#include "client/transport.h"
#include "io/loop.h"
#include "io/tls.h"

enum {
    AGENT_ACCESS_CACHED_MAX = 1024, /* of tokens, and of decisions; the oldest is dropped */
    AGENT_ACCESS_REVIEWS_MAX = 256, /* under way; 429 beyond */
    AGENT_ACCESS_TOKEN_MS = 120000,
    AGENT_ACCESS_BAD_TOKEN_MS = 10000,
    AGENT_ACCESS_ALLOWED_MS = 300000,
    AGENT_ACCESS_DENIED_MS = 30000,
    AGENT_ACCESS_TOKEN_MAX_BYTES = 16 << 10,
    AGENT_ACCESS_ASKED_MAX = 2 /* subresources of one request */
};

/* nodes/SUBRESOURCE of this node. */
struct agent_attributes {
    struct str verb, subresource, node;
};

/* ---- how reviews are done: the caller supplies it ---- */

/* who: NULL: the token is not valid. Borrowed. r < 0: there was no answer; err says why. */
typedef void (*agent_token_cb)(void *arg, int r, const struct kube_identity *who,
                               const struct err *err);
typedef void (*agent_allowed_cb)(void *arg, int r, bool allowed, const struct err *err);

struct agent_review; /* one that is under way */

/*
 * Both call back exactly once, on a later turn, unless cancelled: then not at all. Errors of the
 * start: there is no call. Inputs are borrowed for the call.
 */
struct agent_reviewer {
    int (*token)(struct agent_reviewer *r, struct str token, agent_token_cb done, void *arg,
                 struct agent_review **ret, struct err *err);
    int (*access)(struct agent_reviewer *r, const struct kube_identity *who,
                  const struct agent_attributes *what, agent_allowed_cb done, void *arg,
                  struct agent_review **ret, struct err *err);
    void (*cancel)(struct agent_reviewer *r, struct agent_review *review);
};

/* By TokenReview and SubjectAccessReview over a transport, with the transport's own identity.
 * Given, agent_reviewer_free(). transport: kept. */
struct agent_reviewer *agent_reviewer_new(struct transport *transport);
void agent_reviewer_free(struct agent_reviewer *r); /* none of its reviews is under way */

/* ---- access ---- */

struct agent_access;
struct agent_access *agent_access_new(struct loop *loop, struct agent_reviewer *reviewer,
                                      struct str node); /* reviewer: kept; node: copied */
void agent_access_free(struct agent_access *a);         /* no check is under way */
/* Forget all answers. */
void agent_access_forget(struct agent_access *a);
size_t agent_access_cached(const struct agent_access *a); /* answers that are kept */

enum agent_verdict {
    AGENT_ALLOWED,
    AGENT_PENDING,      /* done() follows, on a later turn */
    AGENT_UNAUTHORIZED, /* 401 */
    AGENT_FORBIDDEN,    /* 403 */
    AGENT_BUSY,         /* 429: too many reviews are under way */
    AGENT_UNKNOWN       /* 500: the API server gave no answer */
};

/* Embedded in a request. */
struct agent_check {
    struct agent_access *access;
    struct arena arena;        /* holds `who`, until agent_check_fini() */
    struct kube_identity *who; /* NULL: not known yet, or unauthorized */
    struct str verb;
    struct str asked[AGENT_ACCESS_ASKED_MAX]; /* subresources: one of them must be allowed */
    size_t n_asked, at;
    struct str token;
    struct agent_review *review; /* under way */
    void (*done)(struct agent_check *c, enum agent_verdict verdict);
};

/*
 * Strings in *c are set by the caller: verb, asked, n_asked, done; kept until done. peer: NULL: no
 * certificate. authorization: the field, "" without one.
 */
enum agent_verdict agent_check_start(struct agent_access *a, struct agent_check *c,
                                     const struct tls_peer *peer, struct str authorization);
void agent_check_fini(struct agent_check *c); /* cancels it; done() is not called any more */

/* The verb of a method, "" for others; the subresources that a path with this first segment needs.
 * Pure. */
struct str agent_access_verb(struct str method);
size_t agent_access_subresources(struct str first, struct str ret[AGENT_ACCESS_ASKED_MAX]);
