/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CustomResourceDefinitions: from object to served resources. Their validation and the conditions
 * of their status are in rules/. Pure: the API server stores objects and calls these.
 */
#pragma once

#include "kube/model/resource.h"

/* One definition with its resources, reference counted by kube_resource_ref(). */
struct crd;

/*
 * Compile a stored (defaulted) CRD. Keeps a copy of what it needs. Its objects depend on it, so a
 * schema that would be refused today is used as far as it goes: crd_doubt(). Without a storage
 * version it serves nothing, and crd_storage() is the version in which the objects were stored
 * last, so that they can be removed. *ret given: crd_unref(). Errors: E_INVALID with the reason:
 * without a group or a plural.
 */
int crd_new(const struct json *obj, struct crd **ret, struct err *err);
/* Why a new definition of this kind would be refused; NULL: it would not. Borrowed from c. */
const char *crd_doubt(const struct crd *c);
void crd_ref(struct crd *c);
void crd_unref(struct crd *c);
struct str crd_name(const struct crd *c);
/* Served versions, sorted by priority. Borrowed from c. */
size_t crd_resources(const struct crd *c, const struct kube_resource *const **ret);
/* The storage version (also when it is not served). */
const struct kube_resource *crd_storage(const struct crd *c);
/*
 * Its versions are converted by a webhook, and none is called here: objects are served in the
 * version they are stored in, and in no other.
 */
bool crd_wants_webhook(const struct crd *c);
/* The warning for the client that writes such a definition. */
void crd_warn(struct arena *a, const struct json *obj, const struct json *old,
              void (*say)(void *arg, struct str text), void *arg);

/* What an object of a definition with scale has at the scale's paths (crd_scale.c). */
void crd_validate_scale(const struct kube_resource *r, const struct json *obj,
                        struct field_errors *errs);
/* Upstream's defaults: names, listKind, conversion, scope of versions. */
void crd_default(struct arena *a, struct json *obj);
