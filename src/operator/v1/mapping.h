/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which keys of a controller an event concerns: from the facts of the object, of owners, and of the
 * primaries in the cache.
 *
 * On an update both the old and the new object are mapped, so that a key that only the old one maps
 * to is reconciled too. The queue merges equal keys.
 */
#pragma once

#include "client/work_queue.h"
#include "operator/v1/declaration.h"

/* What a mapping needs in addition to the object. */
struct mapping {
    const struct declaration_watch *watch;   /* the watch of the event */
    const struct declaration_watch *primary; /* `for` of its controller */
    bool primary_namespaced;
    const struct object_sub *sub; /* the subscription of `watch` that delivered the event */
    struct object_sub *const *primary_subs; /* one for each of its namespaces */
    size_t n_primary_subs;
};

/*
 * Order of the fields that the subscription of a watch declares to the cache: first its indexes,
 * then the fields of its map.
 */
enum { MAPPING_FIELDS_MAX = DECLARATION_MAX_INDEXES + 2 };
/* The fields, with texts borrowed from the declaration. Returns how many. */
size_t mapping_fields(const struct declaration_watch *w,
                      struct object_field ret[MAPPING_FIELDS_MAX]);

/* key: borrowed for the call. */
typedef void (*mapping_add_fn)(void *arg, struct work_key key);
/* The keys of one object; for an update, call it for the old and for the new object. */
void mapping_keys(const struct mapping *m, const struct cached_object *o, mapping_add_fn add,
                  void *arg);
/* Whether every event maps to the same keys, whatever the object is. */
bool mapping_is_constant(const struct declaration_watch *w);
