/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authentication. The first match decides:
 *
 *     1. a client certificate of the cluster's CA: CN is the user, O are the groups
 *     2. a bearer token (tokens.h): the administrator's, one of the token file, a bootstrap token
 *        or one of a ServiceAccount, which are checked against the store
 *
 *     3. a client without credentials is system:anonymous, if the server allows that; roles decide
 *        what it may do, as for every user
 *
 * Invalid credentials are answered with 401. An in-process request brings its identity.
 * Impersonation follows: a user with the right to do so acts as another user.
 */
#pragma once

#include "api/core.h"
#include "api/identity.h"

enum {
    AUTHN_GROUPS_MAX = 256, /* of one user, and of one impersonation */
    AUTHN_EXTRAS_MAX = 64,  /* values of an impersonation's extra fields */
    AUTHN_NAME_MAX_BYTES = 4096
};

/* Keep the credentials and impersonation fields of a request's header. */
void authn_take(struct request *rq, const struct headers *headers);
/* Steps of the request path: NULL, or the Status to answer. */
struct json *authn_step(struct request *rq);
struct json *impersonate_step(struct request *rq);

/* ---- impersonation ---- */

struct impersonation {
    struct str user, uid;
    const struct str *groups;
    size_t n_groups;
    const struct kube_extra *extra;
    size_t n_extra;
    bool has_user, too_many;
};
/* The impersonation that the header asks for; NULL: none. */
const struct impersonation *impersonate_parse(struct arena *a, const struct headers *headers);
