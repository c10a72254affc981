/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue's interface: adding, popping, returning and removing pods. See internal.h for the
 * parts.
 */
#include "sched/queue/internal.h"

static const struct cause by_add = { .resource = SCHED_ON_UNSCHEDULED_POD,
                                     .actions = SCHED_ADD,
                                     .renominates = true };
static const struct cause by_failure = { .kind = BY_ATTEMPT_FAILED };
static const struct cause by_early_pop = { .kind = BY_POPPED_EARLY };

const struct sched_pod *queue_pod_ref(const struct sched_pod *pod)
{
    return sched_object_ref((void *)(uintptr_t)pod);
}

void queue_pod_unref(struct sched_queue *q, const struct sched_pod *pod)
{
    sched_object_unref(q->opts.words, (void *)(uintptr_t)pod);
}

struct sched_queue *sched_queue_new(const struct sched_queue_opts *opts)
{
    struct sched_queue *q = xnew(struct sched_queue);
    q->opts = *opts;
    sched_nominator_init(&q->nominator, opts->words);
    if (!q->opts.backoff_first_ms)
        q->opts.backoff_first_ms = 1000;
    if (!q->opts.backoff_max_ms)
        q->opts.backoff_max_ms = 10000;
    if (!q->opts.unschedulable_ms)
        q->opts.unschedulable_ms = SCHED_UNSCHEDULABLE_MS;
    if (!q->opts.pods_max)
        q->opts.pods_max = SCHED_QUEUE_PODS_MAX;
    q->pods.borrows_keys = true;
    queue_orders_init(&q->shared);
    q->error_backoff.less = queue_less_error_backoff;
    q->unschedulable.less = queue_less_flush;
    list_init(&q->in_flight);
    return q;
}

void sched_queue_set_backoff(struct sched_queue *q, uint64_t first_ms, uint64_t max_ms)
{
    q->opts.backoff_first_ms = first_ms ? first_ms : 1000;
    q->opts.backoff_max_ms = max_ms ? max_ms : 10000;
}

static void free_pod(struct sched_queue *q, struct queued *p)
{
    queue_pod_unref(q, p->pub.pod);
    queue_pod_unref(q, p->newer);
    free(p);
}

void sched_queue_free(struct sched_queue *q)
{
    if (!q)
        return;
    in_flight_fini(q);
    sched_nominator_fini(&q->nominator);
    map_each (e, &q->pods)
        free_pod(q, e->value);
    map_fini(&q->pods);
    queue_orders_fini(&q->shared);
    vec_fini(&q->error_backoff.items);
    vec_fini(&q->unschedulable.items);
    queue_groups_fini(q);
    queue_profile_indices_fini(q);
    vec_fini(&q->candidates);
    vec_fini(&q->matches);
    arena_fini(&q->arena);
    free(q);
}

/* ---- put and delete ---- */

/* The map borrows its key from the object, so the entry changes with the object. */
static void set_pod(struct sched_queue *q, struct queued *p, const struct sched_pod *pod)
{
    const struct sched_pod *old = p->pub.pod;
    if (old)
        (void)map_del(&q->pods, old->o.uid);
    p->pub.pod = queue_pod_ref(pod);
    (void)map_put(&q->pods, pod->o.uid, p);
    queue_pod_unref(q, old);
}

static void set_newer(struct sched_queue *q, struct queued *p, const struct sched_pod *pod)
{
    queue_pod_unref(q, p->newer);
    p->newer = pod ? queue_pod_ref(pod) : NULL;
}

static int add(struct sched_queue *q, const struct sched_pod *pod, uint64_t now_ms, struct err *err)
{
    const struct profile_index *profile = queue_profile_index_of(q, pod->scheduler_name);
    if (!profile)
        return 0;
    if (q->pods.n >= q->opts.pods_max)
        return err_set(err, E_LIMIT, "more than %zu pods wait", q->opts.pods_max);
    struct queued *p = xnew(struct queued);
    p->profile = profile;
    p->place = IN_NOTHING;
    p->seq = q->next_seq++;
    p->pub.added_ms = now_ms;
    p->pub.gated_by = STR("");
    set_pod(q, p, pod);
    move_to_active(q, p, &by_add, false, now_ms);
    return 0;
}

