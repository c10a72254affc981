/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about the state of a life cycle that life.c and the phase have in common. Pure. */
#pragma once

#include "agent/pod/life.h"

bool pod_container_is_main(const struct pod_container_life *c);
bool pod_container_is_sidecar(const struct pod_container_life *c);
bool pod_container_has_failed(const struct pod_container_life *c);
/* What the order of init containers still waits for. */
bool pod_container_holds_back(const struct pod_container_life *c);
/* A main container has begun: init containers do not run again. */
bool pod_life_has_main_begun(const struct pod_life *l);
