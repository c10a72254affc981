/* SPDX-License-Identifier: Apache-2.0 */
/* The two messages of gRPC's health service, which have one field each. Pure. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

enum { PROBE_HEALTH_SERVING = 1 };

/* The status in a HealthCheckResponse, 0 if there is none. false: malformed. */
bool probe_health_read(struct str message, uint64_t *ret);
/* Append a HealthCheckRequest. */
void probe_health_write(struct str service, struct buf *to);
