/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One scheduling cycle: which nodes fit, which of them is best, and making it so in our own books.
 * Upstream: schedule_one.go up to prepareForBindingCycle.
 */
#include "sched/core/internal.h"

#include "base/clock.h"

/* What a search over the nodes has found; arrays are the scheduler's scratch. */
struct search {
    struct sched *s;
    struct attempt *a;
    const struct sched_observer *observer; /* NULL: none */
    void *observer_arg;
    bool all_nodes; /* explain: no sampling */
    size_t n_all;   /* nodes of the cluster */
    size_t n_feasible, n_statuses;
    const struct sched_status *absent; /* of nodes that were not looked at */
    struct str pre_filter_message, post_filter_message;
    uint64_t rejected_by, pending_by;
    const struct sched_status *error; /* the cycle failed: no verdict about nodes */
};

/* ---- attempts ---- */

struct attempt *attempt_new(struct sched *s, const struct sched_profile *profile,
                            const struct sched_pod *pod)
{
    struct attempt *a;
    if (list_is_empty(&s->spare)) {
        a = xnew(struct attempt);
    } else {
        a = list_entry(list_pop_front(&s->spare), struct attempt, node);
        s->n_spare--;
        struct arena arena = a->arena;
        *a = (struct attempt){ .arena = arena };
    }
    a->s = s;
    a->set = s->set;
    a->set->refs++;
    a->profile = profile;
    a->metrics = s->set->metrics[profile - s->set->profiles];
    a->pod = sched_object_ref((void *)pod);
    a->cycle = (struct sched_cycle){
        .arena = &a->arena,
        .pod = a->pod,
        .framework = (struct sched_framework *)&profile->framework,
        .states = arena_new_n(&a->arena, void *, MAX(profile->n_plugins, 1u)),
    };
    list_push_back(&s->attempts, &a->node);
    s->n_attempts++;
    return a;
}

void attempt_end(struct attempt *a)
{
    struct sched *s = a->s;
    for (unsigned i = 0; i < a->profile->n_plugins; i++) {
        struct sched_plugin *p = a->profile->plugins[i];
        if (p->ops->end)
            p->ops->end(p, &a->cycle);
    }
    if (map_get(&s->by_uid, a->pod->o.uid) == a)
        map_del(&s->by_uid, a->pod->o.uid);
    list_remove(&a->node);
    s->n_attempts--;
    sched_object_unref(s->words, (void *)a->pod);
    word_unref(s->words, a->host);
    profile_set_unref(a->set);
    if (s->n_spare < SPARE_ATTEMPTS_MAX) {
        arena_reset(&a->arena);
        list_push_front(&s->spare, &a->node);
        s->n_spare++;
    } else {
        arena_fini(&a->arena);
        free(a);
    }
}

static void scratch_reserve(struct sched *s, size_t n)
{
    if (n <= s->scratch.cap)
        return;
    size_t cap = s->scratch.cap ? s->scratch.cap : 64;
    while (cap < n)
        cap *= 2;
    s->scratch.feasible = xrealloc(s->scratch.feasible, cap * sizeof(*s->scratch.feasible));
    s->scratch.scores = xrealloc(s->scratch.scores, cap * sizeof(int64_t));
    s->scratch.sums = xrealloc(s->scratch.sums, cap * sizeof(int64_t));
    s->scratch.weighted = xrealloc(s->scratch.weighted, cap * sizeof(int64_t));
    s->scratch.statuses = xrealloc(s->scratch.statuses, cap * sizeof(*s->scratch.statuses));
    s->scratch.cap = cap;
}

/* ---- PreFilter ---- */

SCHED_STATUS_CONST(claims_unsupported, SCHED_UNRESOLVABLE,
                   "pod has spec.resourceClaims, and dynamic resource allocation is not supported");

