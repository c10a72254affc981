/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the object cache, shared by its own files:
 *
 *     object_cache.c         the cache and its subscriptions: joining, delivering, waiting
 *     object_cache_feed.c    a collection: lists, watch, differences, limits
 *     object_cache_view.c    what an identity may see
 *     object_cache_read.c    gets and lists
 *     object_cache_facts.c, _table.c, _body.c   pure parts
 *
 * A subscription changes its state only in sub_run(), called from the cache's pump:
 *
 *     OUTSIDE --(feed ready, identity may)--> SNAPSHOT --(all delivered)--> LIVE
 *        ^------------- denied, or the feed is lost: on_error -----------------'
 *
 * The feed calls a subscription at once when it is LIVE and has nothing pending. Otherwise events
 * gather in `pending`, one per object. Memory is freed only when no callback runs (cache->depth).
 */
#pragma once

#include "client/identity.h"
#include "client/object_cache_body.h"
#include "client/object_cache_table.h"
#include "client/reflector.h"

#include <errno.h>

struct feed;
struct cache_verdict;

enum {
    PUMP_PER_TURN = 256,      /* events of one subscription, in one turn of the loop ... */
    PUMP_ALL_PER_TURN = 2048, /* ... and of all subscriptions that are behind */
    REPACK_PER_TURN = 128,    /* objects */
    DENIED_FIRST_MS = 5000,   /* a denied subscription asks again after this */
    DENIED_MAX_MS = 120000,
    LIMIT_RETRY_MS = 60000, /* a feed that was too large is listed again after this */
    SELECTORS_MAX_BYTES = 2048,
    RECENT_MAX = 256, /* objects whose bodies are kept briefly with an embedded API */
    RECENT_MAX_BYTES = 256 << 10,
    RECENT_MS = 2000 /* after the last event */
};

/*
 * With an embedded API the cache holds no bodies, but a subscriber usually reads the object right
 * after its event. The bodies of the last events are kept briefly; the oldest is dropped first.
 */
struct recent {
    struct feed *feed;
    uint32_t slot;
    uint64_t rv;
    uint32_t bytes;
};

