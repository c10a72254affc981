/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scheduler plugin: a table of functions, all optional, and an object for each profile that uses
 * it. Upstream: k8s.io/kube-scheduler/framework.
 *
 * All functions of a profile run on one thread at a time, while no other thread runs the scheduler
 * (see leave() in framework.h for the exception). A scheduling cycle handles one pod at a time; the
 * binding cycles of many pods run at once, as steps that end later. A plugin keeps what it computes
 * about a pod between PreFilter and PostBind as its state in the cycle (sched_cycle_state()).
 */
#pragma once

#include "sched/cache/cache.h"
#include "sched/framework/events.h"
#include "sched/framework/status.h"

#define SCHED_SCORE_MAX 100

struct sched_plugin;
struct sched_framework; /* the plugins' environment, framework.h */

/*
 * One attempt to place one pod, from PreFilter to the end of its binding.
 */
struct sched_cycle {
    struct arena *arena; /* of this attempt */
    const struct sched_pod *pod;
    struct sched_framework *framework;
    void **states;             /* by the position of the plugin in its profile */
    uint64_t skip_filter;      /* plugins (by position) whose PreFilter returned Skip */
    uint64_t skip_score;       /* plugins whose PreScore returned Skip */
    const struct intern *node; /* the chosen node; NULL before */
    bool is_dry_run;
};

/* The nodes that PreFilter allows; all: no restriction. */
struct sched_node_set {
    bool all;
    struct str *names; /* in the arena of the cycle, without duplicates */
    uint32_t n;
};

struct sched_node_status {
    const struct sched_node_info *node;
    const struct sched_status *status;
};

struct sched_post_filter {
    const struct sched_node_status *statuses; /* of refused nodes, by their order */
    size_t n_statuses;
    /* If not empty, the nominated node; `overrides` with an empty one clears the nomination. */
    struct str nominated;
    bool overrides;
    uint32_t n_victims; /* for metrics */
};

/*
 * A step of a binding cycle that may take time. A plugin that returns SCHED_LATER calls
 * sched_step_done() exactly once, later, on the scheduler's thread.
 */
struct sched_step {
    void (*done)(struct sched_step *step, const struct sched_status *status); /* core's */
};
extern const struct sched_status sched_later;
#define SCHED_LATER (&sched_later)
void sched_step_done(struct sched_step *step, const struct sched_status *status);

/* The arguments of create(). */
struct sched_plugin_env {
    struct sched_framework *framework;  /* kept */
    struct str name;                    /* as configured; kept */
    const struct json *args;            /* of its pluginConfig, defaulted; NULL: none; borrowed */
    unsigned position;                  /* in its profile */
    const struct sched_plugin_ops *ops; /* the table that contains create() */
};

struct sched_plugin_ops {
    const char *name;
    /* The framework fills in the head of the object (struct sched_plugin) afterwards. Errors:
     * E_INVALID with upstream's text. */
    int (*create)(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err);
    void (*destroy)(struct sched_plugin *p);

    /*
     * An object was added, changed or removed, and the cache is up to date: for state that a plugin
     * derives from objects, and for steps that wait for one. Called for every event, before the
     * queue gets it, between cycles; steps may be ended in it.
     */
    void (*changed)(struct sched_plugin *p, const struct sched_event *event);

    /* The events that may make a pod schedulable which this plugin has refused. NULL: all
     * events. */
    const struct sched_event_reg *(*events)(struct sched_plugin *p, size_t *ret_n);

