/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile: which plugins are called at which extension point, in which order, with which weights.
 * Built from the configuration; the plugins are native (listed in plugins/registry.h) or foreign
 * (Wasm).
 */
#pragma once

#include "sched/config/config.h"
#include "sched/framework/framework.h"

#define SCHED_POINTS(X)                                                                            \
    X(PRE_ENQUEUE, pre_enqueue, "PreEnqueue")                                                      \
    X(QUEUE_SORT, compare, "QueueSort")                                                            \
    X(PRE_FILTER, pre_filter, "PreFilter")                                                         \
    X(FILTER, filter, "Filter")                                                                    \
    X(POST_FILTER, post_filter, "PostFilter")                                                      \
    X(PRE_SCORE, pre_score, "PreScore")                                                            \
    X(SCORE, score, "Score")                                                                       \
    X(RESERVE, reserve, "Reserve")                                                                 \
    X(PERMIT, permit, "Permit")                                                                    \
    X(PRE_BIND, pre_bind, "PreBind")                                                               \
    X(BIND, bind, "Bind")                                                                          \
    X(POST_BIND, post_bind, "PostBind")
enum sched_point {
#define SCHED_POINT_ENUM(id, fn, name) SCHED_AT_##id,
    SCHED_POINTS(SCHED_POINT_ENUM)
#undef SCHED_POINT_ENUM
        SCHED_POINT_COUNT
};

enum { SCHED_PLUGINS_MAX = 64 }; /* of one profile: bits of a mask */

struct sched_profile {
    struct str scheduler_name;                       /* owned */
    struct sched_plugin *plugins[SCHED_PLUGINS_MAX]; /* without duplicates; by position */
    unsigned n_plugins;
    struct sched_plugin *at[SCHED_POINT_COUNT][SCHED_PLUGINS_MAX]; /* in call order */
    unsigned n_at[SCHED_POINT_COUNT];
    int32_t weight[SCHED_PLUGINS_MAX]; /* of scores, by position */
    uint32_t percentage;               /* percentageOfNodesToScore; 0: adaptive */
    bool is_apart; /* has its own thread (core/lane.c) and its own order in the queue */
    /* refuses pods with resource claims; no event makes them schedulable */
    const struct sched_plugin *claims;
    struct sched_framework framework;
    char *strings; /* names */
};

/* Plugins that are not native (wasm/). */
struct sched_foreign {
    /* NULL: the plugin is unknown; not an error. */
    const struct sched_plugin_ops *(*find)(void *arg, size_t profile, struct str name);
    void *arg;
    /* The message of a pod or node that these plugins get. json: the tree of the object's event,
     * borrowed. Given. NULL: the plugins need no messages. */
    struct sched_encoded *(*encode)(enum sched_kind kind, const struct json *json);
};

/* The name under which extenders refuse pods: any event may help. */
#define SCHED_EXTENDER_PLUGIN "Extender"
#define SCHED_CLAIMS_PLUGIN   "DynamicResources"

/*
 * Make the plugins of profile number `index` of a configuration. p: zeroed except for its framework
 * (the plugins keep a pointer to it, so p must not move); the framework is complete except for
 * profile and scheduler_name. Nothing of the configuration is kept.
 *
 * Errors: E_INVALID with upstream's text; p is empty then.
 */
int sched_profile_init(struct sched_profile *p, const struct sched_config_profile *config,
                       size_t index, const struct sched_foreign *foreign, struct err *err);
void sched_profile_fini(struct sched_profile *p);
/* "PreFilter", ... */
const char *sched_point_name(enum sched_point point);

/* Native plugins, by name. NULL: unknown. plugins/registry.c. */
const struct sched_plugin_ops *sched_native_plugin(struct str name);
