/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scheduler plugin is: a table of functions, all optional, and an object for each profile
 * that uses it. Upstream: k8s.io/kube-scheduler/framework.
 *
 * All functions of a profile run on one thread at a time, which no other thread runs the scheduler
 * beside (but see leave() in framework.h), one pod at a time in a scheduling cycle; the binding
 * cycles of many pods are under way at once, as steps that end later. What a plugin notes about a
 * pod between PreFilter and PostBind is its state in the cycle (sched_cycle_state()).
 */
#pragma once

#include "sched/cache/cache.h"
#include "sched/framework/events.h"
#include "sched/framework/status.h"

#define SCHED_SCORE_MAX 100

struct sched_plugin;
struct sched_framework; /* what plugins ask for, framework.h */

/*
 * One attempt to place one pod, from PreFilter to the end of its binding.
 */
struct sched_cycle {
    struct arena *arena; /* of this attempt */
    const struct sched_pod *pod;
    struct sched_framework *framework;
    void **states;             /* by the position of the plugin in its profile */
    uint64_t skip_filter;      /* plugins (by position) whose PreFilter said Skip */
    uint64_t skip_score;       /* whose PreScore did */
    const struct intern *node; /* chosen; NULL before */
    bool is_dry_run;
};

/* The nodes that PreFilter leaves; all: no restriction. */
struct sched_node_set {
    bool all;
    struct str *names; /* in the arena of the cycle, each once */
    uint32_t n;
};

struct sched_node_status {
    const struct sched_node_info *node;
    const struct sched_status *status;
};

struct sched_post_filter {
    const struct sched_node_status *statuses; /* of nodes that were refused, by their order */
    size_t n_statuses;
    /* Filled: the node that was nominated; override with NULL clears the nomination. */
    struct str nominated;
    bool overrides;
    uint32_t n_victims; /* for figures */
};

/*
 * A step of a binding cycle that may take time. A plugin that answers SCHED_LATER calls
 * sched_step_done() exactly once, later, on the scheduler's thread.
 */
struct sched_step {
    void (*done)(struct sched_step *step, const struct sched_status *status); /* core's */
};
extern const struct sched_status sched_later;
#define SCHED_LATER (&sched_later)
void sched_step_done(struct sched_step *step, const struct sched_status *status);

/* What a plugin is made with. */
struct sched_plugin_env {
    struct sched_framework *framework;  /* kept */
    struct str name;                    /* as configured; kept */
    const struct json *args;            /* of its pluginConfig, defaulted; NULL: none; borrowed */
    unsigned position;                  /* in its profile */
    const struct sched_plugin_ops *ops; /* that make it */
};

struct sched_plugin_ops {
    const char *name;
    /* The head of what it makes (struct sched_plugin) is filled in by the framework afterwards.
     * Errors: E_INVALID with upstream's text. */
    int (*create)(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err);
    void (*destroy)(struct sched_plugin *p);

    /*
     * An object came, changed or went, and the cache has it so: for what a plugin derives from
     * objects, and for steps that wait for one. Called for every event, before the queue hears of
     * it, between cycles; steps may be ended in it.
     */
    void (*changed)(struct sched_plugin *p, const struct sched_event *event);

    /* Events that may make a pod schedulable which this plugin has refused. NULL: all. */
    const struct sched_event_reg *(*events)(struct sched_plugin *p, size_t *ret_n);

    const struct sched_status *(*pre_enqueue)(struct sched_plugin *p, struct arena *a,
                                              const struct sched_pod *pod);
    /* ret is `all` before. Skip: its Filter is not called in this cycle. */
    const struct sched_status *(*pre_filter)(struct sched_plugin *p, struct sched_cycle *cycle,
                                             struct sched_node_set *ret);
    /* Another pod as if it were on (not any more on) this node, in the state of this cycle. */
    const struct sched_status *(*add_pod)(struct sched_plugin *p, struct sched_cycle *cycle,
                                          const struct sched_pod *other,
                                          const struct sched_node_info *node);
    const struct sched_status *(*remove_pod)(struct sched_plugin *p, struct sched_cycle *cycle,
                                             const struct sched_pod *other,
                                             const struct sched_node_info *node);
    const struct sched_status *(*filter)(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node);
    /* Success: with ret filled. Unschedulable: others are asked. */
    const struct sched_status *(*post_filter)(struct sched_plugin *p, struct sched_cycle *cycle,
                                              struct sched_post_filter *ret);
    const struct sched_status *(*pre_score)(struct sched_plugin *p, struct sched_cycle *cycle,
                                            const struct sched_node_info *const *nodes, size_t n);
    /* All feasible nodes at once: ret[i] of nodes[i]. */
    const struct sched_status *(*score)(struct sched_plugin *p, struct sched_cycle *cycle,
                                        const struct sched_node_info *const *nodes, size_t n,
                                        int64_t *ret);
    /* To 0..SCHED_SCORE_MAX. */
    const struct sched_status *(*normalize)(struct sched_plugin *p, struct sched_cycle *cycle,
                                            const struct sched_node_info *const *nodes, size_t n,
                                            int64_t *scores);
    const struct sched_status *(*reserve)(struct sched_plugin *p, struct sched_cycle *cycle,
                                          const struct sched_node_info *node);
    void (*unreserve)(struct sched_plugin *p, struct sched_cycle *cycle);
    /* Wait: at most so long. */
    const struct sched_status *(*permit)(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node,
                                         uint64_t *ret_timeout_ms);
    const struct sched_status *(*pre_bind)(struct sched_plugin *p, struct sched_cycle *cycle,
                                           struct sched_step *step);
    /* What the step waits for that pre_bind has begun, for people to read; in the arena. NULL: no
     * more is known. */
    struct str (*waits_for)(struct sched_plugin *p, struct sched_cycle *cycle, struct arena *a);
    /* Skip: the next one binds. */
    const struct sched_status *(*bind)(struct sched_plugin *p, struct sched_cycle *cycle,
                                       struct sched_step *step);
    void (*post_bind)(struct sched_plugin *p, struct sched_cycle *cycle);
    /* The attempt is over, however it ended; also after post_bind. For plugins that keep something
     * outside of the cycle's arena. */
    void (*end)(struct sched_plugin *p, struct sched_cycle *cycle);
    /*
     * A dry run begins from the state that PreFilter has left: a copy of it in the arena of
     * `copy`, whose add_pod, remove_pod and filter change nothing in `cycle`. NULL: the state is
     * shared, as nothing changes it.
     */
    void *(*clone_state)(struct sched_plugin *p, struct sched_cycle *cycle,
                         struct sched_cycle *copy);
    void (*free_state_clone)(struct sched_plugin *p, struct sched_cycle *copy); /* may be NULL */
    /*
     * Of two feasible nodes with the same total score: < 0: `a` is better. Then the profile's
     * decisions are not drawn; of several plugins that have it the first one is asked.
     */
    int (*tie)(struct sched_plugin *p, struct sched_cycle *cycle, const struct sched_node_info *a,
               const struct sched_node_info *b);
    /* Which of two pending pods is first: < 0, 0, > 0. One plugin of a scheduler has it. */
    int (*compare)(struct sched_plugin *p, const struct sched_pod *a, uint64_t a_queued_ms,
                   const struct sched_pod *b, uint64_t b_queued_ms);
};

/* The head of a plugin's own struct. */
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

/* Scores to 0..100 by the largest; reverse: 100 minus that. Upstream's DefaultNormalizeScore. */
void sched_normalize(int64_t *scores, size_t n, bool reverse);
