/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects seen through their schema, for field ownership and server-side apply: which parts are
 * fields of their own, the changes between two objects, merging a configuration into an object.
 *
 * Follows upstream's structured-merge-diff, on JSON trees: objects and maps are granular unless
 * atomic, lists are atomic unless they are sets or maps; values without a schema are granular if
 * objects and atomic if lists. Trees are never changed; results share nothing with them.
 */
#pragma once

#include "kube/model/field_set.h"
#include "kube/model/resource.h"

enum typed_kind {
    TYPED_UNDECLARED, /* the schema has no such field */
    TYPED_SCHEMA,
    TYPED_RESOURCE, /* a schema with apiVersion, kind and metadata beside its own fields */
    TYPED_TEXT,     /* apiVersion and kind of a resource */
    TYPED_DEDUCED,  /* typed by the value: objects granular, lists atomic */
    TYPED_ATOMIC    /* one field, whatever the value */
};

struct typed {
    enum typed_kind kind;
    const struct schema *schema; /* TYPED_SCHEMA, TYPED_RESOURCE */
};

/* Type of the objects of a resource; of the scale subresource. */
struct typed typed_resource(const struct kube_resource *res);
struct typed typed_scale(void);

/*
 * Checks that v has the shape of its type. Lists of type set or map may not have an item twice,
 * unless duplicates_ok. E_INVALID with upstream's words in `why`, one line for each error.
 */
int typed_check(struct typed t, const struct json *v, bool duplicates_ok, struct buf *why);

/* Every field of v. */
struct field_set *typed_fields(struct arena *a, struct typed t, const struct json *v);

/* The changes that turn `from` into `to`. */
struct typed_changes {
    const struct field_set *removed, *modified, *added;
};
void typed_compare(struct arena *a, struct typed t, const struct json *from, const struct json *to,
                   struct typed_changes *ret);
static inline bool typed_is_same(const struct typed_changes *c)
{
    return field_set_is_empty(c->removed) && field_set_is_empty(c->modified) &&
           field_set_is_empty(c->added);
}

/*
 * Lays `config` over `live`: nothing is removed; where both have a leaf, config wins; items of
 * lists are in config's order where it has them. config has passed typed_check().
 */
struct json *typed_merge(struct arena *a, struct typed t, const struct json *live,
                         const struct json *config);
/* A copy of v without the members and list items in `set`. */
struct json *typed_remove(struct arena *a, struct typed t, const struct json *v,
                          const struct field_set *set);

/* The set, with all declared fields on the paths to its members added. */
struct field_set *typed_with_parents(struct arena *a, struct typed t, const struct field_set *set);
/*
 * Adapts a set made under an older schema: members below a part that is atomic now are replaced by
 * that part. Returns the set itself when nothing changes.
 */
const struct field_set *typed_reconcile(struct arena *a, struct typed t,
                                        const struct field_set *set);
