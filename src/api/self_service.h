/* SPDX-License-Identifier: Apache-2.0 */
/* How clients in the cluster find the server: the Service "kubernetes" and its endpoints. */
#pragma once

#include "api/server.h"

/*
 * Create the Service and, if the server can be reached from other machines, its Endpoints and
 * EndpointSlice; they follow a change of address. Runs in the background; failures are logged.
 */
void self_service_publish(struct api *api, const char *host, uint16_t port);
