/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scheduler knows about the cluster: objects, read once from JSON into compact structs
 * that never change afterwards and are reference counted. An update is a new struct.
 *
 * Each kind has its own header and file, and one row here. Scheduler thread only.
 */
#pragma once

#include "base/intern.h"
#include "codec/json.h"

/* enum, struct, group/version, plural, is it namespaced */
#define SCHED_KINDS(X)                                                                             \
    X(POD, pod, "v1", "pods", true)                                                                \
    X(NODE, node, "v1", "nodes", false)                                                            \
    X(NAMESPACE, namespace, "v1", "namespaces", false)                                             \
    X(SERVICE, service, "v1", "services", true)                                                    \
    X(REPLICATION_CONTROLLER, workload, "v1", "replicationcontrollers", true)                      \
    X(REPLICA_SET, workload, "apps/v1", "replicasets", true)                                       \
    X(STATEFUL_SET, workload, "apps/v1", "statefulsets", true)                                     \
    X(PDB, pdb, "policy/v1", "poddisruptionbudgets", true)                                         \
    X(PV, pv, "v1", "persistentvolumes", false)                                                    \
    X(PVC, pvc, "v1", "persistentvolumeclaims", true)                                              \
    X(STORAGE_CLASS, storage_class, "storage.k8s.io/v1", "storageclasses", false)                  \
    X(CSI_NODE, csi_node, "storage.k8s.io/v1", "csinodes", false)                                  \
    X(CSI_DRIVER, csi_driver, "storage.k8s.io/v1", "csidrivers", false)                            \
    X(CSI_CAPACITY, csi_capacity, "storage.k8s.io/v1", "csistoragecapacities", true)               \
    X(VOLUME_ATTACHMENT, volume_attachment, "storage.k8s.io/v1", "volumeattachments", false)       \
    X(NODE_IMAGE_STATE, node_image_state, "dormouse.dev/v1alpha1", "nodeimagestates", false)

enum sched_kind {
#define SCHED_KIND_ENUM(id, type, group_version, plural, namespaced) SCHED_##id,
    SCHED_KINDS(SCHED_KIND_ENUM)
#undef SCHED_KIND_ENUM
        SCHED_KIND_COUNT
};

/* The head of every object's struct. */
struct sched_object {
    uint32_t refs;
    enum sched_kind kind;
    struct str namespace, name, uid; /* owned; namespace "" of cluster-scoped ones */
    uint64_t rv;                     /* resourceVersion as a number; 0: it is not a number */
    char *text;                      /* the memory of the three strings; begins with the key */
};
/* "namespace/name", or "name" of a cluster-scoped object; valid as long as the object. */
static inline struct str sched_object_key(const struct sched_object *o)
{
    return (struct str){ o->text, o->name.n + (o->namespace.n > 0 ? o->namespace.n + 1 : 0) };
}

/*
 * The message of a pod or node for Wasm plugins, made from the tree of its event
 * (sched_foreign.encode); freed with the object.
 */
struct sched_encoded {
    void (*end)(struct sched_encoded *e);
    /* For a copy of the pod that is on `node`; "": the copy has no other node. Given. */
    struct sched_encoded *(*clone)(struct sched_encoded *e, struct str node);
};

/*
 * Read an object. A field that the API server would have refused is an error (E_INVALID with the
 * field), and so is an object that takes more than SCHED_OBJECT_MAX_BYTES; unknown fields are
 * skipped. An object without a uid (from a file) gets its key as its uid.
 *
 * keeps_json: pods and nodes keep their JSON, for extenders.
 *
 * Errors: E_INVALID.
 *
 * ret: given, sched_object_unref().
 */
#define SCHED_OBJECT_MAX_BYTES ((size_t)4 << 20)
int sched_object_read(struct intern_table *w, enum sched_kind kind, const struct json *json,
                      bool keeps_json, struct sched_object **ret, struct err *err);
static inline void *sched_object_ref(void *object)
{
    ((struct sched_object *)object)->refs++;
    return object;
}
void sched_object_unref(struct intern_table *w, void *object); /* NULL is fine */

const char *sched_kind_group_version(enum sched_kind kind);
const char *sched_kind_plural(enum sched_kind kind);
bool sched_kind_is_namespaced(enum sched_kind kind);

/* For the files of the kinds only. */
struct sched_kind_ops {
    size_t size; /* of the struct, which begins with struct sched_object */
    /* The head is filled in, the rest is zeroed. After a failure fini() releases what was read. */
    int (*read)(struct intern_table *w, struct sched_object *o, const struct json *json,
                struct err *err);
    void (*fini)(struct intern_table *w, struct sched_object *o);
};
#define SCHED_KIND_OPS(id, type, group_version, plural, namespaced)                                \
    extern const struct sched_kind_ops sched_##type##_ops;
SCHED_KINDS(SCHED_KIND_OPS)
#undef SCHED_KIND_OPS