    const struct sched_status *(*pre_enqueue)(struct sched_plugin *p, struct arena *a,
                                              const struct sched_pod *pod);
    /* ret is `all` before the call. Skip: Filter of this plugin is not called in this cycle. */
    const struct sched_status *(*pre_filter)(struct sched_plugin *p, struct sched_cycle *cycle,
                                             struct sched_node_set *ret);
    /* Updates the state of this cycle as if another pod were on this node (add) or not on it any
     * more (remove). */
    const struct sched_status *(*add_pod)(struct sched_plugin *p, struct sched_cycle *cycle,
                                          const struct sched_pod *other,
                                          const struct sched_node_info *node);
    const struct sched_status *(*remove_pod)(struct sched_plugin *p, struct sched_cycle *cycle,
                                             const struct sched_pod *other,
                                             const struct sched_node_info *node);
    const struct sched_status *(*filter)(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node);
    /* Success: ret is filled in. Unschedulable: the next plugin is asked. */
    const struct sched_status *(*post_filter)(struct sched_plugin *p, struct sched_cycle *cycle,
                                              struct sched_post_filter *ret);
    const struct sched_status *(*pre_score)(struct sched_plugin *p, struct sched_cycle *cycle,
                                            const struct sched_node_info *const *nodes, size_t n);
    /* All feasible nodes at once: ret[i] is the score of nodes[i]. */
    const struct sched_status *(*score)(struct sched_plugin *p, struct sched_cycle *cycle,
                                        const struct sched_node_info *const *nodes, size_t n,
                                        int64_t *ret);
    /* Scales the scores to 0..SCHED_SCORE_MAX. */
    const struct sched_status *(*normalize)(struct sched_plugin *p, struct sched_cycle *cycle,
                                            const struct sched_node_info *const *nodes, size_t n,
                                            int64_t *scores);
    const struct sched_status *(*reserve)(struct sched_plugin *p, struct sched_cycle *cycle,
                                          const struct sched_node_info *node);
    void (*unreserve)(struct sched_plugin *p, struct sched_cycle *cycle);
    /* Wait: *ret_timeout_ms is the longest wait. */
    const struct sched_status *(*permit)(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node,
                                         uint64_t *ret_timeout_ms);
    const struct sched_status *(*pre_bind)(struct sched_plugin *p, struct sched_cycle *cycle,
                                           struct sched_step *step);
    /* What the step that pre_bind has begun waits for, as text for users; in the arena. NULL:
     * unknown. */
    struct str (*waits_for)(struct sched_plugin *p, struct sched_cycle *cycle, struct arena *a);
    /* Skip: the next plugin binds. */
    const struct sched_status *(*bind)(struct sched_plugin *p, struct sched_cycle *cycle,
                                       struct sched_step *step);
    void (*post_bind)(struct sched_plugin *p, struct sched_cycle *cycle);
    /* The attempt is over, successful or not; also called after post_bind. For plugins that keep
     * something outside of the cycle's arena. */
    void (*end)(struct sched_plugin *p, struct sched_cycle *cycle);
    /*
     * Starts a dry run from the state after PreFilter: returns a copy of the state in the arena of
     * `copy`, so that add_pod, remove_pod and filter of the copy change nothing in `cycle`. NULL:
     * the state is shared, since nothing changes it.
     */
    void *(*clone_state)(struct sched_plugin *p, struct sched_cycle *cycle,
                         struct sched_cycle *copy);
    void (*free_state_clone)(struct sched_plugin *p, struct sched_cycle *copy); /* may be NULL */
    /*
     * Compares two feasible nodes with the same total score: < 0: `a` is better. With this function
     * the profile does not break ties at random. If several plugins have it, the first one is
     * asked.
     */
    int (*tie)(struct sched_plugin *p, struct sched_cycle *cycle, const struct sched_node_info *a,
               const struct sched_node_info *b);
    /* Compares two pending pods: < 0: `a` is popped first. One plugin of a scheduler has it. */
    int (*compare)(struct sched_plugin *p, const struct sched_pod *a, uint64_t a_queued_ms,
                   const struct sched_pod *b, uint64_t b_queued_ms);
};

/* The first member of a plugin's own struct. */
struct sched_plugin {
    const struct sched_plugin_ops *ops;
    struct str name; /* as configured; ops->name for native ones */
    unsigned position;
    struct sched_framework *framework;
};

static inline void *sched_cycle_state(const struct sched_cycle *c, const struct sched_plugin *p)
{
    return c->states[p->position];
}
static inline void sched_cycle_set_state(struct sched_cycle *c, const struct sched_plugin *p,
                                         void *state)
{
    c->states[p->position] = state;
}

/*
 * Scales scores to 0..100 by the largest; reverse: 100 minus that. Upstream's
 * DefaultNormalizeScore.
 */
void sched_normalize(int64_t *scores, size_t n, bool reverse);
