/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dry runs. A node is tried without any of its pods of lower priority; those that still fit are
 * added back one after the other, so that few victims remain.
 *
 * What makes it fast: a node without a pod of lower priority is recognized by its cached lowest
 * priority, which costs one comparison; and nodes need their own copies of the plugins' states only
 * if a plugin tracks pods (AddPod, RemovePod).
 */
#include "sched/plugins/preemption.h"

#include <inttypes.h>

void preemption_search_fini(struct preemption_search *s)
{
    vec_fini(&s->budgets);
    vec_fini(&s->potential);
    vec_fini(&s->victims);
    free(s->lowest);
    s->lowest = NULL;
}

void preemption_result_fini(struct preemption_result *r)
{
    map_fini(&r->reasons);
    vec_fini(&r->errors);
}

/* ---- disruption budgets ---- */

static int compare_budgets(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct preemption_budget *)a)->pdb->namespace_word;
    uintptr_t y = (uintptr_t)((const struct preemption_budget *)b)->pdb->namespace_word;
    return (x > y) - (x < y);
}

static void update_budgets(struct preemption_search *s)
{
    const struct sched_cache *cache = s->framework->cache;
    uint64_t generation = sched_cache_kind_generation(cache, SCHED_PDB);
    if (s->has_budgets && generation == s->budgets_generation)
        return;
    s->has_budgets = true;
    s->budgets_generation = generation;
    s->budgets.n = 0;
    const struct map *all = sched_cache_all(cache, SCHED_PDB);
    if (!all)
        return;
    map_each (e, all) {
        struct preemption_budget budget = { .pdb = sched_pdb_of(e->value) };
        if (!budget.pdb->selector.nothing)
            vec_push(&s->budgets, budget);
    }
    if (s->budgets.n > 1)
        qsort(s->budgets.p, s->budgets.n, sizeof(*s->budgets.p), compare_budgets);
}

