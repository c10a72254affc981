/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared cache of watched objects: each collection is listed and watched once for the whole
 * process, each object is held once, however many subscribers there are.
 *
 * A *feed* is one collection (resource, namespace, selectors) with its watch. A *subscription* sees
 * a feed, or the part of a wider one that it asked for: one namespace, one name, a label selector.
 * It begins with a snapshot (ADDED events with `initial`, all of one version), then `on_synced`,
 * then every later change in order. Renewals, resumes, 410, lists after a gap and back-off stay
 * inside: after a gap only what really differs is told, deletions included. An object that leaves a
 * selector is DELETED for whoever asked with it; one that was replaced by another of the same name
 * is DELETED, then ADDED.
 *
 * Of an object its *facts* stay in memory (some 100 bytes): names, versions, hashes, labels, owners
 * and declared fields. Its body is kept compressed, or, where the API is in this process, not at
 * all: then bodies are read where they are stored.
 *
 * What a subscription's identity may see is asked of the API, and asked again once the answer is
 * older than OBJECT_CACHE_VERDICT_MS: by the next event or read, so that nothing is asked, and no
 * timer runs, while nothing happens. No event is handed out on an older answer.
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
    OBJECT_CACHE_OBJECTS_MAX = 1000000, /* of one feed */
    OBJECT_CACHE_BYTES_MAX = 1 << 30,   /* facts and bodies of all feeds */
    OBJECT_CACHE_FIELDS_MAX = 32,       /* declared fields of one feed, of all its subscribers */
    OBJECT_CACHE_FIELD_VALUES_MAX = 64, /* of one field and object; the rest is not seen */
    OBJECT_CACHE_VALUE_MAX_BYTES = 512, /* of a field; a longer one is not seen */
    OBJECT_CACHE_READS_MAX = 4096,      /* at a time; beyond: -EBUSY */
    OBJECT_CACHE_GRACE_MS = 10000,      /* a feed outlives its last subscriber that long */
    OBJECT_CACHE_VERDICT_MS = 15000,    /* what an identity may do is asked again after this */
    OBJECT_CACHE_FRESH_MS = 3000, /* a consistent read waits so long, then asks the API itself */
    OBJECT_CACHE_PAGE_MAX_BYTES = 4 << 20 /* a page of a list ends behind the item that fills it */
};

struct object_cache_opts {
    struct loop *loop;           /* kept */
    struct transport *transport; /* kept */
    struct watch_hub *hub;       /* kept */
    const struct kube_identity
        *identity; /* kept; whose lists and watches fill the cache; NULL: the transport's own */
    /*
     * The API is in this process: hold no bodies, and watch whole resources rather than namespaces
     * and names, since that costs nothing there.
     */
    bool embedded;
    /*
     * Have the API tell its watches how far they are, at once (bookmarks); for consistent reads.
     * NULL: it does so now and then, and consistent lists rather ask the API.
     */
    void (*request_progress)(void *arg);
    void *arg;
    unsigned widen_at; /* namespaces of a resource that are watched apart; one more: all. 0: 8 */
    size_t max_objects, max_bytes, max_feeds; /* 0: as above */
    uint64_t grace_ms;                        /* 0: as above */
    uint64_t verdict_ms;                      /* 0: as above */
    uint64_t denied_ms; /* a no is asked again after this, then doubling; 0: 5000 */
};

enum {
    OBJECT_CACHE_ASK_MS = 250, /* delay after object_cache_ask_again(), which merges bursts */
    OBJECT_CACHE_ASK_MAX = 256 /* subscriptions at once; further ones after the same delay */
};

int object_cache_new(const struct object_cache_opts *opts, struct object_cache **ret,
                     struct err *err);
/* Rights may have been granted: retry denied subscriptions soon, without the full back-off. */
void object_cache_ask_again(struct object_cache *c);
/* Subscriptions and reads must be gone. done (may be NULL) runs last; the hub may go then. */
void object_cache_close(struct object_cache *c, void (*done)(void *arg), void *arg);

/* ---------------------------------------------------------------- facts of one object */

/*
 * Valid until the callback that brought it has returned, or, from a function, until the caller
 * returns to the loop.
 */
struct str cached_object_namespace(const struct cached_object *o);
struct str cached_object_name(const struct cached_object *o);
enum { CACHED_UID_BYTES = 37 };
/* text: room for it, where it is a UUID. */
struct str cached_object_uid(const struct cached_object *o, char text[CACHED_UID_BYTES]);
bool cached_object_same_uid(const struct cached_object *a, const struct cached_object *b);
uint64_t cached_object_rv(const struct cached_object *o);
int64_t cached_object_generation(const struct cached_object *o); /* 0: the kind has none */
bool cached_object_is_deleting(const struct cached_object *o);   /* deletionTimestamp is set */
/* Equal if and (but for an accident of 2^-64) only if the content is. */
uint64_t cached_object_labels_hash(const struct cached_object *o);
uint64_t cached_object_annotations_hash(const struct cached_object *o);
/* Of everything but managedFields and resourceVersion. */
uint64_t cached_object_content_hash(const struct cached_object *o);
/* ret->p NULL: it has no such label. */
struct str cached_object_label(const struct cached_object *o, struct str key);
bool cached_object_has_labels(const struct cached_object *o, const struct selector *selector);

