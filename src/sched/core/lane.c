/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles with their own thread, since their plugins may take long; see scheduler.h.
 *
 *     other threads: objects, assumed pods, answers, timers --> log (while the lane is behind)
 *     the lane:      sync -> job ........................................ -> sync -> next job
 *                            a pod: search -> sync, is the node still free? -> assume, Permit
 *                            a binding step; an explanation
 *
 * A lane has its own cache, the only one that its plugins read. While one of its plugins is called,
 * other threads run the scheduler; changes to the lane's cache and calls of its plugins are then
 * logged. The lane applies the log in order, between its jobs and once in the middle of a cycle.
 * The result of that cycle is then out of date, so the lane asks its native plugins again about the
 * chosen node before it assumes the pod.
 */
#include "sched/core/internal.h"
#include "sched/plugins/registry.h"

#include <assert.h>
#include <errno.h>

enum lane_op_type {
    OP_PUT,
    OP_DEL,
    OP_ASSUME,
    OP_BOUND,
    OP_FORGET,
    OP_EVENT,
    OP_ANSWER,
    OP_TIMER,
};

struct lane_op {
    struct list node;
    enum lane_op_type type;
    struct sched_object *object; /* a reference; EVENT: the object after */
    union {
        struct {
            struct sched_object *before;
            enum sched_resource resource;
            unsigned actions;
        } event;
        struct {
            struct api_call *call;
            int r, status;
            struct str body; /* owned */
            struct err *err; /* owned */
        } answer;
        struct {
            void (*run)(void *arg);
            void *arg;
        } timer;
    };
};

bool lane_is_behind(const struct sched_lane *l)
{
    return !list_is_empty(&l->log) || (l->is_in_job && l->s->running != l);
}

/* ---- the log ---- */

static void notify_plugins(const struct sched_profile *profile, const struct sched_event *event)
{
    for (unsigned k = 0; k < profile->n_plugins; k++) {
        struct sched_plugin *p = profile->plugins[k];
        if (p->ops->changed)
            p->ops->changed(p, event);
    }
}

static void apply_to_cache(struct sched_cache *c, enum lane_op_type type, struct sched_object *o)
{
    switch (type) {
    case OP_PUT:
        (void)sched_cache_put(c, o, NULL, NULL); /* there was room in the main cache */
        break;
    case OP_DEL:
        sched_cache_del(c, o->kind, o->namespace, o->name, NULL);
        break;
    case OP_ASSUME:
        (void)sched_cache_assume_shared(c, sched_pod_of(o));
        break;
    case OP_BOUND:
        sched_cache_binding_done(c, o->uid);
        break;
    case OP_FORGET:
        sched_cache_forget(c, o->uid);
        break;
    case OP_EVENT:
    case OP_ANSWER:
    case OP_TIMER:
        assert(false);
    }
}

static void op_apply(struct sched_lane *l, struct lane_op *op)
{
    switch (op->type) {
    case OP_PUT:
    case OP_DEL:
    case OP_ASSUME:
    case OP_BOUND:
    case OP_FORGET:
        apply_to_cache(l->cache, op->type, op->object);
        break;
    case OP_EVENT:
        notify_plugins(l->profile, &(struct sched_event){ op->event.resource, op->event.actions,
                                                          op->event.before, op->object });
        break;
    case OP_ANSWER:
        sched_api_call_end(op->answer.call, op->answer.r, op->answer.status, op->answer.body,
                           op->answer.err);
        break;
    case OP_TIMER:
        op->timer.run(op->timer.arg);
        break;
    }
}

static void op_free(struct sched *s, struct lane_op *op)
{
    sched_object_unref(s->words, op->object);
    if (op->type == OP_EVENT)
        sched_object_unref(s->words, op->event.before);
    if (op->type == OP_ANSWER) {
        free((char *)op->answer.body.p);
        free(op->answer.err);
    }
    free(op);
}

static struct lane_op *op_add(struct sched_lane *l, enum lane_op_type type)
{
    assert(lane_is_behind(l));
    struct lane_op *op = xnew(struct lane_op);
    op->type = type;
    list_push_back(&l->log, &op->node);
    l->n_log++;
    return op;
}

