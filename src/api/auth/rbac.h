/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roles and bindings of a cluster in memory, in a form that answers a request without waiting.
 * Pure; authz.c keeps it current.
 *
 * Bindings are found by (namespace, subject), so a request looks only at the bindings of its own
 * user and groups, in its own namespace and the cluster; the number of other bindings does not
 * matter.
 */
#pragma once

#include "api/auth/rbac_rules.h"
#include "api/server.h"

struct rbac;

enum rbac_kind { RBAC_ROLE, RBAC_ROLE_BINDING, RBAC_CLUSTER_ROLE, RBAC_CLUSTER_ROLE_BINDING };

struct rbac *rbac_new(void);
void rbac_free(struct rbac *r); /* NULL is fine */

/*
 * Replace the stored form of an object; NULL: it was deleted. ns: "" for the two cluster-scoped
 * kinds.
 */
void rbac_put(struct rbac *r, enum rbac_kind kind, struct str ns, struct str name,
              const struct json *obj);

/* ns "": a ClusterRole. false: not found. Valid until the next rbac_put(). */
bool rbac_role_rules(const struct rbac *r, struct str ns, struct str name, struct rbac_rules *ret);

/*
 * An api_authorize_fn whose argument is the struct rbac. reason: upstream's, "RBAC: allowed by
 * ...", or the roles of the user's bindings that do not exist; NULL: not wanted.
 */
bool rbac_authorize(void *rbac, const struct api_attributes *at, struct buf *reason);

/*
 * Call fn for the rules that a user has in a namespace ("": in the whole cluster only), each
 * binding once. Rules are valid until the next rbac_put().
 */
typedef void (*rbac_rule_fn)(void *arg, const struct rbac_rule *rule);
void rbac_each_rule(struct rbac *r, const struct kube_identity *who, struct str ns, rbac_rule_fn fn,
                    void *arg);

/* A member of system:masters: may do everything, without a check. */
bool rbac_is_master(const struct kube_identity *who);
/* `clusterrole.rbac.authorization.k8s.io "x" not found` */
void rbac_role_missing_text(struct buf *to, bool is_cluster_role, struct str name);

struct rbac_stats {
    size_t roles, bindings, subjects, bytes;
};
void rbac_stats(const struct rbac *r, struct rbac_stats *ret);