struct object_owner {
    struct str api_version, kind, name, uid;
    bool is_controller;
    char uid_text[CACHED_UID_BYTES]; /* what uid may point at */
};
size_t cached_object_n_owners(const struct cached_object *o);
/* i < n; ret->uid may point into ret. */
void cached_object_owner(const struct cached_object *o, size_t i, struct object_owner *ret);

/* ---------------------------------------------------------------- subscriptions */

enum object_event { OBJECT_ADDED, OBJECT_UPDATED, OBJECT_DELETED };

struct object_sub_ops {
    /*
     * before: NULL for ADDED. now: NULL for DELETED. An update that changes nothing but
     * resourceVersion and managedFields is told as well: the content hashes are equal.
     * initial: part of a snapshot.
     */
    void (*on_event)(void *arg, enum object_event type, const struct cached_object *now,
                     const struct cached_object *before, bool initial);
    /* The snapshot is complete; rv: its version. Again after each on_error with a new snapshot. */
    void (*on_synced)(void *arg, uint64_t rv);
    /*
     * The collection cannot be had now; it is tried again with back-off, without end.
     *
     * E_DENIED: the identity (or the cache's) may not list and watch it. What was told before does
     * not count any more; once the right is (back) there, a new snapshot begins.
     * -ENOENT: there is no such resource (any more): the same, once there is.
     * E_LIMIT: more objects or bytes than the cache may hold: the same, once there are fewer.
     * Other codes: the API does not answer; nothing is lost, and the snapshot stands.
     * Once for each time that this begins.
     */
    void (*on_error)(void *arg, int r, const struct err *err);
};

/* What is kept of each object beside the facts that all have, to look it up by, and to map it. */
struct object_field {
    enum {
        OBJECT_FIELD_PATH, /* ".spec.a['b.c/d'][*].e": each scalar found is a value */
        OBJECT_FIELD_LABEL,
        OBJECT_FIELD_ANNOTATION,
        OBJECT_FIELD_OWNER_UID, /* of each owner */
        OBJECT_FIELD_CONTROLLER_UID
    } kind;
    struct str text; /* path or key; "" for owners */
    bool indexed;    /* object_sub_find_by() and lists by this field */
};

struct object_sub_opts {
    struct str group_version; /* "v1" or "group/version" */
    struct str plural;
    struct str namespace;      /* "" all, or cluster-scoped */
    struct str name;           /* "" all */
    struct str label_selector; /* "" none */
    struct str field_selector; /* "" none */
    /* NULL: the cache's own, nothing is asked. */
    const struct kube_identity *identity;
    /* Bodies that are read through it have apiVersion, kind and metadata only. */
    bool metadata_only;
    /* Paths (".status.history", ".spec.a['b.c']") removed from bodies that are read through it. */
    const struct str *strip;
    size_t n_strip;
    const struct object_field *fields; /* named by their place here from now on */
    size_t n_fields;
    const struct object_sub_ops *ops; /* kept; none may be NULL */
    void *arg;
};

/*
 * All of opts is copied, but ops. Errors: E_INVALID (a selector or path does not parse, with the
 * reason), E_LIMIT (feeds, subscriptions or fields).
 */
int object_cache_subscribe(struct object_cache *c, const struct object_sub_opts *opts,
                           struct object_sub **ret, struct err *err);
/* No callback comes any more, also not of reads through it; sub is gone. NULL is fine. */
void object_sub_cancel(struct object_sub *sub);
/*
 * Hold events back. Meanwhile changes of one object become one (from what it was at the pause to
 * what it is then; nothing if it came and went), so what waits is bounded by the number of objects.
 */
void object_sub_pause(struct object_sub *sub);
void object_sub_resume(struct object_sub *sub);

bool object_sub_is_synced(const struct object_sub *sub);
/* The version that its feed has reached; 0 before the first list. */
uint64_t object_sub_rv(const struct object_sub *sub);

/*
 * Facts at once. Those of the feed as it is now: a subscriber that is behind (paused, or in its
 * snapshot) finds what it has not been told yet. NULL: not there, or not synced.
 */
const struct cached_object *object_sub_find(const struct object_sub *sub, struct str namespace,
                                            struct str name);
