/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One object as the cache holds it: a single immutable block of memory, reference-counted because
 * snapshots and events hold it as well as its table.
 *
 *     struct cached_object | name | uid | owners | fields | body
 *
 * Values that many objects share (namespaces, sets of labels, the kinds of owners) are held once
 * for all informers, in an interner. The body is the object's JSON without the facts: see
 * cached_object_write().
 *
 * Pure: no loop, no transport.
 */
#pragma once

#include "client/object_cache.h"

#include <assert.h>

/* ---- interned bytes ---- */
struct cache_interned {
    uint64_t hash;
    uint32_t refs, n;
    char p[];
};
struct cache_interner {
    struct cache_interned **slots; /* open addressing, linear probing */
    size_t n, cap;                 /* cap: 0 or a power of two */
    size_t bytes;
    uint64_t seed;
};
/* Counted; released with cache_unintern(). */
struct cache_interned *cache_intern(struct cache_interner *in, struct str s);
struct cache_interned *cache_interned_ref(struct cache_interned *i);
void cache_unintern(struct cache_interner *in, struct cache_interned *i); /* NULL is fine */
void cache_interner_fini(struct cache_interner *in); /* all references must have been released */
static inline struct str cache_interned_str(const struct cache_interned *i)
{
    return i ? str_n(i->p, i->n) : STR("");
}

/* ---- bodies ---- */
struct cache_body_codec;

/* ---- objects ---- */
enum {
    OBJECT_IS_DELETING = 1 << 0,
    OBJECT_HAS_UUID = 1 << 1,      /* the uid is held as 16 bytes */
    OBJECT_LABELS_INSIDE = 1 << 3, /* in the body: no facts can be made of them */
    OBJECT_OWNERS_INSIDE = 1 << 4,
    OBJECT_BODY_PACKED = 1 << 5, /* zstd */
    OBJECT_BODY_DICT = 1 << 6,   /* with the codec's dictionary */
    OBJECT_HAS_GENERATION = 1 << 7
};

struct cached_object {
    uint32_t refs;
    uint32_t key_hash;
    uint64_t rv, generation, content_hash, annotations_hash;
    struct cache_interned *namespace;
    struct cache_interned *labels; /* NULL: none */
    uint32_t body_n, plain_n;      /* as held (0: not held); as JSON */
    uint32_t fields_n;             /* bytes */
    uint16_t owners_n;             /* bytes */
    uint16_t name_n;
    uint8_t uid_n, n_owners, flags, round; /* round: of the last list that contained it */
    unsigned char tail[];
};

/* How an informer makes objects from JSON. */
struct cache_field {
    struct object_field field; /* text in the informer's arena */
    struct jsonpath *path;     /* of OBJECT_FIELD_PATH */
    uint64_t filled_by; /* objects have the field once the informer has completed this many lists */
};
struct cache_strip_path {
    struct str *keys;
    size_t n;
};
struct cache_object_maker {
    struct cache_interner *interner; /* kept */
    uint64_t seed;
    struct cache_field *fields;
    size_t n_fields;
    const struct cache_strip_path *strip;
    size_t n_strip;
    bool metadata_only;
    bool drops_bodies;              /* keep facts only ... */
    bool keeps_this_one;            /* ... but keep the body of the next object too, unpacked */
    struct cache_body_codec *codec; /* NULL with drops_bodies */
    struct buf scratch;
};

/*
 * Makes the facts and the body of `object`, without stripped paths. E_INVALID: it has no name, or a
 * part exceeds its length field. -EMSGSIZE: more than WATCH_LINE_MAX_BYTES.
 */
int cached_object_make(struct cache_object_maker *m, const struct json *object,
                       struct cached_object **ret, struct err *err);
struct cached_object *cached_object_ref(struct cached_object *o);
void cached_object_unref(struct cache_interner *in, struct cached_object *o); /* NULL is fine */
/* A copy with the facts alone, for callers that keep an old state; given. */
struct cached_object *cached_object_facts(const struct cached_object *o);
/* Copies the object with another body; takes nothing from `o`. packed: the flags of that body. */
struct cached_object *cached_object_repack(const struct cached_object *o, struct str body,
                                           uint8_t packed);
size_t cached_object_bytes(const struct cached_object *o);
struct str cached_object_body(const struct cached_object *o); /* as held */
uint32_t object_key_hash(uint64_t seed, struct str namespace, struct str name);
bool cached_object_is(const struct cached_object *o, uint32_t hash, struct str namespace,
                      struct str name);
/* Values of field `i`, of any kind except the owners' uids. */
size_t cached_object_values(const struct cache_object_maker *m, const struct cached_object *o,
                            size_t i, struct str *ret, size_t max);
/* Hash of each value of the field, owners' uids included; returns how many there are. */
size_t cached_object_value_hashes(const struct cache_object_maker *m, const struct cached_object *o,
                                  size_t i, uint32_t *ret, size_t max);
uint32_t object_value_hash(uint64_t seed, struct str value);
bool cached_object_has_value(const struct cache_object_maker *m, const struct cached_object *o,
                             size_t i, struct str value);
/* Appends the object's JSON. plain: its body, unpacked by the codec. */
void cached_object_write(const struct cached_object *o, struct str plain, struct str api_version,
                         struct str kind, bool metadata_only, struct buf *to);

/* Parses ".a['b.c'].d" into keys in the arena; wildcards are not allowed. E_INVALID. */
int cache_strip_path_parse(struct arena *a, struct str text, struct cache_strip_path *ret,
                           struct err *err);
void cache_strip_path_apply(const struct cache_strip_path *p, struct json *object);
