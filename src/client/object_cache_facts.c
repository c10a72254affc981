/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as the cache holds them; see object_cache_facts.h. */
#include "client/object_cache_facts.h"

#include "client/object_cache_body.h"
#include "kube/model/jsonpath.h"
#include "kube/model/meta.h"

#include <errno.h>
#include <stdio.h>

/* ---------------------------------------------------------------- interned bytes */

enum { INTERNER_FIRST = 64 };

static size_t interned_bytes(size_t n)
{
    return sizeof(struct cache_interned) + n + 8;
}

static size_t find_slot(const struct cache_interner *in, uint64_t hash, struct str s)
{
    size_t i = hash & (in->cap - 1);
    while (in->slots[i] &&
           (in->slots[i]->hash != hash || !str_eq(cache_interned_str(in->slots[i]), s)))
        i = (i + 1) & (in->cap - 1);
    return i;
}

static void grow(struct cache_interner *in)
{
    struct cache_interner bigger = { .cap = in->cap ? in->cap * 2 : INTERNER_FIRST };
    bigger.slots = xnew_n(struct cache_interned *, bigger.cap);
    for (size_t i = 0; i < in->cap; i++)
        if (in->slots[i])
            bigger.slots[find_slot(&bigger, in->slots[i]->hash, cache_interned_str(in->slots[i]))] =
                in->slots[i];
    in->bytes += (bigger.cap - in->cap) * sizeof *in->slots;
    free(in->slots);
    in->slots = bigger.slots;
    in->cap = bigger.cap;
}

struct cache_interned *cache_intern(struct cache_interner *in, struct str s)
{
    if (in->n * 4 >= in->cap * 3)
        grow(in);
    uint64_t hash = str_hash(s, in->seed);
    size_t i = find_slot(in, hash, s);
    if (in->slots[i])
        return cache_interned_ref(in->slots[i]);
    struct cache_interned *it = xalloc(sizeof *it + s.n);
    it->hash = hash;
    it->refs = 1;
    it->n = (uint32_t)s.n;
    if (s.n)
        memcpy(it->p, s.p, s.n);
    in->slots[i] = it;
    in->n++;
    in->bytes += interned_bytes(s.n);
    return it;
}

struct cache_interned *cache_interned_ref(struct cache_interned *i)
{
    i->refs++;
    return i;
}

/* Backward-shift deletion, as in base/map. */
static void remove_slot(struct cache_interner *in, size_t hole)
{
    size_t mask = in->cap - 1;
    for (size_t i = (hole + 1) & mask; in->slots[i]; i = (i + 1) & mask) {
        size_t home = in->slots[i]->hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            in->slots[hole] = in->slots[i];
            hole = i;
        }
    }
    in->slots[hole] = NULL;
}

void cache_unintern(struct cache_interner *in, struct cache_interned *i)
{
    if (!i || --i->refs > 0)
        return;
    remove_slot(in, find_slot(in, i->hash, cache_interned_str(i)));
    in->n--;
    in->bytes -= interned_bytes(i->n);
    free(i);
}

void cache_interner_fini(struct cache_interner *in)
{
    assert(in->n == 0);
    free(in->slots);
    *in = (struct cache_interner){ .seed = in->seed };
}

/* ---------------------------------------------------------------- sets of labels */

/* A set is held as key, value, key, value, sorted by key; a two-byte length precedes each text. */
static bool take_text(struct str *rest, struct str *ret)
{
    uint16_t n;
    if (rest->n < sizeof n)
        return false;
    memcpy(&n, rest->p, sizeof n);
    *ret = str_slice(*rest, sizeof n, sizeof n + n);
    *rest = str_slice(*rest, sizeof n + n, rest->n);
    return true;
}

static void put_text(struct buf *to, struct str s)
{
    uint16_t n = (uint16_t)s.n;
    (void)buf_add(to, &n, sizeof n);
    (void)buf_add_str(to, s);
}

static int by_key(const void *x, const void *y)
{
    const struct json *const *a = x, *const *b = y;
    return str_cmp((*a)->key, (*b)->key);
}

enum { LABELS_MAX = 512, TEXT_MAX = UINT16_MAX };

