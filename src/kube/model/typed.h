/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects seen through their schema, for ownership of fields and for server-side apply: what is a
 * field of its own, what changed between two objects, how a configuration is laid over an object.
 *
 * What upstream's structured-merge-diff does, on JSON trees: objects and maps are granular unless
 * atomic, lists are atomic unless they are sets or maps, what no schema describes is granular in
 * its objects and atomic in its lists. Trees are never changed; results share nothing with them.
 */
#pragma once

#include "kube/model/field_set.h"
#include "kube/model/resource.h"

enum typed_kind {
    TYPED_UNDECLARED, /* the schema knows no such field */
    TYPED_SCHEMA,
    TYPED_RESOURCE, /* a schema with apiVersion, kind and metadata beside its own fields */
    TYPED_TEXT,     /* apiVersion and kind of a resource */
    TYPED_DEDUCED,  /* by the value: objects granular, lists atomic */
    TYPED_ATOMIC    /* whatever it is, it is one */
};

struct typed {
    enum typed_kind kind;
    const struct schema *schema; /* TYPED_SCHEMA, TYPED_RESOURCE */
};

/* The objects of a resource; of the scale subresource. */
struct typed typed_resource(const struct kube_resource *res);
struct typed typed_scale(void);

/*
 * Does v have the shape of its type? Lists of type set or map may not hold an item twice, unless
 * duplicates_ok. E_INVALID with upstream's words in `why`, one line for each complaint.
 */
int typed_check(struct typed t, const struct json *v, bool duplicates_ok, struct buf *why);

/* Every field of v. */
struct field_set *typed_fields(struct arena *a, struct typed t, const struct json *v);

/* What has to be done to `from` to get `to`. */
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
 * `config` laid over `live`: nothing is removed; where both have a leaf, config wins; items of
 * lists come in config's order where it says something. config has passed typed_check().
 */
struct json *typed_merge(struct arena *a, struct typed t, const struct json *live,
                         const struct json *config);
/* v without the members and list items that are members of `set`. */
struct json *typed_remove(struct arena *a, struct typed t, const struct json *v,
                          const struct field_set *set);

/* The set with all declared fields on the way to its members as members, too. */
struct field_set *typed_with_parents(struct arena *a, struct typed t, const struct field_set *set);
/*
 * A set that was made under an older schema: what lies below something that is atomic now becomes
 * that one field. The set itself when nothing changes.
 */
const struct field_set *typed_reconcile(struct arena *a, struct typed t,
                                        const struct field_set *set);
