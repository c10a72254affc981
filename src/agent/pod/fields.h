/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The downward API: values of fieldRef and resourceFieldRef, for environment and volumes. Pure, any
 * thread.
 */
#pragma once

#include "agent/pod/resources.h"
#include "agent/pod/spec.h"

/* What the object does not say, or says too late. Borrowed strings. */
struct pod_facts {
    const struct str *host_ips, *pod_ips; /* the first is status.hostIP, status.podIP */
    size_t n_host_ips, n_pod_ips;
    struct pod_amounts allocatable; /* of the node, for limits that are not stated */
};

/*
 * The value of a fieldRef: metadata.name, .namespace, .uid, .labels, .annotations, .labels['KEY'],
 * .annotations['KEY'], spec.nodeName, spec.serviceAccountName, status.hostIP, .hostIPs, .podIP,
 * .podIPs. Whole labels and annotations are lines KEY="VALUE", sorted by key, the value escaped. A
 * key that is missing is an empty value, and so is an address that is not known yet.
 * Errors: E_INVALID with upstream's text.
 */
int pod_field_text(struct arena *a, const struct pod_spec *p, const struct pod_facts *facts,
                   struct str path, struct str *ret, struct err *err);

/* limits.cpu, limits.memory, limits.ephemeral-storage, limits.hugepages-*, and requests.*. */
struct pod_field_resource {
    const struct pod_container *self; /* the container meant by an empty name; NULL: none */
    struct str container;             /* name */
    struct str resource;
    struct str divisor; /* empty or "0": 1 */
};
/*
 * The amount divided by the divisor, rounded up. A limit that is not stated is the node's
 * allocatable amount, a request that is not stated is 0.
 * Errors: E_INVALID; -ENOENT: no such container.
 */
int pod_field_resource_text(struct arena *a, const struct pod_spec *p,
                            const struct pod_facts *facts, const struct pod_field_resource *of,
                            struct str *ret, struct err *err);
