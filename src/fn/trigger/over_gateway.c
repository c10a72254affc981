/* SPDX-License-Identifier: Apache-2.0 */
/* struct trigger_functions of a gateway. */
#include "fn/trigger/trigger.h"

static void follow(void *arg,
                   void (*fn)(void *fn_arg, struct str namespace, struct str name,
                              const struct fn_spec *spec),
                   void *fn_arg)
{
    gateway_on_function(arg, fn, fn_arg);
}

static bool owns(void *arg, struct str namespace, struct str name)
{
    return gateway_owns(arg, namespace, name);
}

static int admits(void *arg, struct str namespace, const struct headers *h)
{
    return gateway_admits(arg, namespace, h);
}

static bool is_any(void *arg, struct str name)
{
    return true;
}

static bool is_alone(void *arg)
{
    return gateway_peer(arg, is_any, NULL) == NULL;
}

static void on_members(void *arg, void (*fn)(void *fn_arg), void *fn_arg)
{
    gateway_on_members(arg, fn, fn_arg);
}

struct trigger_functions trigger_over_gateway(struct gateway *g)
{
    static const struct trigger_functions_ops ops = { follow, owns, admits, is_alone, on_members };
    return (struct trigger_functions){ &ops, g };
}
