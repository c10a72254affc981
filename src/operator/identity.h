/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identities of operators. Each operator acts as a ServiceAccount of its namespace, with that
 * account's rights only.
 *
 *     IN_PROCESS    the embedded API accepts user, groups and uid as authenticated
 *     TOKEN         a token of at most an hour for each account (TokenRequest), renewed before it
 *                   expires while it is in use; the token of a sleeping operator expires and is
 *                   fetched again for its next request
 *     IMPERSONATE   the host's own credentials with impersonation headers, where tokens may not be
 *                   requested
 *
 *     UNKNOWN -> ASKING -> CREATING -> FETCHING -> READY -> (renewal) FETCHING
 *                   \__________\___________\____ FAILED: again after a back-off, or when used
 *
 * If the spec allows it, the host creates a missing account, with the Operator object as its owner.
 * One timer serves all renewals and retries; it is armed only while one is due. Loop thread only.
 */
#pragma once

#include "client/transport.h"
#include "io/loop.h"

struct identities;
struct identity; /* of one ServiceAccount; counted, shared by the operators that use it */

enum identity_mode { IDENTITY_IN_PROCESS, IDENTITY_TOKEN, IDENTITY_IMPERSONATE };

enum {
    IDENTITY_TOKEN_SECONDS = 3600,  /* requested; the server may choose another lifetime */
    IDENTITY_RENEW_PERCENT = 80,    /* of a token's lifetime, as kubelets do */
    IDENTITY_RETRY_FIRST_MS = 5000, /* after a failure; doubles */
    IDENTITY_RETRY_MAX_MS = 300000,
    IDENTITY_ANSWER_MAX_BYTES = 256 << 10
};

struct identities_opts {
    struct loop *loop;
    struct transport *transport; /* kept; used with the host's own credentials */
    enum identity_mode mode;
};

struct identities *identities_new(const struct identities_opts *opts);
/*
 * Every identity must have been released. Memory is freed when the last call has ended. NULL is
 * fine.
 */
void identities_close(struct identities *ids);

struct identity_spec {
    const char *namespace, *account;
    bool create;                   /* create the account if it is missing */
    const char *owner, *owner_uid; /* the Operator that owns a created account; uid "": no owner */
};

/*
 * ids NULL: returns NULL, the host's own identity. Sends no request yet. Given: identity_unref().
 */
struct identity *identity_of(struct identities *ids, const struct identity_spec *spec);
/* Begin fetching, so that problems are reported before the first request. */
void identity_prepare(struct identity *id);
/* The identity of this user, if an operator acts as that user now; borrowed. */
struct identity *identities_find(const struct identities *ids, struct str user);
struct identity *identity_ref(struct identity *id);
void identity_unref(struct identity *id); /* NULL is fine */

/*
 * A wait for an identity. Runs once: r 0: the identity can be used; else it could not be fetched,
 * for the reason in err.
 */
struct identity_wait {
    struct list node; /* zeroed: not waiting */
    void (*run)(struct identity_wait *w, int r, const struct err *err);
};
struct identity_who {
    struct kube_identity who;
    struct str groups[3];
};
/*
 * Get the credentials to use now.
 *
 * Returns 0: the texts in *ret, which must not move, are borrowed until control returns to the
 * loop. -EAGAIN: it is being fetched, and `w` is notified. Other codes: fetching failed a moment
 * ago for that reason.
 */
int identity_get(struct identity *id, struct identity_who *ret, struct identity_wait *w,
                 struct err *err);
void identity_wait_cancel(struct identity_wait *w);
/* The server does not accept this credential (401): fetch a new one for the next request. */
void identity_reject(struct identity *id);

/* Notified on a later turn whenever the identity fails, and when it works again. */
struct identity_listener {
    struct list node; /* zeroed: not registered */
    void (*run)(struct identity_listener *l);
};
void identity_listen(struct identity *id, struct identity_listener *l);
void identity_unlisten(struct identity_listener *l);
/* "" unless it has failed; else the reason, for people. Borrowed until the next turn. */
const char *identity_trouble(const struct identity *id);
const char *identity_user(const struct identity *id); /* "system:serviceaccount:NS:NAME" */

struct identities_stats {
    size_t identities, failed, tokens;
    uint64_t token_requests, created;
};
void identities_get_stats(const struct identities *ids, struct identities_stats *ret);