struct object_cache {
    struct object_cache_opts opts;
    struct interner interner;
    uint64_t seed;
    struct body_packer *packer;
    struct list feeds;
    struct list pump; /* object_sub.pump_node */
    struct defer pump_defer;
    unsigned pumped;     /* events delivered in this turn */
    struct list graves;  /* subscriptions to free when depth is 0 */
    unsigned depth;      /* callbacks that are running */
    struct map verdicts; /* by their keys */
    struct list denials; /* denial.node: the least recently asked first */
    unsigned n_denials, n_to_ask;
    struct timer ask_timer; /* armed while n_to_ask */
    struct map shapes;      /* by their keys */
    struct recent *recent;  /* a ring of RECENT_MAX; NULL while there are none */
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

/* What a subscription asks for, or a feed covers; "" means everything. Texts in an arena. */
struct object_cache_scope {
    struct str group_version, plural, namespace, name;
    struct str label_selector, field_selector; /* canonical; without the name and namespace */
    struct str strip;                          /* paths, each ends in a newline */
    struct str as; /* lists and watches run as this user; "": as the cache's identity */
    bool metadata_only;
};

struct topic {
    struct list subs; /* object_sub.node */
    char name[];      /* its key */
};

struct object_cache_snapshot {
    struct feed *feed; /* outlives the snapshot */
    unsigned refs;
    uint64_t seq, rv;
    uint32_t n;
    struct cached_object *o[];
};

struct object_order {
    struct object_cache *cache;
    struct feed *feed; /* the feed whose `order` points here; NULL: none */
    unsigned refs;
    uint64_t seq; /* of the feed when this was made */
    uint32_t n;
    struct cached_object *o[];
};

struct feed {
    struct object_cache *cache;
    struct list node;
    struct arena strings;
    struct object_cache_scope scope;
    const struct kube_identity *identity; /* for lists and watches; NULL: the transport's own */
    struct str kind;                      /* of its objects; "" before the first */
    struct reflector *reflector;          /* NULL while the feed waits after E_LIMIT */
    struct object_maker maker;
    struct field_spec fields[OBJECT_CACHE_FIELDS_MAX];
    struct object_table table;
    uint64_t rv, seq; /* version reached; events counted */
    uint8_t round;    /* number of the current list, or of the last one */
    uint64_t n_lists; /* completed lists */
    bool listing, ready;
    bool wants_remake, remakes; /* the next list, or this one, makes all objects again */
    int trouble;                /* code reported to the subscribers; 0: none */
    struct err trouble_err;
    struct map topics; /* namespace, or ALL_TOPIC -> struct topic */
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
    struct strip_path *strip;
    size_t n_strip;
};

/* Changes not yet delivered; made with the first of them. */
struct backlog {
    struct map map;   /* key -> struct pending */
    struct list list; /* struct pending, the oldest first; never empty */
};

/* State of a denied subscription that asks again; exists until the subscription is synced. */
struct denial {
    struct list node; /* on the cache's denials */
    struct object_sub *sub;
    struct timer retry;
    unsigned failures;
};

enum sub_at { SUB_OUTSIDE, SUB_SNAPSHOT, SUB_LIVE };

/* At rest it costs some 200 bytes: there may be one for each of 20,000 operators. */
struct object_sub {
    struct object_cache *cache;
    struct feed *feed;
    struct topic *topic;
    struct list node;
    struct list pump_node; /* on cache->pump; dead: on cache->graves */
    struct object_cache_shape *shape;
    struct cache_verdict *verdict; /* NULL: no access check */
    struct list verdict_node;      /* on the list of those that wait for the verdict */
    const struct object_sub_ops *ops;
    void *arg;
    struct backlog *backlog; /* NULL: nothing */
    struct denial *denial;   /* NULL: not denied */
    struct list reads;
    struct object_cache_snapshot *snapshot;
    uint64_t needs_lists; /* n_lists of the feed from which on its fields are filled */
    uint32_t snapshot_at;
    int told; /* code of the on_error in force */
    uint32_t n_namespace, n_name;
    uint8_t at; /* enum sub_at */
    bool paused, dead;
    bool as_user; /* lists and watches run as its identity */
    /*
     * shape->n_fields numbers: field index of the subscription -> field index of the feed; then its
     * namespace and name.
     */
    uint8_t tail[];
};

/* ---- object_cache.c ---- */
void sub_schedule(struct object_sub *sub);
/* Start over: everything delivered before is void. code: for on_error. */
void sub_lose(struct object_sub *sub, int code, const struct err *err);
/* Report an error that leaves what was delivered valid. */
void sub_tell_error(struct object_sub *sub, int code, const struct err *err);
/* An object has changed. */
void sub_take(struct object_sub *sub, struct cached_object *before, struct cached_object *now);
/* The subscription covers the object. */
bool sub_sees(const struct object_sub *sub, const struct cached_object *o);
bool sub_covers_name(const struct object_sub *sub, struct str namespace, struct str name);
bool sub_is_ready(const struct object_sub *sub); /* its feed is ready, its fields are filled */
struct str sub_namespace(const struct object_sub *sub); /* "": all */
struct str sub_name(const struct object_sub *sub);
/*
 * The identity for calls made on behalf of the subscription, in the arena; NULL: the cache's own.
 */
const struct kube_identity *sub_identity(const struct object_sub *sub, struct arena *a);
/* Attach it to a feed that serves its scope; the feed is opened if needed. E_LIMIT. */
int sub_attach(struct object_sub *sub, struct err *err);
/* Attach it to this feed, which serves it. On E_LIMIT it is attached to no feed. */
int sub_link(struct object_sub *sub, struct feed *f, struct err *err);
void sub_detach(struct object_sub *sub);
/* Brackets every run of callbacks. */
void cache_enter(struct object_cache *c);
void cache_leave(struct object_cache *c);
void cache_call_ended(struct object_cache *c);
void snapshot_unref(struct object_cache *c, struct object_cache_snapshot *s);
void cache_unref_object(void *cache, struct cached_object *o);
/* "/api/v1/namespaces/a/pods" */
void write_collection(const struct object_cache_scope *s, struct str namespace, struct buf *to);

/* ---- object_cache_feed.c ---- */
extern const char ALL_TOPIC[];
/* NULL: max_feeds is reached. */
struct feed *feed_open(struct object_cache *c, const struct object_cache_scope *scope,
                       const struct kube_identity *identity);
/* Drop the bodies of recent events. f: only those of this feed, without looking at its table. */
void recent_forget(struct object_cache *c, const struct feed *f);
/* The feed's objects include everything in `want`, in a form from which `want` can be made. */
bool feed_serves(const struct feed *f, const struct object_cache_scope *want);
/* Returns the index of the field in the feed; E_LIMIT. ret_lists: see needs_lists. */
int feed_declare(struct feed *f, const struct object_field *field, uint64_t *ret_lists,
                 struct err *err);
void feed_left(struct feed *f); /* a subscription has left */
void feed_free(struct feed *f);
struct object_cache_snapshot *feed_snapshot(struct feed *f,
                                            const struct object_sub *sub); /* counted */
struct object_order *feed_order(struct feed *f, struct str namespace);     /* counted */
/* Write the JSON text of an object to `to`. E_CORRUPT. */
int feed_write(struct feed *f, const struct cached_object *o, bool metadata_only, struct buf *to,
               struct err *err);

/* ---- object_cache_view.c ---- */
/* Counted; shared by all subscriptions with the same identity and scope. */
struct cache_verdict *verdict_ref(struct object_cache *c, const struct kube_identity *id,
                                  const struct object_cache_scope *scope);
/* The identity that the verdict is about, in the arena. */
const struct kube_identity *verdict_identity(const struct cache_verdict *v, struct arena *a);
void verdict_unref(struct cache_verdict *v); /* NULL is fine */
/* 1: allowed, by a recent answer; E_DENIED; 0: being asked, and sub_schedule() follows. */
int verdict_check(struct cache_verdict *v, struct object_sub *waiter);
bool verdict_allows(const struct cache_verdict *v); /* allowed, by a recent answer */
void verdict_forget_no(struct cache_verdict *v);    /* a denial no longer counts */
const struct err *verdict_err(const struct cache_verdict *v);

/* ---- object_cache_read.c ---- */
void reads_run(struct object_sub *sub);  /* access is allowed, and it is ready */
void reads_drop(struct object_sub *sub); /* without calling back */
void reads_fail(struct object_sub *sub, int code, const struct err *err); /* all of them */
