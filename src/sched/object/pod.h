/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Pod as the scheduler needs it. Upstream: v1.Pod together with framework.PodInfo, which holds
 * what is computed once for each pod (requests, affinity terms).
 */
#pragma once

#include "sched/object/match.h"

/* Amounts of resources. Scalars: extended resources, huge pages, attachable volumes. */
struct sched_scalar {
    struct intern *name;
    int64_t value;
};
struct sched_amounts {
    int64_t milli_cpu, memory, ephemeral;
    struct sched_scalar *scalars; /* by the address of name */
    uint32_t n_scalars;
};
void sched_amounts_fini(struct intern_table *w, struct sched_amounts *a);
int64_t sched_amounts_scalar(const struct sched_amounts *a,
                             const struct intern *name); /* 0: none */

struct sched_port {
    struct intern *ip; /* "0.0.0.0" if not given */
    enum { SCHED_TCP, SCHED_UDP, SCHED_SCTP } protocol;
    uint16_t port;
};

/* A term of pod (anti-)affinity, with matchLabelKeys and mismatchLabelKeys merged in. */
struct sched_affinity_term {
    struct sched_selector selector;
    struct sched_selector namespace_selector; /* `nothing` if absent */
    struct intern **namespaces;               /* the pod's own if neither was given */
    uint32_t n_namespaces;
    struct intern *topology_key;
    int32_t weight; /* of a preferred one */
};
struct sched_affinity_terms {
    struct sched_affinity_term *p;
    uint32_t n;
};

struct sched_spread {
    struct intern *topology_key;
    struct sched_selector selector; /* with matchLabelKeys merged in */
    int32_t max_skew, min_domains;  /* min_domains: 1 if not given */
    bool do_not_schedule;           /* else ScheduleAnyway */
    bool honors_affinity, honors_taints;
};

enum sched_volume_source {
    SCHED_VOLUME_OTHER, /* empty, config map, ...: ignored */
    SCHED_VOLUME_CLAIM,
    SCHED_VOLUME_EPHEMERAL, /* the claim is named POD-VOLUME */
    SCHED_VOLUME_GCE_DISK,
    SCHED_VOLUME_AWS_DISK,
    SCHED_VOLUME_AZURE_DISK,
    SCHED_VOLUME_CINDER,
    SCHED_VOLUME_PORTWORX,
    SCHED_VOLUME_ISCSI,
    SCHED_VOLUME_RBD,
};
struct sched_volume {
    enum sched_volume_source source;
    struct str name;
    struct str claim;     /* of CLAIM and EPHEMERAL: the claim's name */
    struct str id, id2;   /* disk; iscsi: iqn; rbd: pool and image; azure: URI and kind */
    struct str *monitors; /* rbd */
    uint32_t n_monitors;
    bool read_only;
};

struct sched_owner {
    struct str api_version, kind, name, uid; /* "" kind: no controller */
};

/*
 * Features that a node has to declare (status.declaredFeatures) for pods that need them: those of
 * upstream's registry that a pod's spec can need. Bits of needs_features and declared_features.
 */
#define SCHED_NODE_FEATURES(X)                                                                     \
    X(RESTART_ALL_CONTAINERS, "RestartAllContainersOnContainerExits")                              \
    X(USER_NAMESPACES_HOST_NETWORK, "UserNamespacesHostNetworkSupport")
enum sched_node_feature {
#define SCHED_NODE_FEATURE_ENUM(id, name) SCHED_FEATURE_##id,
    SCHED_NODE_FEATURES(SCHED_NODE_FEATURE_ENUM)
#undef SCHED_NODE_FEATURE_ENUM
        SCHED_NODE_FEATURE_COUNT
};

/* Fields are ordered by size: there are many pods. */
struct sched_pod {
    struct sched_object o;
    struct intern *namespace_word;
    struct intern *node_name; /* spec.nodeName; NULL: none */
    struct sched_labels labels;
    struct str scheduler_name;
    struct str nominated_node;      /* status.nominatedNodeName */
    int64_t generation;             /* metadata.generation */
    int64_t created_ms, started_ms; /* wall clock; started: status.startTime, 0: none */
    struct sched_owner controller;

    /* Sum of containers, or the largest init container, with sidecars and overhead (upstream's
     * PodRequests), with pod-level resources where given. */
    struct sched_amounts requests;
    /* 100m and 200 MiB for a container that requests none */
    int64_t nonzero_milli_cpu, nonzero_memory;
    /* These two without the pod-level resources, which upstream's NodeResourcesFit leaves out when
     * it scores a pending pod; NULL: the pod has no pod-level resources. */
    int64_t *container_nonzero;

    struct sched_toleration *tolerations;
    struct sched_selector node_selector; /* spec.nodeSelector */
    struct sched_node_terms required_node, preferred_node;
    struct sched_affinity_terms required_affinity, preferred_affinity;
    struct sched_affinity_terms required_anti, preferred_anti;
    struct sched_spread *spreads;
    struct sched_port *ports; /* host ports */
    struct intern **images; /* of all containers and image volumes, without duplicates; with tag */
    struct sched_volume *volumes; /* those that the scheduler uses */
    struct str *gates;
    uint32_t n_tolerations, n_spreads, n_ports, n_volumes, n_gates;
    uint32_t n_images, n_containers; /* n_containers includes init containers */

    int32_t priority;
    bool never_preempts; /* preemptionPolicy Never */
    bool is_terminating; /* deletionTimestamp is set */
    bool is_done;        /* Succeeded or Failed */
    /* DisruptionTarget is True with the reason PreemptionByScheduler: a victim of preemption. */
    bool has_disruption_condition;
    bool has_claims; /* spec.resourceClaims: not supported, see plugins */
    bool has_required_node_affinity;
    uint8_t needs_features;
    uint8_t names_requests; /* bits: requests name cpu (1), memory (2), ephemeral-storage (4), even
                               with 0 */

    struct str json;               /* the object if keeps_json was set, for extenders; else empty */
    struct sched_encoded *encoded; /* for Wasm plugins; NULL: there are none */

    /* From the annotation image.dormouse.dev/layers, for BREAK's scores; NULL: none. */
    struct intern *image_layers;
    struct intern *pull_secrets; /* spec.imagePullSecrets: names, each with "\n"; NULL: none */

    struct intern *scheduler_word, *controller_word; /* the words that these point into */
    char *block;                                     /* the memory of all arrays above */
};

static inline const struct sched_pod *sched_pod_of(const struct sched_object *o)
{
    return (const struct sched_pod *)o;
}
/* namespace/name */
void sched_pod_key(const struct sched_pod *p, struct buf *out);
/* `pod` has JSON, or a message for plugins, which have been kept only since a reload, and `than`
 * has not. Of two states of equal version the fuller one replaces the other. */
bool sched_pod_is_fuller(const struct sched_pod *pod, const struct sched_pod *than);
/*
 * A copy of the pod that is bound to `node`, or unbound (NULL), for the cache: a separate struct
 * that shares nothing except words. Given.
 */
struct sched_pod *sched_pod_clone(struct intern_table *w, const struct sched_pod *p,
                                  struct intern *node);
