/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upstream's validation of built-in kinds, beyond types and metadata, with its paths, texts and
 * order. One function for each kind, for the `validate` member of its strategy.
 *
 * obj has been decoded and defaulted (object.h) and its metadata validated. old: the stored object
 * of an update, NULL for a create. An update in which only the status differs is treated as one of
 * the status.
 */
#pragma once

#include "kube/model/field.h"

/* For objects of all built-in kinds: finalizers need a domain, except the standard ones. */
void validate_finalizers(struct str group, const struct json *obj, struct field_errors *errs);
void validate_pod(const struct json *obj, const struct json *old, struct field_errors *errs);
void validate_pod_template(const struct json *obj, const struct json *old,
                           struct field_errors *errs);
/* Subresources of a pod. */
void validate_pod_ephemeral(const struct json *obj, const struct json *old,
                            struct field_errors *errs);
/* The resize subresource. */
void validate_pod_resize(const struct json *obj, const struct json *old, struct field_errors *errs);
void validate_pod_binding(const struct json *binding, struct field_errors *errs);

void validate_service(const struct json *obj, const struct json *old, struct field_errors *errs);
/* The part of a Service that must be valid before addresses are chosen for it. */
void validate_service_addresses(const struct json *obj, struct field_errors *errs);
void validate_endpoints(const struct json *obj, const struct json *old, struct field_errors *errs);
void validate_endpoint_slice(const struct json *obj, const struct json *old,
                             struct field_errors *errs);
void validate_deployment(const struct json *obj, const struct json *old, struct field_errors *errs);
void validate_replica_set(const struct json *obj, const struct json *old,
                          struct field_errors *errs);
void validate_replication_controller(const struct json *obj, const struct json *old,
                                     struct field_errors *errs);
void validate_daemon_set(const struct json *obj, const struct json *old, struct field_errors *errs);
void validate_stateful_set(const struct json *obj, const struct json *old,
                           struct field_errors *errs);
void validate_controller_revision(const struct json *obj, const struct json *old,
                                  struct field_errors *errs);

void validate_job(const struct json *obj, const struct json *old, struct field_errors *errs);
void validate_cron_job(const struct json *obj, const struct json *old, struct field_errors *errs);
void validate_role(const struct json *obj, const struct json *old, struct field_errors *errs);
void validate_cluster_role(const struct json *obj, const struct json *old,
                           struct field_errors *errs);
void validate_role_binding(const struct json *obj, const struct json *old,
                           struct field_errors *errs);
void validate_cluster_role_binding(const struct json *obj, const struct json *old,
                                   struct field_errors *errs);
void validate_node(const struct json *obj, const struct json *old, struct field_errors *errs);
void validate_persistent_volume(const struct json *obj, const struct json *old,
                                struct field_errors *errs);
void validate_persistent_volume_claim(const struct json *obj, const struct json *old,
                                      struct field_errors *errs);
void validate_storage_class(const struct json *obj, const struct json *old,
                            struct field_errors *errs);
void validate_csi_node(const struct json *obj, const struct json *old, struct field_errors *errs);
void validate_csi_driver(const struct json *obj, const struct json *old, struct field_errors *errs);
void validate_csi_capacity(const struct json *obj, const struct json *old,
                           struct field_errors *errs);
void validate_limit_range(const struct json *obj, const struct json *old,
                          struct field_errors *errs);
void validate_resource_quota(const struct json *obj, const struct json *old,
                             struct field_errors *errs);
void validate_service_cidr(const struct json *obj, const struct json *old,
                           struct field_errors *errs);
void validate_ingress(const struct json *obj, const struct json *old, struct field_errors *errs);
void validate_ingress_class(const struct json *obj, const struct json *old,
                            struct field_errors *errs);
void validate_network_policy(const struct json *obj, const struct json *old,
                             struct field_errors *errs);
void validate_autoscaler(const struct json *obj, const struct json *old, struct field_errors *errs);
void validate_budget(const struct json *obj, const struct json *old, struct field_errors *errs);
/* ValidatingWebhookConfiguration, MutatingWebhookConfiguration. */
void validate_webhooks(const struct json *obj, const struct json *old, struct field_errors *errs);
