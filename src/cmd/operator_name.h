/* SPDX-License-Identifier: Apache-2.0 */
/* How commands name an operator: "NAME", "NAMESPACE/NAME", or "/NAME" for one of a directory. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct operator_name {
    char namespace[254], name[254]; /* namespace "": of a directory */
};

/* namespace: of --namespace, or NULL; "NAME" alone is in `default` without it. Errors: E_INVALID.
 */
int operator_name_parse(const char *text, const char *namespace, struct operator_name *ret,
                        struct err *err);
/* "PAGE?namespace=NS&name=NAME" of the admin socket, appended. */
void operator_name_target(const struct operator_name *name, const char *page, struct buf *to);
