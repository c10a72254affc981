/* SPDX-License-Identifier: Apache-2.0 */
/* What can be seen of the server from outside: metrics, and whether it is healthy. */
#pragma once

#include "api/request.h"

/* What the API claims to be, for clients that decide by version. */
#define KUBE_MAJOR       "1"
#define KUBE_MINOR       "32"
#define KUBE_GIT_VERSION "v" KUBE_MAJOR "." KUBE_MINOR ".0+dormouse-" DORMOUSE_VERSION

/* Count the request, whose status has just been decided. */
void monitor_request(struct request *rq);
/* /healthz, /livez, /readyz, and single checks below them. */
void monitor_serve_health(struct request *rq);
