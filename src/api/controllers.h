/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controllers inside the API server. They follow the store by watches of their own and act through
 * the in-process transport, like any client: event-driven, nothing polls.
 *
 * Owner-reference garbage collection belongs here as a third one; until then dependants stay.
 */
#pragma once

#include "api/core.h"
#include "kube/builtin.h"
#include "kube/crd.h"

#define CRD_FINALIZER "customresourcecleanup.apiextensions.k8s.io"

typedef void (*controller_ready_cb)(void *arg, int r, const struct err *err);

/*
 * CustomResourceDefinitions: compiled into the registry, their names and conditions kept, instances
 * removed when one is deleted. ready: when all stored definitions are served.
 */
struct crds *crds_start(struct api *api, controller_ready_cb ready, void *arg);
void crds_stop(struct crds *c); /* NULL is fine, in the next two as well */
void crds_free(struct crds *c);
bool crds_is_busy(const struct crds *c);
/* Before a definition is written: set the conditions that follow from its names. */
void crds_prepare(struct crds *c, struct arena *a, struct json *obj);
/* After it was written or removed (value ""), before the writer learns of it. */
void crds_written(struct crds *c, struct str name, struct str value, uint64_t rev);
/* Revision of the definition behind a resource: older objects were shaped by another schema. 0:
 * built-in. */
uint64_t crds_revision(const struct crds *c, const struct kube_resource *res);

/*
 * A stored kind, served or not, for the controllers' own requests: instances of a definition that
 * serves no version have to go as well. NULL if there is none.
 */
const struct kube_resource *crds_find_stored(const struct crds *c, struct str group,
                                             struct str version, struct str plural);
/* Its definition is being deleted: no new instances. */
bool crds_is_terminating(const struct crds *c, const struct kube_resource *res);

/* Namespaces: the four that always exist; what is in one that is deleted goes first. */
struct namespaces *namespaces_start(struct api *api, controller_ready_cb ready, void *arg);
void namespaces_stop(struct namespaces *n);
void namespaces_free(struct namespaces *n);
bool namespaces_is_busy(const struct namespaces *n);

bool controllers_busy(const struct api *api);
/* A controller has finished what kept it busy. */
void controllers_idle(struct api *api);
