/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controllers of this process know of the cluster: a table for each kind that one of them
 * follows, fed by the process's watches and by the answers to its own writes.
 *
 * A table is at the version of the last event that was delivered. An answer of a later version is
 * put on top at once, and an event of a version that the object has already passed changes nothing.
 * So a table never lacks what this process wrote, and never returns to an older state.
 *
 * An object is found by its name, and by the uid of its controller; objects without a controller
 * are found by their namespace.
 */
#pragma once

#include "base/intern.h"
#include "base/list.h"
#include "base/map.h"
#include "client/reflector.h"
#include "workload/frame/controller.h"

enum {
    WORKLOAD_KINDS_MAX = 16,
    WORKLOAD_UID_MAX_BYTES = 36,           /* longer ones are cut; the API makes UUIDs */
    WORKLOAD_SELECTOR_MAX_BYTES = 16 << 10 /* an object with a longer one selects nothing */
};

/* The objects that have the same controller, or the orphans of a namespace. */
struct workload_group {
    struct list members; /* struct workload_object.in_group */
    size_t n;
    /* NAMESPACE/UID of the controller, since an owner reference means an object of the same
     * namespace, whatever others claim; orphans: "/NAMESPACE". */
    char *key;
    char *kind, *name, *uid; /* of the controller; NULL: orphans */
};

struct workload_table {
    struct workload_view *view;
    const struct workload_kind *kind;
    struct reflector *reflector;
    struct map objects; /* "NAMESPACE/NAME" -> struct workload_object */
    struct map groups;  /* key -> struct workload_group */
    uint64_t rv;        /* of the last event */
    uint32_t list_no;   /* of the list that runs, or ran last */
    bool is_synced;
    bool is_listing; /* objects come by name, so a version says nothing about what came before */
};

struct workload_object {
    struct workload_table *table;
    struct workload_group *group;
    struct list in_group;
    struct intern *detail; /* as JSON; NULL: none */
    struct intern *labels; /* as JSON; NULL: none */
    char *selector;        /* canonical text; NULL: it selects nothing */
    char *key;             /* "NAMESPACE/NAME" */
    uint32_t namespace_n, list_no;
    uint64_t rv;
    bool is_deleting;
    char uid[WORKLOAD_UID_MAX_BYTES + 1];
    uint64_t facts[]; /* kind->facts_bytes */
};

struct workload_view_opts {
    struct loop *loop;                    /* kept */
    struct transport *transport;          /* kept */
    struct watch_hub *hub;                /* kept */
    const struct kube_identity *identity; /* kept; lists and watches */
    /* is_visible: to owners; else only the version has changed. Must not change the view. */
    void (*on_change)(void *arg, const struct workload_object *o, enum workload_change change,
                      bool is_visible);
    void (*on_synced)(void *arg); /* once: all tables are complete */
    void *arg;
};

struct workload_view {
    struct workload_view_opts opts;
    struct workload_table tables[WORKLOAD_KINDS_MAX];
    size_t n_tables;
    struct intern_table *labels;
};

void workload_view_init(struct workload_view *v, const struct workload_view_opts *opts);
/* Makes a table for the kind; no-op if it has one. At most WORKLOAD_KINDS_MAX. */
void workload_view_add(struct workload_view *v, const struct workload_kind *kind);
/* Begin to follow the kinds. On an error nothing is followed. */
int workload_view_start(struct workload_view *v, struct err *err);
void workload_view_fini(struct workload_view *v);
bool workload_view_is_synced(const struct workload_view *v);

struct workload_table *workload_view_table(struct workload_view *v,
                                           const struct workload_kind *kind);
struct workload_object *workload_table_find(const struct workload_table *t, struct str namespace,
                                            struct str name);
/* NULL: no object has this controller. */
struct workload_group *workload_table_owned(const struct workload_table *t, struct str namespace,
                                            struct str uid);
struct workload_group *workload_table_orphans(const struct workload_table *t, struct str namespace);

/* The answer to a write of this process: the object as it is now. */
void workload_table_wrote(struct workload_table *t, const struct json *object);
/* A deletion was accepted: the object is deleting, or removed already. */
void workload_table_deleted(struct workload_table *t, struct str namespace, struct str name,
                            struct str uid);

/* ---- what the reflector delivers ---- */

void workload_table_seen(struct workload_table *t, const struct json *object);
/* rv: of the deletion; 0: unknown. A newer object of the name stays. */
void workload_table_removed(struct workload_table *t, struct str namespace, struct str name,
                            uint64_t rv);
/* A list of all objects begins, and has ended at this version. */
void workload_table_list_begins(struct workload_table *t);
void workload_table_list_ends(struct workload_table *t, uint64_t rv);

/* The selector of an object; one that is missing, empty or not valid matches nothing. */
struct selector workload_selector_of(struct arena *a, enum workload_selector how,
                                     const struct json *object);
/* As a tree in the arena; NULL: none. */
struct json *workload_object_detail(const struct workload_object *o, struct arena *a);
/* Labels as a tree in the arena; NULL: none. */
struct json *workload_object_labels(const struct workload_object *o, struct arena *a);
/* Whether the selector of `o` matches labels. */
bool workload_object_selects(const struct workload_object *o, const struct json *labels);