bool lane_sync(struct sched_lane *l)
{
    bool has_changed = !list_is_empty(&l->log);
    while (!list_is_empty(&l->log)) {
        struct lane_op *op = list_entry(list_pop_front(&l->log), struct lane_op, node);
        assert(l->n_log > 0);
        l->n_log--;
        op_apply(l, op);
        op_free(l->s, op);
    }
    assert(l->n_log == 0);
    return has_changed;
}

static void change_all(struct sched *s, enum lane_op_type type, const struct sched_object *o)
{
    list_each (node, &s->sets) {
        struct profile_set *set = list_entry(node, struct profile_set, node);
        for (size_t i = 0; i < set->n; i++) {
            struct sched_lane *l = set->envs[i].lane;
            if (l && lane_is_behind(l))
                op_add(l, type)->object = sched_object_ref((void *)o);
            else if (l)
                apply_to_cache(l->cache, type, (struct sched_object *)o);
        }
    }
}

int lanes_put(struct sched *s, const struct sched_object *o, struct sched_object **ret_old,
              struct err *err)
{
    int r = sched_cache_put(s->view.cache, o, ret_old, err);
    if (r >= 0)
        change_all(s, OP_PUT, o);
    return r;
}

void lanes_del(struct sched *s, enum sched_kind kind, struct str namespace, struct str name,
               struct sched_object **ret_old)
{
    sched_cache_del(s->view.cache, kind, namespace, name, ret_old);
    if (*ret_old)
        change_all(s, OP_DEL, *ret_old);
}

int lanes_assume(struct sched *s, const struct sched_pod *pod, struct intern *host, struct err *err)
{
    int r = sched_cache_assume(s->view.cache, pod, host, err);
    if (r >= 0)
        change_all(s, OP_ASSUME,
                   sched_cache_get(s->view.cache, SCHED_POD, pod->o.namespace, pod->o.name));
    return r;
}

void lanes_bound(struct sched *s, const struct sched_pod *pod)
{
    sched_cache_binding_done(s->view.cache, pod->o.uid);
    change_all(s, OP_BOUND, &pod->o);
}

void lanes_forget(struct sched *s, const struct sched_pod *pod)
{
    /* sched_cache_forget() may free the pod itself. */
    struct sched_object *o = sched_object_ref((void *)pod);
    sched_cache_forget(s->view.cache, o->uid);
    change_all(s, OP_FORGET, o);
    sched_object_unref(s->words, o);
}

void lane_event(struct sched_lane *l, const struct sched_profile *profile,
                const struct sched_event *event)
{
    if (!l || !lane_is_behind(l)) {
        notify_plugins(profile, event);
        return;
    }
    struct lane_op *op = op_add(l, OP_EVENT);
    op->event.resource = event->resource;
    op->event.actions = event->actions;
    op->event.before = event->before ? sched_object_ref((void *)event->before) : NULL;
    op->object = event->after ? sched_object_ref((void *)event->after) : NULL;
}

void lane_answer(struct sched_lane *l, struct api_call *call, int r, int status, struct str body,
                 const struct err *err)
{
    struct lane_op *op = op_add(l, OP_ANSWER);
    op->answer.call = call;
    op->answer.r = r;
    op->answer.status = status;
    op->answer.body = str_n(str_dup(body), body.n);
    if (err) {
        op->answer.err = xnew(struct err);
        *op->answer.err = *err;
    }
}

void lane_timer(struct sched_lane *l, void (*run)(void *arg), void *arg)
{
    struct lane_op *op = op_add(l, OP_TIMER);
    op->timer.run = run;
    op->timer.arg = arg;
}

void lane_cancel_timer(struct sched_lane *l, void (*run)(void *arg), void *arg)
{
    list_each_safe (node, &l->log) {
        struct lane_op *op = list_entry(node, struct lane_op, node);
        if (op->type == OP_TIMER && op->timer.run == run && op->timer.arg == arg) {
            list_remove(&op->node);
            l->n_log--;
            op_free(l->s, op);
        }
    }
}

/* ---- calls that take long ---- */

bool lane_leave(void *arg)
{
    const struct profile_env *env = arg;
    struct sched *s = env->set->s;
    if (s->running != env->lane)
        return false; /* the scheduler ends, and no other thread runs */
    s->opts.lanes->leave(s->opts.lanes_arg);
    return true;
}

