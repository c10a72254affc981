/* SPDX-License-Identifier: Apache-2.0 */
/* Subresources with code of their own. */
#pragma once

#include "api/core.h"

/*
 * Serves the request if it is for such a subresource; false: it is not, and nothing has happened.
 */
bool subresource_serve(struct request *rq);

/* pods/eviction (eviction.c) */
void eviction_create(struct request *rq);
/* pods/log, exec, attach, portforward, proxy, and the proxies of nodes and services (streams.c) */
void streams_serve(struct request *rq);
