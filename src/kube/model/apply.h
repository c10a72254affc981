/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server-side apply: a configuration, which says what its manager wants and nothing else, becomes
 * the object.
 *
 *     merge    the configuration is laid over the live object
 *     prune    what this manager applied last time, does not any more, and nobody else owns, goes
 *     compare  fields of others that changed are conflicts, unless force takes them
 *
 * The result is to be decoded, defaulted and prepared like any body. Pure.
 */
#pragma once

#include "kube/model/managed_fields.h"

#define APPLY_LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/*
 * live: the stored object, or managed_empty() when there is none. Trees are not changed; *ret is
 * the new object with its managedFields; equal to live (managed_same() apart) when nothing changes.
 * An error gives the Status to answer: 400, 409 with the conflicts as causes, 500 for a
 * configuration that does not fit the schema (as upstream does).
 */
int apply_config(struct arena *a, const struct managed_writer *w, const struct json *live,
                 const struct json *config, bool force, struct json **ret,
                 struct json **ret_status);

/*
 * Ownership between an object and its autoscaling/v1 Scale, whose only field is spec.replicas.
 * apply_to_scale: entries of the object as those of its Scale. apply_from_scale: entries of the
 * Scale after a write put back into those of the object. w: the writer of the object. Lists are
 * metadata.managedFields or NULL.
 */
struct json *apply_to_scale(struct arena *a, const struct managed_writer *w,
                            const struct json *list);
struct json *apply_from_scale(struct arena *a, const struct managed_writer *w,
                              const struct json *list, const struct json *scale_list);
