/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a workload controller is written with: read this and docs/internals/workload.md, then
 * workload/replicas as an example.
 *
 * A controller is a table (struct workload_controller). The frame follows its kinds, maps each
 * change to the keys of the objects that it concerns, and makes a *call* for a key: it reads the
 * object, claims what belongs to it, and calls reconcile() in rounds.
 *
 *     event -> key -> queue -> GET -> adopt, release -> claims -> reconcile() <-> effects -> end
 *
 * reconcile() decides only: it reads call->object and call->claims and adds effects. The frame then
 * carries the effects out, keeps their answers in them, and calls reconcile() for the next round,
 * until a round adds none. So the decision can be a pure function of structs, with tests that have
 * no API.
 *
 * Guarantees:
 * - One call at a time for each object. call->object was read when the call began.
 * - A claim never lacks what this process wrote before: the answers of writes go into the tables
 *   at once, and older events do not undo them. So nothing is made twice, and there are no
 *   "expectations".
 * - An update or patch that conflicts (409) ends the call at once; it starts over from fresh state.
 *   A failed effect makes the call fail after its last round, and it is repeated after a back-off,
 *   unless the controller sets workload_effect.is_settled.
 * - Nothing runs while nothing changes. A call comes again by time only if it asked for that
 *   (workload_again_after()).
 *
 * Loop thread only.
 */
#pragma once

#include "codec/json.h"
#include "kube/model/selector.h"

struct workload;
struct workload_object;

enum {
    WORKLOAD_WATCHES_MAX = 4,      /* of a controller */
    WORKLOAD_CALLS_MAX = 8,        /* of a controller at a time */
    WORKLOAD_EFFECTS_AT_ONCE = 32, /* of a call */
    WORKLOAD_FACTS_MAX_BYTES = 128
};

/* ---------------------------------------------------------------- kinds */

enum workload_selector {
    WORKLOAD_NO_SELECTOR,    /* it owns what names it as its controller, and adopts nothing */
    WORKLOAD_LABEL_SELECTOR, /* .spec.selector is a metav1.LabelSelector */
    WORKLOAD_MAP_SELECTOR    /* .spec.selector is a map of labels */
};

/*
 * A kind that is followed. Of its objects stay in memory: name, uid, version, labels, controller,
 * selector and facts. Facts are what controllers need to know of objects that they have many of
 * (pods); bodies are read from the API.
 */
struct workload_kind {
    const char *group_version, *plural, *kind;
    bool cluster_scoped;
    bool is_listed; /* roles of controllers may list it but not get it: a GET is a list by name */
    enum workload_selector selector;
    size_t facts_bytes;
    /*
     * facts: zeroed; plain data without padding that is read, because changes are found by memcmp.
     * A change of an object that changes neither its facts nor its labels, controller or deletion
     * does not reach the controllers that own such objects. NULL: no facts; then each change does.
     */
    void (*read)(const struct json *object, void *facts);
    /*
     * What is known of an object besides, as a tree in the arena: small, and the same for most
     * objects (taints of nodes), since each distinct text is held once. NULL: nothing.
     */
    struct json *(*detail)(struct arena *a, const struct json *object);
};

extern const struct workload_kind workload_pods, workload_replica_sets,
    workload_replication_controllers, workload_deployments, workload_jobs, workload_cron_jobs,
    workload_services, workload_endpoint_slices, workload_daemon_sets,
    workload_controller_revisions, workload_nodes;

enum workload_phase { /* in the order of deletion: upstream's podPhaseToOrdinal */
                      WORKLOAD_PENDING,
                      WORKLOAD_UNKNOWN,
                      WORKLOAD_RUNNING,
                      WORKLOAD_SUCCEEDED,
                      WORKLOAD_FAILED
};

/* Facts of a pod. */
struct workload_pod {
    uint64_t node;           /* hash of spec.nodeName; 0: not assigned */
    uint64_t ips;            /* of status.podIPs; 0: none */
    uint64_t node_wanted;    /* hash of the node that its affinity names (DaemonSets); 0: none */
    int64_t created_s;       /* 0: unknown; so is the next member */
    int64_t ready_since_s;   /* lastTransitionTime of the condition Ready */
    int64_t deletion_cost;   /* annotation controller.kubernetes.io/pod-deletion-cost */
    int64_t finished_s;      /* the end of its last container, else of its readiness; 0: unknown */
    uint32_t n_restarts;     /* of the container that was restarted most */
    uint32_t n_restarts_all; /* of all containers, init containers included */
    int32_t index;           /* annotation job-completion-index; -1: none */
    int32_t index_failures;  /* annotation job-index-failure-count */
    uint16_t phase;          /* enum workload_phase */
    uint16_t is_ready;       /* the condition Ready is True */
    uint16_t is_tracked;     /* it has the finalizer batch.kubernetes.io/job-tracking */
    uint16_t unused;
};

