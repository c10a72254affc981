/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether an event of a watch makes work: pure functions of an object's facts before and
 * after the event.
 *
 * Nothing here allocates or needs the object's body, so an irrelevant event costs a few
 * comparisons.
 */
#pragma once

#include "client/object_cache.h"

enum predicate_kind {
    PREDICATE_GENERATION, /* the first four: the update must have changed it */
    PREDICATE_LABELS,
    PREDICATE_ANNOTATIONS,
    PREDICATE_RESOURCE_VERSION,
    PREDICATE_ON,      /* the event is one of `types` */
    PREDICATE_MATCHES, /* the object has labels that `selector` matches */
    PREDICATE_AND,
    PREDICATE_OR,
    PREDICATE_NOT /* NOT has a single child */
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

/* p NULL: every event passes except an update that leaves the content unchanged. */
bool predicate_passes(const struct predicate *p, const struct change *c);
