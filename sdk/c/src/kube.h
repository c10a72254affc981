/* SPDX-License-Identifier: Apache-2.0 */
/* Shared inside the Kubernetes half of the SDK. */
#pragma once

#include "dm/kube.h"

const char *dm_controller_name(const struct dm_controller *ctl);
