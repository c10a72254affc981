/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controllers inside the API server. They follow the store by their own watches and act through the
 * in-process transport, like any client. They are event-driven; none polls. Controllers that would
 * have to watch everything are notified of each write instead (part.h).
 */
#pragma once

#include "api/admission.h"
#include "api/controllers/retry.h"
#include "api/node_cidrs.h"
#include "api/part.h"
#include "kube/model/builtin.h"
#include "kube/model/crd.h"

/*
 * CustomResourceDefinitions: compiles them into the registry, maintains their names and conditions,
 * and removes the instances when a definition is deleted. ready: when all stored definitions are
 * served.
 */
struct crds *crds_start(struct api *api, controller_ready_cb ready, void *arg);
void crds_stop(struct crds *c); /* NULL is fine, also for the next two */
void crds_free(struct crds *c);
bool crds_is_busy(const struct crds *c);
/*
 * Registers the stages of a write: conditions of a definition; no new instances of a definition
 * that is being deleted.
 */
void crds_register(struct admission_chain *c);
/* After a definition was written or removed (value ""), before the writer gets its answer. */
void crds_written(struct crds *c, struct str name, struct str value, uint64_t rev);
/*
 * Revision of the definition behind a resource; 0: built-in. Objects written before it were
 * defaulted and pruned by another schema.
 */
uint64_t crds_revision(const struct crds *c, const struct kube_resource *res);

/*
 * A stored kind, served or not, for the controllers' own requests: instances of a definition that
 * serves no version have to be deleted as well. NULL: not found.
 */
const struct kube_resource *crds_find_stored(const struct crds *c, struct str group,
                                             struct str version, struct str plural);

/* Namespaces: creates the four that always exist, and empties a namespace that is being deleted. */
struct namespaces *namespaces_start(struct api *api, controller_ready_cb ready, void *arg);
void namespaces_stop(struct namespaces *n);
void namespaces_free(struct namespaces *n);
bool namespaces_is_busy(const struct namespaces *n);

/*
 * Garbage collection by owner references; starts with what an earlier process left undone. ready:
 * when the index of owners is complete. The functions that take a gc accept NULL.
 */
struct gc *gc_start(struct api *api, controller_ready_cb ready, void *arg);
void gc_stop(struct gc *gc);
void gc_free(struct gc *gc);
bool gc_is_busy(const struct gc *gc);
/*
 * Whether the indices of owners (owners.h) and of nodes (placed.h) cover all objects at this
 * revision; 0: now.
 */
bool gc_has_indices(const struct gc *gc, uint64_t at_rev);
void gc_written(struct gc *gc, const struct written *w);
/* Kinds were added: owners of kinds unknown before may exist now. */
void gc_kinds_changed(struct gc *gc);

/* ServiceAccount "default" and ConfigMap kube-root-ca.crt. ready: all namespaces have them. */
struct accounts *accounts_start(struct api *api, controller_ready_cb ready, void *arg);
void accounts_stop(struct accounts *c);
void accounts_free(struct accounts *c);
bool accounts_is_busy(const struct accounts *c);
void accounts_written(struct accounts *c, const struct written *w);

/* Aggregated ClusterRoles. ready: they are up to date. */
struct aggregate *aggregate_start(struct api *api, controller_ready_cb ready, void *arg);
void aggregate_stop(struct aggregate *g);
void aggregate_free(struct aggregate *g);
bool aggregate_is_busy(const struct aggregate *g);
void aggregate_written(struct aggregate *g, const struct written *w);

/* Objects that every cluster has. ready: they exist. */
struct defaults *defaults_start(struct api *api, controller_ready_cb ready, void *arg);
void defaults_stop(struct defaults *d);
void defaults_free(struct defaults *d);
bool defaults_is_busy(const struct defaults *d);
void defaults_written(struct defaults *d, const struct written *w);

/* Deletes Events older than ttl_ms; Secrets of bootstrap tokens (bootstrap_token.h) at their date.
 */
