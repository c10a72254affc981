/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport for callers that only know user names. A request whose identity is a ServiceAccount
 * that an operator acts as (client.h) is sent with that account's current token. The object cache
 * uses it for requests in the name of other identities. Other requests pass unchanged.
 */
#pragma once

#include "operator/identity.h"

struct identity_transport;

/* All kept. */
struct identity_transport *identity_transport_new(struct loop *loop, struct transport *under,
                                                  struct identities *ids);
struct transport *identity_transport_base(struct identity_transport *t);
/* Memory is freed when the last call has ended. NULL is fine. */
void identity_transport_close(struct identity_transport *t);