static int compare_str(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Those of `into` that are in `other` as well. */
static void merge_nodes(struct sched_node_set *into, struct sched_node_set *other)
{
    if (other->all)
        return;
    if (other->n > 1)
        qsort(other->names, other->n, sizeof(*other->names), compare_str);
    if (into->all) {
        *into = *other;
        return;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < into->n; i++)
        if (other->n > 0 &&
            bsearch(&into->names[i], other->names, other->n, sizeof(*other->names), compare_str))
            into->names[n++] = into->names[i];
    into->n = n;
}

/* "[A B]", sorted. */
static struct str plugin_names(struct arena *a, const struct sched_profile *profile, uint64_t mask)
{
    struct str names[SCHED_PLUGINS_MAX];
    size_t n = 0, bytes = 2;
    for (unsigned i = 0; i < profile->n_plugins; i++) {
        if (!(mask & UINT64_C(1) << i))
            continue;
        names[n++] = profile->plugins[i]->name;
        bytes += profile->plugins[i]->name.n + 1;
    }
    qsort(names, n, sizeof(*names), compare_str);
    char *p = arena_alloc(a, bytes + 1), *at = p;
    *at++ = '[';
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            *at++ = ' ';
        memcpy(at, names[i].p, names[i].n);
        at += names[i].n;
    }
    *at++ = ']';
    return str_n(p, (size_t)(at - p));
}

static void reject(struct search *f, const struct sched_plugin *by, const struct sched_status *s)
{
    f->rejected_by |= UINT64_C(1) << by->position;
    if (s->code == SCHED_PENDING)
        f->pending_by |= UINT64_C(1) << by->position;
}

/* All nodes are refused with the same words. */
static void refuse_all(struct search *f, const struct sched_status *s)
{
    f->absent = s;
    f->pre_filter_message = sched_status_message(&f->a->arena, s);
}

/* false: no node is looked at. limited_by: plugins that gave a set of nodes. */
static bool run_pre_filter(struct search *f, struct sched_node_set *nodes, uint64_t *limited_by)
{
    struct attempt *a = f->a;
    const struct sched_profile *profile = a->profile;
    const struct sched_status *refused = NULL;
    const struct sched_plugin *refused_by = NULL;
    *nodes = (struct sched_node_set){ .all = true };
    *limited_by = 0;
    if (a->pod->has_claims) {
        reject(f, profile->claims, &claims_unsupported);
        refuse_all(f, sched_status_by(&a->arena, &claims_unsupported, profile->claims->name));
        return false;
    }
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_PRE_FILTER]; i++) {
        struct sched_plugin *p = profile->at[SCHED_AT_PRE_FILTER][i];
        uint64_t bit = UINT64_C(1) << p->position;
        struct sched_node_set set = { .all = true };
        const struct sched_status *s = p->ops->pre_filter(p, &a->cycle, &set);
        enum sched_code code = sched_code(s);
        if (code == SCHED_SKIP) {
            a->cycle.skip_filter |= bit;
            continue;
        }
        if (code == SCHED_UNRESOLVABLE) {
            reject(f, p, s);
            refuse_all(f, sched_status_by(&a->arena, s, p->name));
            return false;
        }
        if (code == SCHED_UNSCHEDULABLE) { /* preemption wants the others' states */
            refused = s;
            refused_by = p;
            continue;
        }
        if (code != SCHED_SUCCESS) {
            f->error = sched_status(&a->arena, SCHED_ERROR,
                                    "running PreFilter plugin \"" STR_FMT "\": " STR_FMT,
                                    STR_ARG(p->name), STR_ARG(sched_status_message(&a->arena, s)));
            return false;
        }
        if (!set.all)
            *limited_by |= bit;
        merge_nodes(nodes, &set);
        if (nodes->all || nodes->n > 0)
            continue;
        struct str names = plugin_names(&a->arena, profile, *limited_by);
        bool one = (*limited_by & (*limited_by - 1)) == 0;
        f->rejected_by |= *limited_by;
        refuse_all(f,
                   one ? sched_status(&a->arena, SCHED_UNRESOLVABLE,
                                      "node(s) didn't satisfy plugin " STR_FMT,
                                      STR_ARG(str_slice(names, 1, names.n - 1)))
                       : sched_status(&a->arena, SCHED_UNRESOLVABLE,
                                      "node(s) didn't satisfy plugin(s) " STR_FMT " simultaneously",
                                      STR_ARG(names)));
        return false;
    }
    f->rejected_by |= *limited_by;
    if (refused) {
        reject(f, refused_by, refused);
        refuse_all(f, sched_status_by(&a->arena, refused, refused_by->name));
        return false;
    }
    return true;
}

/* ---- Filter ---- */

