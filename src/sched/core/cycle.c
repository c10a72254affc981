/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One scheduling cycle: which nodes fit, which of them is best, and assuming the pod there.
 * Upstream: schedule_one.go up to prepareForBindingCycle.
 */
#include "sched/core/search.h"

#include "base/clock.h"

#include <assert.h>

/* ---- attempts ---- */

struct sched_attempt *sched_attempt_new(struct sched *s, const struct sched_profile *profile,
                                        const struct sched_pod *pod)
{
    struct sched_attempt *a;
    if (list_is_empty(&s->spare)) {
        a = xnew(struct sched_attempt);
    } else {
        a = list_entry(list_pop_front(&s->spare), struct sched_attempt, node);
        s->n_spare--;
        struct arena arena = a->arena;
        *a = (struct sched_attempt){ .arena = arena };
    }
    assert(profile >= s->set->profiles && profile < s->set->profiles + s->set->n);
    a->s = s;
    a->set = s->set;
    a->set->refs++;
    a->profile = profile;
    a->lane = s->set->envs[profile - s->set->profiles].lane;
    a->view = a->lane ? &a->lane->view : &s->view;
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

void sched_attempt_end(struct sched_attempt *a)
{
    struct sched *s = a->s;
    assert(s->n_attempts > 0);
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
    intern_unref(s->words, a->host);
    sched_profile_set_unref(a->set);
    if (s->n_spare < SPARE_ATTEMPTS_MAX) {
        arena_reset(&a->arena);
        list_push_front(&s->spare, &a->node);
        s->n_spare++;
    } else {
        arena_fini(&a->arena);
        free(a);
    }
}

/* ---- PostFilter ---- */

static void run_post_filter(struct search *f, struct sched_outcome *o)
{
    struct sched_attempt *a = f->a;
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
        struct sched_post_filter pf = { .statuses = f->a->view->scratch.statuses,
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
                f->s->stats.victims += pf.n_victims;
                sched_metrics_victims(f->s, pf.n_victims);
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
    sched_metrics_point(a, SCHED_AT_POST_FILTER, sched_code(status));
}

/* ---- the cycle ---- */

SCHED_STATUS_CONST(no_nodes, SCHED_UNRESOLVABLE, "no nodes available to schedule pods");

/* All plugins that filter nodes: while there is no node, these count as having refused the pod. */
static uint64_t all_filters(const struct sched_profile *profile)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_FILTER]; i++)
        mask |= UINT64_C(1) << profile->at[SCHED_AT_FILTER][i]->position;
    return mask;
}

/* The chosen node; NULL: f and *o say why (the text of *o may be unset). */
static const struct sched_node_info *choose(struct search *f, struct sched_outcome *o)
{
    size_t n;
    (void)sched_cache_nodes(f->a->view->cache, &n);
    if (n == 0) {
        /* Upstream retries periodically; here the pod waits for a node, so that a cluster without
         * nodes sleeps. */
        *o = (struct sched_outcome){ .code = no_nodes.code,
                                     .message = no_nodes.reasons[0],
                                     .rejected_by = all_filters(f->a->profile),
                                     .overrides = true };
        return NULL;
    }
    search_nodes(f);
    if (!f->error && f->n_feasible == 1 && !f->all_nodes)
        return f->a->view->scratch.feasible[0];
    if (!f->error && f->n_feasible > 0 && sched_search_score(f))
        return sched_search_best(f);
    if (f->error) {
        *o = (struct sched_outcome){ .code = SCHED_ERROR,
                                     .message = sched_status_message(&f->a->arena, f->error),
                                     .overrides = true };
        return NULL;
    }
    *o = (struct sched_outcome){ .code = SCHED_UNSCHEDULABLE,
                                 .rejected_by = f->rejected_by,
                                 .pending_by = f->pending_by };
    return NULL;
}

static void fit_error(struct search *f, struct sched_outcome *o)
{
    if (o->message.n == 0 && o->code != SCHED_ERROR)
        o->message = sched_fit_error_text(&f->a->arena, f->n_all, f->a->view->scratch.statuses,
                                          f->n_statuses, f->absent, f->pre_filter_message,
                                          f->post_filter_message);
}

static void report_decision(const struct search *f, const struct sched_pod *pod,
                            const struct intern *node, const struct sched_outcome *o)
{
    if (!f->observer || !f->observer->decided)
        return;
    struct sched_status status = { o->code, &o->message, 1, STR("") };
    f->observer->decided(f->observer_arg, pod, node, node ? NULL : &status);
}

