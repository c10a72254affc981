/* SPDX-License-Identifier: Apache-2.0 */
/* Filters, dry runs, normalizing: what both core and plugins do with a profile's plugins. */
#include "sched/framework/framework.h"

#include "sched/framework/nominator.h"
#include "sched/framework/profile.h"

void sched_step_done(struct sched_step *step, const struct sched_status *status)
{
    step->done(step, status);
}

void sched_normalize(int64_t *scores, size_t n, bool reverse)
{
    int64_t max = 0;
    for (size_t i = 0; i < n; i++)
        max = MAX(max, scores[i]);
    if (max == 0) {
        for (size_t i = 0; reverse && i < n; i++)
            scores[i] = SCHED_SCORE_MAX;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        int64_t score;
        if (__builtin_mul_overflow(scores[i], SCHED_SCORE_MAX, &score))
            score = max > SCHED_SCORE_MAX ? scores[i] / (max / SCHED_SCORE_MAX) : SCHED_SCORE_MAX;
        else
            score /= max;
        scores[i] = reverse ? SCHED_SCORE_MAX - score : score;
    }
}

/* ---- filters ---- */

const struct sched_status *sched_filters(struct sched_cycle *cycle,
                                         const struct sched_node_info *node,
                                         const struct sched_plugin **ret_by)
{
    const struct sched_profile *profile = cycle->framework->profile;
    struct sched_plugin *const *plugins = profile->at[SCHED_AT_FILTER];
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_FILTER]; i++) {
        struct sched_plugin *p = plugins[i];
        if (cycle->skip_filter & UINT64_C(1) << p->position)
            continue;
        const struct sched_status *s = p->ops->filter(p, cycle, node);
        if (sched_code(s) == SCHED_SUCCESS)
            continue;
        *ret_by = p;
        if (sched_is_rejected(s))
            return s;
        return sched_status(cycle->arena, SCHED_ERROR,
                            "running \"" STR_FMT "\" filter plugin: " STR_FMT, STR_ARG(p->name),
                            STR_ARG(sched_status_message(cycle->arena, s)));
    }
    return NULL;
}

static bool counts(const struct sched_cycle *cycle, const struct sched_pod *nominated)
{
    return nominated->priority >= cycle->pod->priority &&
           !str_eq(nominated->o.uid, cycle->pod->o.uid);
}

/* The pods that count, with references: nominations may change while a plugin runs. */
static size_t keep_nominated(const struct sched_cycle *cycle, const struct sched_pod *const *pods,
                             size_t n, const struct sched_pod ***ret)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++)
        n_kept += counts(cycle, pods[i]);
    *ret = n_kept > 0 ? xnew_n(const struct sched_pod *, n_kept) : NULL;
    n_kept = 0;
    for (size_t i = 0; i < n; i++)
        if (counts(cycle, pods[i]))
            (*ret)[n_kept++] = sched_object_ref((void *)pods[i]);
    return n_kept;
}

/*
 * A fork of the cycle and a copy of the node, with the pods added that are nominated to the node
 * and have at least our priority.
 */
static const struct sched_status *add_nominated(struct sched_cycle *cycle,
                                                const struct sched_node_info *node,
                                                const struct sched_pod *const *pods, size_t n,
                                                struct sched_cycle **ret_fork,
                                                struct sched_node_info **ret_node)
{
    struct intern_table *words = cycle->framework->words;
    *ret_fork = sched_cycle_fork(cycle);
    *ret_node = sched_node_info_clone(words, node);
    for (size_t i = 0; i < n; i++) {
        sched_node_info_add(words, *ret_node, pods[i]);
        const struct sched_status *s = sched_run_add_pod(*ret_fork, pods[i], *ret_node);
        if (s) /* the fork's arena is freed before the status is read */
            return sched_status_of(cycle->arena, s->code, s->reasons, s->n_reasons);
    }
    return NULL;
}

