/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an event of a watch makes work: pure functions of the facts of an object before and
 * after.
 *
 * Nothing here allocates or needs an object's body, so that an event that concerns nobody costs
 * some comparisons.
 */
#pragma once

#include "client/object_cache.h"

enum predicate_kind {
    PREDICATE_GENERATION, /* these four: an update must have changed it */
    PREDICATE_LABELS,
    PREDICATE_ANNOTATIONS,
    PREDICATE_RESOURCE_VERSION,
    PREDICATE_ON,      /* the event is one of `types` */
    PREDICATE_MATCHES, /* the object has labels that `selector` matches */
    PREDICATE_AND,
    PREDICATE_OR,
    PREDICATE_NOT /* of the only child */
};

enum { PREDICATE_MAX_DEPTH = 8, PREDICATE_MAX_NODES = 64 };

/* Lives in the arena of its declaration. */
struct predicate {
    enum predicate_kind kind;
    unsigned types; /* ON: 1 << enum object_event */
    struct selector selector;
    const struct predicate *first; /* AND, OR, NOT: the children */
    const struct predicate *next;  /* sibling */
};

/* One event. before: NULL for OBJECT_ADDED; now: NULL for OBJECT_DELETED. */
struct change {
    enum object_event type;
    const struct cached_object *now, *before;
};

/* p NULL: every event passes, but an update that leaves the content as it was. */
bool predicate_passes(const struct predicate *p, const struct change *c);
