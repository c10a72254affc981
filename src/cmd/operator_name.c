/* SPDX-License-Identifier: Apache-2.0 */
/* Names of operators on the command line; see operator_name.h. */
#include "cmd/operator_name.h"

#include "base/str.h"
#include "codec/url.h"

#include <stdio.h>

int operator_name_parse(const char *text, const char *namespace, struct operator_name *ret,
                        struct err *err)
{
    struct str head, tail;
    bool has_slash = str_cut(str_of(text), '/', &head, &tail);
    struct str ns = has_slash ? head : str_of(namespace ? namespace : "default");
    struct str name = has_slash ? tail : head;
    if (has_slash && namespace && !str_is(head, namespace))
        return err_set(err, E_INVALID, "'%s' and --namespace %s contradict each other", text,
                       namespace);
    if (name.n == 0 || str_find_char(name, '/') >= 0 || name.n >= sizeof ret->name ||
        ns.n >= sizeof ret->namespace)
        return err_set(err, E_INVALID, "'%s' is not [NAMESPACE/]NAME of an operator", text);
    (void)snprintf(ret->namespace, sizeof ret->namespace, STR_FMT, STR_ARG(ns));
    (void)snprintf(ret->name, sizeof ret->name, STR_FMT, STR_ARG(name));
    return 0;
}

void operator_name_target(const struct operator_name *name, const char *page, struct buf *to)
{
    (void)buf_printf(to, "%s?namespace=", page);
    (void)url_encode(to, str_of(name->namespace));
    (void)buf_add_cstr(to, "&name=");
    (void)url_encode(to, str_of(name->name));
}