/* ---------------------------------------------------------------- controllers */

enum workload_change {
    WORKLOAD_APPEARS, /* or its labels or its controller are other ones now */
    WORKLOAD_CHANGES,
    WORKLOAD_LEAVES /* it is about to be removed, or to change its labels or its controller */
};

enum workload_watch_how {
    /*
     * Objects whose controller is the object of a key, and those without a controller that its
     * selector matches. They become call->claims.
     */
    WORKLOAD_OWNED,
    /*
     * Objects of the namespace that the selector of the key's object matches, whoever controls
     * them. They become call->claims, and stay as they are.
     */
    WORKLOAD_SELECTED,
    WORKLOAD_MAPPED /* map() finds the keys */
};

struct workload_watch {
    const struct workload_kind *kind;
    enum workload_watch_how how;
    bool reads_bodies; /* of the claims: workload_claim.body is set in each round */
};

struct workload_call;

struct workload_controller {
    /*
     * Such as "replicaset-controller": its requests are made as the ServiceAccount of this name in
     * kube-system (api/auth/rbac_bootstrap.c has its rights), and its Events name it.
     */
    const char *name;
    const struct workload_kind *kind;
    struct workload_watch watches[WORKLOAD_WATCHES_MAX]; /* the rest: kind NULL */
    /*
     * For WORKLOAD_MAPPED: workload_enqueue() the keys that the change of `object` concerns.
     */
    void (*map)(struct workload *w, const struct workload_controller *c,
                const struct workload_object *object, enum workload_change change);
    /* The object exists; it may be being deleted. Adds effects. */
    void (*reconcile)(struct workload_call *call);
    /*
     * There is no object of the key: call->object is NULL and so are the claims. As reconcile()
     * otherwise; NULL: nothing is to be done.
     */
    void (*gone)(struct workload_call *call);
};

/* The hash of a node's name in struct workload_pod. */
uint64_t workload_node_hash(struct str name);

/* For map(). */
/* All objects of the controller's kind. */
void workload_enqueue_all(struct workload *w, const struct workload_controller *c);
void workload_enqueue(struct workload *w, const struct workload_controller *c, struct str namespace,
                      struct str name);
struct str workload_object_namespace(const struct workload_object *o);
struct str workload_object_name(const struct workload_object *o);
struct str workload_object_uid(const struct workload_object *o);
const struct workload_kind *workload_object_kind(const struct workload_object *o);
/* The object of the kind that is the controller of `o`; NULL: none, or it is not known. */
const struct workload_object *workload_controller_of(const struct workload *w,
                                                     const struct workload_object *o,
                                                     const struct workload_kind *kind);

/* ---------------------------------------------------------------- calls */

/* An object that belongs to the call's, as it was when the call began. In the call's arena. */
struct workload_claim {
    struct str name, uid;
    uint64_t rv;
    bool is_deleting;
    const struct json *labels; /* NULL: none */
    const struct json *detail; /* of its kind; NULL: none */
    const void *facts;         /* of its kind */
    struct json *body;         /* reads_bodies; else NULL */
};

struct workload_claims {
    struct workload_claim *at;
    size_t n;
};

struct workload_call {
    const struct workload_controller *controller;
    struct arena arena;  /* of the call */
    struct json *object; /* its own: reconcile() may change it and pass it to an effect */
    struct str namespace, name, uid;
    int64_t now_ms;                                      /* wall clock, when the call began */
    struct workload_claims claims[WORKLOAD_WATCHES_MAX]; /* as controller->watches */
    unsigned round;                                      /* 0: the first */
    void *state; /* of the controller, in the arena; NULL in the first round */
};

static inline const struct workload_pod *workload_pod_of(const struct workload_claim *claim)
{
    return (const struct workload_pod *)claim->facts;
}
/* Not finished and not being deleted, as upstream's IsPodActive(). */
static inline bool workload_pod_is_active(const struct workload_claim *claim)
{
    uint16_t phase = workload_pod_of(claim)->phase;
    return !claim->is_deleting && phase != WORKLOAD_SUCCEEDED && phase != WORKLOAD_FAILED;
}

