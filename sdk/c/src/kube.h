/* SPDX-License-Identifier: Apache-2.0 */
/* Shared inside the Kubernetes half of the SDK. */
#pragma once

#include "dm/kube.h"

/* "/api/v1/namespaces/ns/plural/name/sub"; NULL or "" leaves a part out. */
void dm_kube_path(struct dm_text *t, const struct dm_resource *res, const char *ns,
                  const char *name, const char *sub);

const char *dm_controller_name(const struct dm_controller *ctl);
