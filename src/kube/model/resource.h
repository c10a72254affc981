/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The served resources, and the registry that routing, discovery and OpenAPI read.
 *
 * A resource here is one (group, version, plural). The versions of one kind share a storage
 * version: objects are converted to `storage` before they are written to the store. Main loop only.
 */
#pragma once

#include "base/map.h"
#include "codec/digest.h"
#include "kube/model/schema.h"

/* bit, name in discovery and RBAC */
#define KUBE_VERBS(X)                                                                              \
    X(KUBE_CREATE, 0, "create")                                                                    \
    X(KUBE_DELETE, 1, "delete")                                                                    \
    X(KUBE_DELETECOLLECTION, 2, "deletecollection")                                                \
    X(KUBE_GET, 3, "get")                                                                          \
    X(KUBE_LIST, 4, "list")                                                                        \
    X(KUBE_PATCH, 5, "patch")                                                                      \
    X(KUBE_UPDATE, 6, "update")                                                                    \
    X(KUBE_WATCH, 7, "watch")

enum kube_verb {
#define KUBE_VERB_ENUM(id, bit, name) id = 1 << (bit),
    KUBE_VERBS(KUBE_VERB_ENUM)
#undef KUBE_VERB_ENUM
        KUBE_VERBS_ALL = 0xff
};
const char *kube_verb_name(enum kube_verb verb);

struct kube_resource;
struct crd;

struct kube_subresource {
    struct str name; /* "status", "scale", "finalize" */
    unsigned verbs;
    struct str group, version, kind; /* of the subresource's body */
};

/* The part of an object that a write may change: a subresource is a part. */
enum object_part { OBJECT_WHOLE, OBJECT_STATUS, OBJECT_EPHEMERAL_CONTAINERS, OBJECT_RESIZE };

/* The kind-specific steps of a write; every member may be NULL. */
struct kube_strategy {
    /* After decoding and before defaults from the schema. */
    void (*set_defaults)(struct arena *a, struct json *obj);
    void (*prepare_create)(struct arena *a, struct json *obj);
    void (*prepare_update)(struct arena *a, struct json *obj, const struct json *old);
    /*
     * Runs in addition when only the status is written: `obj` has the old spec and the new status.
     */
    void (*prepare_status)(struct arena *a, struct json *obj, const struct json *old);
    /*
     * The name of a new object that has one, where the rule depends on its content; after
     * name_rule.
     */
    void (*validate_name)(const struct json *obj, struct field_errors *errs);
    /* Metadata has been validated already. old: NULL for create. */
    void (*validate)(const struct json *obj, const struct json *old, struct field_errors *errs);
    /* Likewise for a part that is neither the whole nor the status. */
    void (*validate_part)(enum object_part part, const struct json *obj, const struct json *old,
                          struct field_errors *errs);
    /* Warnings about allowed but doubtful values, after a write of the whole object. */
    void (*warn)(struct arena *a, const struct json *obj, const struct json *old,
                 void (*say)(void *arg, struct str text), void *arg);
    /* Rule for metadata.name. */
    enum {
        KUBE_NAME_SUBDOMAIN,
        KUBE_NAME_LABEL,
        KUBE_NAME_LABEL_1035,
        KUBE_NAME_PATH_SEGMENT
    } name_rule;
    /*
     * Grace period in seconds of a deleted object, for kinds with graceful deletion. requested: by
     * the client, NULL when not given. NULL: objects of the kind are deleted at once.
     */
    int64_t (*grace_s)(const struct json *obj, const int64_t *requested);
    bool has_generation;       /* metadata.generation counts changes outside metadata and status */
    bool counts_annotations;   /* also counts changes of annotations */
    bool unconditional_update; /* an update may leave out resourceVersion */
    bool create_on_update;     /* PUT of an absent object creates it */
    bool is_review;           /* never stored: a create asks a question, the answer is the object */
    bool is_measured;         /* never stored: each answer is made from what nodes report */
    bool has_spec_finalizers; /* Namespace: spec.finalizers delay its removal like
                                 metadata.finalizers */
    bool keeps_status;        /* a new object may have a status (Node) */
    bool fixed_meta_in_status; /* a write of the status does not change metadata */
    bool meta_last;       /* a new object's metadata is validated only if nothing else is wrong */
    bool fixed_spec;      /* an update does not change spec, and spec has no owner */
    bool returns_deleted; /* a delete returns the object, not a Status */
    /*
     * Default propagation policy of a delete. NONE: the kind takes no part in garbage collection.
     */
    enum { KUBE_GC_BACKGROUND, KUBE_GC_ORPHAN, KUBE_GC_NONE } gc_policy;
    /* Convert between two versions of the kind; NULL: only apiVersion changes. */
    void (*convert)(struct arena *a, struct json *obj, const struct kube_resource *from,
                    const struct kube_resource *to);
};

