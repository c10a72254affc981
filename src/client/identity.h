/* SPDX-License-Identifier: Apache-2.0 */
/* Identities (transport.h) that outlive the call that brought them. */
#pragma once

#include "base/mem.h"
#include "client/transport.h"

/* All of it, into the arena; NULL for NULL. */
struct kube_identity *kube_identity_copy(struct arena *a, const struct kube_identity *id);