static size_t nodes_to_find(const struct search *f, size_t n)
{
    const struct sched_profile *profile = f->a->profile;
    if (f->all_nodes)
        return n;
    if (profile->n_at[SCHED_AT_SCORE] == 0 && !profile->framework.extenders)
        return 1;
    if (n < NODES_TO_FIND_MIN)
        return n;
    size_t percent = profile->percentage;
    if (percent == 0) {
        percent = n / 125 < 50 ? 50 - n / 125 : 0;
        percent = MAX(percent, (size_t)NODES_TO_FIND_MIN_PERCENT);
    }
    return MAX(n * percent / 100, (size_t)NODES_TO_FIND_MIN);
}

static void note_refusal(struct search *f, const struct sched_node_info *node,
                         const struct sched_status *status, struct str by)
{
    f->s->scratch.statuses[f->n_statuses++] = (struct sched_node_status){ node, status };
    if (f->observer && f->observer->refused)
        f->observer->refused(f->observer_arg, f->a->pod, node,
                             sched_status_by(&f->a->arena, status, by));
}

/* Looks at nodes, beginning at s->next_start, until enough fit. */
static void run_filters(struct search *f, const struct sched_node_info *const *nodes, size_t n)
{
    struct sched *s = f->s;
    struct sched_cycle *cycle = &f->a->cycle;
    size_t wanted = nodes_to_find(f, n), at = n > 0 ? s->next_start % n : 0;
    f->n_feasible = f->n_statuses = 0;
    bool has_filters = f->a->profile->n_at[SCHED_AT_FILTER] > 0;
    for (size_t i = 0; i < n && f->n_feasible < wanted; i++) {
        const struct sched_node_info *node = nodes[at];
        at = at + 1 == n ? 0 : at + 1;
        const struct sched_plugin *by = NULL;
        const struct sched_status *status =
            has_filters ? sched_filters_nominated(cycle, node, &by) : NULL;
        if (!status) {
            s->scratch.feasible[f->n_feasible++] = node;
        } else if (sched_is_rejected(status)) {
            if (by)
                reject(f, by, status);
            note_refusal(f, node, status, by ? by->name : STR(""));
        } else {
            f->error = status;
            return;
        }
    }
}

static void refuse_by_extender(void *arg, const struct sched_node_info *node,
                               const struct sched_status *status)
{
    struct search *f = arg;
    if (f->n_statuses < f->s->scratch.cap)
        note_refusal(f, node, status, STR(SCHED_EXTENDER_PLUGIN));
}

static void run_extenders(struct search *f)
{
    const struct sched_framework *fw = &f->a->profile->framework;
    if (!fw->extenders || f->error || f->n_feasible == 0)
        return;
    size_t before = f->n_feasible;
    const struct sched_status *s =
        fw->extenders->filter(fw->extenders_arg, &f->a->cycle, f->s->scratch.feasible,
                              &f->n_feasible, refuse_by_extender, f);
    if (sched_code(s) != SCHED_SUCCESS) {
        f->error = s;
        f->n_feasible = 0;
        return;
    }
    if (f->n_feasible == before)
        return;
    for (unsigned i = 0; i < f->a->profile->n_plugins; i++)
        if (str_is(f->a->profile->plugins[i]->name, SCHED_EXTENDER_PLUGIN))
            f->rejected_by |= UINT64_C(1) << i;
}

/* The node that preemption has made room on. */
static bool try_nominated(struct search *f)
{
    struct sched *s = f->s;
    struct str name = f->a->pod->nominated_node;
    if (name.n == 0 || f->all_nodes)
        return false;
    struct word *word = words_find(s->words, name);
    const struct sched_node_info *node = word ? sched_cache_node(s->cache, word) : NULL;
    if (!node)
        return false;
    uint64_t rejected_by = f->rejected_by, pending_by = f->pending_by;
    run_filters(f, &node, 1);
    run_extenders(f);
    if (!f->error && f->n_feasible > 0)
        return true;
    f->error = NULL; /* the other nodes will tell */
    f->rejected_by = rejected_by;
    f->pending_by = pending_by;
    f->n_statuses = f->n_feasible = 0;
    return false;
}

