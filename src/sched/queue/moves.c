/* SPDX-License-Identifier: Apache-2.0 */
/* Where a pod goes next, and which pods an event moves. */
#include "sched/queue/internal.h"

#include "base/backoff.h"

/* Back-offs end, and are ordered, by whole seconds, so that pods of one second leave together. */
enum { WINDOW_MS = 1000, FLUSH_WINDOW_MS = 30000 };

static uint64_t window_of(uint64_t ms)
{
    return ms - ms % WINDOW_MS;
}

/* ---- back-off ---- */

/*
 * Refused attempts and consecutive errors are counted separately: refusals delay a pod for the
 * cycles it costs, errors protect the API.
 */
uint64_t queue_backoff_end(const struct sched_queue *q, const struct queued *p)
{
    uint32_t count = p->pub.error_count ? p->pub.error_count : p->pub.unschedulable_count;
    if (count == 0)
        return 0;
    uint64_t max = q->opts.backoff_max_ms, first = q->opts.backoff_first_ms;
    return window_of(p->pub.added_ms + backoff_wait(first, max, count - 1));
}

/* Also true in the second in which the back-off ends. */
bool queue_is_backing_off(const struct queued *p, uint64_t now_ms)
{
    return p->backoff_ms != 0 && p->backoff_ms >= window_of(now_ms);
}

/* ---- PreEnqueue ---- */

static bool passes(struct sched_queue *q, struct queued *p, struct sched_plugin *plugin)
{
    const struct sched_status *s = plugin->ops->pre_enqueue(plugin, &q->arena, p->pub.pod);
    if (sched_code(s) == SCHED_SUCCESS)
        return true;
    p->pub.rejected_by |= UINT64_C(1) << plugin->position;
    p->gate = plugin;
    return false;
}

/* The plugin that gates the pod is asked first. */
static bool passes_all(struct sched_queue *q, struct queued *p)
{
    const struct sched_profile *profile = p->profile->profile;
    struct sched_plugin *before = p->gate;
    if (before && !passes(q, p, before))
        return false;
    for (unsigned i = 0; i < profile->n_at[SCHED_AT_PRE_ENQUEUE]; i++) {
        struct sched_plugin *plugin = profile->at[SCHED_AT_PRE_ENQUEUE][i];
        if (plugin != before && !passes(q, p, plugin))
            return false;
    }
    p->gate = NULL;
    return true;
}

static bool is_let_in(struct sched_queue *q, struct queued *p)
{
    bool ok = passes_all(q, p);
    arena_reset(&q->arena);
    p->pub.is_gated = p->gate != NULL;
    p->pub.gated_by = p->gate ? p->gate->name : STR("");
    return ok;
}

/* ---- moving between places ---- */

void queue_take_out(struct sched_queue *q, struct queued *p)
{
    switch (p->place) {
    case IN_ACTIVE:
        queue_heap_remove(&p->profile->orders->active, p);
        break;
    case IN_BACKOFF:
        queue_heap_remove(&p->profile->orders->backoff, p);
        break;
    case IN_ERROR_BACKOFF:
        queue_heap_remove(&q->error_backoff, p);
        break;
    case IN_UNSCHEDULABLE:
        queue_heap_remove(&q->unschedulable, p);
        queue_group_remove(p);
        assert(q->n_gated >= p->pub.is_gated);
        q->n_gated -= p->pub.is_gated;
        break;
    case IN_FLIGHT:
        in_flight_end(q, p);
        break;
    case IN_NOTHING:
        break;
    }
    p->place = IN_NOTHING;
    assert(p->heap_at == 0 && !p->group); /* a pod is in one place */
}

/*
 * A gated pod waits only for its gate, without a time limit, unless the plugin registered the
 * wildcard: then the time limit counts as an event for it too.
 */
