/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request asks for, in the terms of RBAC, and the answer in upstream's words when that is
 * refused. Who decides is the authorizer of the server (api_opts.authorize, auth/authz.h).
 */
#pragma once

#include "api/core.h"

/* What the request asks for, by method and path alone: known before it is known whether it exists.
 */
struct api_attributes permission_attributes(struct request *rq);
/* Without an authorizer everything is allowed. reason: appended to; NULL: not wanted. */
bool permission_has(const struct api *api, const struct api_attributes *at, struct buf *reason);
/* The 403 of upstream for these attributes; reason may be empty. */
struct json *permission_forbidden(struct arena *a, const struct api_attributes *at,
                                  struct str reason);
/* The same before a request has come to its verb, where upstream adds a header for browsers. */
struct json *permission_refuse(struct request *rq, const struct api_attributes *at,
                               struct str reason);