/* NULL when there are none, or when they are not valid labels (*ret_odd is set then). */
static struct cache_interned *take_labels(struct cache_interner *in, const struct json *labels,
                                          struct buf *scratch, bool *ret_odd)
{
    const struct json *pairs[LABELS_MAX];
    size_t n = 0;
    *ret_odd = labels && (!json_is(labels, JSON_OBJECT) || labels->n > LABELS_MAX);
    if (*ret_odd)
        return NULL;
    json_each (pair, labels) {
        if (!json_is(pair, JSON_STRING) || pair->key.n > TEXT_MAX || pair->s.n > TEXT_MAX) {
            *ret_odd = true;
            return NULL;
        }
        pairs[n++] = pair;
    }
    if (n == 0)
        return NULL;
    qsort(pairs, n, sizeof *pairs, by_key);
    buf_reset(scratch);
    for (size_t i = 0; i < n; i++) {
        put_text(scratch, pairs[i]->key);
        put_text(scratch, pairs[i]->s);
    }
    return cache_intern(in, buf_str(scratch));
}

struct str cached_object_label(const struct cached_object *o, struct str key)
{
    struct str rest = cache_interned_str(o->labels), k, v;
    while (take_text(&rest, &k) && take_text(&rest, &v))
        if (str_eq(k, key))
            return v;
    return STR_NULL;
}

bool cached_object_has_labels(const struct cached_object *o, const struct selector *selector)
{
    if (selector->nothing)
        return false;
    for (size_t i = 0; i < selector->n; i++) {
        struct str v = cached_object_label(o, selector->reqs[i].key);
        if (!selector_req_matches(&selector->reqs[i], v.p ? &v : NULL))
            return false;
    }
    return true;
}

uint64_t cached_object_labels_hash(const struct cached_object *o)
{
    return o->labels ? o->labels->hash : 0;
}

/* ---------------------------------------------------------------- uids */

enum { UUID_BYTES = 16, UUID_TEXT = 36 };

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool uuid_pack(struct str text, unsigned char *ret)
{
    if (text.n != UUID_TEXT)
        return false;
    for (size_t i = 0, n = 0; i < UUID_TEXT;) {
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (text.p[i++] != '-')
                return false;
            continue;
        }
        int high = hex_digit(text.p[i]), low = hex_digit(text.p[i + 1]);
        if (high < 0 || low < 0)
            return false;
        ret[n++] = (unsigned char)(high << 4 | low);
        i += 2;
    }
    return true;
}

