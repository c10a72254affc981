/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared cache of watched objects: each collection is listed and watched once for the whole
 * process, each object is held once, however many subscribers there are.
 *
 * An *informer* is one collection (resource, namespace, selectors) with its watch. A *subscription*
 * sees an informer, or the part of a wider informer that it asked for: one namespace, one name, a
 * label selector. It begins with a snapshot (ADDED events with `initial`, all of one version), then
 * `on_synced`, then every later change in order. Renewals, resumes, 410, relists and back-off are
 * handled inside: after a gap the subscriber receives only real differences, deletions included. An
 * object that leaves a selector is DELETED for the subscriptions with that selector; an object that
 * was replaced by another of the same name is DELETED, then ADDED.
 *
 * The *facts* of an object stay in memory (some 100 bytes): names, versions, hashes, labels, owners
 * and declared fields. Its body is kept compressed; where the API is in this process, bodies are
 * not kept but read from the store.
 *
 * The cache asks the API what a subscription's identity may see, and asks again once the answer is
 * older than OBJECT_CACHE_VERDICT_MS. The next event or read triggers that, so an idle cache sends
 * no requests and arms no timer. No event is delivered on an older answer.
 *
 * Loop thread only. Callbacks never run inside the function that asked for them; inside a callback
 * anything may be called, except object_cache_close().
 */
#pragma once

#include "client/watch_hub.h"
#include "codec/json.h"
#include "kube/model/selector.h"

struct object_cache;
struct object_sub;
struct object_read;
struct cached_object;

enum {
    OBJECT_CACHE_FEEDS_MAX = 1024,
    OBJECT_CACHE_SUBS_MAX = 65536,
    OBJECT_CACHE_OBJECTS_MAX = 1000000, /* per informer */
    OBJECT_CACHE_BYTES_MAX = 1 << 30,   /* facts and bodies of all informers */
    OBJECT_CACHE_FIELDS_MAX = 32, /* declared fields of one informer, over all its subscribers */
    OBJECT_CACHE_FIELD_VALUES_MAX = 64, /* of one field and object; further values are ignored */
    OBJECT_CACHE_VALUE_MAX_BYTES = 512, /* of a field; a longer value is ignored */
    OBJECT_CACHE_READS_MAX = 4096,      /* at a time; beyond: -EBUSY */
    OBJECT_CACHE_GRACE_MS = 10000,      /* an informer outlives its last subscriber this long */
    OBJECT_CACHE_VERDICT_MS = 15000,    /* the rights of an identity are checked again after this */
    OBJECT_CACHE_FRESH_MS = 3000, /* a consistent read waits this long, then asks the API itself */
    OBJECT_CACHE_PAGE_MAX_BYTES = 4 << 20 /* a page of a list ends after the item that fills it */
};

struct object_cache_opts {
    struct loop *loop;           /* kept */
    struct transport *transport; /* kept */
    struct watch_hub *hub;       /* kept */
    const struct kube_identity
        *identity; /* kept; lists and watches for the cache; NULL: the transport's own */
    /*
     * The API is in this process: hold no bodies, and watch whole resources rather than namespaces
     * and names, since a wide watch costs nothing there.
     */
    bool embedded;
    /*
     * Makes the API send bookmarks to its watches at once; for consistent reads. NULL: the API
     * sends bookmarks at its own pace, and consistent lists ask the API instead.
     */
    void (*request_progress)(void *arg);
    void *arg;
    unsigned widen_at; /* separate namespace watches per resource; beyond, one watch of all. 0: 8 */
    size_t max_objects, max_bytes, max_informers; /* 0: as above */
    uint64_t grace_ms;                            /* 0: as above */
    uint64_t verdict_ms;                          /* 0: as above */
    uint64_t denied_ms; /* a denial is checked again after this, then doubling; 0: 5000 */
};

enum {
    OBJECT_CACHE_ASK_MS = 250, /* delay after object_cache_ask_again(), which merges bursts */
    OBJECT_CACHE_ASK_MAX = 256 /* subscriptions at once; further ones after the same delay */
};

int object_cache_new(const struct object_cache_opts *opts, struct object_cache **ret,
                     struct err *err);
/* Rights may have been granted: retry denied subscriptions soon, without the full back-off. */
void object_cache_ask_again(struct object_cache *c);
/*
 * All subscriptions and reads must have ended. done (may be NULL) runs last; the hub may be freed
 * from then on.
 */
void object_cache_close(struct object_cache *c, void (*done)(void *arg), void *arg);

/* ---------------------------------------------------------------- facts of one object */

/*
 * The object is valid until the callback that passed it returns or, when a function returned it,
 * until the caller returns to the loop.
 */