const struct sched_status *sched_filters_nominated(struct sched_cycle *cycle,
                                                   const struct sched_node_info *node,
                                                   const struct sched_plugin **ret_by)
{
    struct sched_framework *f = cycle->framework;
    size_t n = 0;
    const struct sched_pod *const *pods = NULL;
    if (f->nominator)
        pods = sched_nominator_pods(f->nominator, node->node->name, &n);
    const struct sched_pod **kept;
    n = keep_nominated(cycle, pods, n, &kept);
    if (n == 0)
        return sched_filters(cycle, node, ret_by);
    struct sched_cycle *fork;
    struct sched_node_info *with;
    *ret_by = NULL;
    const struct sched_status *s = add_nominated(cycle, node, kept, n, &fork, &with);
    if (!s) {
        s = sched_filters(fork, with, ret_by);
        if (s)
            s = sched_status_of(cycle->arena, s->code, s->reasons, s->n_reasons);
    }
    sched_cycle_fork_free(fork);
    sched_node_info_free(f->words, with);
    while (n > 0)
        sched_object_unref(f->words, (void *)kept[--n]);
    free(kept);
    /* Affinity to a nominated pod must not count before that pod runs, so both checks have to
     * pass. */
    return s ? s : sched_filters(cycle, node, ret_by);
}

const struct sched_status *sched_run_filters_nominated(struct sched_cycle *cycle,
                                                       const struct sched_node_info *node)
{
    const struct sched_plugin *by = NULL;
    const struct sched_status *s = sched_filters_nominated(cycle, node, &by);
    return s && by ? sched_status_by(cycle->arena, s, by->name) : s;
}

/* ---- dry runs ---- */

struct fork {
    struct sched_cycle cycle;
    struct arena arena;
};

struct sched_cycle *sched_cycle_fork(struct sched_cycle *cycle)
{
    const struct sched_profile *profile = cycle->framework->profile;
    struct fork *f = xnew(struct fork);
    f->cycle = *cycle;
    f->cycle.arena = &f->arena;
    f->cycle.is_dry_run = true;
    f->cycle.states = arena_new_n(&f->arena, void *, MAX(profile->n_plugins, 1u));
    if (profile->n_plugins > 0)
        memcpy(f->cycle.states, cycle->states, profile->n_plugins * sizeof(void *));
    for (unsigned i = 0; i < profile->n_plugins; i++) {
        struct sched_plugin *p = profile->plugins[i];
        if (p->ops->clone_state && !(cycle->skip_filter & UINT64_C(1) << i))
            f->cycle.states[i] = p->ops->clone_state(p, cycle, &f->cycle);
    }
    return &f->cycle;
}

void sched_cycle_fork_free(struct sched_cycle *fork)
{
    if (!fork)
        return;
    const struct sched_profile *profile = fork->framework->profile;
    for (unsigned i = 0; i < profile->n_plugins; i++) {
        struct sched_plugin *p = profile->plugins[i];
        if (p->ops->free_state_clone && !(fork->skip_filter & UINT64_C(1) << i))
            p->ops->free_state_clone(p, fork);
    }
    struct fork *f = container_of(fork, struct fork, cycle);
    arena_fini(&f->arena);
    free(f);
}

/* Calls AddPod or RemovePod of all plugins whose PreFilter did not return Skip. */
static const struct sched_status *run_with_pod(struct sched_cycle *cycle, bool adds,
                                               const struct sched_pod *other,
                                               const struct sched_node_info *node)
{
    const struct sched_profile *profile = cycle->framework->profile;
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_PRE_FILTER]; i++) {
        struct sched_plugin *p = profile->at[SCHED_AT_PRE_FILTER][i];
        if (cycle->skip_filter & UINT64_C(1) << p->position)
            continue;
        const struct sched_status *(*run)(
            struct sched_plugin *, struct sched_cycle *, const struct sched_pod *,
            const struct sched_node_info *) = adds ? p->ops->add_pod : p->ops->remove_pod;
        const struct sched_status *s = run ? run(p, cycle, other, node) : NULL;
        if (sched_code(s) != SCHED_SUCCESS)
            return sched_status(cycle->arena, SCHED_ERROR,
                                "running %s on PreFilter plugin \"" STR_FMT "\": " STR_FMT,
                                adds ? "AddPod" : "RemovePod", STR_ARG(p->name),
                                STR_ARG(sched_status_message(cycle->arena, s)));
    }
    return NULL;
}

const struct sched_status *sched_run_add_pod(struct sched_cycle *cycle,
                                             const struct sched_pod *other,
                                             const struct sched_node_info *node)
{
    return run_with_pod(cycle, true, other, node);
}

const struct sched_status *sched_run_remove_pod(struct sched_cycle *cycle,
                                                const struct sched_pod *other,
                                                const struct sched_node_info *node)
{
    return run_with_pod(cycle, false, other, node);
}