static struct str uuid_write(const unsigned char *p, char text[CACHED_UID_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    char *to = text;
    for (size_t i = 0; i < UUID_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = digits[p[i] >> 4];
        *to++ = digits[p[i] & 15];
    }
    *to = '\0';
    return str_n(text, UUID_TEXT);
}

/* The uid as text; `held` is 16 bytes if is_uuid, else text. */
static struct str uid_text(struct str held, bool is_uuid, char text[CACHED_UID_BYTES])
{
    return is_uuid ? uuid_write((const unsigned char *)held.p, text) : held;
}

/* ---------------------------------------------------------------- reading facts */

struct str cached_object_namespace(const struct cached_object *o)
{
    return cache_interned_str(o->namespace);
}

struct str cached_object_name(const struct cached_object *o)
{
    return str_n(o->tail, o->name_n);
}

static struct str held_uid(const struct cached_object *o)
{
    return str_n(o->tail + o->name_n, o->uid_n);
}

static struct str held_owners(const struct cached_object *o)
{
    return str_n(o->tail + o->name_n + o->uid_n, o->owners_n);
}

static struct str held_fields(const struct cached_object *o)
{
    return str_n(o->tail + o->name_n + o->uid_n + o->owners_n, o->fields_n);
}

struct str cached_object_body(const struct cached_object *o)
{
    return str_n(o->tail + o->name_n + o->uid_n + o->owners_n + o->fields_n, o->body_n);
}

struct str cached_object_uid(const struct cached_object *o, char text[CACHED_UID_BYTES])
{
    return uid_text(held_uid(o), o->flags & OBJECT_HAS_UUID, text);
}

bool cached_object_same_uid(const struct cached_object *a, const struct cached_object *b)
{
    return (a->flags & OBJECT_HAS_UUID) == (b->flags & OBJECT_HAS_UUID) &&
           str_eq(held_uid(a), held_uid(b));
}

uint64_t cached_object_rv(const struct cached_object *o)
{
    return o->rv;
}

int64_t cached_object_generation(const struct cached_object *o)
{
    return (int64_t)o->generation;
}

bool cached_object_is_deleting(const struct cached_object *o)
{
    return o->flags & OBJECT_IS_DELETING;
}

uint64_t cached_object_annotations_hash(const struct cached_object *o)
{
    return o->annotations_hash;
}

uint64_t cached_object_content_hash(const struct cached_object *o)
{
    return o->content_hash;
}

/* ---------------------------------------------------------------- owners */

enum { OWNER_CONTROLLER = 1, OWNER_HAS_CONTROLLER = 2, OWNER_BLOCKS = 4, OWNER_HAS_BLOCKS = 8 };
enum { OWNER_UUID = 16 };

/* struct owner_head | uid | name */
struct owner_head {
    struct cache_interned *kind; /* apiVersion, NUL, kind */
    uint8_t flags, uid_n, name_n;
} __attribute__((packed));

static bool take_owner(struct str *rest, struct owner_head *ret, struct str *ret_uid,
                       struct str *ret_name)
{
    if (rest->n < sizeof *ret)
        return false;
    memcpy(ret, rest->p, sizeof *ret);
    *rest = str_slice(*rest, sizeof *ret, rest->n);
    *ret_uid = str_slice(*rest, 0, ret->uid_n);
    *ret_name = str_slice(*rest, ret->uid_n, (size_t)ret->uid_n + ret->name_n);
    *rest = str_slice(*rest, (size_t)ret->uid_n + ret->name_n, rest->n);
    return true;
}

size_t cached_object_n_owners(const struct cached_object *o)
{
    return o->n_owners;
}

void cached_object_owner(const struct cached_object *o, size_t i, struct object_owner *ret)
{
    assert(i < o->n_owners);
    struct str rest = held_owners(o), uid = { 0 }, name = { 0 };
    struct owner_head h = { 0 };
    for (size_t k = 0; k <= i; k++)
        (void)take_owner(&rest, &h, &uid, &name);
    *ret = (struct object_owner){ .name = name, .is_controller = h.flags & OWNER_CONTROLLER };
    (void)str_cut(cache_interned_str(h.kind), '\0', &ret->api_version, &ret->kind);
    ret->uid = uid_text(uid, h.flags & OWNER_UUID, ret->uid_text);
}

static int owner_flag(const struct json *owner, const char *key, int is, int has)
{
    const struct json *v = json_getc(owner, key);
    return v ? (json_bool(v) ? is | has : has) : 0;
}

/* Only the members that upstream knows, with their types: four that are required, two optional. */
static bool is_plain_owner(const struct json *owner)
{
    static const char *const texts[] = { "apiVersion", "kind", "name", "uid" };
    static const char *const bools[] = { "controller", "blockOwnerDeletion" };
    size_t known = 0;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (json_is(json_getc(owner, texts[i]), JSON_STRING))
            known++;
        else
            return false;
    for (size_t i = 0; i < ARRAY_LEN(bools); i++)
        known += json_is_bool(json_getc(owner, bools[i]));
    return json_is(owner, JSON_OBJECT) && owner->n == known;
}

/* Appends the owners to `to`, interned kinds counted. false: the body must keep them as well. */
static bool put_owners(struct cache_interner *in, const struct json *owners, struct buf *to,
                       uint8_t *ret_n)
{
    bool complete = !owners || json_is(owners, JSON_ARRAY);
    *ret_n = 0;
    json_each (owner, owners) {
        struct str name = json_get_str(owner, "name"), uid = json_get_str(owner, "uid");
        if (name.n > UINT8_MAX || uid.n > UINT8_MAX || *ret_n == UINT8_MAX) {
            complete = false;
            continue;
        }
        if (to->n + sizeof(struct owner_head) + uid.n + name.n > UINT16_MAX) {
            complete = false;
            break;
        }
        complete = complete && is_plain_owner(owner);
        struct str version = json_get_str(owner, "apiVersion"), kind = json_get_str(owner, "kind");
        scoped(buf_fini_scoped) struct buf both = BUF_INIT(BUF_MAX_DEFAULT);
        (void)buf_add_str(&both, version);
        (void)buf_add_char(&both, '\0');
        (void)buf_add_str(&both, kind);
        unsigned char packed[UUID_BYTES];
        bool is_uuid = uuid_pack(uid, packed);
        if (is_uuid)
            uid = str_n(packed, sizeof packed);
        struct owner_head h = {
            .kind = cache_intern(in, buf_str(&both)),
            .flags =
                (uint8_t)(owner_flag(owner, "controller", OWNER_CONTROLLER, OWNER_HAS_CONTROLLER) |
                          owner_flag(owner, "blockOwnerDeletion", OWNER_BLOCKS, OWNER_HAS_BLOCKS) |
                          (is_uuid ? OWNER_UUID : 0)),
            .uid_n = (uint8_t)uid.n,
            .name_n = (uint8_t)name.n
        };
        (void)buf_add(to, &h, sizeof h);
        (void)buf_add_str(to, uid);
        (void)buf_add_str(to, name);
        (*ret_n)++;
    }
    return complete;
}

static void unref_owners(struct cache_interner *in, struct str owners)
{
    struct owner_head h;
    struct str uid, name;
    while (take_owner(&owners, &h, &uid, &name))
        cache_unintern(in, h.kind);
}

static void ref_owners(struct str owners)
{
    struct owner_head h;
    struct str uid, name;
    while (take_owner(&owners, &h, &uid, &name))
        (void)cache_interned_ref(h.kind);
}

/* ---------------------------------------------------------------- declared fields */

/* The object holds the field's values; labels and owners are facts already. */
static bool is_held(const struct cache_field *f)
{
    return f->field.kind == OBJECT_FIELD_PATH || f->field.kind == OBJECT_FIELD_ANNOTATION;
}

static struct str scalar_text(const struct json *v)
{
    switch (v->type) {
    case JSON_STRING:
    case JSON_NUMBER:
        return v->s;
    case JSON_TRUE:
        return STR("true");
    case JSON_FALSE:
        return STR("false");
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return STR_NULL;
}

/* A byte with the number of values, then the values. */
static void put_field(const struct cache_field *f, const struct json *object, struct buf *to)
{
    const struct json *found[OBJECT_CACHE_FIELD_VALUES_MAX];
    size_t n = 0;
    if (f->path)
        n = jsonpath_find(f->path, object, found, ARRAY_LEN(found), NULL);
    else if ((found[0] =
                  json_get(json_path(object, "metadata", "annotations", NULL), f->field.text)))
        n = 1;
    uint8_t count = 0;
    size_t at = to->n;
    (void)buf_add_u8(to, 0);
    for (size_t i = 0; i < n; i++) {
        struct str v = scalar_text(found[i]);
        if (!v.p || v.n > OBJECT_CACHE_VALUE_MAX_BYTES)
            continue;
        put_text(to, v);
        count++;
    }
    if (buf_ok(to))
        to->p[at] = (char)count;
}

/* Returns the number of values of held field `i`; *ret begins with them. */
static size_t find_field(const struct cache_object_maker *m, const struct cached_object *o,
                         size_t i, struct str *ret)
{
    struct str rest = held_fields(o), v;
    for (size_t k = 0; k < m->n_fields && rest.n; k++) {
        if (!is_held(&m->fields[k]))
            continue;
        size_t n = (unsigned char)rest.p[0];
        rest = str_slice(rest, 1, rest.n);
        if (k == i) {
            *ret = rest;
            return n;
        }
        for (size_t skip = 0; skip < n; skip++)
            (void)take_text(&rest, &v);
    }
    return 0;
}

size_t cached_object_values(const struct cache_object_maker *m, const struct cached_object *o,
                            size_t i, struct str *ret, size_t max)
{
    const struct cache_field *f = &m->fields[i];
    if (f->field.kind == OBJECT_FIELD_LABEL) {
        struct str v = cached_object_label(o, f->field.text);
        if (v.p && max)
            ret[0] = v;
        return v.p != NULL;
    }
    if (!is_held(f))
        return 0;
    struct str rest, v;
    size_t n = find_field(m, o, i, &rest);
    for (size_t k = 0; k < n && take_text(&rest, &v); k++)
        if (k < max)
            ret[k] = v;
    return n;
}

uint32_t object_value_hash(uint64_t seed, struct str value)
{
    return (uint32_t)str_hash(value, seed);
}

static bool is_of_owner_kind(const struct cache_field *f, const struct object_owner *owner)
{
    return f->field.kind == OBJECT_FIELD_OWNER_UID ||
           (f->field.kind == OBJECT_FIELD_CONTROLLER_UID && owner->is_controller);
}

size_t cached_object_value_hashes(const struct cache_object_maker *m, const struct cached_object *o,
                                  size_t i, uint32_t *ret, size_t max)
{
    size_t n = 0;
    struct str values[OBJECT_CACHE_FIELD_VALUES_MAX];
    size_t n_values = cached_object_values(m, o, i, values, ARRAY_LEN(values));
    for (size_t k = 0; k < n_values && n < max; k++)
        ret[n++] = object_value_hash(m->seed, values[k]);
    for (size_t k = 0; k < o->n_owners && n < max; k++) {
        struct object_owner owner;
        if (is_held(&m->fields[i]) || m->fields[i].field.kind == OBJECT_FIELD_LABEL)
            break;
        cached_object_owner(o, k, &owner);
        if (is_of_owner_kind(&m->fields[i], &owner))
            ret[n++] = object_value_hash(m->seed, owner.uid);
    }
    return n;
}

bool cached_object_has_value(const struct cache_object_maker *m, const struct cached_object *o,
                             size_t i, struct str value)
{
    struct str values[OBJECT_CACHE_FIELD_VALUES_MAX];
    size_t n = cached_object_values(m, o, i, values, ARRAY_LEN(values));
    for (size_t k = 0; k < n; k++)
        if (str_eq(values[k], value))
            return true;
    for (size_t k = 0; k < o->n_owners; k++) {
        struct object_owner owner;
        cached_object_owner(o, k, &owner);
        if (is_of_owner_kind(&m->fields[i], &owner) && str_eq(owner.uid, value))
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------- making */

uint32_t object_key_hash(uint64_t seed, struct str namespace, struct str name)
{
    return (uint32_t)str_hash(name, str_hash(namespace, seed));
}

bool cached_object_is(const struct cached_object *o, uint32_t hash, struct str namespace,
                      struct str name)
{
    return o->key_hash == hash && str_eq(cached_object_name(o), name) &&
           str_eq(cached_object_namespace(o), namespace);
}

/* Members of metadata that are facts are left out of the body. */
static bool is_in_body(const struct json *member, unsigned flags)
{
    static const char *const never[] = { "name", "namespace", "resourceVersion", "managedFields" };
    for (size_t i = 0; i < ARRAY_LEN(never); i++)
        if (str_is(member->key, never[i]))
            return false;
    if (str_is(member->key, "uid"))
        return false;
    if (str_is(member->key, "generation"))
        return !(flags & OBJECT_HAS_GENERATION);
    if (str_is(member->key, "labels"))
        return flags & OBJECT_LABELS_INSIDE;
    if (str_is(member->key, "ownerReferences"))
        return flags & OBJECT_OWNERS_INSIDE;
    return true;
}

static void put_member(struct buf *to, const struct json *member)
{
    (void)json_write_str(to, member->key);
    (void)buf_add_char(to, ':');
    (void)json_write(to, member);
}

/*
 * Writes the rest of metadata, "}", and the rest of the object: all that cached_object_write()
 * needs besides the facts.
 */
static void write_plain(const struct cache_object_maker *m, const struct json *object,
                        unsigned flags, struct buf *to)
{
    json_each (member, json_getc(object, "metadata")) {
        if (!is_in_body(member, flags))
            continue;
        if (to->n)
            (void)buf_add_char(to, ',');
        put_member(to, member);
    }
    (void)buf_add_char(to, '}');
    json_each (member, object) {
        if (m->metadata_only || str_is(member->key, "metadata") || str_is(member->key, "kind") ||
            str_is(member->key, "apiVersion"))
            continue;
        (void)buf_add_char(to, ',');
        put_member(to, member);
    }
    (void)buf_add_char(to, '}');
}

static uint64_t hash_json(const struct json *v, uint64_t seed)
{
    if (!v || v->n == 0)
        return 0;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)json_write_sorted(&b, v);
    return str_hash(buf_str(&b), seed);
}

static uint64_t combine(uint64_t hash, uint64_t more)
{
    return str_hash(str_n(&more, sizeof more), hash);
}

struct cached_object *cached_object_ref(struct cached_object *o)
{
    o->refs++;
    return o;
}

void cached_object_unref(struct cache_interner *in, struct cached_object *o)
{
    if (!o || --o->refs > 0)
        return;
    cache_unintern(in, o->namespace);
    cache_unintern(in, o->labels);
    unref_owners(in, held_owners(o));
    free(o);
}

size_t cached_object_bytes(const struct cached_object *o)
{
    return sizeof *o + o->name_n + o->uid_n + o->owners_n + o->fields_n + o->body_n + 8;
}

/* A block with the head and the facts of `like`, and room for a body. */
static struct cached_object *copy_with(const struct cached_object *like, struct str body)
{
    size_t facts = (size_t)like->name_n + like->uid_n + like->owners_n + like->fields_n;
    struct cached_object *o = xalloc(sizeof *o + facts + body.n);
    *o = *like;
    memcpy(o->tail, like->tail, facts);
    if (body.n)
        memcpy(o->tail + facts, body.p, body.n);
    o->body_n = (uint32_t)body.n;
    o->refs = 1;
    if (o->namespace)
        (void)cache_interned_ref(o->namespace);
    if (o->labels)
        (void)cache_interned_ref(o->labels);
    ref_owners(held_owners(o));
    return o;
}

struct cached_object *cached_object_facts(const struct cached_object *o)
{
    struct cached_object *facts = copy_with(o, STR(""));
    facts->plain_n = 0;
    return facts;
}

struct cached_object *cached_object_repack(const struct cached_object *o, struct str body,
                                           uint8_t packed)
{
    struct cached_object *copy = copy_with(o, body);
    copy->flags = (uint8_t)((o->flags & ~(OBJECT_BODY_PACKED | OBJECT_BODY_DICT)) | packed);
    return copy;
}

static uint8_t form_flags(enum cache_body_form form)
{
    switch (form) {
    case BODY_PLAIN:
        return 0;
    case BODY_PACKED:
        return OBJECT_BODY_PACKED;
    case BODY_PACKED_WITH_DICT:
        return OBJECT_BODY_PACKED | OBJECT_BODY_DICT;
    }
    return 0;
}

/* An object under construction; interned parts are counted. */
struct draft {
    struct str name, uid;
    unsigned char uuid[UUID_BYTES];
    struct buf owners, fields;
    struct cached_object head; /* last, since its tail has no bound */
};

static void drop_draft(struct cache_object_maker *m, struct draft *d)
{
    cache_unintern(m->interner, d->head.namespace);
    cache_unintern(m->interner, d->head.labels);
    unref_owners(m->interner, buf_str(&d->owners));
    buf_fini(&d->owners);
    buf_fini(&d->fields);
}

static int read_names(struct cache_object_maker *m, const struct json *meta, struct draft *d,
                      struct err *err)
{
    d->name = json_get_str(meta, "name");
    d->uid = json_get_str(meta, "uid");
    if (d->name.n == 0)
        return err_set(err, E_INVALID, "an object without a name");
    if (d->name.n > UINT16_MAX || d->uid.n > UINT8_MAX)
        return err_set(err, E_INVALID, "a name of %zu and a uid of %zu bytes", d->name.n, d->uid.n);
    struct str namespace = json_get_str(meta, "namespace");
    d->head.key_hash = object_key_hash(m->seed, namespace, d->name);
    d->head.name_n = (uint16_t)d->name.n;
    if (uuid_pack(d->uid, d->uuid)) {
        d->uid = str_n(d->uuid, sizeof d->uuid);
        d->head.flags |= OBJECT_HAS_UUID;
    }
    d->head.uid_n = (uint8_t)d->uid.n;
    if (namespace.n)
        d->head.namespace = cache_intern(m->interner, namespace);
    return 0;
}

static void read_facts(struct cache_object_maker *m, const struct json *object,
                       const struct json *meta, struct draft *d)
{
    struct cached_object *h = &d->head;
    int64_t generation;
    (void)parse_u64(json_get_str(meta, "resourceVersion"), 0, UINT64_MAX, &h->rv);
    if (json_int(json_getc(meta, "generation"), &generation) >= 0 && generation >= 0) {
        h->generation = (uint64_t)generation;
        h->flags |= OBJECT_HAS_GENERATION;
    }
    if (meta_is_deleting(object))
        h->flags |= OBJECT_IS_DELETING;
    bool odd;
    h->labels = take_labels(m->interner, json_getc(meta, "labels"), &m->scratch, &odd);
    if (odd)
        h->flags |= OBJECT_LABELS_INSIDE;
    const struct json *owners = json_getc(meta, "ownerReferences");
    if (!put_owners(m->interner, owners, &d->owners, &h->n_owners))
        h->flags |= OBJECT_OWNERS_INSIDE;
    h->owners_n = (uint16_t)d->owners.n;
    h->annotations_hash = hash_json(json_getc(meta, "annotations"), m->seed);
    for (size_t i = 0; i < m->n_fields; i++)
        if (is_held(&m->fields[i]))
            put_field(&m->fields[i], object, &d->fields);
    h->fields_n = (uint32_t)d->fields.n;
    uint64_t hash = combine(hash_json(owners, m->seed), cached_object_labels_hash(h));
    hash = combine(combine(hash, str_hash(d->uid, m->seed)), h->generation);
    h->content_hash = hash; /* of the facts; the body's hash is added later */
}

static struct cached_object *assemble(const struct draft *d, struct str body)
{
    struct cached_object *o =
        xalloc(sizeof *o + d->name.n + d->uid.n + d->owners.n + d->fields.n + body.n);
    *o = d->head;
    o->refs = 1;
    o->body_n = (uint32_t)body.n;
    const struct str parts[] = { d->name, d->uid, buf_str(&d->owners), buf_str(&d->fields), body };
    unsigned char *to = o->tail;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i].n)
            memcpy(to, parts[i].p, parts[i].n);
        to += parts[i].n;
    }
    return o;
}

