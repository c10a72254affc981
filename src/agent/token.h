/* SPDX-License-Identifier: Apache-2.0 */
/* What volumes need of the API server: tokens of ServiceAccounts by TokenRequest, volumes of
 * claims. */
#pragma once

#include "agent/volume/volume.h"

/* Its argument is the struct agent. */
extern const struct volume_supply agent_volume_supply;