static uint64_t flush_time(const struct sched_queue *q, const struct queued *p, uint64_t now_ms)
{
    if (p->gate && !(p->profile->wants_wildcard & (UINT64_C(1) << p->gate->position)))
        return UINT64_MAX;
    uint64_t due = MAX(p->pub.added_ms + q->opts.unschedulable_ms, now_ms) + 1;
    return (due + FLUSH_WINDOW_MS - 1) / FLUSH_WINDOW_MS * FLUSH_WINDOW_MS;
}

static void move_to_unschedulable(struct sched_queue *q, struct queued *p, const struct cause *why,
                                  uint64_t now_ms)
{
    assert(p->place == IN_NOTHING);
    p->place = IN_UNSCHEDULABLE;
    p->flush_ms = flush_time(q, p, now_ms);
    queue_heap_add(&q->unschedulable, p);
    queue_group_add(q, p);
    assert(!p->pub.is_gated == !p->gate);
    q->n_gated += p->pub.is_gated;
    queue_count_incoming(q, INTO_UNSCHEDULABLE, why);
}

void move_to_active(struct sched_queue *q, struct queued *p, const struct cause *why,
                    bool skips_gates, uint64_t now_ms)
{
    assert(p->place == IN_NOTHING);
    if (!skips_gates && !is_let_in(q, p)) {
        move_to_unschedulable(q, p, why, now_ms);
        return;
    }
    if (p->pub.first_attempt_ms == 0)
        p->pub.first_attempt_ms = now_ms;
    p->place = IN_ACTIVE;
    queue_heap_add(&p->profile->orders->active, p);
    queue_count_incoming(q, INTO_ACTIVE, why);
    if (why->renominates)
        sched_nominator_set(&q->nominator, p->pub.pod, p->pub.pod->nominated_node);
}

/* PreEnqueue is called now, not at the end of the back-off. */
static void move_to_backoff(struct sched_queue *q, struct queued *p, const struct cause *why,
                            uint64_t now_ms)
{
    assert(p->place == IN_NOTHING);
    if (!is_let_in(q, p)) {
        move_to_unschedulable(q, p, why, now_ms);
        return;
    }
    bool is_error = !p->pub.rejected_by && !p->pub.pending_by;
    p->place = is_error ? IN_ERROR_BACKOFF : IN_BACKOFF;
    queue_heap_add(is_error ? &q->error_backoff : &p->profile->orders->backoff, p);
    queue_count_incoming(q, INTO_BACKOFF, why);
}

void queue_requeue(struct sched_queue *q, struct queued *p, enum queue_strategy s,
                   const struct cause *why, uint64_t now_ms)
{
    if (s == STAY)
        move_to_unschedulable(q, p, why, now_ms);
    else if (s == AFTER_BACKOFF && queue_is_backing_off(p, now_ms))
        move_to_backoff(q, p, why, now_ms);
    else
        move_to_active(q, p, why, false, now_ms);
}

/* ---- events ---- */

/* The plugins of a profile that is running now cannot be called: then the pod is tried again. */
static bool says_queue(const struct interest *i, const struct queued *p,
                       const struct sched_event *event)
{
    const struct sched_framework *f = i->plugin->framework;
    if (f && f->is_behind && f->is_behind(f->arg))
        return true;
    return !i->reg.hint || i->reg.hint(i->plugin, p->pub.pod, event) != SCHED_HINT_SKIP;
}

/* A wildcard event for one pod concerns only that pod. */
static bool wildcard_is_for(const struct queued *p, const struct sched_event *event)
{
    return !event->after ||
           (event->after->kind == SCHED_POD && str_eq(event->after->uid, p->pub.pod->o.uid));
}

/* Collects the plugins among those that refused which the event concerns. */
static void match(const struct profile_index *x, uint64_t rejectors,
                  const struct sched_event *event, struct matches *ret)
{
    ret->n = 0;
    rejectors &= queue_profile_wants(x, event);
    for (size_t at = 0; rejectors && at < x->interests.n; at++) {
        const struct interest *i = &x->interests.p[at];
        if ((rejectors & i->bit) && sched_event_matches(&i->reg, event))
            vec_push(ret, i);
    }
}