static int make_object(struct cache_object_maker *m, const struct json *object,
                       struct cached_object **ret, struct err *err)
{
    const struct json *meta = json_getc(object, "metadata");
    struct draft d = { .owners = BUF_INIT(UINT16_MAX), .fields = BUF_INIT(BUF_MAX_DEFAULT) };
    m->scratch.max = WATCH_LINE_MAX_BYTES;
    int r = read_names(m, meta, &d, err);
    if (r >= 0) {
        read_facts(m, object, meta, &d);
        buf_reset(&m->scratch);
        write_plain(m, object, d.head.flags, &m->scratch);
        if (!buf_ok(&m->scratch))
            r = err_set(err, -EMSGSIZE, "an object larger than %d bytes", WATCH_LINE_MAX_BYTES);
    }
    if (r < 0) {
        drop_draft(m, &d);
        return r;
    }
    struct str plain = buf_str(&m->scratch), body = STR("");
    d.head.content_hash = str_hash(plain, d.head.content_hash ^ m->seed);
    if (!m->drops_bodies) {
        enum cache_body_form form;
        body = cache_body_pack(m->codec, plain, &form);
        d.head.plain_n = (uint32_t)plain.n;
        d.head.flags |= form_flags(form);
    } else if (m->keeps_this_one) {
        body = plain;
        d.head.plain_n = (uint32_t)plain.n;
    }
    *ret = assemble(&d, body);
    buf_fini(&d.owners);
    buf_fini(&d.fields);
    if (m->scratch.cap > (64 << 10)) /* free the buffer after an unusually large object */
        buf_fini(&m->scratch);
    return 0;
}

