/* SPDX-License-Identifier: Apache-2.0 */
/* Identities: users, their groups, and the parts of their names. Pure. */
#pragma once

#include "base/mem.h"
#include "client/transport.h"
#include "codec/json.h"

/* A copy with all strings in the arena. */
struct kube_identity identity_copy(struct arena *a, const struct kube_identity *id);
bool identity_has_group(const struct kube_identity *id, const char *group);
/* {username, uid, groups, extra}, the form of reviews. */
struct json *identity_to_json(struct arena *a, const struct kube_identity *id);
/* The reverse. name: of the member with the user. The texts are those of `v`; lists in the arena.
 */
struct kube_identity identity_from_json(struct arena *a, const struct json *v, const char *name);
/* "system:serviceaccount:NS:NAME"; false: another user. */
bool identity_split_account(struct str user, struct str *ret_ns, struct str *ret_name);
/* system:node:NAME in the group system:nodes. ret: NAME, which may be "". false: another user. */
bool identity_is_node(const struct kube_identity *id, struct str *ret);
/*
 * The account of a Secret of type kubernetes.io/service-account-token; "": a Secret of another
 * type.
 */
struct str identity_of_secret(const struct json *secret);
