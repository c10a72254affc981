/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which plugins want which events; and the groups of unschedulable pods by the plugins that refused
 * them.
 */
#include "sched/queue/internal.h"

static void want(struct profile_index *x, struct sched_plugin *p, const struct sched_event_reg *reg)
{
    uint64_t bit = UINT64_C(1) << p->position;
    assert(p->position < SCHED_PLUGINS_MAX && reg->resource < SCHED_RESOURCE_COUNT);
    vec_push(&x->interests, ((struct interest){ .reg = *reg, .plugin = p, .bit = bit }));
    if (reg->resource == SCHED_ON_WILDCARD && reg->actions == SCHED_ALL_ACTIONS)
        x->wants_wildcard |= bit;
    for (unsigned r = 0; r < SCHED_RESOURCE_COUNT; r++)
        for (unsigned a = 0; a < ACTION_COUNT; a++) {
            struct sched_event e = { .resource = (enum sched_resource)r, .actions = 1U << a };
            if (sched_event_matches(reg, &e))
                x->wants[r][a] |= bit;
        }
}

/* A plugin without `events` gets every event. Upstream leaves attachments out. */
static void want_all(struct profile_index *x, struct sched_plugin *p)
{
    for (unsigned r = 0; r < SCHED_RESOURCE_COUNT; r++)
        if (r != SCHED_ON_ASSIGNED_POD && r != SCHED_ON_UNSCHEDULED_POD &&
            r != SCHED_ON_VOLUME_ATTACHMENT && r != SCHED_ON_IMAGE_LAYERS && r != SCHED_ON_WILDCARD)
            want(x, p,
                 &(struct sched_event_reg){ .resource = (enum sched_resource)r,
                                            .actions = SCHED_ALL_ACTIONS });
}

/*
 * Only these points can refuse a pod in a way that an event resolves; and the extenders, which have
 * a plugin of their own.
 */
static bool can_refuse(const struct sched_plugin *p)
{
    const struct sched_plugin_ops *o = p->ops;
    return str_is(p->name, SCHED_EXTENDER_PLUGIN) || o->pre_enqueue || o->pre_filter || o->filter ||
           o->reserve || o->permit;
}

/*
 * A plugin that registers new nodes also gets taint updates, as upstream: a node often starts with
 * a taint that is removed when the node is ready.
 */
static void want_registered(struct profile_index *x, struct sched_plugin *p)
{
    size_t n = 0;
    bool wants_nodes = false, wants_taints = false;
    const struct sched_event_reg *regs = p->ops->events(p, &n);
    for (size_t i = 0; i < n; i++) {
        want(x, p, &regs[i]);
        if (regs[i].resource != SCHED_ON_NODE)
            continue;
        wants_nodes = wants_nodes || (regs[i].actions & SCHED_ADD);
        wants_taints = wants_taints || (regs[i].actions & (SCHED_UPDATE_NODE_TAINT | SCHED_UPDATE));
    }
    if (wants_nodes && !wants_taints)
        want(x, p,
             &(struct sched_event_reg){ .resource = SCHED_ON_NODE,
                                        .actions = SCHED_UPDATE_NODE_TAINT });
}

static struct profile_index *index_new(const struct sched_profile *profile)
{
    struct profile_index *x = xnew(struct profile_index);
    x->profile = profile;
    if (profile->n_at[SCHED_AT_QUEUE_SORT] > 0)
        x->sort = profile->at[SCHED_AT_QUEUE_SORT][0];
    for (unsigned i = 0; i < profile->n_plugins; i++) {
        struct sched_plugin *p = profile->plugins[i];
        if (!can_refuse(p))
            continue;
        if (p->ops->events)
            want_registered(x, p);
        else
            want_all(x, p);
    }
    return x;
}

const struct profile_index *queue_profile_index_of(struct sched_queue *q, struct str scheduler_name)
{
    const struct sched_profile *profile = q->opts.profile(q->opts.arg, scheduler_name);
    if (!profile)
        return NULL;
    vec_each (x, &q->profiles)
        if ((*x)->profile == profile)
            return *x;
    struct profile_index *x = index_new(profile);
    x->orders = &q->shared;
    if (profile->is_apart) {
        x->orders = xnew(struct queue_orders);
        queue_orders_init(x->orders);
    }
    vec_push(&q->profiles, x);
    return x;
}

void queue_profile_indices_fini(struct sched_queue *q)
{
    vec_each (x, &q->profiles) {
        vec_fini(&(*x)->interests);
        if ((*x)->orders != &q->shared) {
            queue_orders_fini((*x)->orders);
            free((*x)->orders);
        }
        free(*x);
    }
    vec_fini(&q->profiles);
}

uint64_t queue_profile_wants(const struct profile_index *x, const struct sched_event *event)
{
    uint64_t mask = x->wants_wildcard;
    for (unsigned bits = event->actions; bits; bits &= bits - 1)
        mask |= x->wants[event->resource][__builtin_ctz(bits)];
    return mask;
}

/* ---- groups ---- */

static struct queue_group *group_of(struct sched_queue *q, const struct queued *p)
{
    uint64_t rejectors = p->pub.rejected_by | p->pub.pending_by;
    uint64_t gate = p->gate ? UINT64_C(1) << p->gate->position : 0;
    struct queue_group *empty = NULL;
    vec_each (at, &q->groups) {
        struct queue_group *g = *at;
        if (g->profile == p->profile && g->rejectors == rejectors && g->gate == gate)
            return g;
        if (!empty && list_is_empty(&g->pods))
            empty = g;
    }
    if (!empty) {
        empty = xnew(struct queue_group);
        list_init(&empty->pods);
        vec_push(&q->groups, empty);
    }
    empty->profile = p->profile;
    empty->rejectors = rejectors;
    empty->gate = gate;
    return empty;
}

void queue_group_add(struct sched_queue *q, struct queued *p)
{
    assert(!p->group && p->place == IN_UNSCHEDULABLE && p->profile);
    p->group = group_of(q, p);
    list_push_back(&p->group->pods, &p->in_group);
}

void queue_group_remove(struct queued *p)
{
    assert(p->group && !list_is_empty(&p->group->pods));
    list_remove(&p->in_group);
    p->group = NULL;
}

void queue_groups_fini(struct sched_queue *q)
{
    vec_each (g, &q->groups)
        free(*g);
    vec_fini(&q->groups);
}
