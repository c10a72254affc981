/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the server that authenticates (authn.h, tokens.h) and authorizes (authz.h) requests.
 * The core reaches it through struct api_needs and the admission chain.
 */
#pragma once

#include "api/admission.h"
#include "api/part.h"

struct auth {
    struct api *api;
    struct tokens *tokens;
    struct authz *authz; /* NULL without RBAC, and before the part is started */
    bool with_anonymous, with_node_routes;
};

/* Sets api->auth and adds the part. Errors: those of tokens_new(); then nothing was added. */
int auth_init(struct api *api, const struct api_opts *opts, struct err *err);
/* Registers the stages of the chain: tokens in Secrets, and those that follow the quotas. */
void auth_register_first(struct admission_chain *c);
void auth_register_last(struct admission_chain *c);
/* Members of struct api_needs. */
bool auth_serve(struct request *rq);
struct json *auth_openid_document(struct request *rq, struct str address);
struct json *auth_openid_keys(struct request *rq);