/*
 * A plugin that returned Pending knows when its wait is over, so the pod skips the back-off; the
 * hints of other plugins are guesses.
 */
static enum queue_strategy strategy_among(const struct queued *p, const struct sched_event *event,
                                          const struct matches *matches)
{
    if (!p->pub.rejected_by && !p->pub.pending_by)
        return AFTER_BACKOFF;
    if (event_is_wildcard(event))
        return wildcard_is_for(p, event) ? AFTER_BACKOFF : STAY;
    enum queue_strategy s = STAY;
    for (size_t at = 0; at < matches->n; at++) {
        const struct interest *i = matches->p[at];
        if (!says_queue(i, p, event))
            continue;
        if (p->pub.pending_by & i->bit)
            return AT_ONCE;
        s = AFTER_BACKOFF;
        if (!p->pub.pending_by)
            break;
    }
    return s;
}

enum queue_strategy queue_strategy_of(struct sched_queue *q, const struct queued *p,
                                      const struct sched_event *event)
{
    match(p->profile, p->pub.rejected_by | p->pub.pending_by, event, &q->matches);
    return strategy_among(p, event, &q->matches);
}

struct in_flight_search {
    struct sched_queue *q;
    const struct queued *pod;
    enum queue_strategy best;
};
static bool consider(void *arg, const struct sched_event *event)
{
    struct in_flight_search *s = arg;
    enum queue_strategy one = queue_strategy_of(s->q, s->pod, event);
    s->best = MAX(s->best, one);
    return s->best == AT_ONCE || (s->best == AFTER_BACKOFF && !s->pod->pub.pending_by);
}

enum queue_strategy queue_strategy_in_flight(struct sched_queue *q, const struct queued *p)
{
    assert(p->place == IN_FLIGHT && !p->is_deleted);
    if (p->lost_events || (!p->pub.rejected_by && !p->pub.pending_by))
        return AFTER_BACKOFF;
    struct in_flight_search s = { q, p, STAY };
    (void)in_flight_since(p, q, consider, &s);
    return s.best;
}

static bool is_of_interest(const struct sched_queue *q, const struct sched_event *event)
{
    if (event_is_wildcard(event))
        return true;
    for (size_t i = 0; i < q->profiles.n; i++)
        if (queue_profile_wants(q->profiles.p[i], event))
            return true;
    return false;
}

/* Can the event move any pod of the group? */
static bool concerns(const struct queue_group *g, const struct sched_event *event)
{
    if (list_is_empty(&g->pods))
        return false;
    bool all = event_is_wildcard(event);
    uint64_t wants = all ? g->profile->wants_wildcard : queue_profile_wants(g->profile, event);
    if (g->gate && !(wants & g->gate))
        return false;
    return all || !g->rejectors || (wants & g->rejectors);
}

static void find_in_group(struct sched_queue *q, const struct queue_group *g,
                          const struct sched_event *event, const struct sched_queue_check *check)
{
    match(g->profile, g->rejectors, event, &q->matches);
    list_each (link, &g->pods) {
        struct queued *p = list_entry(link, struct queued, in_group);
        if (check && !check->wants(check->arg, p->pub.pod))
            continue;
        enum queue_strategy s = strategy_among(p, event, &q->matches);
        if (s != STAY)
            vec_push(&q->candidates, ((struct queue_candidate){ p, s }));
    }
}

/*
 * Collects the pods first and moves them afterwards: moving changes the groups, and a pod that its
 * gate still holds returns to one.
 */
static void move_concerned(struct sched_queue *q, const struct sched_event *event,
                           const struct sched_queue_check *check, uint64_t now_ms)
{
    const struct cause why = { .resource = event->resource, .actions = event->actions };
    q->candidates.n = 0;
    vec_each (g, &q->groups)
        if (concerns(*g, event))
            find_in_group(q, *g, event, check);
    vec_each (c, &q->candidates) {
        assert(c->pod->place == IN_UNSCHEDULABLE && c->strategy != STAY);
        queue_take_out(q, c->pod);
        queue_requeue(q, c->pod, c->strategy, &why, now_ms);
    }
}

