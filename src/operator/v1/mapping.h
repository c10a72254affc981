/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which keys of a controller an event concerns: from the facts of the object, of owners, and of the
 * primaries in the cache.
 *
 * On an update the object before and after are both mapped, so that whoever it has left learns of
 * it; the same key twice is the queue's to merge.
 */
#pragma once

#include "operator/v1/declaration.h"
#include "operator/work_queue.h"

/* What a mapping has to know beside the object. */
struct mapping {
    const struct declaration_watch *watch;   /* the one that the event is of */
    const struct declaration_watch *primary; /* `for` of its controller */
    bool primary_namespaced;
    const struct object_sub *sub;           /* of `watch`, that brought the event */
    struct object_sub *const *primary_subs; /* one for each of its namespaces */
    size_t n_primary_subs;
};

/*
 * Where the fields stand that a subscription of a watch declares to the cache: its indexes first,
 * then those that its map needs.
 */
enum { MAPPING_FIELDS_MAX = DECLARATION_MAX_INDEXES + 2 };
/* The fields, with texts borrowed from the declaration; returns how many. */
size_t mapping_fields(const struct declaration_watch *w,
                      struct object_field ret[MAPPING_FIELDS_MAX]);

/* key: borrowed for the call. */
typedef void (*mapping_add_fn)(void *arg, struct work_key key);
/* The keys of one object (call it for both sides of an update). */
void mapping_keys(const struct mapping *m, const struct cached_object *o, mapping_add_fn add,
                  void *arg);
/* Does every event of it concern the same keys, whatever the object is? */
bool mapping_is_constant(const struct declaration_watch *w);
