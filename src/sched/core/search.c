/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the nodes that fit. Upstream: findNodesThatFitPod and below in schedule_one.go,
 * RunPreFilterPlugins.
 */
#include "sched/core/search.h"

static void scratch_reserve(struct sched_view *v, size_t n)
{
    if (n <= v->scratch.cap)
        return;
    size_t cap = v->scratch.cap ? v->scratch.cap : 64;
    while (cap < n)
        cap *= 2;
    v->scratch.feasible = xrealloc(v->scratch.feasible, cap * sizeof(*v->scratch.feasible));
    v->scratch.scores = xrealloc(v->scratch.scores, cap * sizeof(int64_t));
    v->scratch.sums = xrealloc(v->scratch.sums, cap * sizeof(int64_t));
    v->scratch.weighted = xrealloc(v->scratch.weighted, cap * sizeof(int64_t));
    v->scratch.statuses = xrealloc(v->scratch.statuses, cap * sizeof(*v->scratch.statuses));
    v->scratch.cap = cap;
}

/* ---- PreFilter ---- */

SCHED_STATUS_CONST(claims_unsupported, SCHED_UNRESOLVABLE,
                   "pod has spec.resourceClaims, and dynamic resource allocation is not supported");

static int compare_str(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Reduces `into` to the nodes that are also in `other`. */
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

void search_reject(struct search *f, const struct sched_plugin *by, const struct sched_status *s)
{
    assert(by->position < SCHED_PLUGINS_MAX && sched_is_rejected(s));
    f->rejected_by |= UINT64_C(1) << by->position;
    if (s->code == SCHED_PENDING)
        f->pending_by |= UINT64_C(1) << by->position;
}

/* Refuses all nodes with the same status. */
static void refuse_all(struct search *f, const struct sched_status *s)
{
    f->absent = s;
    f->pre_filter_message = sched_status_message(&f->a->arena, s);
}

/* The results of the PreFilter plugins so far. */
struct pre_filter {
    struct sched_node_set nodes;
    uint64_t limited_by;                /* plugins that gave a set of nodes */
    const struct sched_status *refused; /* Unschedulable: the other plugins are still called */
    const struct sched_plugin *refused_by;
};

/* Refuses all nodes: the sets of these plugins have no node in common. */
static void refuse_by_sets(struct search *f, uint64_t limited_by)
{
    struct arena *a = &f->a->arena;
    struct str names = plugin_names(a, f->a->profile, limited_by);
    bool one = (limited_by & (limited_by - 1)) == 0;
    f->rejected_by |= limited_by;
    if (one)
        refuse_all(f, sched_status(a, SCHED_UNRESOLVABLE, "node(s) didn't satisfy plugin " STR_FMT,
                                   STR_ARG(str_slice(names, 1, names.n - 1))));
    else
        refuse_all(f, sched_status(a, SCHED_UNRESOLVABLE,
                                   "node(s) didn't satisfy plugin(s) " STR_FMT " simultaneously",
                                   STR_ARG(names)));
}

/* false: no node is looked at. */
static bool pre_filter_by(struct search *f, struct pre_filter *pf, struct sched_plugin *p)
{
    struct sched_attempt *a = f->a;
    uint64_t bit = UINT64_C(1) << p->position;
    struct sched_node_set set = { .all = true };
    const struct sched_status *s = p->ops->pre_filter(p, &a->cycle, &set);
    switch (sched_code(s)) {
    case SCHED_SUCCESS:
        if (!set.all)
            pf->limited_by |= bit;
        merge_nodes(&pf->nodes, &set);
        if (pf->nodes.all || pf->nodes.n > 0)
            return true;
        refuse_by_sets(f, pf->limited_by);
        return false;
    case SCHED_SKIP:
        a->cycle.skip_filter |= bit;
        return true;
    case SCHED_UNSCHEDULABLE: /* preemption needs the other plugins' states */
        pf->refused = s;
        pf->refused_by = p;
        return true;
    case SCHED_UNRESOLVABLE:
        search_reject(f, p, s);
        refuse_all(f, sched_status_by(&a->arena, s, p->name));
        return false;
    case SCHED_ERROR:
    case SCHED_WAIT:
    case SCHED_PENDING:
        break;
    }
    f->error =
        sched_status(&a->arena, SCHED_ERROR, "running PreFilter plugin \"" STR_FMT "\": " STR_FMT,
                     STR_ARG(p->name), STR_ARG(sched_status_message(&a->arena, s)));
    return false;
}

/* false: no node is looked at. */
static bool run_pre_filter(struct search *f, struct pre_filter *pf)
{
    struct sched_attempt *a = f->a;
    const struct sched_profile *profile = a->profile;
    *pf = (struct pre_filter){ .nodes.all = true };
    if (a->pod->has_claims) {
        search_reject(f, profile->claims, &claims_unsupported);
        refuse_all(f, sched_status_by(&a->arena, &claims_unsupported, profile->claims->name));
        return false;
    }
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_PRE_FILTER]; i++)
        if (!pre_filter_by(f, pf, profile->at[SCHED_AT_PRE_FILTER][i]))
            return false;
    f->rejected_by |= pf->limited_by;
    if (!pf->refused)
        return true;
    search_reject(f, pf->refused_by, pf->refused);
    refuse_all(f, sched_status_by(&a->arena, pf->refused, pf->refused_by->name));
    return false;
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
    assert(f->n_statuses < f->a->view->scratch.cap);
    f->a->view->scratch.statuses[f->n_statuses++] = (struct sched_node_status){ node, status };
    if (f->observer && f->observer->refused)
        f->observer->refused(f->observer_arg, f->a->pod, node,
                             sched_status_by(&f->a->arena, status, by));
}

