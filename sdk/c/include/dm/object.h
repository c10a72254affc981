/* SPDX-License-Identifier: Apache-2.0 */
/* What Kubernetes objects have in common: their place in the API, metadata, owners, conditions. */
#pragma once

#include "dm/json.h"
#include "dm/text.h"

struct dm_resource {
    const char *group; /* "" for the core group */
    const char *version;
    const char *plural;
    const char *kind;
    bool cluster_scoped;
};

extern const struct dm_resource dm_namespaces, dm_configmaps, dm_secrets;

/* "/api/v1/namespaces/ns/plural/name/sub"; NULL or "" leaves a part out. */
void dm_kube_path(struct dm_text *t, const struct dm_resource *res, const char *ns,
                  const char *name, const char *sub);

/* An object's members that everyone asks for; "" or no value when missing. */
struct dm_str dm_meta(struct dm_json obj,
                      const char *member); /* metadata.<member>, unescaped view */
struct dm_json dm_label(struct dm_json obj, const char *key);
struct dm_json dm_annotation(struct dm_json obj, const char *key);
bool dm_is_deleting(struct dm_json obj);

/* "apiVersion" and "kind" members. */
void dm_jw_type(struct dm_text *t, const struct dm_resource *res);
/* An ownerReference to obj, which must be in the same namespace or cluster-scoped. */
void dm_jw_owner(struct dm_text *t, const struct dm_resource *res, struct dm_json obj,
                 bool controller);

bool dm_has_finalizer(struct dm_json obj, const char *finalizer);
/* The merge patch that adds or removes one finalizer, with the object's resourceVersion as a
 * condition. */
void dm_jw_finalizers(struct dm_text *t, struct dm_json obj, const char *finalizer, bool present);

/*
 * Write the array `conditions` with one of them set; lastTransitionTime moves only with `status`.
 * Returns false when the array already says all of this.
 */
struct dm_condition {
    const char *type, *status, *reason, *message;
    int64_t generation;
};
bool dm_jw_condition(struct dm_text *t, struct dm_json conditions, const struct dm_condition *c);

/*
 * Does a label selector (matchLabels, matchExpressions with In, NotIn, Exists, DoesNotExist) select
 * these labels? A selector without requirements selects everything, a missing one nothing. An
 * unknown operator selects nothing.
 */
bool dm_selects(struct dm_json selector, struct dm_json labels);