/* Which nodes fit: scratch.feasible. */
static void find_nodes(struct search *f)
{
    struct sched *s = f->s;
    struct attempt *a = f->a;
    const struct sched_node_info *const *nodes = sched_cache_nodes(s->cache, &f->n_all);
    scratch_reserve(s, f->n_all + 1);
    struct sched_node_set set;
    uint64_t limited_by;
    bool goes_on = run_pre_filter(f, &set, &limited_by);
    figures_point(a, SCHED_AT_PRE_FILTER, sched_code(f->error ? f->error : f->absent));
    if (!goes_on) {
        for (size_t i = 0; !f->error && i < f->n_all; i++) /* preemption looks at each */
            note_refusal(f, nodes[i], f->absent, f->absent->plugin);
        return;
    }
    if (try_nominated(f)) {
        figures_point(a, SCHED_AT_FILTER, SCHED_SUCCESS);
        return;
    }
    size_t n = f->n_all;
    if (!set.all) {
        const struct sched_node_info **some =
            arena_new_n(&a->arena, const struct sched_node_info *, MAX(set.n, 1u));
        n = 0;
        for (uint32_t i = 0; i < set.n; i++) {
            struct word *word = words_find(s->words, set.names[i]);
            const struct sched_node_info *node = word ? sched_cache_node(s->cache, word) : NULL;
            if (node)
                some[n++] = node;
        }
        nodes = some;
        f->absent =
            sched_status(&a->arena, SCHED_UNRESOLVABLE, "node(s) didn't satisfy plugin(s) " STR_FMT,
                         STR_ARG(plugin_names(&a->arena, a->profile, limited_by)));
    }
    run_filters(f, nodes, n);
    if (!f->all_nodes)
        s->next_start = (s->next_start + f->n_feasible + f->n_statuses) % f->n_all;
    figures_point(a, SCHED_AT_FILTER, f->error ? SCHED_ERROR : SCHED_SUCCESS);
    run_extenders(f);
}

/* ---- Score ---- */

static bool score_failed(struct search *f, const char *what, struct str plugin,
                         const struct sched_status *s)
{
    f->error = sched_status(&f->a->arena, SCHED_ERROR, "%s \"" STR_FMT "\" failed with: " STR_FMT,
                            what, STR_ARG(plugin), STR_ARG(sched_status_message(&f->a->arena, s)));
    return false;
}

static void tell_scores(struct search *f, const struct sched_plugin *p, int32_t weight)
{
    if (!f->observer || !f->observer->scored)
        return;
    struct sched *s = f->s;
    for (size_t i = 0; i < f->n_feasible; i++)
        s->scratch.weighted[i] = s->scratch.scores[i] * weight;
    f->observer->scored(f->observer_arg, f->a->pod, p->name, s->scratch.feasible, f->n_feasible,
                        s->scratch.weighted);
}

static bool score_by(struct search *f, struct sched_plugin *p)
{
    struct sched *s = f->s;
    struct sched_cycle *cycle = &f->a->cycle;
    const struct sched_node_info *const *nodes = s->scratch.feasible;
    size_t n = f->n_feasible;
    int64_t *scores = s->scratch.scores, *sums = s->scratch.sums;
    memset(scores, 0, n * sizeof(*scores));
    const struct sched_status *status = p->ops->score(p, cycle, nodes, n, scores);
    if (sched_code(status) != SCHED_SUCCESS)
        return score_failed(f, "running Score plugins: plugin", p->name, status);
    if (p->ops->normalize) {
        status = p->ops->normalize(p, cycle, nodes, n, scores);
        if (sched_code(status) != SCHED_SUCCESS)
            return score_failed(f, "running Normalize on Score plugins: plugin", p->name, status);
    }
    int32_t weight = f->a->profile->weight[p->position];
    for (size_t i = 0; i < n; i++) {
        if (scores[i] < 0 || scores[i] > SCHED_SCORE_MAX) {
            f->error = sched_status(
                &f->a->arena, SCHED_ERROR,
                "applying score defaultWeights on Score plugins: plugin \"" STR_FMT
                "\" returns an invalid score %lld, it should in the range of [0, %d] after "
                "normalizing",
                STR_ARG(p->name), (long long)scores[i], SCHED_SCORE_MAX);
            return false;
        }
        sums[i] += scores[i] * weight;
    }
    tell_scores(f, p, weight);
    return true;
}

