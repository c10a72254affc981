/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roles and bindings that every cluster has from its first start, as upstream defines them.
 * Pure; authz.c writes what is missing.
 */
#pragma once

#include "api/auth/rbac.h"

/* One default object: where it belongs, and its whole JSON as a client would send it. */
struct rbac_default {
    enum rbac_kind kind;
    struct str ns, name;
    struct json *obj;
};
/* Called for each, roles before the bindings to them; all of it is borrowed for the call. */
void rbac_defaults(void (*fn)(void *arg, const struct rbac_default *d), void *arg);

/*
 * What of a default the stored object lacks, added to it in place: rules that its own do not cover,
 * subjects, selectors of an aggregation, labels and annotations. False: nothing, or the object says
 * that it is not to be updated (annotation autoupdate "false").
 */
bool rbac_reconcile(struct arena *a, const struct rbac_default *d, struct json *stored);
