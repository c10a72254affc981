/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the object cache, for its own files:
 *
 *     object_cache.c         the cache and its subscriptions: joining, delivering, waiting
 *     object_cache_feed.c    a collection: lists, watch, differences, limits
 *     object_cache_view.c    what an identity may see
 *     object_cache_read.c    gets and lists
 *     object_cache_facts.c, _table.c, _body.c   pure parts
 *
 * A subscription moves only in sub_run(), from the cache's pump:
 *
 *     OUTSIDE --(feed stands, identity may)--> SNAPSHOT --(all told)--> LIVE
 *        ^------------- denied, or the feed is lost: on_error --------------'
 *
 * LIVE and with nothing pending, it is called by the feed as things happen. Else events gather in
 * `pending`, one for an object. Freed memory waits until no callback runs any more (cache->depth).
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
    PUMP_ALL_PER_TURN = 2048, /* ... and of all that are behind */
    REPACK_PER_TURN = 128,    /* objects */
    DENIED_FIRST_MS = 5000,   /* a subscription that was denied asks again */
    DENIED_MAX_MS = 120000,
    LIMIT_RETRY_MS = 60000, /* a feed that was too large is listed again */
    SELECTORS_MAX_BYTES = 2048,
    RECENT_MAX = 256, /* objects whose bodies are kept for a moment beside an embedded API */
    RECENT_MAX_BYTES = 256 << 10,
    RECENT_MS = 2000 /* after the last event */
};

/*
 * Beside an embedded API no bodies are held, but whoever is told of an event reads the object next:
 * those of the last events stay for a moment, the oldest goes first.
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
    unsigned pumped;     /* events of this turn */
    struct list graves;  /* subscriptions that end when depth is 0 */
    unsigned depth;      /* callbacks that run */
    struct map verdicts; /* by their keys */
    struct list denials; /* denial.node: the one asked longest ago first */
    unsigned n_denials, n_to_ask;
    struct timer ask_timer; /* armed while n_to_ask */
    struct map shapes;      /* by their keys */
    struct recent *recent;  /* a ring of RECENT_MAX; NULL while there are none */
    unsigned recent_first, n_recent;
    size_t recent_bytes;
    struct timer recent_timer;
    uint32_t read_round;
    unsigned calls; /* of verdicts and reads, not ended */
    struct object_cache_stats stats;
    bool closing;
    struct defer close_defer;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* What a subscription wants, or a feed has; "" is everything. Texts in an arena. */
struct object_cache_scope {
    struct str group_version, plural, namespace, name;
    struct str label_selector, field_selector; /* canonical; without the name and namespace */
    struct str strip;                          /* paths, each ends in a newline */
    struct str as; /* user in whose name it is listed and watched; "": the cache's */
    bool metadata_only;
};

struct topic {
    struct list subs; /* object_sub.node */
    char name[];      /* its key */
};

struct object_cache_snapshot {
    struct feed *feed; /* which outlives it */
    unsigned refs;
    uint64_t seq, rv;
    uint32_t n;
    struct cached_object *o[];
};

struct object_order {
    struct object_cache *cache;
    struct feed *feed; /* whose `order` it is; NULL: of none */
    unsigned refs;
    uint64_t seq; /* of the feed then */
    uint32_t n;
    struct cached_object *o[];
};

struct feed {
    struct object_cache *cache;
    struct list node;
    struct arena strings;
    struct object_cache_scope scope;
    const struct kube_identity *identity; /* lists and watches; NULL: the transport's own */
    struct str kind;                      /* of its objects; "" before the first */
    struct reflector *reflector;          /* NULL while it waits after E_LIMIT */
    struct object_maker maker;
    struct field_spec fields[OBJECT_CACHE_FIELDS_MAX];
    struct object_table table;
    uint64_t rv, seq; /* version reached; events counted */
    uint8_t round;    /* of the list that runs, or ran last */
    uint64_t n_lists; /* that have ended */
    bool listing, ready;
    bool wants_remake, remakes; /* the next list, or this one, makes objects anew */
    int trouble;                /* code that subscribers were told; 0: none */
    struct err trouble_err;
    struct map topics; /* namespace, or ALL_TOPIC -> struct topic */
    size_t n_subs;
    struct object_cache_snapshot *snapshot; /* borrowed from its users; the newest */
    struct object_order *order;             /* the same, of everything there is */
    struct timer timer;                     /* end of the grace, or the next try */
    struct defer repack;
    uint32_t repack_slot;
};

/*
 * What subscriptions are besides their place: shared by all that were asked for with the same
 * selectors, paths and fields. Operators differ in the namespace that they look at, if in anything.
 */
struct object_cache_shape {
    unsigned refs;
    struct str key; /* in cache->shapes */
    struct arena strings;
    struct object_cache_scope scope; /* a place in it comes from the field selector */
    struct selector labels;
    struct object_field *declared;
    size_t n_fields;
    struct strip_path *strip;
    size_t n_strip;
};

/* Changes that have not been told; made by the first. */
struct backlog {
    struct map map;   /* key -> struct pending */
    struct list list; /* struct pending, the oldest first; never empty */
};