static bool run_pre_score(struct search *f)
{
    const struct sched_profile *profile = f->a->profile;
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_PRE_SCORE]; i++) {
        struct sched_plugin *p = profile->at[SCHED_AT_PRE_SCORE][i];
        const struct sched_status *s =
            p->ops->pre_score(p, &f->a->cycle, f->s->scratch.feasible, f->n_feasible);
        if (sched_code(s) == SCHED_SKIP) {
            f->a->cycle.skip_score |= UINT64_C(1) << p->position;
        } else if (sched_code(s) != SCHED_SUCCESS) {
            f->error = sched_status(
                &f->a->arena, SCHED_ERROR, "running PreScore plugin \"" STR_FMT "\": " STR_FMT,
                STR_ARG(p->name), STR_ARG(sched_status_message(&f->a->arena, s)));
            return false;
        }
    }
    return true;
}

/* The scores of all that fit: scratch.sums. */
static bool run_scores(struct search *f)
{
    struct sched *s = f->s;
    const struct sched_profile *profile = f->a->profile;
    const struct sched_framework *fw = &profile->framework;
    memset(s->scratch.sums, 0, f->n_feasible * sizeof(*s->scratch.sums));
    if (profile->n_at[SCHED_AT_SCORE] == 0 && !fw->extenders)
        return true;
    bool ok = run_pre_score(f);
    figures_point(f->a, SCHED_AT_PRE_SCORE, sched_code(f->error));
    for (unsigned i = 0; ok && i < profile->n_at[SCHED_AT_SCORE]; i++) {
        struct sched_plugin *p = profile->at[SCHED_AT_SCORE][i];
        if (!(f->a->cycle.skip_score & UINT64_C(1) << p->position))
            ok = score_by(f, p);
    }
    figures_point(f->a, SCHED_AT_SCORE, sched_code(f->error));
    if (ok && fw->extenders)
        fw->extenders->prioritize(fw->extenders_arg, &f->a->cycle, s->scratch.feasible,
                                  f->n_feasible, s->scratch.sums);
    return ok;
}

static struct sched_plugin *tie_breaker(const struct sched_profile *profile)
{
    for (unsigned i = 0; i < profile->n_plugins; i++)
        if (profile->plugins[i]->ops->tie)
            return profile->plugins[i];
    return NULL;
}

/* The highest; of several, each is as likely, unless a plugin knows better. */
static const struct sched_node_info *best_node(const struct search *f)
{
    struct sched *s = f->s;
    const int64_t *sums = s->scratch.sums;
    const struct sched_node_info *const *nodes = s->scratch.feasible;
    struct sched_plugin *by = tie_breaker(f->a->profile);
    size_t best = 0;
    uint32_t n_best = 1;
    for (size_t i = 1; i < f->n_feasible; i++) {
        if (sums[i] > sums[best]) {
            best = i;
            n_best = 1;
        } else if (sums[i] == sums[best] && by) {
            if (by->ops->tie(by, &f->a->cycle, nodes[i], nodes[best]) < 0)
                best = i;
        } else if (sums[i] == sums[best] && rng_below(&s->rng, ++n_best) == 0) {
            best = i;
        }
    }
    return nodes[best];
}

/* ---- PostFilter ---- */

static void run_post_filter(struct search *f, struct outcome *o)
{
    struct attempt *a = f->a;
    const struct sched_profile *profile = a->profile;
    unsigned n = profile->n_at[SCHED_AT_POST_FILTER];
    if (n == 0) {
        o->overrides = true;
        return;
    }
    f->s->preemption_attempts++;
    const struct sched_status *status = NULL;
    struct str *messages = arena_new_n(&a->arena, struct str, n);
    uint32_t n_messages = 0;
    for (unsigned i = 0; i < n; i++) {
        struct sched_plugin *p = profile->at[SCHED_AT_POST_FILTER][i];
        struct sched_post_filter pf = { .statuses = f->s->scratch.statuses,
                                        .n_statuses = f->n_statuses,
                                        .nominated = STR("") };
        status = p->ops->post_filter(p, &a->cycle, &pf);
        enum sched_code code = sched_code(status);
        if (code == SCHED_SUCCESS || code == SCHED_UNRESOLVABLE || pf.overrides) {
            o->overrides = pf.overrides || pf.nominated.n > 0;
            o->nominated = str_copy_arena(&a->arena, pf.nominated);
        }
        if (code != SCHED_UNSCHEDULABLE && code != SCHED_PENDING) {
            if (code != SCHED_SUCCESS && code != SCHED_UNRESOLVABLE) {
                o->overrides = false;
                o->nominated = STR("");
            } else if (o->nominated.n > 0) {
                f->s->stats.preemptions++;
                figures_victims(f->s, pf.n_victims);
            }
            f->post_filter_message = sched_status_message(&a->arena, status);
            n_messages = 0;
            break;
        }
        struct str message = sched_status_message(&a->arena, status);
        if (message.n > 0)
            messages[n_messages++] = message;
    }
    if (n_messages > 0) {
        struct sched_status all = { SCHED_UNSCHEDULABLE, messages, n_messages, STR("") };
        f->post_filter_message = sched_status_message(&a->arena, &all);
    }
    figures_point(a, SCHED_AT_POST_FILTER, sched_code(status));
}

