/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.managedFields: which manager owns which fields of an object.
 *
 * Every write except apply goes through managed_update(): fields that it changed belong to its
 * manager from then on, fields that it removed have no owner. apply.h uses the functions in the
 * second half of this file. Pure; the clock is an argument.
 *
 *     manager, operation, subresource, and for Update the apiVersion    identify an entry
 *     Apply: the fields of the last configuration     Update: the fields changed since
 *
 * An object without entries is not tracked until a client applies to it.
 */
#pragma once

#include "kube/model/field.h"
#include "kube/model/field_set.h"
#include "kube/model/typed.h"

enum {
    MANAGED_MANAGER_MAX_BYTES = 128,
    MANAGED_MAX_UPDATERS = 10,  /* more are merged into "ancient-changes", as upstream does */
    MANAGED_MAX_ENTRIES = 1000, /* of one object; a client may apply under any number of names */
    MANAGED_MAX_VALUES =
        100000 /* values of an object that is tracked: each costs some 1 KiB at its peak */
};

/* Finds another version of the kind by apiVersion; NULL: no longer served. */
typedef const struct kube_resource *(*managed_version_fn)(void *arg, struct str api_version);

/* The writer and the kind of a write. */
struct managed_writer {
    const struct kube_resource
        *res;               /* the version that is written; NULL: an autoscaling/v1 Scale */
    struct str manager;     /* fieldManager, or managed_agent(); "" is "unknown" */
    struct str subresource; /* "" for the object itself */
    int64_t now_s;
    managed_version_fn version; /* NULL: only res */
    void *version_arg;
};

/*
 * The manager of a client that sets no fieldManager: its User-Agent up to the first '/'. In the
 * arena.
 */
struct str managed_agent(struct arena *a, struct str user_agent);

/* Validate a fieldManager parameter. */
void managed_check_manager(struct str manager, struct field_errors *errs);

/*
 * obj is about to replace live; it is decoded and defaulted, not yet prepared. Sets its
 * managedFields. live: for an update the stored object, for a create managed_empty(). An object
 * that is too large is not tracked. Entries sent by the client replace live's if they can be read;
 * `[{}]` and `[]` end the tracking.
 */
void managed_update(struct arena *a, const struct managed_writer *w, const struct json *live,
                    struct json *obj);
/* An object of the kind with no fields set, in the form of upstream's types. */
struct json *managed_empty(struct arena *a, const struct kube_resource *res);
/* Has more values than are tracked, or can be applied. */
bool managed_is_too_large(const struct json *obj);
/* Equal except for the times of entries. */
bool managed_same(const struct json *obj, const struct json *other);

/* ---- entries ---- */

struct managed_entry {
    struct managed_entry *next;
    struct str manager, subresource, api_version;
    struct str id_version; /* "" for Apply: its entries are identified without the version */
    struct str time;       /* as written; "" for none */
    int64_t time_s;
    bool applied;
    const struct field_set *set;        /* NULL: not parsed yet, see managed_set() */
    const struct json *fields, *source; /* as in the object; NULL: made here */
    bool changed;                       /* differs from source */
};

struct managed {
    struct arena *a;
    struct managed_entry *first;
};

/* E_PARSE, E_LIMIT: the list cannot be used. managed_set() finds fields that do not parse. */
int managed_read(struct arena *a, const struct json *managed_fields, struct managed *ret);
/* Likewise, and parses every set. */
int managed_read_all(struct arena *a, const struct json *managed_fields, struct managed *ret);
const struct field_set *managed_set(struct managed *m, struct managed_entry *e);
struct managed_entry *managed_find(const struct managed *m, const struct managed_entry *like);
/* The entry of a writer; if there is none, a new one with an empty set. */
struct managed_entry *managed_of_writer(struct managed *m, const struct managed_writer *w,
                                        bool applied);
void managed_put(struct managed_entry *e, const struct field_set *set);
void managed_touch(struct arena *a, struct managed_entry *e, int64_t now_s);
/* Drop the entries without fields. */
void managed_drop_empty(struct managed *m);
/* The list for the object, sorted; NULL when there are no entries. */
struct json *managed_write(struct managed *m);
/* Set or remove metadata.managedFields. */
void managed_store(struct arena *a, struct json *obj, struct json *list);

/*
 * Without the fields that this writer cannot write: status, for the object itself; spec, for
 * status; everything except its own part, for other subresources.
 */
const struct field_set *managed_writable(struct arena *a, const struct managed_writer *w,
                                         const struct field_set *set);
/* apiVersion, kind, and the metadata that has no owner. */
const struct field_set *managed_strip_set(void);
/* apiVersion and schema of the objects that the writer writes. */
struct str managed_api_version(struct arena *a, const struct managed_writer *w);
struct typed managed_type(const struct managed_writer *w);

/* ---- effects of a change on other managers ---- */

/* The changes between two objects, as each version of the kind sees them; computed on demand. */
struct managed_diff {
    struct arena *a;
    const struct managed_writer *w;
    const struct json *from, *to; /* in the writer's version */
    struct managed_diff_version *first;
};
struct managed_diff_version {
    struct managed_diff_version *next;
    struct str api_version;
    bool missing; /* no longer served */
    struct typed type;
    struct typed_changes changes;  /* for the writer's version only those that it can write */
    const struct field_set *taken; /* modified and added */
};
const struct managed_diff_version *managed_diff_of(struct managed_diff *d, struct str api_version);

struct managed_conflict {
    struct managed_conflict *next;
    struct managed_entry *entry;
    const struct field_set *set;
};
/* Fields of managers other than `self` (NULL: of all) that were modified or added. */
struct managed_conflict *managed_conflicts(struct managed *m, struct managed_diff *d,
                                           const struct managed_entry *self);
/*
 * Removes these fields, and removed ones, from the other entries; drops entries of versions that
 * are no longer served.
 */
void managed_yield(struct managed *m, struct managed_diff *d, const struct managed_entry *self);