struct str cached_object_namespace(const struct cached_object *o);
struct str cached_object_name(const struct cached_object *o);
enum { CACHED_UID_BYTES = 37 };
/* text: buffer that the result may point into, when the uid is a UUID. */
struct str cached_object_uid(const struct cached_object *o, char text[CACHED_UID_BYTES]);
bool cached_object_same_uid(const struct cached_object *a, const struct cached_object *b);
uint64_t cached_object_rv(const struct cached_object *o);
int64_t cached_object_generation(const struct cached_object *o); /* 0: the kind has none */
bool cached_object_is_deleting(const struct cached_object *o);   /* deletionTimestamp is set */
/* Equal for equal content; different content collides with a probability of 2^-64. */
uint64_t cached_object_labels_hash(const struct cached_object *o);
uint64_t cached_object_annotations_hash(const struct cached_object *o);
/* Of everything but managedFields and resourceVersion. */
uint64_t cached_object_content_hash(const struct cached_object *o);
/* ret->p is NULL when the object has no such label. */
struct str cached_object_label(const struct cached_object *o, struct str key);
bool cached_object_has_labels(const struct cached_object *o, const struct selector *selector);

struct object_owner {
    struct str api_version, kind, name, uid;
    bool is_controller;
    char uid_text[CACHED_UID_BYTES]; /* uid may point here */
};
size_t cached_object_n_owners(const struct cached_object *o);
/* i < n; ret->uid may point into ret. */
void cached_object_owner(const struct cached_object *o, size_t i, struct object_owner *ret);

/* ---------------------------------------------------------------- subscriptions */

enum object_event { OBJECT_ADDED, OBJECT_UPDATED, OBJECT_DELETED };

struct object_sub_ops {
    /*
     * before: NULL for ADDED. now: NULL for DELETED. initial: part of a snapshot. An update that
     * changes only resourceVersion and managedFields is delivered too; its content hashes are
     * equal.
     */
    void (*on_event)(void *arg, enum object_event type, const struct cached_object *now,
                     const struct cached_object *before, bool initial);
    /*
     * The snapshot is complete; rv: its version. Called again for each new snapshot after on_error.
     */
    void (*on_synced)(void *arg, uint64_t rv);
    /*
     * The collection is unavailable; the cache retries with back-off, without end.
     *
     * E_DENIED: the identity (or the cache's) may not list and watch it. Everything delivered
     * before is void; a new snapshot begins once the right is granted (again).
     * -ENOENT: the resource does not exist (any more): the same, once it exists.
     * E_LIMIT: more objects or bytes than the cache may hold: the same, once there are fewer. Other
     * codes: the API does not answer; nothing is lost, and the snapshot remains valid. Called once
     * for each time that such a state begins.
     */
    void (*on_error)(void *arg, int r, const struct err *err);
};

/* A value kept for each object besides the facts that all have, for lookups and mappings. */
struct object_field {
    enum {
        OBJECT_FIELD_PATH, /* ".spec.a['b.c/d'][*].e": each scalar found is a value */
        OBJECT_FIELD_LABEL,
        OBJECT_FIELD_ANNOTATION,
        OBJECT_FIELD_OWNER_UID, /* of each owner */
        OBJECT_FIELD_CONTROLLER_UID
    } kind;
    struct str text; /* path or key; "" for owners */
    bool indexed;    /* allows object_sub_find_by() and lists by this field */
};

struct object_sub_opts {
    struct str group_version; /* "v1" or "group/version" */
    struct str plural;
    struct str namespace;      /* "": all, or cluster-scoped */
    struct str name;           /* "": all */
    struct str label_selector; /* "": none */
    struct str field_selector; /* "": none */
    /* NULL: the cache's own; no access check. */
    const struct kube_identity *identity;
    /* Bodies read through the subscription have apiVersion, kind and metadata only. */
    bool metadata_only;
    /*
     * Paths (".status.history", ".spec.a['b.c']") removed from bodies read through the
     * subscription.
     */
    const struct str *strip;
    size_t n_strip;
    const struct object_field *fields; /* later calls name them by their index here */
    size_t n_fields;
    const struct object_sub_ops *ops; /* kept; none may be NULL */
    void *arg;
};

/*
 * Everything in opts is copied, except ops. Errors: E_INVALID (a selector or path does not parse,
 * with the reason), E_LIMIT (informers, subscriptions or fields).
 */
int object_cache_subscribe(struct object_cache *c, const struct object_sub_opts *opts,
                           struct object_sub **ret, struct err *err);
/*
 * Ends the subscription: no callback runs any more, nor one of a read through it. sub is invalid
 * afterwards. NULL is fine.
 */
void object_sub_cancel(struct object_sub *sub);
/*
 * Hold events back. While paused, the changes of one object are merged (from its state at the pause
 * to its state at the resume; no event if it was created and deleted), so the backlog is bounded by
 * the number of objects.
 */
void object_sub_pause(struct object_sub *sub);
void object_sub_resume(struct object_sub *sub);

bool object_sub_is_synced(const struct object_sub *sub);
/* The version that its informer has reached; 0 before the first list. */
uint64_t object_sub_rv(const struct object_sub *sub);

/*
 * Returns facts at once, as the informer has them now: a subscriber that is behind (paused, or in
 * its snapshot) finds objects whose events it has not received yet. NULL: not found, or not synced.
 */
const struct cached_object *object_sub_find(const struct object_sub *sub, struct str namespace,
                                            struct str name);