/* ---- the cycle ---- */

SCHED_STATUS_CONST(no_nodes, SCHED_UNRESOLVABLE, "no nodes available to schedule pods");

/* The plugins that say which nodes fit: what an event has to do with while there is no node. */
static uint64_t all_filters(const struct sched_profile *profile)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_FILTER]; i++)
        mask |= UINT64_C(1) << profile->at[SCHED_AT_FILTER][i]->position;
    return mask;
}

/* The node, or NULL: why not stands in f, and in *o but for its text. */
static const struct sched_node_info *choose(struct search *f, struct outcome *o)
{
    size_t n;
    (void)sched_cache_nodes(f->s->cache, &n);
    if (n == 0) {
        /* Upstream tries again and again; here it waits for a node, so that a cluster without
         * nodes sleeps. */
        *o = (struct outcome){ .code = no_nodes.code,
                               .message = no_nodes.reasons[0],
                               .rejected_by = all_filters(f->a->profile),
                               .overrides = true };
        return NULL;
    }
    find_nodes(f);
    if (!f->error && f->n_feasible == 1 && !f->all_nodes)
        return f->s->scratch.feasible[0];
    if (!f->error && f->n_feasible > 0 && run_scores(f))
        return best_node(f);
    if (f->error) {
        *o = (struct outcome){ .code = SCHED_ERROR,
                               .message = sched_status_message(&f->a->arena, f->error),
                               .overrides = true };
        return NULL;
    }
    *o = (struct outcome){ .code = SCHED_UNSCHEDULABLE,
                           .rejected_by = f->rejected_by,
                           .pending_by = f->pending_by };
    return NULL;
}

static void fit_error(struct search *f, struct outcome *o)
{
    if (o->message.n == 0 && o->code != SCHED_ERROR)
        o->message = fit_error_text(&f->a->arena, f->n_all, f->s->scratch.statuses, f->n_statuses,
                                    f->absent, f->pre_filter_message, f->post_filter_message);
}

static void tell_decision(const struct search *f, const struct word *node, const struct outcome *o)
{
    if (!f->observer || !f->observer->decided)
        return;
    struct sched_status status = { o->code, &o->message, 1, STR("") };
    f->observer->decided(f->observer_arg, f->a->pod, node, node ? NULL : &status);
}

/* Reserve and Permit; the attempt has failed or goes on behind them. */
static void reserve(struct attempt *a, const struct sched_node_info *node)
{
    const struct sched_profile *profile = a->profile;
    struct outcome o;
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_RESERVE]; i++) {
        struct sched_plugin *p = profile->at[SCHED_AT_RESERVE][i];
        const struct sched_status *s = p->ops->reserve ? p->ops->reserve(p, &a->cycle, node) : NULL;
        if (sched_code(s) == SCHED_SUCCESS)
            continue;
        figures_point(a, SCHED_AT_RESERVE, sched_code(s));
        s = sched_is_rejected(s)
                ? sched_status_by(&a->arena, s, p->name)
                : sched_status(&a->arena, SCHED_ERROR,
                               "running Reserve plugin \"" STR_FMT "\": " STR_FMT, STR_ARG(p->name),
                               STR_ARG(sched_status_message(&a->arena, s)));
        binding_unreserve(a);
        sched_cache_forget(a->s->cache, a->pod->o.uid);
        outcome_of(a, s, &o);
        attempt_failed(a, &o);
        return;
    }
    figures_point(a, SCHED_AT_RESERVE, SCHED_SUCCESS);
    binding_start(a);
}

