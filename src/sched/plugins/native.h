/* SPDX-License-Identifier: Apache-2.0 */
/* What native plugins have in common. */
#pragma once

#include "sched/framework/framework.h"
#include "sched/plugins/registry.h"

/* A refusal with a fixed text: a constant that contains its plugin's name. */
#define SCHED_REFUSAL(id, plugin_, code_, text)                                                    \
    static const struct str id##_reason = { "" text, sizeof(text) - 1 };                           \
    static const struct sched_status id = { .code = (code_),                                       \
                                            .reasons = &id##_reason,                               \
                                            .n_reasons = 1,                                        \
                                            .plugin = { "" plugin_, sizeof(plugin_) - 1 } }

/* Returned instead of NULL if the plugin has nothing to do for this pod. */
static const struct sched_status sched_skip = { .code = SCHED_SKIP };

/* The `events` function of a plugin with fixed events. */
#define SCHED_EVENTS(fn, ...)                                                                      \
    static const struct sched_event_reg *fn(struct sched_plugin *p, size_t *ret_n)                 \
    {                                                                                              \
        static const struct sched_event_reg regs[] = { __VA_ARGS__ };                              \
        *ret_n = ARRAY_LEN(regs);                                                                  \
        return regs;                                                                               \
    }

/* An event's object if it has that kind, else NULL. */
static inline const struct sched_node *sched_event_node(const struct sched_object *o)
{
    return o && o->kind == SCHED_NODE ? sched_node_of(o) : NULL;
}
static inline const struct sched_pod *sched_event_pod(const struct sched_object *o)
{
    return o && o->kind == SCHED_POD ? sched_pod_of(o) : NULL;
}
static inline bool sched_is_same_pod(const struct sched_pod *a, const struct sched_pod *b)
{
    return str_eq(a->o.uid, b->o.uid);
}

/* Does the node have an image of this name? Images are sorted by the address of their names. */
static inline bool sched_node_has_image(const struct sched_node *node, const struct intern *image)
{
    uint32_t from = 0, to = node->n_images;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (node->images[middle].name == image)
            return true;
        if (node->images[middle].name < image)
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}