void sched_queue_event_where(struct sched_queue *q, const struct sched_event *event,
                             const struct sched_queue_check *check, uint64_t now_ms)
{
    if (!is_of_interest(q, event))
        return;
    struct sched_event one = *event;
    if (event_is_wildcard(event))
        move_concerned(q, event, check, now_ms);
    else
        for (unsigned bits = event->actions; bits; bits &= bits - 1) {
            one.actions = bits & -bits;
            move_concerned(q, &one, check, now_ms);
        }
    in_flight_event(q, event);
}

void sched_queue_event(struct sched_queue *q, const struct sched_event *event, uint64_t now_ms)
{
    sched_queue_event_where(q, event, NULL, now_ms);
}

void sched_queue_activate(struct sched_queue *q, struct str uid, uint64_t now_ms)
{
    static const struct cause why = { .kind = BY_ACTIVATED };
    struct queued *p = map_get(&q->pods, uid);
    if (!p)
        return;
    switch (p->place) {
    case IN_BACKOFF:
    case IN_ERROR_BACKOFF:
        queue_take_out(q, p);
        move_to_active(q, p, &why, true, now_ms);
        break;
    case IN_UNSCHEDULABLE:
        queue_take_out(q, p);
        move_to_active(q, p, &why, false, now_ms);
        break;
    case IN_FLIGHT:
        in_flight_event(q, &(struct sched_event){ .resource = SCHED_ON_WILDCARD,
                                                  .actions = SCHED_ALL_ACTIONS,
                                                  .after = &p->pub.pod->o });
        break;
    case IN_ACTIVE:
    case IN_NOTHING:
        break;
    }
}

/* ---- time ---- */

static void end_backoffs(struct sched_queue *q, struct pod_heap *h, uint64_t now_ms)
{
    static const struct cause why = { .kind = BY_BACKOFF_ENDED };
    for (struct queued *p = queue_heap_first(h); p && !queue_is_backing_off(p, now_ms);
         p = queue_heap_first(h)) {
        queue_take_out(q, p);
        move_to_active(q, p, &why, true, now_ms);
    }
}

static void flush_unschedulable(struct sched_queue *q, uint64_t now_ms)
{
    static const struct sched_event event = { .resource = SCHED_ON_WILDCARD,
                                              .actions = SCHED_ALL_ACTIONS };
    static const struct cause why = { .kind = BY_TIMED_OUT };
    for (struct queued *p = queue_heap_first(&q->unschedulable); p && p->flush_ms <= now_ms;
         p = queue_heap_first(&q->unschedulable)) {
        queue_take_out(q, p);
        p->pub.was_flushed = true;
        queue_requeue(q, p, queue_strategy_of(q, p, &event), &why, now_ms);
    }
}

/* The time at which the first pod may leave. */
static uint64_t first_backoff_end(const struct queue_orders *o)
{
    return o->backoff.items.n ? queue_heap_first(&o->backoff)->backoff_ms + WINDOW_MS : UINT64_MAX;
}

uint64_t sched_queue_tick(struct sched_queue *q, uint64_t now_ms)
{
    end_backoffs(q, &q->shared.backoff, now_ms);
    for (size_t i = 0; i < q->profiles.n; i++)
        if (q->profiles.p[i]->orders != &q->shared)
            end_backoffs(q, &q->profiles.p[i]->orders->backoff, now_ms);
    end_backoffs(q, &q->error_backoff, now_ms);
    flush_unschedulable(q, now_ms);
    uint64_t next = first_backoff_end(&q->shared);
    for (size_t i = 0; i < q->profiles.n; i++)
        next = MIN(next, first_backoff_end(q->profiles.p[i]->orders));
    if (q->error_backoff.items.n)
        next = MIN(next, queue_heap_first(&q->error_backoff)->backoff_ms + WINDOW_MS);
    if (q->unschedulable.items.n)
        next = MIN(next, queue_heap_first(&q->unschedulable)->flush_ms);
    return next;
}
