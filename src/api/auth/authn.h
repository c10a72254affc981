/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authentication: who asks. The first that says yes decides:
 *
 *     1. a client certificate of the cluster's CA: CN is the user, O are the groups
 *     2. a bearer token (tokens.h): the administrator's, one of the token file, or one of a
 *        ServiceAccount, for which the store is asked
 *
 *     3. a client without credentials is system:anonymous, if the server allows that; roles decide
 *        what it may do, as for every user
 *
 * Invalid credentials are answered with 401. A request in process comes with its identity. Then
 * impersonation: who may, speaks as somebody else.
 */
#pragma once

#include "api/core.h"
#include "api/identity.h"

enum {
    AUTHN_GROUPS_MAX = 256, /* of one user, and of one impersonation */
    AUTHN_EXTRAS_MAX = 64,  /* values of an impersonation's extra fields */
    AUTHN_NAME_MAX_BYTES = 4096
};

/* Keep what of a request's header says who asks. */
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
/* What the header asks for; NULL: nothing. */
const struct impersonation *impersonation_parse(struct arena *a, const struct headers *headers);