/*
 * The objects of a kind whose controller has this uid, whatever their labels; without bodies. In
 * the call's arena.
 */
struct workload_claims workload_owned_by(struct workload_call *call,
                                         const struct workload_kind *kind, struct str uid);

/*
 * The objects of a kind whose controller has the kind and the name of the call's object, but is not
 * the object: what an earlier object of the name has left. Walks all controllers of the kind.
 */
struct workload_claims workload_left_over(struct workload_call *call,
                                          const struct workload_kind *kind);

/* Every object of a kind, in all namespaces; without bodies. In the call's arena. */
struct workload_claims workload_all(struct workload_call *call, const struct workload_kind *kind);

enum workload_effect_kind {
    WORKLOAD_GET,
    WORKLOAD_CREATE,
    WORKLOAD_UPDATE,
    WORKLOAD_PATCH,
    WORKLOAD_DELETE
};

/* One request. What is above the line is the request, below it the answer. */
struct workload_effect {
    enum workload_effect_kind kind;
    const struct workload_kind *of;
    struct str name;              /* "": of a create with generateName */
    struct str subresource;       /* "status"; "": none */
    struct str uid;               /* a deletion: only of the object with this uid; "": any */
    const char *propagation;      /* a deletion: propagationPolicy; NULL: the kind's */
    const struct json *body;      /* NULL: a deletion, a GET */
    struct workload_claim *claim; /* of a GET: whose body it is */
    /* ---- */
    bool is_done;        /* it was carried out; false: an earlier create failed (see below) */
    int status;          /* HTTP; 0: there was no answer */
    struct json *answer; /* in the call's arena; NULL: none, or no JSON */
    struct err err;      /* if there was no answer */
    bool is_settled;     /* set by the controller: this failure is not one of the call */
};

/* 2xx; of a deletion also 404, and 409: another object has the name. */
bool workload_effect_ok(const struct workload_effect *e);
/* The reason of the Status in the answer, such as "AlreadyExists"; "": none. */
struct str workload_effect_reason(const struct workload_effect *e);
/* Why it failed, in the server's words where there are some. */
struct str workload_effect_message(const struct workload_effect *e);
/* The namespace is being deleted: nothing can be created there, and nothing has to be. */
bool workload_effect_namespace_ends(const struct workload_effect *e);

/*
 * Add an effect to the round; it is valid until the next round begins. The effects of a round are
 * carried out in their order, up to WORKLOAD_EFFECTS_AT_ONCE at a time; what has to follow an
 * answer belongs into the next round. Creates begin slowly, as upstream's slowStartBatch(): 1, then
 * 2, 4, ... at a time, and none after one that failed.
 *
 * All that is passed must live as long as the call: it is in its arena or constant.
 */
struct workload_effect *workload_create(struct workload_call *call,
                                        const struct workload_kind *kind, const struct json *body);
struct workload_effect *workload_get(struct workload_call *call, const struct workload_kind *kind,
                                     struct str name);
/* `object` has its resourceVersion. subresource: "" or "status". */
struct workload_effect *workload_update(struct workload_call *call,
                                        const struct workload_kind *kind, struct str subresource,
                                        const struct json *object);
/* A strategic merge patch. */
struct workload_effect *workload_patch(struct workload_call *call, const struct workload_kind *kind,
                                       struct str name, const struct json *patch);
struct workload_effect *workload_delete(struct workload_call *call,
                                        const struct workload_kind *kind,
                                        const struct workload_claim *claim);
/* This round has effects already. */
bool workload_adds(const struct workload_call *call);
/* The effects of the round before this one; NULL: there are no more. */
struct workload_effect *workload_effect_at(struct workload_call *call, size_t i);
/* The first failure of the round before this one that is not settled; NULL: none. */
const struct workload_effect *workload_failure(struct workload_call *call);

/* Call again after this time even if nothing changes. Of several the earliest counts. */
void workload_again_after(struct workload_call *call, uint64_t ms);
/* The call fails: it is repeated after a back-off. */
void workload_fail(struct workload_call *call);

/* An Event about call->object, written at once. */
void workload_event(struct workload_call *call, bool is_warning, const char *reason,
                    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* ---------------------------------------------------------------- help with objects */

/* {apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true} of call->object. */
struct json *workload_owner_reference(struct workload_call *call);
/*
 * A pod of the template (its labels, annotations, finalizers and spec), with generateName NAME- and
 * the owner reference, as upstream's GetPodFromTemplate().
 */
struct json *workload_pod_from_template(struct workload_call *call, const struct json *template);
