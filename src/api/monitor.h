/* SPDX-License-Identifier: Apache-2.0 */
/* Observability: metrics and health checks. */
#pragma once

#include "api/request.h"

/*
 * The version that the API reports, for clients that decide by version: the release of Kubernetes
 * whose kinds the tables hold, 1.MINOR.PATCH, and with it "v1.MINOR.PATCH+dormouse-VERSION".
 */
struct str monitor_minor(void);
const char *monitor_git_version(struct arena *a);

/* Count the request, whose status has just been decided. */
void monitor_request(struct request *rq);
/* /healthz, /livez, /readyz, and single checks below them. */
void monitor_serve_health(struct request *rq);
