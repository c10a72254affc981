/* SPDX-License-Identifier: Apache-2.0 */
/* The server as its clients in the cluster find it: the Service "kubernetes" and its endpoints. */
#pragma once

#include "api/server.h"

/* Make the Service, and where the server can be reached from elsewhere its Endpoints and
 * EndpointSlice; they follow a change of address. In the background; what fails is logged. */
void self_service_publish(struct api *api, const char *host, uint16_t port);
