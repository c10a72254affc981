/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport for those who only know names: a request whose identity is a ServiceAccount that an
 * operator acts as goes out as that account (gate.h), by its token as it is now. What the object
 * cache asks in the name of others travels here. Other requests pass as they are.
 */
#pragma once

#include "operator/identity.h"

struct identity_transport;

/* All kept. */
struct identity_transport *identity_transport_new(struct loop *loop, struct transport *under,
                                                  struct identities *ids);
struct transport *identity_transport_base(struct identity_transport *t);
/* Memory goes when the last call has ended. NULL is fine. */
void identity_transport_close(struct identity_transport *t);