/* Reserve and Permit; afterwards the attempt has failed or continues. */
static void reserve(struct sched_attempt *a, const struct sched_node_info *node)
{
    const struct sched_profile *profile = a->profile;
    struct sched_outcome o;
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_RESERVE]; i++) {
        struct sched_plugin *p = profile->at[SCHED_AT_RESERVE][i];
        const struct sched_status *s = p->ops->reserve ? p->ops->reserve(p, &a->cycle, node) : NULL;
        if (sched_code(s) == SCHED_SUCCESS)
            continue;
        sched_metrics_point(a, SCHED_AT_RESERVE, sched_code(s));
        s = sched_is_rejected(s)
                ? sched_status_by(&a->arena, s, p->name)
                : sched_status(&a->arena, SCHED_ERROR,
                               "running Reserve plugin \"" STR_FMT "\": " STR_FMT, STR_ARG(p->name),
                               STR_ARG(sched_status_message(&a->arena, s)));
        binding_unreserve(a);
        lanes_forget(a->s, a->pod);
        sched_outcome_of(a, s, &o);
        sched_attempt_failed(a, &o);
        return;
    }
    sched_metrics_point(a, SCHED_AT_RESERVE, SCHED_SUCCESS);
    binding_start(a);
}

/* Assumes the pod: from now on our cache has it on the node. */
static void assume(struct search *f, const struct sched_node_info *node)
{
    struct sched_attempt *a = f->a;
    struct sched *s = f->s;
    struct err err = { 0 };
    struct sched_outcome o;
    assert(!a->host && !a->cycle.is_dry_run);
    a->host = intern_ref(node->node->name);
    a->cycle.node = a->host;
    int r = lanes_assume(s, a->pod, a->host, &err);
    if (r < 0) {
        sched_outcome_of(a, sched_status(&a->arena, SCHED_ERROR, "%s", err_text(&err)), &o);
        sched_attempt_failed(a, &o);
        return;
    }
    (void)map_put(&s->by_uid, a->pod->o.uid, a);
    if (sched_nominator_node(sched_queue_nominator(s->queue), a->pod->o.uid).n > 0)
        sched_queue_nominate(s->queue, a->pod, STR(""));
    reserve(a, node);
}

static void run_cycle(struct sched_attempt *a)
{
    struct sched *s = a->s;
    struct search f = {
        .s = s, .a = a, .observer = s->opts.observer, .observer_arg = s->opts.observer_arg
    };
    struct sched_outcome o = { .code = SCHED_SUCCESS };
    const struct sched_node_info *node = choose(&f, &o);
    if (!node && o.code == SCHED_UNSCHEDULABLE)
        run_post_filter(&f, &o);
    sched_metrics_algorithm(a);
    if (!node)
        fit_error(&f, &o);
    if (a->lane)
        node = lane_settle(a, node, &o);
    report_decision(&f, a->pod, node ? node->node->name : NULL, &o);
    if (node)
        assume(&f, node);
    else
        sched_attempt_failed(a, &o);
}

/* Should this popped pod not be tried? */
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
    return sched_cache_is_assumed(s->view.cache, pod->o.uid);
}

bool cycle_step(struct sched *s, struct sched_lane *lane)
{
    assert(s->running == lane && !s->is_ending);
    if (!s->is_synced || !s->leads)
        return false;
    const struct sched_queued *q =
        sched_queue_pop_of(s->queue, lane ? lane->profile : NULL, s->now_ms);
    if (!q)
        return false;
    const struct sched_profile *profile = sched_profile_of(s, q->pod->scheduler_name);
    if (!profile || skips(s, profile, q->pod)) {
        sched_queue_done(s->queue, q->pod->o.uid);
        return true;
    }
    s->stats.attempts++;
    struct sched_attempt *a = sched_attempt_new(s, profile, q->pod);
    a->attempts = q->attempts;
    a->first_ms = q->first_attempt_ms;
    a->started_ns = a->point_ns = clock_mono_ns();
    run_cycle(a);
    return true;
}

bool sched_step(struct sched *s, uint64_t now_ms)
{
    s->now_ms = MAX(s->now_ms, now_ms);
    if (!cycle_step(s, NULL))
        return false;
    binding_run_ready(s);
    return true;
}