/* In our own books the pod is on the node from now on. */
static void assume(struct search *f, const struct sched_node_info *node)
{
    struct attempt *a = f->a;
    struct sched *s = f->s;
    struct err err = { 0 };
    struct outcome o;
    a->host = word_ref(node->node->name);
    a->cycle.node = a->host;
    int r = sched_cache_assume(s->cache, a->pod, a->host, &err);
    if (r < 0) {
        outcome_of(a, sched_status(&a->arena, SCHED_ERROR, "%s", err_text(&err)), &o);
        attempt_failed(a, &o);
        return;
    }
    (void)map_put(&s->by_uid, a->pod->o.uid, a);
    if (sched_queue_nomination(s->queue, a->pod->o.uid).n > 0)
        sched_queue_nominate(s->queue, a->pod, STR(""));
    reserve(a, node);
}

static void run_cycle(struct attempt *a)
{
    struct sched *s = a->s;
    struct search f = {
        .s = s, .a = a, .observer = s->opts.observer, .observer_arg = s->opts.observer_arg
    };
    struct outcome o = { .code = SCHED_SUCCESS };
    const struct sched_node_info *node = choose(&f, &o);
    if (!node && o.code == SCHED_UNSCHEDULABLE)
        run_post_filter(&f, &o);
    figures_algorithm(a);
    if (!node)
        fit_error(&f, &o);
    tell_decision(&f, node ? node->node->name : NULL, &o);
    if (node)
        assume(&f, node);
    else
        attempt_failed(a, &o);
}

/* Pods that are not to be tried after all. */
static bool skips(struct sched *s, const struct sched_profile *profile, const struct sched_pod *pod)
{
    if (pod->is_terminating) {
        struct buf note = BUF_INIT(NOTE_MAX_BYTES);
        (void)buf_add_cstr(&note, "skip schedule deleting pod: ");
        sched_pod_key(pod, &note);
        recorder_add(s, profile, pod, "Warning", "FailedScheduling", "Scheduling", buf_str(&note));
        buf_fini(&note);
        return true;
    }
    return sched_cache_is_assumed(s->cache, pod->o.uid);
}

bool sched_step(struct sched *s, uint64_t now_ms)
{
    s->now_ms = MAX(s->now_ms, now_ms);
    if (!s->is_synced || !s->leads)
        return false;
    const struct sched_queued *q = sched_queue_pop(s->queue, s->now_ms);
    if (!q)
        return false;
    const struct sched_profile *profile = sched_profile_of(s, q->pod->scheduler_name);
    if (!profile || skips(s, profile, q->pod)) {
        sched_queue_done(s->queue, q->pod->o.uid);
        return true;
    }
    s->stats.attempts++;
    struct attempt *a = attempt_new(s, profile, q->pod);
    a->attempts = q->attempts;
    a->first_ms = q->first_attempt_ms;
    a->started_ns = a->point_ns = clock_mono_ns();
    run_cycle(a);
    binding_run_ready(s);
    return true;
}

int sched_explain(struct sched *s, struct str namespace, struct str name, uint64_t now_ms,
                  const struct sched_observer *observer, void *arg, struct err *err)
{
    s->now_ms = MAX(s->now_ms, now_ms);
    const struct pending *p = pending_get(s, namespace, name);
    const struct sched_pod *pod =
        p ? p->pod : sched_cache_get(s->cache, SCHED_POD, namespace, name);
    if (!pod)
        return err_set(err, -ENOENT, "pod '" STR_FMT "/" STR_FMT "' is not known",
                       STR_ARG(namespace), STR_ARG(name));
    const struct sched_profile *profile = sched_profile_of(s, pod->scheduler_name);
    if (!profile)
        return err_set(err, -ENOENT, "pod '" STR_FMT "/" STR_FMT "': no profile '" STR_FMT "'",
                       STR_ARG(namespace), STR_ARG(name), STR_ARG(pod->scheduler_name));
    struct attempt *a = attempt_new(s, profile, pod);
    a->metrics = NULL;
    a->cycle.is_dry_run = true;
    struct rng rng = s->rng;
    struct search f = {
        .s = s, .a = a, .observer = observer, .observer_arg = arg, .all_nodes = true
    };
    struct outcome o = { .code = SCHED_SUCCESS };
    const struct sched_node_info *node = choose(&f, &o);
    if (!node)
        fit_error(&f, &o);
    tell_decision(&f, node ? node->node->name : NULL, &o);
    s->rng = rng;
    attempt_end(a);
    return 0;
}