/* Filters nodes, starting at view->next_start, until enough fit. */
static void run_filters(struct search *f, const struct sched_node_info *const *nodes, size_t n)
{
    struct sched_view *view = f->a->view;
    struct sched_cycle *cycle = &f->a->cycle;
    size_t wanted = nodes_to_find(f, n), at = n > 0 ? view->next_start % n : 0;
    f->n_feasible = f->n_statuses = 0;
    bool has_filters = f->a->profile->n_at[SCHED_AT_FILTER] > 0;
    for (size_t i = 0; i < n && f->n_feasible < wanted; i++) {
        const struct sched_node_info *node = nodes[at];
        at = at + 1 == n ? 0 : at + 1;
        const struct sched_plugin *by = NULL;
        const struct sched_status *status =
            has_filters ? sched_filters_nominated(cycle, node, &by) : NULL;
        if (!status) {
            assert(f->n_feasible < view->scratch.cap);
            view->scratch.feasible[f->n_feasible++] = node;
        } else if (sched_is_rejected(status)) {
            if (by)
                search_reject(f, by, status);
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
    if (f->n_statuses < f->a->view->scratch.cap)
        note_refusal(f, node, status, STR(SCHED_EXTENDER_PLUGIN));
}

static void run_extenders(struct search *f)
{
    const struct sched_framework *fw = &f->a->profile->framework;
    if (!fw->extenders || f->error || f->n_feasible == 0)
        return;
    size_t before = f->n_feasible;
    const struct sched_status *s =
        fw->extenders->filter(fw->extenders_arg, &f->a->cycle, f->a->view->scratch.feasible,
                              &f->n_feasible, refuse_by_extender, f);
    if (sched_code(s) != SCHED_SUCCESS) {
        f->error = s;
        f->n_feasible = 0;
        return;
    }
    assert(f->n_feasible <= before); /* extenders only remove nodes */
    if (f->n_feasible == before)
        return;
    for (unsigned i = 0; i < f->a->profile->n_plugins; i++)
        if (str_is(f->a->profile->plugins[i]->name, SCHED_EXTENDER_PLUGIN))
            f->rejected_by |= UINT64_C(1) << i;
}

/* Tries the node on which preemption has made room. */
static bool try_nominated(struct search *f)
{
    struct sched *s = f->s;
    struct str name = f->a->pod->nominated_node;
    if (name.n == 0 || f->all_nodes)
        return false;
    struct intern *word = intern_find(s->words, name);
    const struct sched_node_info *node = word ? sched_cache_node(f->a->view->cache, word) : NULL;
    if (!node)
        return false;
    uint64_t rejected_by = f->rejected_by, pending_by = f->pending_by;
    run_filters(f, &node, 1);
    run_extenders(f);
    if (!f->error && f->n_feasible > 0)
        return true;
    f->error = NULL; /* the other nodes decide */
    f->rejected_by = rejected_by;
    f->pending_by = pending_by;
    f->n_statuses = f->n_feasible = 0;
    return false;
}

/* The nodes of a set that exist. */
static const struct sched_node_info *const *nodes_of_set(struct search *f,
                                                         const struct pre_filter *pf, size_t *ret_n)
{
    struct sched *s = f->s;
    struct arena *a = &f->a->arena;
    const struct sched_node_info **some =
        arena_new_n(a, const struct sched_node_info *, MAX(pf->nodes.n, 1u));
    size_t n = 0;
    for (uint32_t i = 0; i < pf->nodes.n; i++) {
        struct intern *word = intern_find(s->words, pf->nodes.names[i]);
        const struct sched_node_info *node =
            word ? sched_cache_node(f->a->view->cache, word) : NULL;
        if (node)
            some[n++] = node;
    }
    f->absent = sched_status(a, SCHED_UNRESOLVABLE, "node(s) didn't satisfy plugin(s) " STR_FMT,
                             STR_ARG(plugin_names(a, f->a->profile, pf->limited_by)));
    assert(n <= f->n_all); /* PreFilter names each node once */
    *ret_n = n;
    return some;
}

void search_nodes(struct search *f)
{
    struct sched_attempt *a = f->a;
    const struct sched_node_info *const *nodes = sched_cache_nodes(a->view->cache, &f->n_all);
    scratch_reserve(a->view, f->n_all + 1);
    struct pre_filter pf;
    bool goes_on = run_pre_filter(f, &pf);
    sched_metrics_point(a, SCHED_AT_PRE_FILTER, sched_code(f->error ? f->error : f->absent));
    if (!goes_on) {
        for (size_t i = 0; !f->error && i < f->n_all; i++) /* preemption examines each */
            note_refusal(f, nodes[i], f->absent, f->absent->plugin);
        return;
    }
    if (try_nominated(f)) {
        sched_metrics_point(a, SCHED_AT_FILTER, SCHED_SUCCESS);
        return;
    }
    size_t n = f->n_all;
    if (!pf.nodes.all)
        nodes = nodes_of_set(f, &pf, &n);
    run_filters(f, nodes, n);
    if (!f->all_nodes)
        a->view->next_start = (a->view->next_start + f->n_feasible + f->n_statuses) % f->n_all;
    sched_metrics_point(a, SCHED_AT_FILTER, f->error ? SCHED_ERROR : SCHED_SUCCESS);
    run_extenders(f);
}
