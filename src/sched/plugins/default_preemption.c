/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DefaultPreemption: a pod that fits on no node makes room by evicting pods of lower priority. This
 * file decides which pods may preempt and on which nodes, and writes the messages; see
 * preemption.h.
 *
 * Upstream: plugins/defaultpreemption, framework/preemption.
 */
#include "kube/model/field.h"
#include "sched/plugins/preemption.h"
#include "sched/plugins/registry.h"

#include <stdlib.h>

struct default_preemption {
    struct sched_plugin head;
    int64_t min_percentage, min_absolute; /* candidates to find before the best is chosen */
    struct preemption_search search;
    struct preemption_acts *acts;
};

SCHED_STATUS_CONST(held, SCHED_UNRESOLVABLE,
                   "waiting for the preemption for this pod to be finished");
SCHED_STATUS_CONST(never_preempts, SCHED_UNSCHEDULABLE,
                   "preemption: not eligible due to preemptionPolicy=Never.");
SCHED_STATUS_CONST(waits_for_victims, SCHED_UNSCHEDULABLE,
                   "preemption: not eligible due to a terminating pod on the nominated node.");
SCHED_STATUS_CONST(no_candidate, SCHED_UNSCHEDULABLE,
                   "preemption: no candidate node for preemption");

/* ---- configuration ---- */

static int check_args(const struct default_preemption *dp, struct err *err)
{
    struct arena a = { 0 };
    struct field_errors errs = field_errors_init(&a);
    struct fpath percentage = fpath_child(NULL, STR("minCandidateNodesPercentage"));
    struct fpath absolute = fpath_child(NULL, STR("minCandidateNodesAbsolute"));
    struct json *p = json_new_int(&a, dp->min_percentage);
    struct json *n = json_new_int(&a, dp->min_absolute);
    if (dp->min_percentage < 0 || dp->min_percentage > 100)
        field_error(&errs, FIELD_INVALID, &percentage, p, "not in valid range [0, 100]");
    if (dp->min_absolute < 0)
        field_error(&errs, FIELD_INVALID, &absolute, n, "not in valid range [0, inf)");
    if (dp->min_percentage == 0 && dp->min_absolute == 0) {
        field_error(&errs, FIELD_INVALID, &percentage, p,
                    "cannot be zero at the same time as minCandidateNodesAbsolute");
        field_error(&errs, FIELD_INVALID, &absolute, n,
                    "cannot be zero at the same time as minCandidateNodesPercentage");
    }
    int r = 0;
    if (errs.n > 0)
        r = err_set(err, E_INVALID, STR_FMT, STR_ARG(field_errors_text(&errs)));
    arena_fini(&a);
    return r;
}

static void destroy(struct sched_plugin *p)
{
    struct default_preemption *dp = container_of(p, struct default_preemption, head);
    preemption_acts_free(dp->acts);
    preemption_search_fini(&dp->search);
    free(dp);
}

static int create(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err)
{
    struct default_preemption *dp = xnew(struct default_preemption);
    dp->head = (struct sched_plugin){ .ops = &sched_default_preemption_ops,
                                      .name = env->name,
                                      .position = env->position,
                                      .framework = env->framework };
    dp->min_percentage = json_int_or(json_getc(env->args, "minCandidateNodesPercentage"), 10);
    dp->min_absolute = json_int_or(json_getc(env->args, "minCandidateNodesAbsolute"), 100);
    int r = check_args(dp, err);
    if (r < 0) {
        free(dp);
        return r;
    }
    dp->search.framework = env->framework;
    dp->acts = preemption_acts_new(env->framework, env->name);
    *ret = &dp->head;
    return 0;
}

/* ---- which pods ---- */

static const struct sched_status *status_of(const struct sched_post_filter *pf, struct str node)
{
    for (size_t i = 0; i < pf->n_statuses; i++)
        if (str_eq(intern_str(pf->statuses[i].node->node->name), node))
            return pf->statuses[i].status;
    return NULL;
}

/*
 * A pod whose victims are still terminating on its nominated node may not preempt again, unless
 * that node has become impossible meanwhile (or was not examined). NULL: the pod may preempt.
 */
static const struct sched_status *refuse_preemptor(const struct default_preemption *dp,
                                                   const struct sched_pod *pod,
                                                   const struct sched_post_filter *pf)
{
    if (pod->never_preempts)
        return &never_preempts;
    if (str_is_empty(pod->nominated_node))
        return NULL;
    const struct sched_status *refused = status_of(pf, pod->nominated_node);
    if (!refused || refused->code == SCHED_UNRESOLVABLE)
        return NULL;
    const struct sched_framework *f = dp->head.framework;
    const struct intern *name = intern_find(f->words, pod->nominated_node);
    const struct sched_node_info *node = name ? sched_cache_node(f->cache, name) : NULL;
    for (uint32_t i = 0; node && i < node->n_pods; i++) {
        const struct sched_pod *victim = node->pods[i];
        if (victim->priority < pod->priority && victim->is_terminating &&
            victim->has_disruption_condition)
            return &waits_for_victims;
    }
    return NULL;
}

static const struct sched_status *pre_enqueue(struct sched_plugin *p, struct arena *a,
                                              const struct sched_pod *pod)
{
    const struct default_preemption *dp = container_of(p, struct default_preemption, head);
    return preemption_acts_hold(dp->acts, pod) ? &held : NULL;
}

/*
 * A pod that this plugin gates was also refused by others, whose hints decide when the deletion of
 * a victim helps. The registration only makes the queue call PreEnqueue again.
 */
