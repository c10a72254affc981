/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /node/shutdown?groups=PRIORITY:MILLISECONDS,... at the admin socket: the pods of the node
 * end, the groups of low priority first. The response ends when they have: {"ended":N,"left":N}.
 */
#pragma once

#include "io/http.h"

#include <stdbool.h>

struct agent_node;

/* node: NULL where this process has none. true: the request was for this page. */
bool shutdown_page_serve(struct agent_node *node, struct http_exchange *x,
                         const struct http_request *req);