/* It was denied, and asks again; until it was synced. */
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
    struct cache_verdict *verdict; /* NULL: nothing is asked */
    struct list verdict_node;      /* waiting for it */
    const struct object_sub_ops *ops;
    void *arg;
    struct backlog *backlog; /* NULL: nothing */
    struct denial *denial;   /* NULL: it was not */
    struct list reads;
    struct object_cache_snapshot *snapshot;
    uint64_t needs_lists; /* the feed's n_lists from which its fields are filled */
    uint32_t snapshot_at;
    int told; /* code of the on_error that stands */
    uint32_t n_namespace, n_name;
    uint8_t at; /* enum sub_at */
    bool paused, dead;
    bool as_user; /* listed and watched in the name of its identity */
    /* Of shape->n_fields: number there -> number in the feed; then its namespace and name. */
    uint8_t tail[];
};

/* ---- object_cache.c ---- */
void sub_schedule(struct object_sub *sub);
/* Begin anew: whatever was told does not count. code: for on_error. */
void sub_lose(struct object_sub *sub, int code, const struct err *err);
/* Tell an error that leaves what was told standing. */
void sub_tell_error(struct object_sub *sub, int code, const struct err *err);
/* Something happened to an object. */
void sub_take(struct object_sub *sub, struct cached_object *before, struct cached_object *now);
/* It is among what the subscription sees. */
bool sub_sees(const struct object_sub *sub, const struct cached_object *o);
bool sub_covers_name(const struct object_sub *sub, struct str namespace, struct str name);
bool sub_is_ready(const struct object_sub *sub);        /* its feed stands, its fields are filled */
struct str sub_namespace(const struct object_sub *sub); /* "": all */
struct str sub_name(const struct object_sub *sub);
/* Whose it is, for what is made in its name, in the arena; NULL: the cache's own. */
const struct kube_identity *sub_identity(const struct object_sub *sub, struct arena *a);
/* Put it where its scope is served. E_LIMIT. */
int sub_attach(struct object_sub *sub, struct err *err);
/* To this feed, which serves it. E_LIMIT, and then it is nowhere. */
int sub_link(struct object_sub *sub, struct feed *f, struct err *err);
void sub_detach(struct object_sub *sub);
/* Around callbacks. */
void cache_enter(struct object_cache *c);
void cache_leave(struct object_cache *c);
void cache_call_ended(struct object_cache *c);
void snapshot_unref(struct object_cache *c, struct object_cache_snapshot *s);
void cache_unref_object(void *cache, struct cached_object *o);
/* "/api/v1/namespaces/a/pods" */
void write_collection(const struct object_cache_scope *s, struct str namespace, struct buf *to);

/* ---- object_cache_feed.c ---- */
extern const char ALL_TOPIC[];
/* NULL: max_feeds. */
struct feed *feed_open(struct object_cache *c, const struct object_cache_scope *scope,
                       const struct kube_identity *identity);
/* The bodies of recent events go; f: only those of this feed's, without a look at its table. */
void recent_forget(struct object_cache *c, const struct feed *f);
/* Its objects include all that `want` means, in a form that it can be made of. */
bool feed_serves(const struct feed *f, const struct object_cache_scope *want);
/* Number of the field in the feed; E_LIMIT. ret_lists: when it is filled, as needs_lists. */
int feed_declare(struct feed *f, const struct object_field *field, uint64_t *ret_lists,
                 struct err *err);
void feed_left(struct feed *f); /* one subscription less */
void feed_free(struct feed *f);
struct object_cache_snapshot *feed_snapshot(struct feed *f,
                                            const struct object_sub *sub); /* counted */
struct object_order *feed_order(struct feed *f, struct str namespace);     /* counted */
/* JSON text of an object, in `to`. E_CORRUPT. */
int feed_write(struct feed *f, const struct cached_object *o, bool metadata_only, struct buf *to,
               struct err *err);

/* ---- object_cache_view.c ---- */
/* Counted; shared by all that ask the same. */
struct cache_verdict *verdict_ref(struct object_cache *c, const struct kube_identity *id,
                                  const struct object_cache_scope *scope);
/* Whose it is; in the arena. */
const struct kube_identity *verdict_identity(const struct cache_verdict *v, struct arena *a);
void verdict_unref(struct cache_verdict *v); /* NULL is fine */
/* 1: yes, and that is recent; E_DENIED; 0: asked, and sub_schedule() follows. */
int verdict_check(struct cache_verdict *v, struct object_sub *waiter);
bool verdict_allows(const struct cache_verdict *v); /* yes, and that is recent */
void verdict_forget_no(struct cache_verdict *v);    /* a no does not count any more */
const struct err *verdict_err(const struct cache_verdict *v);

/* ---- object_cache_read.c ---- */
void reads_run(struct object_sub *sub);                                   /* it may, and is ready */
void reads_drop(struct object_sub *sub);                                  /* without a word */
void reads_fail(struct object_sub *sub, int code, const struct err *err); /* all of them */
