/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a guest of ABI v1 declares (docs/guest-abi.md section 3), parsed and checked.
 *
 * A declaration is immutable and counted: operators of one module declare the same bytes and share
 * one struct. All watches are in one table: each controller's are contiguous, those of `caches` are
 * last. Memory is allocated to size, since in practice declarations differ at least in the
 * namespace.
 */
#pragma once

#include "base/map.h"
#include "kube/model/field_path.h"
#include "operator/v1/predicate.h"

enum {
    DECLARATION_MAX_BYTES = 256 << 10,
    DECLARATION_MAX_CONTROLLERS = 32,
    DECLARATION_MAX_WATCHES = 128,
    DECLARATION_MAX_INDEXES = 16, /* per watch */
    DECLARATION_MAX_CONFIGS = 16,
    DECLARATION_MAX_METRICS = 64,
    DECLARATION_MAX_LABELS = 8, /* per metric */
    DECLARATION_MAX_BUCKETS = 64,
    DECLARATION_MAX_INSTANCES = 64,
    DECLARATION_MAX_NAMESPACES = 64, /* per watch; for more, watching all namespaces is cheaper */
    DECLARATION_MAX_STRIP = 32,
    DECLARATION_MAX_NAME_BYTES = 63, /* of controllers, watches, indexes, configurations */
    DECLARATION_MAX_DEPTH = 32       /* of the JSON */
};

/* A field: its text, for code that keeps an index, and its parsed path. */
struct declaration_field {
    struct str text;
    const struct field_path *path; /* NULL: absent */
};

struct declaration_index {
    struct str name;
    enum { INDEX_FIELD, INDEX_LABEL, INDEX_OWNER } kind;
    struct declaration_field field; /* FIELD */
    struct str label;               /* LABEL: its key */
};

/* How events of a mapped watch become keys. */
struct declaration_map {
    enum { MAP_OWNER, MAP_FIELD, MAP_LABEL, MAP_ANNOTATION, MAP_INDEX, MAP_ALL, MAP_KEY } kind;
    struct declaration_field field, namespace_field; /* FIELD */
    struct str text; /* LABEL, ANNOTATION: the key; INDEX: the name of the primary's index */
    uint32_t index;  /* INDEX: its place in the primary's indexes */
    enum { MAP_VALUE_NAME, MAP_VALUE_NAMESPACED_NAME, MAP_VALUE_UID } value; /* INDEX */
    bool same_namespace;                                                     /* ALL */
    struct str namespace, name;                                              /* KEY */
};

enum watch_role { WATCH_FOR, WATCH_OWNS, WATCH_MAPPED, WATCH_CACHE };

struct declaration_watch {
    struct str id, api_version, kind;
    enum watch_role role;
    uint8_t controller; /* not for WATCH_CACHE */
    bool metadata_only, any_owner;
    struct str *namespaces; /* sorted; n 0: all */
    size_t n_namespaces;
    struct str name; /* "": any */
    struct str label_selector, field_selector;
    struct str *strip;
    size_t n_strip;
    struct declaration_index *indexes;
    size_t n_indexes;
    const struct predicate *predicate; /* NULL: every event */
    struct declaration_map *map;       /* WATCH_MAPPED; else NULL */
};

struct declaration_controller {
    struct str name;
    uint32_t first_watch, n_watches; /* the first one is `for` */
    uint32_t concurrency;
    uint64_t resync_ms; /* 0: no resync */
    uint64_t backoff_base_ms, backoff_max_ms;
    double rate_per_s;
    uint32_t rate_burst;
    uint32_t slack_percent;
    uint32_t debounce_ms;
};

struct declaration_config {
    struct str name;
    bool secret;
    struct str object;    /* name of the ConfigMap or Secret */
    struct str namespace; /* "": the operator's own */
    bool optional;
    enum { CONFIG_CHANGE_NONE, CONFIG_CHANGE_ACTIVATE, CONFIG_CHANGE_RECONCILE } on_change;
};

struct declaration_metric {
    struct str name, help;
    enum { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM } type;
    struct str *labels;
    size_t n_labels;
    double *buckets; /* HISTOGRAM: upper bounds, ascending, without +Inf */
    size_t n_buckets;
};

struct declaration {
    struct str name, version;
    bool stateless;
    uint32_t instances;
    struct declaration_controller *controllers;
    size_t n_controllers;
    struct declaration_watch *watches;
    size_t n_watches;
    struct declaration_config *configs;
    size_t n_configs;
    struct declaration_metric *metrics;
    size_t n_metrics;

    struct arena arena; /* memory of all of the above */
    uint8_t digest[32]; /* SHA-256 of the declaration's bytes */
    unsigned refs;
    struct declarations *owner;
};

/* Declarations in use, by their bytes. */
struct declarations {
    struct map map; /* bytes' digest -> struct declaration * */
};

void declarations_init(struct declarations *ds);
/* No declaration may be in use. */
void declarations_fini(struct declarations *ds);

/*
 * Parse a declaration, or find the one with the same bytes. ret: given, declaration_unref().
 * Errors: E_LIMIT: larger than section 9 permits; otherwise E_INVALID and E_PARSE; the text names
 * the path.
 */
int declaration_get(struct declarations *ds, struct str bytes, struct declaration **ret,
                    struct err *err);
void declaration_unref(struct declaration *d); /* NULL is fine */

/* NULL: none of that name. */
const struct declaration_watch *declaration_watch(const struct declaration *d, struct str id);
const struct declaration_controller *declaration_controller(const struct declaration *d,
                                                            struct str name);
const struct declaration_config *declaration_config(const struct declaration *d, struct str name);