static size_t first_budget(const struct preemption_search *s, const struct intern *namespace)
{
    size_t from = 0, to = s->budgets.n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if ((uintptr_t)s->budgets.p[middle].pdb->namespace_word < (uintptr_t) namespace)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Counts the pod in every budget that selects it; true if one of them is exceeded. */
static bool violates(struct preemption_search *s, const struct sched_pod *pod)
{
    bool does = false;
    for (size_t i = first_budget(s, pod->namespace_word); i < s->budgets.n; i++) {
        struct preemption_budget *budget = &s->budgets.p[i];
        if (budget->pdb->namespace_word != pod->namespace_word)
            break;
        if (!sched_pdb_counts(budget->pdb, pod))
            continue;
        if (budget->round != s->round) {
            budget->round = s->round;
            budget->left = budget->pdb->disruptions_allowed;
        }
        if (--budget->left < 0)
            does = true;
    }
    return does;
}

/* ---- one node ---- */

SCHED_STATUS_CONST(no_victims, SCHED_UNRESOLVABLE, "No preemption victims found for incoming pod");

static int32_t lowest_priority(struct preemption_search *s, const struct sched_node_info *node)
{
    if (node->index >= s->n_lowest) {
        size_t n = MAX((size_t)node->index + 1, (size_t)sched_cache_nodes_end(s->framework->cache));
        s->lowest = xrealloc(s->lowest, n * sizeof(*s->lowest));
        memset(s->lowest + s->n_lowest, 0, (n - s->n_lowest) * sizeof(*s->lowest));
        s->n_lowest = n;
    }
    struct preemption_lowest *known = &s->lowest[node->index];
    if (known->generation != node->generation + 1) {
        known->generation = node->generation + 1;
        known->priority = INT32_MAX;
        for (uint32_t i = 0; i < node->n_pods; i++)
            known->priority = MIN(known->priority, node->pods[i]->priority);
    }
    return known->priority;
}

/* A pod that has not started counts as started now, after all others. */
static int64_t started(const struct sched_pod *pod)
{
    return pod->started_ms ? pod->started_ms : INT64_MAX;
}

/* The most important first: by priority, then by start time. */
static int compare_victims(const void *a, const void *b)
{
    const struct preemption_victim *x = a, *y = b;
    if (x->pod->priority != y->pod->priority)
        return x->pod->priority > y->pod->priority ? -1 : 1;
    if (started(x->pod) != started(y->pod))
        return started(x->pod) < started(y->pod) ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static const struct sched_status *take_away(struct sched_cycle *fork, struct sched_node_info *node,
                                            const struct sched_pod *pod)
{
    (void)sched_node_info_remove(fork->framework->words, node, pod->o.uid);
    return sched_run_remove_pod(fork, pod, node);
}

/* Adds the pod back; if the preemptor then does not fit, removes it again: it is a victim. */
static const struct sched_status *reprieve(struct preemption_search *s, struct sched_cycle *fork,
                                           struct sched_node_info *node,
                                           const struct preemption_victim *v, bool *ret_stays)
{
    sched_node_info_add(fork->framework->words, node, v->pod);
    const struct sched_status *status = sched_run_add_pod(fork, v->pod, node);
    if (sched_code(status) != SCHED_SUCCESS)
        return status;
    *ret_stays = sched_code(sched_run_filters_nominated(fork, node)) == SCHED_SUCCESS;
    if (*ret_stays)
        return NULL;
    vec_push(&s->victims, *v);
    return take_away(fork, node, v->pod);
}

/*
 * Reprieves s->potential, the most important first, those that violate a budget before the others.
 */
static const struct sched_status *reprieve_all(struct preemption_search *s,
                                               struct sched_cycle *fork,
                                               struct sched_node_info *node,
                                               uint32_t *ret_violations)
{
    qsort(s->potential.p, s->potential.n, sizeof(*s->potential.p), compare_victims);
    s->round++;
    size_t n = s->potential.n, n_violating = 0, n_others = 0;
    bool *violating = arena_new_n(fork->arena, bool, n);
    for (size_t i = 0; i < n; i++) {
        violating[i] = violates(s, s->potential.p[i].pod);
        n_violating += violating[i];
    }
    n_others = n - n_violating;
    s->victims.n = 0;
    *ret_violations = 0;
    for (int turn = 1; turn >= 0; turn--)
        for (size_t i = 0; i < n; i++) {
            if (violating[i] != (bool)turn)
                continue;
            bool stays;
            const struct sched_status *status = reprieve(s, fork, node, &s->potential.p[i], &stays);
            if (sched_code(status) != SCHED_SUCCESS)
                return status;
            *ret_violations += turn && !stays;
        }
    if (n_violating > 0 && n_others > 0 && s->victims.n > 1)
        qsort(s->victims.p, s->victims.n, sizeof(*s->victims.p), compare_victims);
    return NULL;
}

/* Sets the fork's states to those of the node without its victims. On success fills s->victims. */
static const struct sched_status *try_node(struct preemption_search *s, struct sched_cycle *fork,
                                           struct sched_node_info *node, uint32_t *ret_violations)
{
    int32_t priority = fork->pod->priority;
    s->potential.n = 0;
    for (uint32_t i = 0; i < node->n_pods; i++)
        if (node->pods[i]->priority < priority) {
            struct preemption_victim v = { .pod = node->pods[i], .at = i };
            vec_push(&s->potential, v);
        }
    for (size_t i = 0; i < s->potential.n; i++) {
        const struct sched_status *status = take_away(fork, node, s->potential.p[i].pod);
        if (sched_code(status) != SCHED_SUCCESS)
            return status;
    }
    const struct sched_status *status = sched_run_filters_nominated(fork, node);
    if (sched_code(status) != SCHED_SUCCESS)
        return status;
    status = reprieve_all(s, fork, node, ret_violations);
    if (sched_code(status) == SCHED_SUCCESS && s->victims.n == 0)
        return sched_status(fork->arena, SCHED_ERROR,
                            "expected at least one victim pod on node \"" STR_FMT "\"",
                            STR_ARG(intern_str(node->node->name)));
    return status;
}

/* ---- all nodes ---- */

/* Does a plugin track pods in the state of this cycle? */
static bool states_follow_pods(const struct sched_cycle *cycle)
{
    const struct sched_profile *profile = cycle->framework->profile;
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_PRE_FILTER]; i++) {
        const struct sched_plugin *p = profile->at[SCHED_AT_PRE_FILTER][i];
        if ((p->ops->add_pod || p->ops->remove_pod) &&
            !(cycle->skip_filter & UINT64_C(1) << p->position))
            return true;
    }
    return false;
}

static void refuse(struct sched_cycle *cycle, struct preemption_result *r,
                   const struct sched_status *status)
{
    r->n_refused++;
    for (uint32_t i = 0; i < status->n_reasons; i++) {
        uint32_t *count = map_get(&r->reasons, status->reasons[i]);
        if (!count) {
            count = arena_new(cycle->arena, uint32_t);
            map_put(&r->reasons, status->reasons[i], count);
        }
        ++*count;
    }
    if (status->code == SCHED_ERROR)
        vec_push(&r->errors,
                 str_copy_arena(cycle->arena, sched_status_message(cycle->arena, status)));
}