struct expiry *expiry_start_events(struct api *api, uint64_t ttl_ms);
struct expiry *expiry_start_tokens(struct api *api);
struct expiry *expiry_start_requests(struct api *api);
void expiry_stop(struct expiry *x);
void expiry_free(struct expiry *x);
bool expiry_is_busy(const struct expiry *x);
void expiry_written(struct expiry *x, const struct written *w);

/* Deletes the Secrets with a token of an account when the account is deleted. */
struct account_secrets *account_secrets_start(struct api *api);
void account_secrets_stop(struct account_secrets *s);
void account_secrets_free(struct account_secrets *s);
bool account_secrets_is_busy(const struct account_secrets *s);
void account_secrets_written(struct account_secrets *s, const struct written *w);

/* spec.podCIDRs of Nodes. NULL if there are no ranges; NULL is fine for the others. */
struct pod_cidrs *pod_cidrs_start(struct api *api, const struct node_cidrs *ranges);
void pod_cidrs_stop(struct pod_cidrs *c);
void pod_cidrs_free(struct pod_cidrs *c);
bool pod_cidrs_is_busy(const struct pod_cidrs *c);
void pod_cidrs_written(struct pod_cidrs *c, const struct written *w);

/* kube-public/cluster-info, signed by the bootstrap tokens that may sign. */
struct cluster_info *cluster_info_start(struct api *api);
/* What it publishes, from now on: a kubeconfig; copied. */
void cluster_info_set(struct cluster_info *c, struct str kubeconfig);
void cluster_info_stop(struct cluster_info *c);
void cluster_info_free(struct cluster_info *c);
bool cluster_info_is_busy(const struct cluster_info *c);
void cluster_info_written(struct cluster_info *c, const struct written *w);

/* ResourceQuotas: maintains their status. */
struct quotas *quotas_start(struct api *api);
void quotas_stop(struct quotas *q);
void quotas_free(struct quotas *q);
bool quotas_is_busy(const struct quotas *q);
void quotas_written(struct quotas *q, const struct written *w);
/* Whether the namespace may have a quota. */
bool quotas_in(const struct quotas *q, struct str ns);

/* ---- all of them (controllers.c) ---- */

/* In the order in which they start. */
struct controllers {
    struct api *api;
    uint64_t event_ttl_ms;
    struct crds *crds;
    struct namespaces *namespaces;
    struct gc *gc;
    struct accounts *accounts;
    struct aggregate *aggregate;
    struct defaults *defaults;
    struct expiry *event_expiry, *token_expiry, *request_expiry;
    struct quotas *quotas;
    struct account_secrets *account_secrets;
    struct cluster_info *cluster_info;
    struct node_cidrs node_cidrs; /* to give; none: they are another controller's */
    struct pod_cidrs *pod_cidrs;
    size_t csrs_in_flight;  /* writes of signed requests, and the read of those left to sign */
    struct retry csr_retry; /* for that read */
    bool csrs_wait;         /* a request may be approved once roles or bindings have changed */
    size_t policy_types_in_flight; /* status writes, and the read of policies */
    struct retry policy_types_retry;
    controller_ready_cb ready; /* of the part that is starting */
    void *ready_arg;
};

/* Sets api->controllers. */
void controllers_init(struct api *api, const struct api_opts *opts);
/* Adds two parts: definitions and namespaces, which everything else needs; then the others. */
void controllers_add_first(struct controllers *c);
void controllers_add_rest(struct controllers *c);
/*
 * Registers the stages of the chain: those of definitions before, those of certificates after the
 * others.
 */
void controllers_register_first(struct admission_chain *c);
void controllers_register_last(struct admission_chain *c);
/* Members of struct api_needs. */
uint64_t controllers_schema_revision(const struct api *api, const struct kube_resource *res);
const struct kube_resource *controllers_find_stored(const struct api *api, struct str group,
                                                    struct str version, struct str plural);
bool controllers_have_indices(const struct api *api, uint64_t at_rev);
/* A member of struct admit_needs; arg: the api. */
bool controllers_have_quota(void *arg, struct str ns);
