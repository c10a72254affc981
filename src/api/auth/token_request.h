/* SPDX-License-Identifier: Apache-2.0 */
/* The subresource "token" of ServiceAccounts: a TokenRequest is answered with a new token. */
#pragma once

#include "api/core.h"

/* Serve the create if it is for that subresource; false: it is not. */
bool token_request_serve(struct request *rq);