static struct sched_candidate candidate_of(const struct preemption_search *s, struct arena *a,
                                           const struct sched_node_info *node, uint32_t violations)
{
    const struct sched_pod **victims = arena_new_n(a, const struct sched_pod *, s->victims.n);
    for (size_t i = 0; i < s->victims.n; i++)
        victims[i] = s->victims.p[i].pod;
    return (struct sched_candidate){ .node = node,
                                     .victims = victims,
                                     .n_victims = (uint32_t)s->victims.n,
                                     .n_violations = violations };
}

void preemption_find(struct preemption_search *s, struct sched_cycle *cycle,
                     const struct sched_node_info *const *nodes, size_t n, size_t offset,
                     size_t wanted, struct preemption_result *ret)
{
    struct intern_table *w = s->framework->words;
    update_budgets(s);
    /* Candidates without violations are added at the front, the others at the back. */
    size_t cap = MIN(wanted, n), n_good = 0, n_bad = 0, n_victimless = 0;
    struct sched_candidate *p = arena_new_n(cycle->arena, struct sched_candidate, 2 * cap + 1);
    bool forks_each = states_follow_pods(cycle);
    struct sched_cycle *fork = NULL;
    for (size_t i = 0; i < n && (n_good == 0 || n_good + n_bad < wanted); i++) {
        const struct sched_node_info *node = nodes[(offset + i) % n];
        if (lowest_priority(s, node) >= cycle->pod->priority) {
            n_victimless++;
            continue;
        }
        if (fork && forks_each) {
            sched_cycle_fork_free(fork);
            fork = NULL;
        }
        if (!fork)
            fork = sched_cycle_fork(cycle);
        struct sched_node_info *copy = sched_node_info_clone(w, node);
        uint32_t violations;
        const struct sched_status *status = try_node(s, fork, copy, &violations);
        sched_node_info_free(w, copy);
        if (sched_code(status) != SCHED_SUCCESS)
            refuse(cycle, ret, status);
        else if (violations == 0 && n_good < cap)
            p[n_good++] = candidate_of(s, cycle->arena, node, 0);
        else if (violations > 0 && n_bad < cap)
            p[cap + n_bad++] = candidate_of(s, cycle->arena, node, violations);
    }
    if (fork)
        sched_cycle_fork_free(fork);
    memmove(p + n_good, p + cap, n_bad * sizeof(*p));
    ret->p = p;
    ret->n = n_good + n_bad;
    if (n_victimless > 0) {
        uint32_t *count = arena_new(cycle->arena, uint32_t);
        *count = (uint32_t)n_victimless;
        map_put(&ret->reasons, no_victims.reasons[0], count);
        ret->n_refused += n_victimless;
    }
}

/* ---- choosing ---- */

struct preemption_search_rank {
    uint32_t n_violations;
    int32_t top_priority;
    int64_t sum;
    uint32_t n_victims;
    int64_t started_ms; /* the earliest start among the victims with the highest priority */
};

static struct preemption_search_rank rank_of(const struct sched_candidate *c, int64_t wall_ms)
{
    struct preemption_search_rank r = { .n_violations = c->n_violations,
                                        .top_priority = c->victims[0]->priority,
                                        .n_victims = c->n_victims,
                                        .started_ms = INT64_MAX };
    int32_t highest = INT32_MIN;
    for (uint32_t i = 0; i < c->n_victims; i++)
        highest = MAX(highest, c->victims[i]->priority);
    for (uint32_t i = 0; i < c->n_victims; i++) {
        const struct sched_pod *pod = c->victims[i];
        /* Shifted above zero, so that more victims never have a smaller sum. */
        r.sum += (int64_t)pod->priority + (INT64_C(1) << 31);
        int64_t ms = pod->started_ms ? pod->started_ms : wall_ms;
        if (pod->priority == highest && ms < r.started_ms)
            r.started_ms = ms;
    }
    return r;
}

static bool is_better(const struct preemption_search_rank *a,
                      const struct preemption_search_rank *b)
{
    if (a->n_violations != b->n_violations)
        return a->n_violations < b->n_violations;
    if (a->top_priority != b->top_priority)
        return a->top_priority < b->top_priority;
    if (a->sum != b->sum)
        return a->sum < b->sum;
    if (a->n_victims != b->n_victims)
        return a->n_victims < b->n_victims;
    return a->started_ms > b->started_ms;
}

size_t preemption_choose(const struct sched_candidate *candidates, size_t n, int64_t wall_ms)
{
    size_t best = 0;
    struct preemption_search_rank best_rank = rank_of(&candidates[0], wall_ms);
    for (size_t i = 1; i < n; i++) {
        struct preemption_search_rank rank = rank_of(&candidates[i], wall_ms);
        if (is_better(&rank, &best_rank)) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}