int cached_object_make(struct cache_object_maker *m, const struct json *object,
                       struct cached_object **ret, struct err *err)
{
    if (m->n_strip == 0)
        return make_object(m, object, ret, err);
    struct arena a = { 0 };
    struct json *stripped = json_copy(&a, object);
    for (size_t i = 0; i < m->n_strip; i++)
        cache_strip_path_apply(&m->strip[i], stripped);
    int r = make_object(m, stripped, ret, err);
    arena_fini(&a);
    return r;
}

/* ---------------------------------------------------------------- writing */

static void write_text(struct buf *to, const char *before, struct str s)
{
    (void)buf_add_cstr(to, before);
    (void)json_write_str(to, s);
}

static void write_labels(const struct cached_object *o, struct buf *to)
{
    struct str rest = cache_interned_str(o->labels), k, v;
    const char *before = ",\"labels\":{";
    while (take_text(&rest, &k) && take_text(&rest, &v)) {
        write_text(to, before, k);
        write_text(to, ":", v);
        before = ",";
    }
    (void)buf_add_char(to, '}');
}

static void write_flag(struct buf *to, const char *before, unsigned flags, unsigned is,
                       unsigned has)
{
    if (flags & has)
        buf_printf(to, "%s%s", before, flags & is ? "true" : "false");
}

