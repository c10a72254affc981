/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of fields: the parts of an object that a manager owns, or that a write has changed.
 *
 * A set is a trie of path elements in upstream's order. A node that is a member stands for a field
 * of the set; other nodes only lead to members. Whether "spec" is a member is independent of
 * whether "spec.replicas" is one.
 *
 *     f:name            a member of an object
 *     k:{"name":"a"}    an item of a list of type map, by its keys in alphabetic order
 *     v:"a"             an item of a list of type set, by its value
 *     i:0               an item by its index; read, but never produced here
 *
 * Sets are canonical: siblings are sorted and distinct, every node is a member or a parent, the
 * root is not a member. Equal sets have equal texts. All operations return new sets in the arena,
 * which share whole branches with their operands, so a set is not changed once made (exceptions are
 * marked). The empty set may be NULL.
 */
#pragma once

#include "codec/json.h"

/* In upstream's order. */
enum field_elem_kind { FIELD_ELEM_NAME, FIELD_ELEM_KEY, FIELD_ELEM_VALUE, FIELD_ELEM_INDEX };

struct field_elem {
    enum field_elem_kind kind;
    struct str text;          /* the name; else canonical JSON: equal elements have equal texts */
    const struct json *value; /* the value as a tree; not of a name */
};

struct field_set {
    struct field_set *next, *first; /* sibling, children */
    struct field_elem elem;         /* not set in a root */
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
 * A path from the root down, kept while an object is walked; the nodes of up to FIELD_PATH_SETS
 * sets are made only when a member is reported. Lives on the walker's stack.
 */
enum { FIELD_PATH_SETS = 3 };
struct field_set_path {
    struct field_set_path *up; /* NULL: this is the root */
    struct field_elem elem;
    struct field_set *node[FIELD_PATH_SETS]; /* of the root: the sets being built */
};
/* A path with new, empty sets. */
struct field_set_path field_path_root(struct arena *a);
static inline struct field_set_path field_path_child(struct field_set_path *up,
                                                     struct field_elem elem)
{
    return (struct field_set_path){ .up = up, .elem = elem };
}
/* Make the path a member of set number `which`; its elements must live as long as the set. */
void field_path_add(struct arena *a, struct field_set_path *path, unsigned which);
/* Returns the set once all members are reported: sorts what field_path_add() appended. */
struct field_set *field_path_take(struct field_set_path *root, unsigned which);

/* The set of one path of names, terminated by NULL. */
struct field_set *field_set_of(struct arena *a, const char *name, ...) __attribute__((sentinel));

/* ---- queries ---- */

bool field_set_is_empty(const struct field_set *s);
bool field_set_equal(const struct field_set *x, const struct field_set *y);
size_t field_set_count(const struct field_set *s); /* members */
/* Visits every member in order, parents before children; path is made by field_elem_write(). */
void field_set_each(const struct field_set *s, void (*fn)(void *arg, struct str path), void *arg);

/* ---- algebra ---- */

struct field_set *field_set_union(struct arena *a, const struct field_set *x,
                                  const struct field_set *y);
struct field_set *field_set_intersection(struct arena *a, const struct field_set *x,
                                         const struct field_set *y);
/* x without the members of y. Removing a child keeps its parent, and the other way round. */
struct field_set *field_set_difference(struct arena *a, const struct field_set *x,
                                       const struct field_set *y);
/* x without the members of y and everything below them. */
struct field_set *field_set_recursive_difference(struct arena *a, const struct field_set *x,
                                                 const struct field_set *y);
/* Members that have no members below them. */
struct field_set *field_set_leaves(struct arena *a, const struct field_set *s);

/* ---- FieldsV1 ---- */

/*
 * Elements of unknown kinds are dropped; nodes in any order and duplicates are accepted. Errors:
 * E_PARSE when a key is not a path element or a value is not an object.
 */
int field_set_parse(struct arena *a, const struct json *fields, struct field_set **ret,
                    struct err *err);
struct json *field_set_write(struct arena *a, const struct field_set *s);
/*
 * FieldsV1, as written by field_set_write(), shares a member with s, or has one below a member of s
 * that has no children. Works without parsing: finds the owners that a small change concerns.
 */
bool field_set_touches(const struct field_set *s, const struct json *fields);
