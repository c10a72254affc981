/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.k8s.io: NodeMetrics and PodMetrics, as metrics-server answers them. */
#pragma once

#include "api/core.h"

/* Creates api->usage and makes it a part of the server; before api_start(). */
void usage_add_part(struct api *api);
/* Get or list of a kind of metrics.k8s.io. */
void usage_serve(struct request *rq);
