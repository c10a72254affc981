/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole objects: the part that a subresource writes, conversion between versions, metadata alone,
 * equality. rules/object_rules.h turns a request body into an object.
 */
#pragma once

#include "kube/model/resource.h"

/* The part for a subresource's name; "" and unknown names are the whole. */
enum object_part object_part_of(struct str subresource);
/* Convert to another version of the same kind, in place. */
void object_convert(struct arena *a, struct json *obj, const struct kube_resource *from,
                    const struct kube_resource *to);
/* {kind: PartialObjectMetadata, apiVersion: meta.k8s.io/v1, metadata}; shares nothing with obj. */
struct json *object_partial_metadata(struct arena *a, const struct json *obj);
/* Equal except for resourceVersion and managedFields: the update changes nothing. */
bool object_same(const struct json *a, const struct json *b);