static enum sched_hint on_pod_deleted(struct sched_plugin *p, const struct sched_pod *pod,
                                      const struct sched_event *event)
{
    return SCHED_HINT_SKIP;
}

static const struct sched_event_reg *events(struct sched_plugin *p, size_t *ret_n)
{
    static const struct sched_event_reg regs[] = {
        { .resource = SCHED_ON_ASSIGNED_POD, .actions = SCHED_DELETE, .hint = on_pod_deleted },
    };
    *ret_n = ARRAY_LEN(regs);
    return regs;
}

/* ---- which nodes ---- */

static int compare_lines(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* "preemption: 0/3 nodes are available: 1 Insufficient cpu, 2 No preemption victims ...". */
static const struct sched_status *not_helpful(struct sched_cycle *cycle,
                                              const struct preemption_result *found)
{
    struct arena *a = cycle->arena;
    size_t n_nodes, n = 0;
    (void)sched_cache_nodes(cycle->framework->cache, &n_nodes);
    struct str *lines = arena_new_n(a, struct str, found->reasons.n + 1);
    map_each (e, &found->reasons)
        lines[n++] =
            str_of(arena_printf(a, "%u " STR_FMT, *(const uint32_t *)e->value, STR_ARG(e->key)));
    if (found->n_refused < n_nodes)
        lines[n++] = str_of(arena_printf(a, "%zu Preemption is not helpful for scheduling",
                                         n_nodes - found->n_refused));
    qsort(lines, n, sizeof(*lines), compare_lines);
    struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    buf_printf(&text, "preemption: 0/%zu nodes are available:", n_nodes);
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, "%s " STR_FMT, i ? "," : "", STR_ARG(lines[i]));
    if (n > 0)
        buf_add_char(&text, '.');
    const struct sched_status *status =
        sched_status(a, SCHED_UNSCHEDULABLE, STR_FMT, STR_ARG(buf_str(&text)));
    buf_fini(&text);
    return status;
}

/* One text as it is, several as "[a, b]", without duplicates. */
static const struct sched_status *failed(struct arena *a, const struct preemption_result *found)
{
    struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    size_t n = 0;
    for (size_t i = 0; i < found->errors.n; i++) {
        bool again = false;
        for (size_t k = 0; k < i && !again; k++)
            again = str_eq(found->errors.p[k], found->errors.p[i]);
        if (again)
            continue;
        buf_printf(&text, "%s" STR_FMT, n ? ", " : "", STR_ARG(found->errors.p[i]));
        n++;
    }
    const struct sched_status *status =
        sched_status(a, SCHED_ERROR, n > 1 ? "preemption: [" STR_FMT "]" : "preemption: " STR_FMT,
                     STR_ARG(buf_str(&text)));
    buf_fini(&text);
    return status;
}

static size_t n_wanted(const struct default_preemption *dp, size_t n_nodes)
{
    size_t n = n_nodes * (size_t)dp->min_percentage / 100;
    return MIN(MAX(n, (size_t)dp->min_absolute), n_nodes);
}

/* Candidates after extenders; n 0: none. */
static const struct sched_status *find(struct default_preemption *dp, struct sched_cycle *cycle,
                                       struct sched_post_filter *pf,
                                       struct preemption_result *found)
{
    struct sched_framework *f = cycle->framework;
    const struct sched_node_info **nodes =
        arena_new_n(cycle->arena, const struct sched_node_info *, pf->n_statuses + 1);
    size_t n = 0;
    for (size_t i = 0; i < pf->n_statuses; i++)
        if (sched_code(pf->statuses[i].status) == SCHED_UNSCHEDULABLE)
            nodes[n++] = pf->statuses[i].node;
    if (n > 0)
        preemption_find(&dp->search, cycle, nodes, n, (size_t)(f->random(f->arg) % n),
                        n_wanted(dp, n), found);
    if (found->n == 0 && found->errors.n > 0)
        return failed(cycle->arena, found);
    if (found->n == 0) {
        pf->overrides = true; /* there is nothing to wait for on the nominated node */
        return not_helpful(cycle, found);
    }
    if (!f->extenders || !f->extenders->process_preemption)
        return NULL;
    const struct sched_status *status =
        f->extenders->process_preemption(f->extenders_arg, cycle, found->p, &found->n);
    if (sched_code(status) != SCHED_SUCCESS)
        return sched_status(cycle->arena, status->code, "preemption: " STR_FMT,
                            STR_ARG(sched_status_message(cycle->arena, status)));
    return found->n > 0 ? NULL : &no_candidate;
}

static const struct sched_status *post_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                              struct sched_post_filter *pf)
{
    struct default_preemption *dp = container_of(p, struct default_preemption, head);
    struct sched_framework *f = cycle->framework;
    const struct sched_status *status = refuse_preemptor(dp, cycle->pod, pf);
    if (status)
        return status;
    struct preemption_result found = { 0 };
    status = find(dp, cycle, pf, &found);
    if (sched_code(status) == SCHED_SUCCESS) {
        const struct sched_candidate *best =
            &found.p[preemption_choose(found.p, found.n, f->wall_ms(f->arg))];
        if (!cycle->is_dry_run)
            preemption_acts_start(dp->acts, cycle->pod, best);
        pf->nominated = str_copy_arena(cycle->arena, intern_str(best->node->node->name));
        pf->overrides = true;
        pf->n_victims = best->n_victims;
    }
    preemption_result_fini(&found);
    return status;
}

const struct sched_plugin_ops sched_default_preemption_ops = {
    .name = "DefaultPreemption",
    .create = create,
    .destroy = destroy,
    .events = events,
    .pre_enqueue = pre_enqueue,
    .post_filter = post_filter,
};
