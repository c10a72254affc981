/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bootstrap tokens, with which a node that has no certificate yet requests one (Kubernetes
 * documentation, "Authenticating with Bootstrap Tokens"). The token ID.SECRET is stored in the
 * Secret kube-system/bootstrap-token-ID of the type bootstrap.kubernetes.io/token. Its user is
 * system:bootstrap:ID in the group system:bootstrappers and in the groups that the Secret adds.
 *
 * Pure: the caller reads the Secret. Any thread.
 */
#pragma once

#include "client/kube_identity.h"
#include "codec/json.h"

#define BOOTSTRAP_TOKEN_NAMESPACE "kube-system"
#define BOOTSTRAP_TOKEN_PREFIX    "bootstrap-token-" /* of the Secret's name */
#define BOOTSTRAP_TOKEN_TYPE      "bootstrap.kubernetes.io/token"

enum {
    BOOTSTRAP_TOKEN_ID_CHARS = 6,
    BOOTSTRAP_TOKEN_SECRET_CHARS = 16,
    BOOTSTRAP_TOKEN_GROUPS_MAX = 64, /* that a Secret may add; more are refused */
    BOOTSTRAP_TOKEN_GROUP_CHARS = 256 + sizeof "system:bootstrappers:" - 1
};

/* Split a token; false: it does not have the form [a-z0-9]{6}\.[a-z0-9]{16}. */
bool bootstrap_token_split(struct str token, struct str *ret_id, struct str *ret_secret);
/* [a-z0-9]{6} */
bool bootstrap_token_is_id(struct str id);
/* Whether a token may add the group: system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]. */
bool bootstrap_token_is_group(struct str group);
/* A decoded value of the Secret's data, allocated in the arena; empty: absent or not readable. */
struct str bootstrap_token_value(const struct json *secret, const char *name, struct arena *a);

/*
 * Check the token against its Secret. NULL: it is valid, and *ret is its identity, allocated in the
 * arena. Else the reason, static.
 */
const char *bootstrap_token_check(const struct json *secret, struct str token, int64_t now_s,
                                  struct arena *a, struct kube_identity *ret);

/*
 * When the token of this Secret expires, in seconds since 1970. INT64_MAX: never, or the Secret has
 * another type. INT64_MIN: the time cannot be read, so the token counts as expired.
 */
int64_t bootstrap_token_expires_s(const struct json *secret);