static void write_owners(const struct cached_object *o, struct buf *to)
{
    struct str rest = held_owners(o), uid, name;
    struct owner_head h;
    const char *before = ",\"ownerReferences\":[{\"apiVersion\":";
    while (take_owner(&rest, &h, &uid, &name)) {
        struct str version, kind;
        char text[CACHED_UID_BYTES];
        (void)str_cut(cache_interned_str(h.kind), '\0', &version, &kind);
        write_text(to, before, version);
        write_text(to, ",\"kind\":", kind);
        write_text(to, ",\"name\":", name);
        write_text(to, ",\"uid\":", uid_text(uid, h.flags & OWNER_UUID, text));
        write_flag(to, ",\"controller\":", h.flags, OWNER_CONTROLLER, OWNER_HAS_CONTROLLER);
        write_flag(to, ",\"blockOwnerDeletion\":", h.flags, OWNER_BLOCKS, OWNER_HAS_BLOCKS);
        (void)buf_add_char(to, '}');
        before = ",{\"apiVersion\":";
    }
    (void)buf_add_char(to, ']');
}

/* The part of the body before the brace that ends metadata. */
static struct str end_of_metadata(struct str plain)
{
    bool in_string = false;
    size_t depth = 0;
    for (size_t i = 0; i < plain.n; i++) {
        char c = plain.p[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (in_string)
            continue;
        else if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && depth-- == 0)
            return str_slice(plain, 0, i);
    }
    return plain;
}

