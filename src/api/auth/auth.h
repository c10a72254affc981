/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the server that knows who asks (authn.h, tokens.h) and what they may do (authz.h).
 * The core reaches it through struct api_needs and the admission chain.
 */
#pragma once

#include "api/admission.h"
#include "api/part.h"

struct auth {
    struct api *api;
    struct tokens *tokens;
    struct authz *authz; /* NULL without RBAC, and before it was started */
    bool with_anonymous;
};

/* Sets api->auth, adds the part. Errors: those of tokens_new(); nothing has been added then. */
int auth_init(struct api *api, const struct api_opts *opts, struct err *err);
/* The stages of the chain: tokens in Secrets, and what is looked at after the quotas. */
void auth_register_first(struct admission_chain *c);
void auth_register_last(struct admission_chain *c);
/* Members of struct api_needs; see there. */
bool auth_serve(struct request *rq);
struct json *auth_openid_document(struct request *rq, struct str address);
struct json *auth_openid_keys(struct request *rq);
