/* SPDX-License-Identifier: Apache-2.0 */
/* struct async_functions of a gateway. */
#include "fn/async/async.h"

static int submit(void *arg, struct str namespace, struct str name,
                  const struct invoke_request *req, const struct exchange_events *events,
                  void *events_arg, struct exchange **ret, struct err *err)
{
    return gateway_submit(arg, namespace, name, req, events, events_arg, ret, err);
}

static const struct fn_spec *spec(void *arg, struct str namespace, struct str name)
{
    return gateway_spec(arg, namespace, name);
}

static bool is_open(void *arg, struct str namespace, struct str name)
{
    const struct fn_spec *s = gateway_spec(arg, namespace, name);
    const struct headers none = { 0 };
    return (s && s->is_public) || gateway_admits(arg, namespace, &none) != 401;
}

static bool is_owner(void *arg, struct str name)
{
    return async_owner(name) == *(const uint32_t *)arg;
}

static const char *peer(void *arg, uint32_t owner)
{
    return gateway_peer(arg, is_owner, &owner);
}

struct async_functions async_over_gateway(struct gateway *g)
{
    static const struct async_functions_ops ops = { submit, spec, is_open, peer };
    return (struct async_functions){ &ops, g };
}
