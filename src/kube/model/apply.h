/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server-side apply: merges a configuration, which holds only the fields that its manager wants,
 * into the object.
 *
 *     merge    the configuration is laid over the live object
 *     prune    fields that this manager applied last time, does not apply now, and that no other
 *              manager owns, are removed
 *     compare  changed fields of other managers are conflicts, unless force takes them over
 *
 * The caller decodes, defaults and prepares the result like any request body. Pure.
 */
#pragma once

#include "kube/model/managed_fields.h"

#define APPLY_LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/*
 * live: the stored object, or managed_empty() when there is none. The input trees are not changed;
 * *ret is the new object with its managedFields, equal to live (by managed_same()) when nothing
 * changes. On error *ret_status is the Status to answer: 400, 409 with the conflicts as causes, or
 * 500 for a configuration that does not fit the schema (as upstream does).
 */
int apply_config(struct arena *a, const struct managed_writer *w, const struct json *live,
                 const struct json *config, bool force, struct json **ret,
                 struct json **ret_status);

/*
 * Field ownership between an object and its autoscaling/v1 Scale, whose only field is
 * spec.replicas. apply_to_scale: converts entries of the object into entries of its Scale.
 * apply_from_scale: merges the entries of the Scale after a write into those of the object. w: the
 * writer of the object. The lists are metadata.managedFields or NULL.
 */
struct json *apply_to_scale(struct arena *a, const struct managed_writer *w,
                            const struct json *list);
struct json *apply_from_scale(struct arena *a, const struct managed_writer *w,
                              const struct json *list, const struct json *scale_list);
