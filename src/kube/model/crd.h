/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CustomResourceDefinitions: makes served resources from their objects. The validation and the
 * status conditions are in rules/. Pure: the API server stores the objects and calls these
 * functions.
 */
#pragma once

#include "kube/model/resource.h"

/* One definition with its resources, reference counted by kube_resource_ref(). */
struct crd;

/*
 * Compile a stored (defaulted) CRD; copies what it needs. Existing objects depend on it, so a
 * schema that would be refused in a new definition is used as far as possible: crd_doubt(). Without
 * a storage version it serves nothing, and crd_storage() is the version in which objects were
 * stored last, so that they can be removed. *ret given: crd_unref(). Errors: E_INVALID with the
 * reason: no group or no plural.
 */
int crd_new(const struct json *obj, struct crd **ret, struct err *err);
/*
 * Why this definition would be refused as a new one; NULL: it would be accepted. Borrowed from c.
 */
const char *crd_doubt(const struct crd *c);
void crd_ref(struct crd *c);
void crd_unref(struct crd *c);
struct str crd_name(const struct crd *c);
/* Served versions, sorted by priority. Borrowed from c. */
size_t crd_resources(const struct crd *c, const struct kube_resource *const **ret);
/* The storage version (also when it is not served). */
const struct kube_resource *crd_storage(const struct crd *c);
/*
 * Its versions are converted by a webhook. Webhooks are not called: objects are served only in the
 * version in which they are stored.
 */
bool crd_wants_webhook(const struct crd *c);
/* Warnings for a client that writes such a definition. */
void crd_warn(struct arena *a, const struct json *obj, const struct json *old,
              void (*say)(void *arg, struct str text), void *arg);

/* Validate an object's values at the scale's paths of its definition (crd_scale.c). */
void crd_validate_scale(const struct kube_resource *r, const struct json *obj,
                        struct field_errors *errs);
/* Upstream's defaults: names, listKind, conversion, scope of versions. */
void crd_default(struct arena *a, struct json *obj);