void lane_enter(void *arg)
{
    const struct profile_env *env = arg;
    struct sched *s = env->set->s;
    if (!s->opts.lanes->enter(s->opts.lanes_arg))
        return;
    s->running = env->lane;
    s->now_ms = MAX(s->now_ms, s->opts.lanes->now_ms(s->opts.lanes_arg));
}

bool lane_env_is_behind(void *arg)
{
    const struct profile_env *env = arg;
    return lane_is_behind(env->lane);
}

/* ---- is the node still free? ---- */

/* Asks the native plugins again with the current nodes. NULL: the pod fits. */
static const struct sched_status *fits_still(struct sched_attempt *a,
                                             const struct sched_node_info *node)
{
    const struct sched_profile *profile = a->profile;
    struct sched_cycle *cycle = &a->cycle;
    uint64_t natives = a->lane->natives, skipped = cycle->skip_filter;
    cycle->skip_filter |= ~natives;
    cycle->skip_filter &= ~natives;
    for (unsigned i = 0; i < profile->n_plugins; i++) {
        struct sched_plugin *p = profile->plugins[i];
        if (!(natives & UINT64_C(1) << i))
            continue;
        if (p->ops->end)
            p->ops->end(p, cycle);
        sched_cycle_set_state(cycle, p, NULL);
    }
    const struct sched_status *status = NULL;
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_PRE_FILTER] && !status; i++) {
        struct sched_plugin *p = profile->at[SCHED_AT_PRE_FILTER][i];
        struct sched_node_set set = { .all = true };
        if (!(natives & UINT64_C(1) << p->position))
            continue;
        status = p->ops->pre_filter(p, cycle, &set);
        if (sched_code(status) == SCHED_SKIP)
            cycle->skip_filter |= UINT64_C(1) << p->position;
        if (sched_code(status) == SCHED_SKIP || sched_code(status) == SCHED_SUCCESS)
            status = NULL;
        bool is_in = set.all;
        for (uint32_t k = 0; k < set.n && !is_in; k++)
            is_in = str_eq(set.names[k], intern_str(node->node->name));
        if (!status && !is_in)
            status = sched_status(&a->arena, SCHED_UNRESOLVABLE,
                                  "node(s) didn't satisfy plugin " STR_FMT, STR_ARG(p->name));
    }
    const struct sched_plugin *by;
    if (!status)
        status = sched_filters_nominated(cycle, node, &by);
    cycle->skip_filter = (cycle->skip_filter & natives) | (skipped & ~natives);
    return status;
}

const struct sched_node_info *lane_settle(struct sched_attempt *a,
                                          const struct sched_node_info *node,
                                          struct sched_outcome *o)
{
    struct sched *s = a->s;
    struct intern *host = node ? intern_ref(node->node->name) : NULL;
    bool has_changed = lane_sync(a->lane);
    const char *reason = sched_attempt_void_reason(a);
    if (host && has_changed)
        node = sched_cache_node(a->lane->cache, host);
    const struct sched_status *status = NULL;
    if (reason)
        status = sched_status(&a->arena, SCHED_ERROR, "%s", reason);
    else if (host && has_changed && (!node || (status = fits_still(a, node))))
        status = sched_status(
            &a->arena, SCHED_ERROR, "node %s changed while plugins were called: " STR_FMT,
            host->text,
            STR_ARG(node ? sched_status_message(&a->arena, status) : STR("it was removed")));
    if (status) {
        sched_outcome_of(a, status, o);
        node = NULL;
    }
    intern_unref(s->words, host);
    return node;
}

/* ---- jobs ---- */

static bool may_pop(const struct sched_lane *l)
{
    const struct sched *s = l->s;
    return l->set == s->set && s->is_synced && s->leads && sched_queue_has(s->queue, l->profile);
}

static bool has_job(const struct sched_lane *l)
{
    return !list_is_empty(&l->ready) || !list_is_empty(&l->asked) || may_pop(l);
}

struct sched_lane *sched_lane_next(struct sched *s)
{
    list_each (node, &s->sets) {
        struct profile_set *set = list_entry(node, struct profile_set, node);
        for (size_t i = 0; i < set->n; i++) {
            struct sched_lane *l = set->envs[i].lane;
            if (!l || l->is_taken || !has_job(l))
                continue;
            assert(!l->is_in_job && list_is_empty(&l->log) && set->refs > 0);
            l->is_taken = true;
            set->refs++;
            return l;
        }
    }
    return NULL;
}

