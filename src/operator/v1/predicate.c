/* SPDX-License-Identifier: Apache-2.0 */
/* Predicates on events; see predicate.h. */
#include "operator/v1/predicate.h"

static bool is_update(const struct change *c)
{
    return c->type == OBJECT_UPDATED;
}

static bool any_passes(const struct predicate *p, const struct change *c)
{
    for (const struct predicate *child = p->first; child; child = child->next)
        if (predicate_passes(child, c))
            return true;
    return false;
}

static bool all_pass(const struct predicate *p, const struct change *c)
{
    for (const struct predicate *child = p->first; child; child = child->next)
        if (!predicate_passes(child, c))
            return false;
    return true;
}

bool predicate_passes(const struct predicate *p, const struct change *c)
{
    const struct cached_object *now = c->now, *before = c->before;
    if (!p)
        return !is_update(c) ||
               cached_object_content_hash(now) != cached_object_content_hash(before);
    switch (p->kind) {
    case PREDICATE_GENERATION:
        return !is_update(c) || cached_object_generation(now) != cached_object_generation(before);
    case PREDICATE_LABELS:
        return !is_update(c) || cached_object_labels_hash(now) != cached_object_labels_hash(before);
    case PREDICATE_ANNOTATIONS:
        return !is_update(c) ||
               cached_object_annotations_hash(now) != cached_object_annotations_hash(before);
    case PREDICATE_RESOURCE_VERSION:
        return !is_update(c) || cached_object_rv(now) != cached_object_rv(before);
    case PREDICATE_ON:
        return (p->types & 1u << c->type) != 0;
    case PREDICATE_MATCHES:
        return cached_object_has_labels(now ? now : before, &p->selector);
    case PREDICATE_AND:
        return all_pass(p, c);
    case PREDICATE_OR:
        return any_passes(p, c);
    case PREDICATE_NOT:
        return !predicate_passes(p->first, c);
    }
    return true;
}
