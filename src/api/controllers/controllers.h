/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controllers inside the API server. They follow the store by watches of their own and act through
 * the in-process transport, like any client: event-driven, nothing polls. Those that would have to
 * follow everything are told of each write instead (controllers_written()).
 */
#pragma once

#include "api/core.h"
#include "kube/model/builtin.h"
#include "kube/model/crd.h"

#define CRD_FINALIZER "customresourcecleanup.apiextensions.k8s.io"

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

/* A write that was committed. */
struct written {
    const struct kube_resource *res;
    struct str key, name;
    const struct json *old, *obj; /* in whatever version; NULL: was not there, is not there now */
    struct str value;             /* as stored; "": gone */
    bool counted;                 /* the write has counted it in the namespace's quotas */
    uint64_t rev;
};

/*
 * Garbage collection by owner references: begins with what an earlier process left undone. ready:
 * when the index of owners is complete. NULL is fine where a gc is taken.
 */
struct gc *gc_start(struct api *api, controller_ready_cb ready, void *arg);
void gc_stop(struct gc *gc);
void gc_free(struct gc *gc);
bool gc_is_busy(const struct gc *gc);
/* The indices of owners (owners.h) and of nodes (placed.h) cover all objects at the revision, 0:
 * now. */
bool gc_has_indices(const struct gc *gc, uint64_t at_rev);
void gc_written(struct gc *gc, const struct written *w);
/* Owners of kinds that were unknown may be there now. */
void gc_kinds_changed(struct gc *gc);

/* ServiceAccount "default" and ConfigMap kube-root-ca.crt. ready: all namespaces have them. */
struct accounts *accounts_start(struct api *api, controller_ready_cb ready, void *arg);
void accounts_stop(struct accounts *c);
void accounts_free(struct accounts *c);
bool accounts_is_busy(const struct accounts *c);
void accounts_written(struct accounts *c, const struct written *w);

/* ClusterRoles made of others. ready: they are right. */
struct aggregate *aggregate_start(struct api *api, controller_ready_cb ready, void *arg);
void aggregate_stop(struct aggregate *g);
void aggregate_free(struct aggregate *g);
bool aggregate_is_busy(const struct aggregate *g);
void aggregate_written(struct aggregate *g, const struct written *w);

/* Objects that every cluster has. ready: they are there. */
struct defaults *defaults_start(struct api *api, controller_ready_cb ready, void *arg);
void defaults_stop(struct defaults *d);
void defaults_free(struct defaults *d);
bool defaults_is_busy(const struct defaults *d);
void defaults_written(struct defaults *d, const struct written *w);

/* Events go when they are older than that. */
struct expiry *expiry_start(struct api *api, uint64_t ttl_ms);
void expiry_stop(struct expiry *x);
void expiry_free(struct expiry *x);
bool expiry_is_busy(const struct expiry *x);
void expiry_written(struct expiry *x, const struct written *w);

/* Secrets with a token of an account go with the account. */
struct account_secrets *account_secrets_start(struct api *api);
void account_secrets_stop(struct account_secrets *s);
void account_secrets_free(struct account_secrets *s);
bool account_secrets_is_busy(const struct account_secrets *s);
void account_secrets_written(struct account_secrets *s, const struct written *w);

/* ResourceQuotas: what they count. */
struct quotas *quotas_start(struct api *api);
void quotas_stop(struct quotas *q);
void quotas_free(struct quotas *q);
bool quotas_is_busy(const struct quotas *q);
void quotas_written(struct quotas *q, const struct written *w);
/* Whether there may be a quota in the namespace. */
bool quotas_in(const struct quotas *q, struct str ns);

/* ---- all of them (controllers.c) ---- */

/* Those that need the namespaces and definitions. ready: once, when a client may rely on them. */
void controllers_start(struct api *api, controller_ready_cb ready, void *arg);
void controllers_stop(struct api *api);
void controllers_free(struct api *api);
bool controllers_busy(const struct api *api);
/* Tell whom it concerns, before the writer's client learns of it. */
void controllers_written(struct api *api, const struct written *w);
/*
 * An object that could not be read has been deleted: what it was, on whom it depended and what
 * depends on it is not known, so only those controllers hear of it that need no more than its name.
 */
void controllers_lost(struct api *api, const struct kube_resource *res, struct str ns,
                      struct str name, struct str key, uint64_t rev);
/* A controller has finished what kept it busy. */
void controllers_idle(struct api *api);