/* The object under attempt stays; the change takes effect when the pod comes back. */
static void update_in_flight(struct sched_queue *q, struct queued *p, const struct sched_pod *pod)
{
    const struct sched_pod *before = p->newer ? p->newer : p->pub.pod;
    in_flight_event(q, &(struct sched_event){ .resource = SCHED_ON_UNSCHEDULED_POD,
                                              .actions = sched_pod_changes(&before->o, &pod->o),
                                              .before = &before->o,
                                              .after = &pod->o });
    set_newer(q, p, pod);
    p->is_deleted = !p->profile;
}

/* Asks the plugins whether the pod's own change helps it. */
static void update_unschedulable(struct sched_queue *q, struct queued *p,
                                 const struct sched_pod *before, uint64_t now_ms)
{
    struct sched_event event = { .resource = SCHED_ON_UNSCHEDULED_POD,
                                 .before = &before->o,
                                 .after = &p->pub.pod->o };
    unsigned bits = sched_pod_changes(event.before, event.after);
    for (; bits && p->place == IN_UNSCHEDULABLE; bits &= bits - 1) {
        event.actions = bits & -bits;
        enum queue_strategy s = queue_strategy_of(q, p, &event);
        if (s == STAY)
            continue;
        queue_take_out(q, p);
        queue_requeue(q, p, s,
                      &(struct cause){ .resource = event.resource,
                                       .actions = event.actions,
                                       .renominates = event.actions == SCHED_UPDATE },
                      now_ms);
    }
}

static void update(struct sched_queue *q, struct queued *p, const struct sched_pod *pod,
                   uint64_t now_ms)
{
    const struct sched_pod *before = queue_pod_ref(p->pub.pod);
    set_pod(q, p, pod);
    sched_nominator_update(&q->nominator, before, pod);
    switch (p->place) {
    case IN_ACTIVE:
        queue_heap_fix(&p->profile->orders->active, p);
        break;
    case IN_BACKOFF:
        queue_heap_fix(&p->profile->orders->backoff, p);
        break;
    case IN_ERROR_BACKOFF:
        break; /* ordered by time alone */
    case IN_UNSCHEDULABLE:
        update_unschedulable(q, p, before, now_ms);
        break;
    case IN_FLIGHT:
    case IN_NOTHING:
        assert(false);
    }
    queue_pod_unref(q, before);
}

int sched_queue_put(struct sched_queue *q, const struct sched_pod *pod, uint64_t now_ms,
                    struct err *err)
{
    struct queued *p = map_get(&q->pods, pod->o.uid);
    if (!p)
        return add(q, pod, now_ms, err);
    const struct sched_pod *last = p->newer ? p->newer : p->pub.pod;
    if (pod == last ||
        (pod->o.rv && pod->o.rv == last->o.rv && !p->is_deleted && !sched_pod_is_fuller(pod, last)))
        return 0; /* a duplicate */
    if (p->place == IN_FLIGHT)
        update_in_flight(q, p, pod);
    else
        update(q, p, pod, now_ms);
    return 0;
}

static void drop(struct sched_queue *q, struct queued *p)
{
    queue_take_out(q, p);
    struct queued *removed = map_del(&q->pods, p->pub.pod->o.uid);
    assert(removed == p);
    free_pod(q, p);
}

/* A pod in flight is only marked: the attempt still holds it. */
void sched_queue_del(struct sched_queue *q, struct str uid)
{
    sched_nominator_del(&q->nominator, uid);
    struct queued *p = map_get(&q->pods, uid);
    if (!p)
        return;
    if (p->place == IN_FLIGHT)
        p->is_deleted = true;
    else
        drop(q, p);
}

/* ---- attempts ---- */

