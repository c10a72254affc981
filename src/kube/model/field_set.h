/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of fields: which parts of an object somebody owns, or what a write has changed.
 *
 * A set is a trie of path elements in upstream's order. A node that is a member stands for a field
 * of the set; one that is not only leads to members. "spec" being a member says nothing about
 * "spec.replicas", nor the other way round.
 *
 *     f:name            a member of an object
 *     k:{"name":"a"}    an item of a list of type map, by its keys in alphabetic order
 *     v:"a"             an item of a list of type set, by its value
 *     i:0               an item by its place; read, but nothing of ours makes it
 *
 * Sets are canonical: siblings are sorted and different, no node is neither member nor parent, the
 * root is no member. Equal sets have equal texts. All operations give new sets in the arena, which
 * share whole branches with their operands, so sets are not changed once made (the exceptions say
 * so). The empty set may be NULL.
 */
#pragma once

#include "codec/json.h"

/* In upstream's order. */
enum field_elem_kind { FIELD_ELEM_NAME, FIELD_ELEM_KEY, FIELD_ELEM_VALUE, FIELD_ELEM_INDEX };

struct field_elem {
    enum field_elem_kind kind;
    struct str text;          /* the name; else canonical JSON: equal elements have equal texts */
    const struct json *value; /* not of a name: the same as a tree */
};

struct field_set {
    struct field_set *next, *first; /* sibling, children */
    struct field_elem elem;         /* not of a root */
    bool is_member;
};

/* ---- elements ---- */

static inline struct field_elem field_elem_name(struct str name)
{
    return (struct field_elem){ .kind = FIELD_ELEM_NAME, .text = name };
}
/* value: a scalar. Borrowed. */
struct field_elem field_elem_value(struct arena *a, const struct json *value);
/* keys: an object, in any order of its members. */
struct field_elem field_elem_key(struct arena *a, const struct json *keys);
int field_elem_cmp(const struct field_elem *x, const struct field_elem *y);
/* As in messages: `.name`, `[name="a"]`, `[="a"]`, `[0]`. */
void field_elem_write(struct buf *to, const struct field_elem *e);

/* ---- building ---- */

/*
 * A path from the outside in while something is walked; the nodes of up to FIELD_PATH_SETS sets are
 * made only when a member is reported. Lives on the walker's stack.
 */
enum { FIELD_PATH_SETS = 3 };
struct field_set_path {
    struct field_set_path *up; /* NULL: this is the root */
    struct field_elem elem;
    struct field_set *node[FIELD_PATH_SETS]; /* of the root: the sets being built */
};
/* A path whose sets are new and empty. */
struct field_set_path field_path_root(struct arena *a);
static inline struct field_set_path field_path_child(struct field_set_path *up,
                                                     struct field_elem elem)
{
    return (struct field_set_path){ .up = up, .elem = elem };
}
/* Make the path a member of set number `which`; elements must live as long as the set. */
void field_path_add(struct arena *a, struct field_set_path *path, unsigned which);
/* The set, once all is reported: sorts what field_path_add() appended. */
struct field_set *field_path_take(struct field_set_path *root, unsigned which);

/* The set of one path of names; ends with NULL. */
struct field_set *field_set_of(struct arena *a, const char *name, ...) __attribute__((sentinel));

/* ---- asking ---- */

bool field_set_is_empty(const struct field_set *s);
bool field_set_equal(const struct field_set *x, const struct field_set *y);
size_t field_set_count(const struct field_set *s); /* members */
/* Every member in order, parents before children; path is the text of field_elem_write()s. */
void field_set_each(const struct field_set *s, void (*fn)(void *arg, struct str path), void *arg);

/* ---- algebra ---- */

struct field_set *field_set_union(struct arena *a, const struct field_set *x,
                                  const struct field_set *y);
struct field_set *field_set_intersection(struct arena *a, const struct field_set *x,
                                         const struct field_set *y);
/* x without the members of y: a parent stays when only a child goes, and the other way round. */
struct field_set *field_set_difference(struct arena *a, const struct field_set *x,
                                       const struct field_set *y);
/* x without the members of y and all that stands below them. */
struct field_set *field_set_recursive_difference(struct arena *a, const struct field_set *x,
                                                 const struct field_set *y);
/* Members without members below them. */
struct field_set *field_set_leaves(struct arena *a, const struct field_set *s);

/* ---- FieldsV1 ---- */

/*
 * Elements of unknown kinds are dropped; nodes in any order and repetition are put right.
 * Errors: E_PARSE when a key is no path element or a value no object.
 */
int field_set_parse(struct arena *a, const struct json *fields, struct field_set **ret,
                    struct err *err);
struct json *field_set_write(struct arena *a, const struct field_set *s);
/*
 * Does FieldsV1 as field_set_write() makes it share a member with s, or stand below a member of s
 * that has no children? Without parsing it: says which owners a small change concerns.
 */
bool field_set_touches(const struct field_set *s, const struct json *fields);
