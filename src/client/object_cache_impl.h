/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the object cache, shared by its own files:
 *
 *     object_cache.c         the cache and its subscriptions: joining, delivering, waiting
 *     object_cache_informer.c    a collection: lists, watch, differences, limits
 *     object_cache_view.c    what an identity may see
 *     object_cache_read.c    gets and lists
 *     object_cache_facts.c, _table.c, _body.c   pure parts
 *
 * A subscription changes its state only in sub_run(), called from the cache's pump:
 *
 *     OUTSIDE --(informer ready, identity may)--> SNAPSHOT --(all delivered)--> LIVE
 *        ^------------- denied, or the informer is lost: on_error -----------------'
 *
 * The informer calls a subscription at once when it is LIVE and has nothing pending. Otherwise
 * events gather in `pending`, one per object. Memory is freed only when no callback runs
 * (cache->depth).
 */
#pragma once

#include "client/kube_identity.h"
#include "client/object_cache_body.h"
#include "client/object_cache_table.h"
#include "client/reflector.h"

#include <errno.h>

struct cache_informer;
struct cache_verdict;

enum {
    PUMP_PER_TURN = 256,      /* events of one subscription, in one turn of the loop ... */
    PUMP_ALL_PER_TURN = 2048, /* ... and of all subscriptions that are behind */
    REPACK_PER_TURN = 128,    /* objects */
    DENIED_FIRST_MS = 5000,   /* a denied subscription asks again after this */
    DENIED_MAX_MS = 120000,
    LIMIT_RETRY_MS = 60000, /* an informer that was too large is listed again after this */
    SELECTORS_MAX_BYTES = 2048,
    RECENT_MAX = 256, /* objects whose bodies are kept briefly with an embedded API */
    RECENT_MAX_BYTES = 256 << 10,
    RECENT_MS = 2000 /* after the last event */
};

/*
 * With an embedded API the cache holds no bodies, but a subscriber usually reads the object right
 * after its event. The bodies of the last events are kept briefly; the oldest is dropped first.
 */
struct cache_recent {
    struct cache_informer *informer;
    uint32_t slot;
    uint64_t rv;
    uint32_t bytes;
};