/* NULL: none of its pods has arrived. */
static const struct queue_orders *orders_of(const struct sched_queue *q,
                                            const struct sched_profile *profile)
{
    if (!profile)
        return &q->shared;
    for (size_t i = 0; i < q->profiles.n; i++)
        if (q->profiles.p[i]->profile == profile)
            return q->profiles.p[i]->orders;
    return NULL;
}

bool sched_queue_has(const struct sched_queue *q, const struct sched_profile *profile)
{
    const struct queue_orders *o = orders_of(q, profile);
    return o && (queue_heap_first(&o->active) || queue_heap_first(&o->backoff));
}

const struct sched_queued *sched_queue_pop_of(struct sched_queue *q,
                                              const struct sched_profile *profile, uint64_t now_ms)
{
    const struct queue_orders *o = orders_of(q, profile);
    struct queued *p = o ? queue_heap_first(&o->active) : NULL;
    if (!p) {
        p = o ? queue_heap_first(&o->backoff) : NULL;
        if (!p)
            return NULL;
        queue_count_incoming(q, INTO_ACTIVE, &by_early_pop);
    }
    queue_take_out(q, p);
    if (p->pub.first_attempt_ms == 0)
        p->pub.first_attempt_ms = now_ms;
    p->pub.attempts++;
    assert(!p->is_deleted && !p->newer && !p->is_stale); /* these belong to pods in flight */
    in_flight_begin(q, p);
    return &p->pub;
}

static struct queued *in_flight_get(const struct sched_queue *q, struct str uid)
{
    struct queued *p = map_get(&q->pods, uid);
    return p && p->place == IN_FLIGHT ? p : NULL;
}

void sched_queue_renew(struct sched_queue *q, const struct sched_pod *pod)
{
    struct queued *p = in_flight_get(q, pod->o.uid);
    if (p && !p->is_deleted && pod != (p->newer ? p->newer : p->pub.pod))
        set_newer(q, p, pod);
}

void sched_queue_done(struct sched_queue *q, struct str uid)
{
    struct queued *p = in_flight_get(q, uid);
    if (!p)
        return;
    if (p->pub.was_flushed && !p->is_deleted && !p->pub.pod->is_terminating)
        q->counters.placed_after_flush++;
    drop(q, p);
}

static void count_attempt(struct sched_queue *q, struct queued *p, uint64_t rejected_by,
                          uint64_t pending_by, uint64_t now_ms)
{
    p->pub.rejected_by = rejected_by;
    p->pub.pending_by = pending_by;
    p->gate = NULL;
    p->pub.is_gated = false;
    p->pub.gated_by = STR("");
    p->pub.was_flushed = false;
    if (rejected_by || pending_by) {
        p->pub.unschedulable_count++;
        p->pub.error_count = 0;
    } else {
        p->pub.error_count++;
    }
    p->pub.added_ms = now_ms;
    p->seq = q->next_seq++;
    p->backoff_ms = queue_backoff_end(q, p);
    if (p->is_stale) /* the positions belong to other plugins now */
        p->pub.rejected_by = p->pub.pending_by = 0;
    p->is_stale = false;
}

void sched_queue_back(struct sched_queue *q, struct str uid, uint64_t rejected_by,
                      uint64_t pending_by, uint64_t now_ms)
{
    struct queued *p = in_flight_get(q, uid);
    if (!p)
        return;
    if (p->is_deleted) {
        drop(q, p);
        return;
    }
    if (p->newer) {
        set_pod(q, p, p->newer);
        set_newer(q, p, NULL);
        sched_nominator_swap(&q->nominator, p->pub.pod);
    }
    count_attempt(q, p, rejected_by, pending_by, now_ms);
    enum queue_strategy s = queue_strategy_in_flight(q, p);
    assert(p->profile && !p->newer);
    queue_take_out(q, p);
    queue_requeue(q, p, s, &by_failure, now_ms);
}

/* ---- reload ---- */