/*
 * The values of a declared field: stores at most max, returns how many there are. Borrowed like the
 * object. For OWNER_UID and CONTROLLER_UID there are none: see cached_object_owner().
 */
size_t object_sub_field(const struct object_sub *sub, const struct cached_object *o, size_t field,
                        struct str *ret, size_t max);
/*
 * The objects that exist now, ordered by namespace and name, for a subscriber that works through
 * them in steps while they change; later changes arrive as events. The list covers the informer, so
 * it may name objects that the subscription does not see: check with object_sub_find(). Callers
 * that ask between two changes share one list. Given: object_order_free(), before the cache is
 * closed; the subscription may be gone by then. The list keeps its objects in memory.
 */
struct object_order;
struct object_order *object_sub_order(const struct object_sub *sub);
void object_order_free(struct object_order *o); /* NULL is fine */
size_t object_order_n(const struct object_order *o);
/* i < n; borrowed until it is freed. */
void object_order_get(const struct object_order *o, size_t i, struct str *ret_namespace,
                      struct str *ret_name);
/* each() returns false to stop, and must not subscribe or cancel. namespace "": all. Any order. */
typedef bool (*object_each_fn)(void *arg, const struct cached_object *o);
void object_sub_each(const struct object_sub *sub, struct str namespace, object_each_fn each,
                     void *arg);
/* Objects with this value in an indexed field. */
void object_sub_find_by(const struct object_sub *sub, size_t field, struct str value,
                        struct str namespace, object_each_fn each, void *arg);

/* ---------------------------------------------------------------- reads */

enum object_view { OBJECT_FULL, OBJECT_METADATA, OBJECT_KEYS };

/* Borrowed until on_done returns. */
struct object_result {
    const struct str *items; /* one object's JSON each, with apiVersion and kind; OBJECT_KEYS:
                                {"namespace","name","resourceVersion"} */
    size_t n;
    uint64_t rv;              /* the answer is at least as new as this */
    struct str continue_from; /* "": this is the last page */
    uint64_t n_left;          /* items after this page; 0 also when unknown */
};

/*
 * Called once. r: 0; -ENOENT (get: no such object), E_DENIED, -EAGAIN (the first list is not
 * complete yet), E_EXPIRED (continue_from is too old), -EMSGSIZE (one object exceeds
 * OBJECT_CACHE_PAGE_MAX_BYTES), -ETIMEDOUT, or the reason why the API could not be asked.
 */
typedef void (*object_done_fn)(void *arg, int r, const struct object_result *res,
                               const struct err *err);

struct object_query {
    struct str namespace;      /* "": those of the subscription */
    struct str name;           /* get: of the object; list: "" */
    struct str label_selector; /* narrows further; lists only */
    struct str field_selector;
    bool by_field; /* lists: only those with `value` in the indexed field number `field` */
    size_t field;
    struct str value;
    enum object_view view;
    size_t limit; /* 0: 500; lists */
    struct str continue_from;
    /*
     * Answer only once the cache has seen all changes that the API had acknowledged before the
     * call.
     */
    bool consistent;
};

/*
 * Reads one object that the subscription covers; names and namespaces outside of it are not found.
 * Everything in `query` is borrowed for the call. Errors: E_INVALID (selectors, field, token),
 * -EBUSY.
 */
int object_sub_get(struct object_sub *sub, const struct object_query *query, object_done_fn done,
                   void *arg, struct object_read **ret, struct err *err);
/*
 * Appends the JSON of one object as object_sub_get() returns it with OBJECT_FULL, where that needs
 * no wait: the cache holds the body (with an embedded API, briefly after an event), and a recent
 * answer allows it to the identity. -ENOENT: the subscription has no such object; -EAGAIN: not at
 * hand, use object_sub_get(); or the code of `to` when it is full. On error nothing is appended.
 */
int object_sub_write(struct object_sub *sub, struct str namespace, struct str name, struct buf *to);
/* Reads the covered objects, ordered by namespace and name. */
int object_sub_list(struct object_sub *sub, const struct object_query *query, object_done_fn done,
                    void *arg, struct object_read **ret, struct err *err);
/* done does not run any more. */
void object_read_cancel(struct object_read *read);
/*
 * Ends every read through the subscription now, also those that wait for the API. Call it before
 * object_sub_cancel() when the readers do not know that the subscription ends.
 */
void object_sub_end_reads(struct object_sub *sub, int code, const struct err *err);

/* ---------------------------------------------------------------- statistics */

struct object_cache_stats {
    size_t informers, subscriptions, objects, reads;
    size_t fact_bytes;  /* names, versions, hashes, labels, owners, fields; tables and indexes */
    size_t body_bytes;  /* in the form that is held */
    size_t plain_bytes; /* the same bodies as JSON */
    uint64_t events;    /* changes seen, before they are matched to subscribers */
    uint64_t delivered; /* event callbacks made */
    uint64_t lists, relists, denied;
};
void object_cache_get_stats(const struct object_cache *c, struct object_cache_stats *ret);