/* One attempt that ends before Reserve. shown: the pod that the observer gets at the end. */
static void explain_as(struct sched *s, const struct sched_profile *profile,
                       const struct sched_pod *pod, const struct sched_pod *shown,
                       const struct sched_observer *observer, void *arg)
{
    struct sched_attempt *a = sched_attempt_new(s, profile, pod);
    a->metrics = NULL;
    a->cycle.is_dry_run = true;
    struct rng rng = s->rng;
    struct search f = {
        .s = s, .a = a, .observer = observer, .observer_arg = arg, .all_nodes = true
    };
    struct sched_outcome o = { .code = SCHED_SUCCESS };
    const struct sched_node_info *node = choose(&f, &o);
    if (!node)
        fit_error(&f, &o);
    report_decision(&f, shown, node ? node->node->name : NULL, &o);
    s->rng = rng;
    sched_attempt_end(a);
}

/* Explains a pod that has a node as if it were new: it is removed from its node meanwhile. */
static void explain_assigned(struct sched *s, const struct sched_profile *profile,
                             const struct sched_pod *pod, const struct sched_observer *observer,
                             void *arg)
{
    /* Removed from this profile's cache only: no other cycle reads it before the pod is put
     * back. */
    const struct profile_env *env = profile->framework.arg;
    struct sched_cache *cache = env->lane ? env->lane->cache : s->view.cache;
    struct sched_object *taken = NULL;
    struct sched_pod *waits = sched_pod_clone(s->words, pod, NULL);
    intern_unref(s->words, waits->node_name);
    waits->node_name = NULL;
    sched_cache_del(cache, SCHED_POD, pod->o.namespace, pod->o.name, &taken);
    explain_as(s, profile, waits, sched_pod_of(taken), observer, arg);
    int r = sched_cache_put(cache, taken, NULL, NULL);
    assert(r >= 0); /* there was room for it before it was removed */
    sched_object_unref(s->words, taken);
    sched_object_unref(s->words, waits);
}

/* The first Permit plugin that has not allowed the pod yet. */
static const struct sched_plugin *permit_asked(const struct sched_attempt *a)
{
    for (unsigned i = 0; i < a->n_permits && a->at == AT_PERMIT; i++)
        if (a->permits[i].plugin)
            return a->permits[i].plugin;
    return NULL;
}

static void explain_wait(struct sched *s, const struct sched_pod *pod,
                         const struct sched_observer *observer, void *arg)
{
    struct sched_attempt *a = map_get(&s->by_uid, pod->o.uid);
    const struct sched_queued *q = sched_queue_get(s->queue, pod->o.uid);
    if (q && q->is_gated && observer->waits)
        observer->waits(arg, pod, NULL, q->gated_by, STR(""));
    if (!a || !a->waiting || a->is_ready || !observer->waits)
        return;
    struct sched_plugin *p = NULL;
    for (unsigned i = 0; i < a->profile->n_plugins && a->at != AT_PERMIT; i++) {
        if (a->profile->plugins[i] == a->asked)
            p = a->profile->plugins[i];
    }
    struct arena arena = { 0 };
    struct str what = p && a->at == AT_PRE_BIND && p->ops->waits_for
                          ? p->ops->waits_for(p, &a->cycle, &arena)
                          : STR("");
    const struct sched_plugin *asked = p ? p : permit_asked(a);
    struct str name = asked ? asked->name : STR(SCHED_EXTENDER_PLUGIN);
    observer->waits(arg, pod, a->host, name, what);
    arena_fini(&arena);
}

int sched_explain(struct sched *s, struct str namespace, struct str name, uint64_t now_ms,
                  const struct sched_observer *observer, void *arg, struct err *err)
{
    s->now_ms = MAX(s->now_ms, now_ms);
    if (s->is_ending)
        return err_set(err, -ECANCELED, "the scheduler ends");
    const struct sched_pending *p = sched_pending_get(s, namespace, name);
    const struct sched_pod *pod =
        p ? p->pod : sched_cache_get(s->view.cache, SCHED_POD, namespace, name);
    if (!pod)
        return err_set(err, -ENOENT,
                       "pod '" STR_FMT "/" STR_FMT
                       "' is not known: it is not there, or no profile has its schedulerName",
                       STR_ARG(namespace), STR_ARG(name));
    const struct sched_profile *profile = sched_profile_of(s, pod->scheduler_name);
    if (!profile)
        return err_set(err, -ENOENT, "pod '" STR_FMT "/" STR_FMT "': no profile '" STR_FMT "'",
                       STR_ARG(namespace), STR_ARG(name), STR_ARG(pod->scheduler_name));
    const struct profile_env *env = profile->framework.arg;
    if (env->lane && s->running != env->lane)
        return err_set(err, -EAGAIN, "the profile runs on another thread");
    explain_wait(s, pod, observer, arg);
    if (!p && pod->node_name)
        explain_assigned(s, profile, pod, observer, arg);
    else
        explain_as(s, profile, pod, pod, observer, arg);
    return 0;
}
