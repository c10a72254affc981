/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON (RFC 8259): a tree in an arena, a parser with limits, a writer.
 *
 * The tree keeps objects in document order. Numbers keep their text, so that an unmodified number
 * is written back unchanged; json_int() and json_float() read them. Strings are UTF-8, decoded;
 * invalid UTF-8 and lone surrogates become U+FFFD as Go's encoding/json does. A repeated key keeps
 * the last value at the first position (Go) and is reported through `json_parse_opts.on_duplicate`.
 *
 * Large objects have an index in the arena, so that looking up, setting and deleting a member is
 * cheap at any size; an object built with json_add_member() alone gets its index from json_index().
 *
 * All nodes and strings live in the arena given to the parser or constructor, which must outlive
 * them. A node is in at most one container. Not thread-safe.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

struct json {
    enum json_type type;
    uint32_t n;        /* children of an array or object */
    struct str key;    /* when it is a member of an object */
    struct json *next; /* sibling */
    union {
        struct str s; /* JSON_NUMBER: its text; JSON_STRING: decoded bytes */
        struct {
            struct json *first, *end; /* JSON_ARRAY, JSON_OBJECT; end: codec/json_index.h */
        };
    };
};

enum { JSON_MAX_DEPTH = 512 }; /* deeper input is E_PARSE; walkers may recurse this far */

struct json_parse_opts {
    unsigned max_depth; /* 0: JSON_MAX_DEPTH */
    /* Called for each repeated key with its path ("spec.a"); may be NULL. */
    void (*on_duplicate)(void *arg, struct str path);
    void *arg;
};

/*
 * Parse exactly one value; blanks around it are allowed, anything else after it is an error.
 * Strings without escapes are borrowed from `text`, which must live as long as the tree. opts may
 * be NULL. Errors: E_PARSE with byte offset and reason, -EMSGSIZE when the arena's limit is hit.
 */
int json_parse(struct arena *a, struct str text, const struct json_parse_opts *opts,
               struct json **ret, struct err *err);

/* ---- reading; every getter accepts NULL and wrong types and then gives NULL, "", 0, false ---- */
struct json *json_get(const struct json *obj, struct str key); /* member, NULL if absent */
struct json *json_getc(const struct json *obj, const char *key);
struct json *json_last(const struct json *v); /* last child, NULL if none */
/* Follow keys: json_path(o, "metadata", "name", NULL) */
struct json *json_path(const struct json *obj, ...) __attribute__((sentinel));
struct str json_str(const struct json *v); /* "" unless a string */
struct str json_get_str(const struct json *obj, const char *key);
bool json_bool(const struct json *v); /* true only for JSON_TRUE */
/* 0, -EINVAL unless an integer in range (1.0 and 1e3 count as integers, as in Kubernetes). */
int json_int(const struct json *v, int64_t *ret);
int64_t json_int_or(const struct json *v, int64_t otherwise);
int json_float(const struct json *v, double *ret);
bool json_is(const struct json *v, enum json_type type); /* false for NULL */
bool json_is_bool(const struct json *v);
/* Deep equality; numbers by value, objects regardless of order. */
bool json_equal(const struct json *a, const struct json *b);
/* The same, and add the number of visited nodes to *work. */
bool json_equal_work(const struct json *a, const struct json *b, uint64_t *work);

/* First child; NULL for NULL and for scalars. */
static inline struct json *json_first(const struct json *v)
{
    return v && v->type >= JSON_ARRAY ? v->first : NULL;
}
#define json_each(child, container)                                                                \
    for (struct json *child = json_first(container); child; child = child->next)

/* ---- building; all in the arena ---- */
struct json *json_new_null(struct arena *a);
struct json *json_new_bool(struct arena *a, bool v);
struct json *json_new_int(struct arena *a, int64_t v);
struct json *json_new_float(
    struct arena *a, double v); /* shortest text that reads back equal; null for NaN, infinity */
struct json *json_new_str(struct arena *a, struct str s);   /* copies */
struct json *json_new_cstr(struct arena *a, const char *s); /* copies */
struct json *json_new_array(struct arena *a);
struct json *json_new_object(struct arena *a);
/* Deep copy, with all bytes; the key is not set. v must not be NULL: check the result of
 * json_get(). */
struct json *json_clone(struct arena *a, const struct json *v);
/* As json_clone(), but shares the bytes of strings and keys with v, which must live as long. */
struct json *json_copy(struct arena *a, const struct json *v);
void json_add(struct json *array, struct json *v); /* append; v taken */
/* Append a member that the object does not have yet; the key is kept, v taken. */
void json_add_member(struct json *obj, struct str key, struct json *v);
/* Sort the members of v and of all objects below it by key. */
void json_sort(struct arena *a, struct json *v);
/* Index the members of an object that json_add_member() made large, before many are looked up. */
void json_index(struct arena *a, struct json *obj);
/* Append the member, or replace it in place; the key is copied into the arena, v taken. */
void json_set(struct arena *a, struct json *obj, struct str key, struct json *v);
void json_setc(struct arena *a, struct json *obj, const char *key, struct json *v);
void json_set_str(struct arena *a, struct json *obj, const char *key, struct str s);
void json_set_int(struct arena *a, struct json *obj, const char *key, int64_t v);
void json_set_bool(struct arena *a, struct json *obj, const char *key, bool v);
/* Member as an object, created when absent or not an object. */
struct json *json_obj(struct arena *a, struct json *obj, const char *key);
bool json_del(struct json *obj, struct str key);              /* true if it was there */
bool json_remove(struct json *container, struct json *child); /* by identity */
/* Insert before `at`; NULL appends. For an object: v->key is set and not yet in the object. */
void json_insert_before(struct json *container, struct json *at, struct json *v);
/* Take all children out; the container is empty then. Returns the first of them, NULL: none. */
struct json *json_take_children(struct json *container);
/* Overwrite the value of dst (keeping key and place) with that of src; src's children move. */
void json_replace(struct json *dst, struct json *src);

/* ---- writing ---- */
/* Compact, as Go's encoder without HTML escaping; failure is sticky in the buffer. */
int json_write(struct buf *to, const struct json *v);
/* As json_write() with members of objects sorted by key: equal values give equal bytes. */
int json_write_sorted(struct buf *to, const struct json *v);
int json_write_pretty(struct buf *to, const struct json *v, unsigned indent);
/* Just the quoted and escaped string. */
int json_write_str(struct buf *to, struct str s);
