/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletion of an object whose stored form is damaged, as upstream does it: DeleteOptions with
 * ignoreStoreReadErrorWithClusterBreakingPotential, for clients that have the verb
 * unsafe-delete-ignore-read-errors on the object besides delete. Finalizers, preconditions and
 * policies are not evaluated, because they need the content that cannot be read; dependents may be
 * left behind. An object that can be read is not deleted this way.
 */
#pragma once

#include "api/core.h"

/* body: decoded DeleteOptions, NULL if the options are in the query; also below. */
bool unsafe_delete_wanted(struct request *rq, const struct json *body);
/* NULL, or the Status if this option is combined with options that need the object. */
struct json *unsafe_delete_check(struct request *rq, bool dry_run, const struct json *body);
/* NULL: the client has the verb, else the Status that refuses it. */
struct json *unsafe_delete_may(struct request *rq);
/* A Status 422 about the option. */
struct json *unsafe_delete_refuse(struct request *rq, struct str group, struct str kind,
                                  struct str name, const char *why);