/*
 * The values of a declared field: at most max, the number there are is returned. Borrowed as the
 * object. None of OWNER_UID and CONTROLLER_UID: see cached_object_owner().
 */
size_t object_sub_field(const struct object_sub *sub, const struct cached_object *o, size_t field,
                        struct str *ret, size_t max);
/*
 * What there is now (of everybody's: object_sub_find() says what is seen), by namespace and name,
 * for whoever works through it bit by bit while things change: what comes later is told as an
 * event. Shared by all that ask between two changes. Given: object_order_free(), before the cache
 * goes; the subscription may be gone by then. Holds the objects that were there.
 */
struct object_order;
struct object_order *object_sub_order(const struct object_sub *sub);
void object_order_free(struct object_order *o); /* NULL is fine */
size_t object_order_n(const struct object_order *o);
/* i < n; borrowed until it is freed. */
void object_order_get(const struct object_order *o, size_t i, struct str *ret_namespace,
                      struct str *ret_name);
/* each() returns false to stop, and must not subscribe or cancel. namespace "": all. In any order.
 */
typedef bool (*object_each_fn)(void *arg, const struct cached_object *o);
void object_sub_each(const struct object_sub *sub, struct str namespace, object_each_fn each,
                     void *arg);
/* Those with this value in a field that is indexed. */
void object_sub_find_by(const struct object_sub *sub, size_t field, struct str value,
                        struct str namespace, object_each_fn each, void *arg);

/* ---------------------------------------------------------------- reads */

enum object_view { OBJECT_FULL, OBJECT_METADATA, OBJECT_KEYS };

/* Borrowed until on_done returns. */
struct object_result {
    const struct str *items; /* JSON of one object each, apiVersion and kind included;
                                OBJECT_KEYS: {"namespace","name","resourceVersion"} */
    size_t n;
    uint64_t rv;              /* that the answer is at least as new as */
    struct str continue_from; /* "" at the end */
    uint64_t n_left;          /* behind this page; 0 also when that is not known */
};

/*
 * Once. r: 0; -ENOENT (get: no such object), E_DENIED, -EAGAIN (the first list is not there yet),
 * E_EXPIRED (continue_from is too old), -EMSGSIZE (one object beyond OBJECT_CACHE_PAGE_MAX_BYTES),
 * -ETIMEDOUT, or why the API could not be asked.
 */
typedef void (*object_done_fn)(void *arg, int r, const struct object_result *res,
                               const struct err *err);

struct object_query {
    struct str namespace;      /* "": those of the subscription */
    struct str name;           /* get: whose; list: "" */
    struct str label_selector; /* further narrowing; lists only */
    struct str field_selector;
    bool by_field; /* lists: only those with `value` in the indexed field number `field` */
    size_t field;
    struct str value;
    enum object_view view;
    size_t limit; /* 0: 500; lists */
    struct str continue_from;
    /* Answered only when the cache has seen all that the API had acknowledged before. */
    bool consistent;
};

/*
 * Of what the subscription covers; a name or namespace outside of it is not found. Everything in
 * `query` is borrowed for the call. Errors: E_INVALID (selectors, field, token), -EBUSY.
 */
int object_sub_get(struct object_sub *sub, const struct object_query *query, object_done_fn done,
                   void *arg, struct object_read **ret, struct err *err);
/*
 * Append the JSON of one object as object_sub_get() would give it with OBJECT_FULL, where that
 * takes no wait: its body is held (beside an embedded API for a moment after an event), and the
 * identity may see it by a recent answer. -ENOENT: the subscription has no such object; -EAGAIN:
 * not at hand, ask object_sub_get(); what `to` says when it is full. On error nothing is appended.
 */
int object_sub_write(struct object_sub *sub, struct str namespace, struct str name, struct buf *to);
/* In the order of namespace and name. */
int object_sub_list(struct object_sub *sub, const struct object_query *query, object_done_fn done,
                    void *arg, struct object_read **ret, struct err *err);
/* done is not called any more. */
void object_read_cancel(struct object_read *read);
/*
 * Every read through it ends now, those that wait for the API as well: before object_sub_cancel(),
 * when whoever reads does not know that the subscription goes.
 */
void object_sub_end_reads(struct object_sub *sub, int code, const struct err *err);

/* ---------------------------------------------------------------- what it costs */

struct object_cache_stats {
    size_t feeds, subscriptions, objects, reads;
    size_t fact_bytes;  /* names, versions, hashes, labels, owners, fields; tables and indexes */
    size_t body_bytes;  /* as they are held */
    size_t plain_bytes; /* what the bodies are as JSON */
    uint64_t events;    /* changes that were seen, before subscribers are looked at */
    uint64_t delivered; /* callbacks */
    uint64_t lists, relists, denied;
};
void object_cache_get_stats(const struct object_cache *c, struct object_cache_stats *ret);
