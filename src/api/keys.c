/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of objects in the store: /registry/<storage name>/[<namespace>/]<name>. */
#include "api/core.h"

#include <assert.h>

struct str key_prefix(struct arena *a, const struct kube_resource *res)
{
    return str_of(arena_printf(a, "/registry/" STR_FMT "/", STR_ARG(kube_storage_name(a, res))));
}

struct str key_prefix_ns(struct arena *a, const struct kube_resource *res, struct str ns)
{
    struct str name = kube_storage_name(a, res);
    if (ns.n == 0)
        return key_prefix(a, res);
    return str_of(
        arena_printf(a, "/registry/" STR_FMT "/" STR_FMT "/", STR_ARG(name), STR_ARG(ns)));
}

struct str key_object(struct arena *a, const struct kube_resource *res, struct str ns,
                      struct str name)
{
    struct str prefix = key_prefix_ns(a, res, res->namespaced ? ns : STR(""));
    return str_of(arena_printf(a, STR_FMT STR_FMT, STR_ARG(prefix), STR_ARG(name)));
}

void key_split(const struct kube_resource *res, struct str prefix, struct str key,
               struct str *ret_ns, struct str *ret_name)
{
    assert(key.n >= prefix.n);
    struct str rest = str_slice(key, prefix.n, key.n);
    *ret_ns = STR("");
    *ret_name = rest;
    if (res->namespaced)
        (void)str_cut(rest, '/', ret_ns, ret_name);
}