void cached_object_write(const struct cached_object *o, struct str plain, struct str api_version,
                         struct str kind, bool metadata_only, struct buf *to)
{
    char text[CACHED_UID_BYTES];
    write_text(to, "{\"apiVersion\":", api_version);
    write_text(to, ",\"kind\":", kind);
    write_text(to, ",\"metadata\":{\"name\":", cached_object_name(o));
    if (o->namespace)
        write_text(to, ",\"namespace\":", cached_object_namespace(o));
    if (o->uid_n)
        write_text(to, ",\"uid\":", cached_object_uid(o, text));
    (void)buf_add_cstr(to, ",\"resourceVersion\":\"");
    (void)buf_add_u64_dec(to, o->rv);
    (void)buf_add_char(to, '"');
    if (o->flags & OBJECT_HAS_GENERATION) {
        (void)buf_add_cstr(to, ",\"generation\":");
        (void)buf_add_u64_dec(to, o->generation);
    }
    if (o->labels)
        write_labels(o, to);
    if (o->n_owners && !(o->flags & OBJECT_OWNERS_INSIDE))
        write_owners(o, to);
    if (plain.n && plain.p[0] != '}')
        (void)buf_add_char(to, ',');
    if (metadata_only)
        plain = end_of_metadata(plain);
    (void)buf_add_str(to, plain);
    if (metadata_only)
        (void)buf_add_cstr(to, "}}");
}

