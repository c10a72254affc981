/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who operators are: each acts as a ServiceAccount of its namespace, and with nobody's rights but
 * that account's.
 *
 *     IN_PROCESS    the embedded API takes user, groups and uid as authenticated
 *     TOKEN         a token of at most an hour for each account (TokenRequest), renewed before it
 *                   ends while it is in use; a sleeping operator's ends and is fetched again when
 *                   it next asks for something
 *     IMPERSONATE   the host's own credentials with impersonation headers, where tokens may not be
 *                   requested
 *
 *     UNKNOWN -> ASKING -> CREATING -> FETCHING -> READY -> (renewal) FETCHING
 *                   \__________\___________\____ FAILED: again after a back-off, or when used
 *
 * Accounts that do not exist are made, with the Operator object as their owner, if the spec lets
 * the host do that. One timer serves all renewals and retries, and is armed only while one is due.
 * Loop thread only.
 */
#pragma once

#include "client/transport.h"
#include "io/loop.h"

struct identities;
struct identity; /* of one ServiceAccount; counted, shared by the operators that name it */

enum identity_mode { IDENTITY_IN_PROCESS, IDENTITY_TOKEN, IDENTITY_IMPERSONATE };

enum {
    IDENTITY_TOKEN_SECONDS = 3600,  /* asked for; the server may give another life */
    IDENTITY_RENEW_PERCENT = 80,    /* of a token's life, as kubelets do */
    IDENTITY_RETRY_FIRST_MS = 5000, /* after a failure; doubles */
    IDENTITY_RETRY_MAX_MS = 300000,
    IDENTITY_ANSWER_MAX_BYTES = 256 << 10
};

struct identities_opts {
    struct loop *loop;
    struct transport *transport; /* kept; asked with the host's own credentials */
    enum identity_mode mode;
};

struct identities *identities_new(const struct identities_opts *opts);
/* Every identity must have been given back. Memory goes when the last call has ended. NULL is
 * fine. */
void identities_close(struct identities *ids);

struct identity_spec {
    const char *namespace, *account;
    bool create;                   /* make the account when it is missing */
    const char *owner, *owner_uid; /* Operator that it is made for; uid "": without an owner */
};

/* ids NULL: NULL, the host's own identity. Asks for nothing yet. Given: identity_unref(). */
struct identity *identity_of(struct identities *ids, const struct identity_spec *spec);
/* Begin to ask, so that what is wrong shows before the first request. */
void identity_prepare(struct identity *id);
/* Of this user, if an operator acts as it now; borrowed. */
struct identity *identities_find(const struct identities *ids, struct str user);
struct identity *identity_ref(struct identity *id);
void identity_unref(struct identity *id); /* NULL is fine */

/* Told once: when the identity can be used (r 0) or could not be made (r and err say why). */
struct identity_wait {
    struct list node; /* zeroed: does not wait */
    void (*run)(struct identity_wait *w, int r, const struct err *err);
};
struct identity_who {
    struct kube_identity who;
    struct str groups[3];
};
/*
 * How to ask as this identity now. 0: the texts in *ret, which has to stay where it is, are
 * borrowed until control goes back to the loop.
 * -EAGAIN: it is being fetched, w is told. Others: it failed a moment ago, for that reason.
 */
int identity_get(struct identity *id, struct identity_who *ret, struct identity_wait *w,
                 struct err *err);
void identity_wait_cancel(struct identity_wait *w);
/* The server does not know this credential (401): fetch it anew for the next request. */
void identity_reject(struct identity *id);

/* Whenever it failed, or works again after that; on a later turn. */
struct identity_listener {
    struct list node; /* zeroed: listens to nobody */
    void (*run)(struct identity_listener *l);
};
void identity_listen(struct identity *id, struct identity_listener *l);
void identity_unlisten(struct identity_listener *l);
/* "" unless it has failed: why, for people. Borrowed until the next turn. */
const char *identity_trouble(const struct identity *id);
const char *identity_user(const struct identity *id); /* "system:serviceaccount:NS:NAME" */

struct identities_stats {
    size_t identities, failed, tokens;
    uint64_t token_requests, created;
};
void identities_get_stats(const struct identities *ids, struct identities_stats *ret);