/* One column of a table (table.h). */
struct kube_column {
    struct str name, type, format, description;
    int32_t priority;
    struct str json_path;                                                         /* CRDs */
    struct json *(*cell)(struct arena *a, const struct json *obj, int64_t now_s); /* built-in */
};

/*
 * About the OpenAPI schema of a definition: the cost of making documents from it, and a hash that
 * identifies it. Both are computed when the definition is compiled, so that the writer pays for
 * them and not each reader.
 */
struct kube_source {
    uint8_t sha256[SHA256_BYTES];
    size_t n_bytes, n_values; /* as JSON */
};

struct kube_resource {
    struct str group, version; /* group "" is core */
    struct str kind, list_kind, plural, singular;
    const struct str *short_names, *categories;
    size_t n_short_names, n_categories;
    bool namespaced;
    unsigned verbs;
    const struct kube_subresource *subresources;
    size_t n_subresources;
    const struct schema *schema; /* never NULL; SCHEMA_PRESERVE_UNKNOWN where there is none */
    const struct kube_strategy *strategy; /* never NULL */
    const struct kube_column *columns;
    size_t n_columns;
    /* Appends a cell for every column; NULL: each column's own function makes its cell. */
    void (*cells)(struct arena *a, const struct json *obj, int64_t now_s, struct json *cells);
    /* Field selectors beyond metadata.name and metadata.namespace, e.g. "involvedObject.name"; NULL
     * for built-in kinds without any. */
    const struct str *selectable_fields;
    size_t n_selectable_fields;
    const struct kube_resource *storage; /* the storage version; for most this resource itself */
    int priority;                        /* order of versions in discovery, higher first */
    struct str deprecation;              /* Warning header of a deprecated version, or "" */
    struct crd *crd;                     /* owner, NULL for built-in */
    struct kube_source source;           /* of schema->source; zero where that is NULL */
    struct str scale_spec_path, scale_status_path, scale_selector_path; /* CRDs with scale */
};

/* "v1", "coordination.k8s.io/v1" */
struct str kube_api_version(struct arena *a, const struct kube_resource *r);
const struct kube_subresource *kube_subresource(const struct kube_resource *r, struct str name);
/*
 * The name under which the objects are stored, the same for all versions: the plural for core,
 * "group/plural" otherwise. Unique over all kinds.
 */
struct str kube_storage_name(struct arena *a, const struct kube_resource *r);

/* A resource stays valid while a reference is held; no-ops for built-in ones. */
const struct kube_resource *kube_resource_ref(const struct kube_resource *r);
void kube_resource_unref(const struct kube_resource *r);

/* ---- registry ---- */

enum { REGISTRY_MAX_RESOURCES = 20000 };

struct kube_registry {
    struct map by_path; /* "group/version/plural" */
    struct map by_kind; /* "group/version/kind" */
    const struct kube_resource *
        *all; /* sorted by group (upstream's order), version priority, plural */
    size_t n, cap;
    uint64_t generation; /* increased by every change; caches of documents compare it */
};

void kube_registry_init(struct kube_registry *reg);
void kube_registry_fini(struct kube_registry *reg);
/* Takes a reference. -EEXIST if the path is taken, E_LIMIT. */
int kube_registry_add(struct kube_registry *reg, const struct kube_resource *r, struct err *err);
bool kube_registry_remove(struct kube_registry *reg, const struct kube_resource *r);
/* Borrowed until the registry changes; kube_resource_ref() to keep. NULL: not served. */
const struct kube_resource *kube_registry_find(const struct kube_registry *reg, struct str group,
                                               struct str version, struct str plural);
const struct kube_resource *kube_registry_find_kind(const struct kube_registry *reg,
                                                    struct str group, struct str version,
                                                    struct str kind);
bool kube_registry_has_version(const struct kube_registry *reg, struct str group,
                               struct str version);
#define kube_registry_each(r, reg)                                                                 \
    for (const struct kube_resource **r = (reg)->all; r && r < (reg)->all + (reg)->n; r++)

/* Kubernetes' order of version names: v10 > v2 > v1 > v1beta2 > v1alpha1 > others by name. <0: a
 * first. */
int kube_version_cmp(struct str a, struct str b);