/* ---------------------------------------------------------------- stripped paths */

enum { STRIP_MAX_KEYS = 32, STRIP_MAX_BYTES = 1024 };

static bool ends_name(char c)
{
    return c == '.' || c == '[' || c == ']' || c == '\'' || c == '*';
}

/* .name or ['any key'] */
static bool take_key(struct str *rest, struct str *ret)
{
    if (str_has_prefix(*rest, STR("['"))) {
        ptrdiff_t end = str_find(*rest, STR("']"));
        if (end <= 2)
            return false;
        *ret = str_slice(*rest, 2, (size_t)end);
        *rest = str_slice(*rest, (size_t)end + 2, rest->n);
        return true;
    }
    if (rest->n < 2 || rest->p[0] != '.')
        return false;
    size_t n = 1;
    while (n < rest->n && !ends_name(rest->p[n]))
        n++;
    *ret = str_slice(*rest, 1, n);
    *rest = str_slice(*rest, n, rest->n);
    return ret->n > 0;
}

int cache_strip_path_parse(struct arena *a, struct str text, struct cache_strip_path *ret,
                           struct err *err)
{
    struct str keys[STRIP_MAX_KEYS], rest = text;
    size_t n = 0;
    while (rest.n) {
        if (text.n > STRIP_MAX_BYTES || n == STRIP_MAX_KEYS || !take_key(&rest, &keys[n]))
            return err_set(err, E_INVALID, "'" STR_FMT "' is not a path like .spec.a['b.c']",
                           STR_ARG(str_slice(text, 0, 100)));
        n++;
    }
    if (n == 0)
        return err_set(err, E_INVALID, "an empty path");
    static const char *const needed[] = { "apiVersion", "kind", "metadata" };
    for (size_t i = 0; n == 1 && i < ARRAY_LEN(needed); i++)
        if (str_is(keys[0], needed[i]))
            return err_set(err, E_INVALID, "'%s' cannot be removed", needed[i]);
    ret->keys = arena_new_n(a, struct str, n);
    for (size_t i = 0; i < n; i++)
        ret->keys[i] = str_copy_arena(a, keys[i]);
    ret->n = n;
    return 0;
}

static bool is_identity(const struct cache_strip_path *p)
{
    static const char *const kept[] = { "name", "namespace", "uid", "resourceVersion" };
    if (p->n != 2 || !str_is(p->keys[0], "metadata"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (str_is(p->keys[1], kept[i]))
            return true;
    return false;
}

void cache_strip_path_apply(const struct cache_strip_path *p, struct json *object)
{
    if (is_identity(p))
        return;
    for (size_t i = 0; i + 1 < p->n; i++)
        object = json_get(object, p->keys[i]);
    if (json_is(object, JSON_OBJECT))
        (void)json_del(object, p->keys[p->n - 1]);
}
