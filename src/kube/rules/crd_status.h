/* SPDX-License-Identifier: Apache-2.0 */
/* The status of CustomResourceDefinitions: accepted names, conditions, approval. */
#pragma once

#include "kube/model/crd.h"

/*
 * Decides which of spec.names are accepted, given the names accepted for other definitions of the
 * group (`others`: array of CRD objects, self included or not) and the built-in resources. Sets
 * status.acceptedNames, the conditions NamesAccepted and Established, status.storedVersions.
 * Returns true if status changed. `now`: RFC 3339 time of transitions.
 */
bool crd_update_status(struct arena *a, struct json *obj, const struct json *others,
                       const struct kube_registry *builtin, struct str now);
/*
 * Set or replace one condition; the transition time changes only when the status does. Returns true
 * if it changed.
 */
bool crd_set_condition(struct arena *a, struct json *obj, const char *type, bool status,
                       const char *reason, const char *message, struct str now);
bool crd_has_condition(const struct json *obj, const char *type);

/* Groups of the Kubernetes project itself require a review, given by an annotation. */
#define CRD_APPROVED_BY "api-approved.kubernetes.io"
enum crd_approval_state {
    CRD_APPROVED,
    CRD_APPROVAL_BYPASSED,
    CRD_APPROVAL_MISSING,
    CRD_APPROVAL_INVALID
};
struct crd_approval {
    enum crd_approval_state state;
    const char *reason; /* NULL: the group requires no review */
    const char *message;
};
struct crd_approval crd_approval(struct arena *a, const struct json *obj);
