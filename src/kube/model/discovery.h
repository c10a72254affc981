/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery documents from the registry, plain and aggregated. All in the arena. */
#pragma once

#include "kube/model/resource.h"

/* /api. server_address: the address that clients use ("host:port"). */
struct json *discovery_api_versions(struct arena *a, struct str server_address);
/* /apis */
struct json *discovery_groups(struct arena *a, const struct kube_registry *reg);
/* /apis/<group>; NULL if it does not exist. */
struct json *discovery_group(struct arena *a, const struct kube_registry *reg, struct str group);
/* /api/v1, /apis/<group>/<version>; NULL if it does not exist. */
struct json *discovery_resources(struct arena *a, const struct kube_registry *reg, struct str group,
                                 struct str version);
/* apidiscovery.k8s.io APIGroupDiscoveryList; core: for /api, else for /apis. version "v2" or
 * "v2beta1". */
struct json *discovery_aggregated(struct arena *a, const struct kube_registry *reg, bool core,
                                  struct str version);