bool sched_lane_is_full(const struct sched *s)
{
    list_each (node, &s->sets) {
        const struct profile_set *set = list_entry(node, struct profile_set, node);
        for (size_t i = 0; i < set->n; i++)
            if (set->envs[i].lane && set->envs[i].lane->n_log >= LANE_LOG_MAX)
                return true;
    }
    return false;
}

bool sched_lane_run(struct sched_lane *l)
{
    struct sched *s = l->s;
    bool is_more = has_job(l);
    assert(l->is_taken && !l->is_in_job && list_is_empty(&l->log));
    s->now_ms = MAX(s->now_ms, s->opts.lanes->now_ms(s->opts.lanes_arg));
    s->running = l;
    l->is_in_job = true;
    if (!list_is_empty(&l->ready)) {
        binding_run_one(s, &l->ready);
    } else if (!list_is_empty(&l->asked)) {
        struct sched_asked *asked = list_entry(list_pop_front(&l->asked), struct sched_asked, node);
        asked->run(asked);
    } else if (may_pop(l)) {
        cycle_step(s, l);
    }
    assert(s->running == l && l->is_in_job);
    (void)lane_sync(l);
    l->is_in_job = false;
    s->running = NULL;
    if (is_more)
        return true;
    l->is_taken = false;
    sched_profile_set_unref(l->set); /* may free the lane */
    return false;
}

void sched_resume(struct sched *s)
{
    s->running = NULL;
}

enum sched_ask sched_ask(struct sched *s, struct str namespace, struct str name,
                         struct sched_asked *asked)
{
    assert(!list_is_linked(&asked->node) && asked->run);
    const struct sched_pending *p = sched_pending_get(s, namespace, name);
    const struct sched_pod *pod =
        p ? p->pod : sched_cache_get(s->view.cache, SCHED_POD, namespace, name);
    const struct sched_profile *profile = pod ? sched_profile_of(s, pod->scheduler_name) : NULL;
    struct sched_lane *l = profile ? s->set->envs[profile - s->set->profiles].lane : NULL;
    if (!l)
        return SCHED_ASK_NOW;
    list_push_back(&l->asked, &asked->node);
    return SCHED_ASK_LATER;
}

/* ---- creation ---- */

static bool is_foreign(const struct sched *s, size_t profile, struct str name)
{
    const struct sched_foreign *f = s->opts.foreign;
    return !sched_native_plugin(name) && f && f->find(f->arg, profile, name);
}

static bool set_has_foreign(const struct sched *s, size_t profile,
                            const struct sched_config_set *set)
{
    for (size_t i = 0; i < set->n; i++)
        if (is_foreign(s, profile, set->p[i].name))
            return true;
    return false;
}

struct sched_lane *lane_new(struct profile_set *set, const struct sched_config *config, size_t i)
{
    struct sched *s = set->s;
    const struct sched_config_profile *c = &config->profiles[i];
    if (!s->opts.lanes || config->n_profiles < 2 || config->n_extenders > 0)
        return NULL;
    bool has_foreign = set_has_foreign(s, i, &c->multi_point);
    for (size_t point = 0; point < SCHED_POINT_COUNT && !has_foreign; point++)
        has_foreign = set_has_foreign(s, i, &c->at[point]);
    if (!has_foreign)
        return NULL;
    struct sched_lane *l = xnew(struct sched_lane);
    l->s = s;
    l->set = set;
    l->profile = &set->profiles[i];
    l->cache = l->view.cache = sched_cache_copy(s->view.cache);
    list_init(&l->log);
    list_init(&l->ready);
    list_init(&l->asked);
    return l;
}

void lane_begin(struct sched_lane *l)
{
    for (unsigned i = 0; i < l->profile->n_plugins; i++)
        if (!is_foreign(l->s, (size_t)(l->profile - l->set->profiles),
                        l->profile->plugins[i]->name))
            l->natives |= UINT64_C(1) << i;
}

void lane_free(struct sched_lane *l)
{
    if (!l)
        return;
    assert(!l->is_taken && list_is_empty(&l->log) && list_is_empty(&l->ready));
    while (!list_is_empty(&l->asked)) {
        struct sched_asked *asked = list_entry(list_pop_front(&l->asked), struct sched_asked, node);
        asked->run(asked);
    }
    sched_view_fini(&l->view);
    free(l);
}
