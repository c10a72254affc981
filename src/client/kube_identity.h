/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of identities (transport.h) that outlive the call that passed them in. */
#pragma once

#include "base/mem.h"
#include "client/transport.h"

/* Deep copy into the arena; NULL for NULL. */
struct kube_identity *kube_identity_copy(struct arena *a, const struct kube_identity *id);