static int compare_seq(const void *a, const void *b)
{
    const struct queued *x = ((const struct queue_candidate *)a)->pod,
                        *y = ((const struct queue_candidate *)b)->pod;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static void forget_plugins(struct sched_queue *q)
{
    map_each (e, &q->pods) {
        struct queued *p = e->value;
        p->gate = NULL;
        p->pub.rejected_by = p->pub.pending_by = 0;
        p->pub.is_gated = false;
        p->pub.gated_by = STR("");
        p->group = NULL;
        p->in_group = (struct list){ 0 };
        p->heap_at = 0;
        if (p->place != IN_FLIGHT)
            p->place = IN_NOTHING;
        vec_push(&q->candidates, ((struct queue_candidate){ .pod = p }));
    }
    q->n_gated = 0;
    q->shared.active.items.n = q->shared.backoff.items.n = q->error_backoff.items.n = 0;
    q->unschedulable.items.n = 0;
    queue_groups_fini(q);
    queue_profile_indices_fini(q);
}

void sched_queue_reload(struct sched_queue *q, uint64_t now_ms)
{
    q->candidates.n = 0;
    forget_plugins(q);
    in_flight_lose(q);
    if (q->candidates.n)
        qsort(q->candidates.p, q->candidates.n, sizeof *q->candidates.p, compare_seq);
    vec_each (c, &q->candidates) {
        struct queued *p = c->pod;
        p->profile = queue_profile_index_of(q, p->pub.pod->scheduler_name);
        if (p->place == IN_FLIGHT) {
            p->is_stale = true;
            p->is_deleted = p->is_deleted || !p->profile;
        } else if (!p->profile) {
            sched_nominator_del(&q->nominator, p->pub.pod->o.uid);
            drop(q, p);
        } else {
            move_to_active(q, p, &by_add, false, now_ms);
        }
    }
}

/* ---- queries ---- */

const struct sched_queued *sched_queue_get(const struct sched_queue *q, struct str uid)
{
    const struct queued *p = map_get(&q->pods, uid);
    return p && !p->is_deleted ? &p->pub : NULL;
}

void sched_queue_count(const struct sched_queue *q, struct sched_queue_count *ret)
{
    size_t active = q->shared.active.items.n, backoff = q->shared.backoff.items.n;
    for (size_t i = 0; i < q->profiles.n; i++) {
        const struct profile_index *x = q->profiles.p[i];
        active += x->orders != &q->shared ? x->orders->active.items.n : 0;
        backoff += x->orders != &q->shared ? x->orders->backoff.items.n : 0;
    }
    *ret = (struct sched_queue_count){
        .active = active,
        .backoff = backoff + q->error_backoff.items.n,
        .unschedulable = q->unschedulable.items.n - q->n_gated,
        .gated = q->n_gated,
        .in_flight = q->n_in_flight,
    };
}

static const char *place_name(const struct queued *p)
{
    switch (p->place) {
    case IN_ACTIVE:
        return "active";
    case IN_BACKOFF:
    case IN_ERROR_BACKOFF:
        return "backoff";
    case IN_UNSCHEDULABLE:
        return p->pub.is_gated ? "gated" : "unschedulable";
    case IN_FLIGHT:
        return "in-flight";
    case IN_NOTHING:
        break;
    }
    return "";
}

void sched_queue_each(const struct sched_queue *q,
                      void (*each)(void *arg, const struct sched_queued *pod, const char *where),
                      void *arg)
{
    map_each (e, &q->pods) {
        const struct queued *p = e->value;
        if (!p->is_deleted)
            each(arg, &p->pub, place_name(p));
    }
}

void sched_queue_nominate(struct sched_queue *q, const struct sched_pod *pod, struct str node)
{
    if (str_is_empty(node))
        sched_nominator_del(&q->nominator, pod->o.uid);
    else if (sched_queue_get(q, pod->o.uid))
        sched_nominator_set(&q->nominator, pod, node);
}

const struct sched_nominator *sched_queue_nominator(const struct sched_queue *q)
{
    return &q->nominator;
}
