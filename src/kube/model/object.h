/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole objects: which part a subresource writes, other versions, metadata alone, equality. How a
 * request body becomes an object is in rules/object_rules.h.
 */
#pragma once

#include "kube/model/resource.h"

/* Of the subresource's name; "" and unknown ones are the whole. */
enum object_part object_part_of(struct str subresource);
/* Rewrite for another version of the same kind, in place. */
void object_convert(struct arena *a, struct json *obj, const struct kube_resource *from,
                    const struct kube_resource *to);
/* {kind: PartialObjectMetadata, apiVersion: meta.k8s.io/v1, metadata}; shares nothing with obj. */
struct json *object_partial_metadata(struct arena *a, const struct json *obj);
/* Equal apart from resourceVersion and managedFields: an update that changes nothing. */
bool object_same(const struct json *a, const struct json *b);
