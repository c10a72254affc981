/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attributes of a request in the terms of RBAC, and the 403 in upstream's words. The server's
 * authorizer decides (api_opts.authorize, auth/authz.h).
 */
#pragma once

#include "api/core.h"

/* From method and path alone: available before the resource is looked up. */
struct api_attributes permission_attributes(struct request *rq);
/* true for everything without an authorizer. reason: appended to; NULL: not wanted. */
bool permission_has(const struct api *api, const struct api_attributes *at, struct buf *reason);
/* Upstream's 403 for these attributes; reason may be empty. */
struct json *permission_forbidden(struct arena *a, const struct api_attributes *at,
                                  struct str reason);
/* The same for a request that has not reached its verb; upstream adds a header for browsers. */
struct json *permission_refuse(struct request *rq, const struct api_attributes *at,
                               struct str reason);