struct object_cache {
    struct object_cache_opts opts;
    struct cache_interner interner;
    uint64_t seed;
    struct cache_body_packer *packer;
    struct list informers;
    struct list pump; /* object_sub.pump_node */
    struct defer pump_defer;
    unsigned pumped;     /* events delivered in this turn */
    struct list graves;  /* subscriptions to free when depth is 0 */
    unsigned depth;      /* callbacks that are running */
    struct map verdicts; /* by their keys */
    struct list denials; /* denial.node: the least recently asked first */
    unsigned n_denials, n_to_ask;
    struct timer ask_timer;      /* armed while n_to_ask */
    struct map shapes;           /* by their keys */
    struct cache_recent *recent; /* a ring of RECENT_MAX; NULL while there are none */
    unsigned recent_first, n_recent;
    size_t recent_bytes;
    struct timer recent_timer;
    uint32_t read_round;
    unsigned calls; /* calls of verdicts and reads that have not ended */
    struct object_cache_stats stats;
    bool closing;
    struct defer close_defer;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* What a subscription asks for, or an informer covers; "" means everything. Texts in an arena. */
struct object_cache_scope {
    struct str group_version, plural, namespace, name;
    struct str label_selector, field_selector; /* canonical; without the name and namespace */
    struct str strip;                          /* paths, each ends in a newline */
    struct str as; /* lists and watches run as this user; "": as the cache's identity */
    bool metadata_only;
};

struct cache_topic {
    struct list subs; /* object_sub.node */
    char name[];      /* its key */
};

struct object_cache_snapshot {
    struct cache_informer *informer; /* outlives the snapshot */
    unsigned refs;
    uint64_t seq, rv;
    uint32_t n;
    struct cached_object *o[];
};

struct object_order {
    struct object_cache *cache;
    struct cache_informer *informer; /* the informer whose `order` points here; NULL: none */
    unsigned refs;
    uint64_t seq; /* of the informer when this was made */
    uint32_t n;
    struct cached_object *o[];
};

struct cache_informer {
    struct object_cache *cache;
    struct list node;
    struct arena strings;
    struct object_cache_scope scope;
    const struct kube_identity *identity; /* for lists and watches; NULL: the transport's own */
    struct str kind;                      /* of its objects; "" before the first */
    struct reflector *reflector;          /* NULL while the informer waits after E_LIMIT */
    struct cache_object_maker maker;
    struct cache_field fields[OBJECT_CACHE_FIELDS_MAX];
    struct object_table table;
    uint64_t rv, seq; /* version reached; events counted */
    uint8_t round;    /* number of the current list, or of the last one */
    uint64_t n_lists; /* completed lists */
    bool listing, ready;
    bool wants_remake, remakes; /* the next list, or this one, makes all objects again */
    int trouble;                /* code reported to the subscribers; 0: none */
    struct err trouble_err;
    struct map topics; /* namespace, or CACHE_ALL_TOPIC -> struct cache_topic */
    size_t n_subs;
    struct object_cache_snapshot *snapshot; /* the newest; borrowed from its users */
    struct object_order *order;             /* likewise, of all objects */
    struct timer timer;                     /* end of the grace period, or the next retry */
    struct defer repack;
    uint32_t repack_slot;
};

/*
 * The part of a subscription that does not depend on its place (namespace and name): shared by all
 * with the same selectors, paths and fields. Operators usually differ in their namespace only.
 */
struct object_cache_shape {
    unsigned refs;
    struct str key; /* in cache->shapes */
    struct arena strings;
    struct object_cache_scope scope; /* its namespace and name come from the field selector */
    struct selector labels;
    struct object_field *declared;
    size_t n_fields;
    struct cache_strip_path *strip;
    size_t n_strip;
};

/* Changes not yet delivered; made with the first of them. */
struct cache_backlog {
    struct map map;   /* key -> struct pending */
    struct list list; /* struct pending, the oldest first; never empty */
};

/* State of a denied subscription that asks again; exists until the subscription is synced. */
struct cache_denial {
    struct list node; /* on the cache's denials */
    struct object_sub *sub;
    struct timer retry;
    unsigned failures;
};

enum object_sub_at { OBJECT_SUB_OUTSIDE, OBJECT_SUB_SNAPSHOT, OBJECT_SUB_LIVE };

/* At rest it costs some 200 bytes: there may be one for each of 20,000 operators. */
struct object_sub {
    struct object_cache *cache;
    struct cache_informer *informer;
    struct cache_topic *topic;
    struct list node;
    struct list pump_node; /* on cache->pump; dead: on cache->graves */
    struct object_cache_shape *shape;
    struct cache_verdict *verdict; /* NULL: no access check */
    struct list verdict_node;      /* on the list of those that wait for the verdict */
    const struct object_sub_ops *ops;
    void *arg;
    struct cache_backlog *backlog; /* NULL: nothing */
    struct cache_denial *denial;   /* NULL: not denied */
    struct list reads;
    struct object_cache_snapshot *snapshot;
    uint64_t needs_lists; /* n_lists of the informer from which on its fields are filled */
    uint32_t snapshot_at;
    int reported; /* code of the on_error in force */
    uint32_t n_namespace, n_name;
    uint8_t at; /* enum object_sub_at */
    bool paused, dead;
    bool as_user; /* lists and watches run as its identity */
    /*
     * shape->n_fields numbers: field index of the subscription -> field index of the informer; then
     * its namespace and name.
     */
    uint8_t tail[];
};

/* ---- object_cache.c ---- */
void object_sub_schedule(struct object_sub *sub);
/* Start over: everything delivered before is void. code: for on_error. */
void object_sub_lose(struct object_sub *sub, int code, const struct err *err);
/* Report an error that leaves what was delivered valid. */
void object_sub_report(struct object_sub *sub, int code, const struct err *err);
/* An object has changed. */
void object_sub_take(struct object_sub *sub, struct cached_object *before,
                     struct cached_object *now);
/* The subscription covers the object. */
bool object_sub_sees(const struct object_sub *sub, const struct cached_object *o);
bool object_sub_covers_name(const struct object_sub *sub, struct str namespace, struct str name);
bool object_sub_is_ready(
    const struct object_sub *sub); /* its informer is ready, its fields are filled */
struct str object_sub_namespace(const struct object_sub *sub); /* "": all */
struct str object_sub_name(const struct object_sub *sub);
/*
 * The identity for calls made on behalf of the subscription, in the arena; NULL: the cache's own.
 */
const struct kube_identity *object_sub_identity(const struct object_sub *sub, struct arena *a);
/* Attach it to an informer that serves its scope; the informer is opened if needed. E_LIMIT. */
int object_sub_attach(struct object_sub *sub, struct err *err);
/* Attach it to this informer, which serves it. On E_LIMIT it is attached to no informer. */
int object_sub_link(struct object_sub *sub, struct cache_informer *f, struct err *err);
void object_sub_detach(struct object_sub *sub);
/* Brackets every run of callbacks. */
void cache_enter(struct object_cache *c);
void cache_leave(struct object_cache *c);
void cache_call_ended(struct object_cache *c);
void object_cache_snapshot_unref(struct object_cache *c, struct object_cache_snapshot *s);
void cache_unref_object(void *cache, struct cached_object *o);
/* "/api/v1/namespaces/a/pods" */
void object_cache_write_path(const struct object_cache_scope *s, struct str namespace,
                             struct buf *to);

/* ---- object_cache_informer.c ---- */
extern const char CACHE_ALL_TOPIC[];
/* NULL: max_informers is reached. */
struct cache_informer *cache_informer_open(struct object_cache *c,
                                           const struct object_cache_scope *scope,
                                           const struct kube_identity *identity);
/* Drop the bodies of recent events. f: only those of this informer, without looking at its table.
 */
void cache_recent_forget(struct object_cache *c, const struct cache_informer *f);
/* The informer's objects include everything in `want`, in a form from which `want` can be made. */
bool cache_informer_serves(const struct cache_informer *f, const struct object_cache_scope *want);
/* Returns the index of the field in the informer; E_LIMIT. ret_lists: see needs_lists. */
int cache_informer_declare(struct cache_informer *f, const struct object_field *field,
                           uint64_t *ret_lists, struct err *err);
void cache_informer_left(struct cache_informer *f); /* a subscription has left */
void cache_informer_free(struct cache_informer *f);
struct object_cache_snapshot *cache_informer_snapshot(struct cache_informer *f,
                                                      const struct object_sub *sub); /* counted */
struct object_order *cache_informer_order(struct cache_informer *f,
                                          struct str namespace); /* counted */
/* Write the JSON text of an object to `to`. E_CORRUPT. */
int cache_informer_write(struct cache_informer *f, const struct cached_object *o,
                         bool metadata_only, struct buf *to, struct err *err);

/* ---- object_cache_view.c ---- */
/* Counted; shared by all subscriptions with the same identity and scope. */
struct cache_verdict *cache_verdict_ref(struct object_cache *c, const struct kube_identity *id,
                                        const struct object_cache_scope *scope);
/* The identity that the verdict is about, in the arena. */
const struct kube_identity *cache_verdict_identity(const struct cache_verdict *v, struct arena *a);
void cache_verdict_unref(struct cache_verdict *v); /* NULL is fine */
/* 1: allowed, by a recent answer; E_DENIED; 0: being asked, and object_sub_schedule() follows. */
int cache_verdict_check(struct cache_verdict *v, struct object_sub *waiter);
bool cache_verdict_allows(const struct cache_verdict *v);  /* allowed, by a recent answer */
void cache_verdict_forget_denial(struct cache_verdict *v); /* a denial no longer counts */
const struct err *cache_verdict_err(const struct cache_verdict *v);

/* ---- object_cache_read.c ---- */
void cache_reads_run(struct object_sub *sub);  /* access is allowed, and it is ready */
void cache_reads_drop(struct object_sub *sub); /* without calling back */
void cache_reads_fail(struct object_sub *sub, int code, const struct err *err); /* all of them */
