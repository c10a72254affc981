/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, the mapping of events to keys, start and stop. */
#include "workload/frame/frame.h"

#include "base/log.h"
#include "workload/frame/start.h"

static const struct str account_groups[] = { { "system:serviceaccounts", 22 },
                                             { "system:serviceaccounts:kube-system", 34 },
                                             { "system:authenticated", 20 } };
/* Its role may list and watch everything. */
static const struct kube_identity watcher = { .user = { "system:kube-controller-manager", 30 } };

static void on_turn(struct defer *d);

static uint64_t now_us(const struct workload *w)
{
    return loop_now_ms(w->loop) * 1000;
}

/* ---------------------------------------------------------------- turns */

static void turn_later(struct workload *w)
{
    if (!w->is_stopped)
        defer_start(w->loop, &w->turn, on_turn);
}

static void on_timer(struct timer *t)
{
    struct workload *w = container_of(t, struct workload, timer);
    w->armed_us = WORK_NEVER;
    turn_later(w);
}

static void arm(struct workload *w)
{
    uint64_t due_us = work_timers_due_us(work_queues_timers(w->queues)), now = now_us(w);
    if (due_us == w->armed_us)
        return;
    w->armed_us = due_us;
    if (due_us == WORK_NEVER)
        timer_stop(w->loop, &w->timer);
    else
        timer_start(w->loop, &w->timer, due_us > now ? (due_us - now + 999) / 1000 : 0, on_timer);
}

static void start_calls(struct workload_runner *r)
{
    while (r->n_calls < WORKLOAD_CALLS_MAX) {
        struct work_item *item = work_queue_take(r->queue, now_us(r->w), NULL);
        if (!item)
            return;
        r->n_calls++;
        workload_call_start(r, item);
    }
}

/* No call begins before all is known: it would act on a part of the objects. */
static void on_turn(struct defer *d)
{
    struct workload *w = container_of(d, struct workload, turn);
    if (!workload_view_is_synced(&w->view))
        return;
    (void)work_timers_run(work_queues_timers(w->queues), now_us(w));
    for (size_t i = 0; i < w->n_runners; i++)
        start_calls(&w->runners[i]);
    arm(w);
}

void workload_call_ended(struct workload_runner *r, struct work_item *item, enum work_end end,
                         uint64_t again_ms)
{
    r->n_calls--;
    (void)work_queue_finish(r->queue, item, end, again_ms * 1000, now_us(r->w));
    turn_later(r->w);
}

static void on_ready(struct work_queue *q, void *arg)
{
    turn_later(((struct workload_runner *)arg)->w);
}

/* ---------------------------------------------------------------- from events to keys */

static void enqueue(struct workload_runner *r, struct str namespace, struct str name)
{
    struct err err = { 0 };
    char why[LOG_QUOTE_MAX];
    if (work_queue_add(r->queue, (struct work_key){ namespace, name }, WORK_UPDATE, WORK_NORMAL,
                       now_us(r->w), &err) < 0)
        log_warn("an object is not reconciled", "controller=%s reason=\"%s\"", r->c->name,
                 log_quote(why, str_of(err_text(&err))));
}

void workload_enqueue(struct workload *w, const struct workload_controller *c, struct str namespace,
                      struct str name)
{
    for (struct workload_runner *r = w->runners; r < w->runners + w->n_runners; r++)
        if (r->c == c)
            enqueue(r, namespace, name);
}

void workload_enqueue_all(struct workload *w, const struct workload_controller *c)
{
    const struct workload_table *t = workload_view_table(&w->view, c->kind);
    map_each (e, &t->objects)
        workload_enqueue(w, c, workload_object_namespace(e->value), workload_object_name(e->value));
}

const struct workload_object *workload_controller_of(const struct workload *w,
                                                     const struct workload_object *o,
                                                     const struct workload_kind *kind)
{
    const struct workload_group *g = o->group;
    const struct workload_table *t = workload_view_table((struct workload_view *)&w->view, kind);
    if (!t || !g->uid || strcmp(g->kind, kind->kind) != 0)
        return NULL;
    const struct workload_object *owner =
        workload_table_find(t, workload_object_namespace(o), str_of(g->name));
    return owner && strcmp(owner->uid, g->uid) == 0 ? owner : NULL;
}

/* Every object of the controller that selects this one. */
static void enqueue_selecting(struct workload_runner *r, const struct workload_object *one)
{
    struct arena a = { 0 };
    struct json *labels = workload_object_labels(one, &a);
    const struct workload_table *t = workload_view_table(&r->w->view, r->c->kind);
    struct str namespace = workload_object_namespace(one);
    map_each (e, &t->objects) {
        const struct workload_object *o = e->value;
        if (labels && str_eq(workload_object_namespace(o), namespace) &&
            workload_object_selects(o, labels))
            enqueue(r, namespace, workload_object_name(o));
    }
    arena_fini(&a);
}

static void map_owned(struct workload_runner *r, const struct workload_object *o,
                      enum workload_change change)
{
    const struct workload_group *g = o->group;
    if (!g->uid && change == WORKLOAD_APPEARS)
        enqueue_selecting(r, o);
    else if (g->uid && strcmp(g->kind, r->c->kind->kind) == 0)
        enqueue(r, workload_object_namespace(o), str_of(g->name));
}

static void on_change(void *arg, const struct workload_object *o, enum workload_change change,
                      bool is_visible)
{
    struct workload *w = arg;
    for (struct workload_runner *r = w->runners; r < w->runners + w->n_runners; r++) {
        if (o->table->kind == r->c->kind)
            enqueue(r, workload_object_namespace(o), workload_object_name(o));
        for (const struct workload_watch *watch = r->c->watches;
             is_visible && watch < r->c->watches + WORKLOAD_WATCHES_MAX && watch->kind; watch++) {
            if (watch->kind != o->table->kind)
                continue;
            if (watch->how == WORKLOAD_OWNED)
                map_owned(r, o, change);
            else if (watch->how == WORKLOAD_SELECTED)
                enqueue_selecting(r, o);
            else
                r->c->map(w, r->c, o, change);
        }
    }
}

static void on_synced(void *arg)
{
    log_info("controllers know the workloads", "");
    turn_later(arg);
}

/* ---------------------------------------------------------------- start and stop */

static void runner_init(struct workload_runner *r, struct workload *w,
                        const struct workload_controller *c)
{
    *r = (struct workload_runner){ .w = w, .c = c };
    r->user = xasprintf("system:serviceaccount:kube-system:%s", c->name);
    r->identity = (struct kube_identity){ .user = str_of(r->user),
                                          .groups = account_groups,
                                          .n_groups = ARRAY_LEN(account_groups) };
    r->queue = work_queue_new(
        w->queues, &(struct work_queue_opts){ .name = c->name, .on_ready = on_ready, .arg = r });
    r->events = event_recorder_new(&(struct event_recorder_opts){ .loop = w->loop,
                                                                  .transport = w->transport,
                                                                  .identity = &r->identity,
                                                                  .component = c->name });
    workload_view_add(&w->view, c->kind);
    for (size_t i = 0; i < WORKLOAD_WATCHES_MAX && c->watches[i].kind; i++)
        workload_view_add(&w->view, c->watches[i].kind);
}

int workload_start(const struct workload_opts *opts, struct workload **ret, struct err *err)
{
    struct workload *w = xnew(struct workload);
    const struct workload_view_opts view = { .loop = opts->loop,
                                             .transport = opts->transport,
                                             .hub = opts->hub,
                                             .identity = &watcher,
                                             .on_change = on_change,
                                             .on_synced = on_synced,
                                             .arg = w };
    w->loop = opts->loop;
    w->transport = opts->transport;
    w->queues = work_queues_new();
    w->armed_us = WORK_NEVER;
    list_init(&w->calls);
    workload_view_init(&w->view, &view);
    w->n_runners = opts->n_controllers;
    w->runners = xnew_n(struct workload_runner, w->n_runners);
    for (size_t i = 0; i < w->n_runners; i++)
        runner_init(&w->runners[i], w, opts->controllers[i]);
    int r = workload_view_start(&w->view, err);
    if (r < 0) {
        workload_stop(w);
        return r;
    }
    *ret = w;
    return 0;
}

void workload_stop(struct workload *w)
{
    if (!w)
        return;
    w->is_stopped = true;
    while (!list_is_empty(&w->calls))
        workload_call_drop(list_first(&w->calls, struct workload_running, node));
    for (struct workload_runner *r = w->runners; r < w->runners + w->n_runners; r++) {
        work_queue_free(r->queue);
        event_recorder_free(r->events);
        free(r->user);
    }
    timer_stop(w->loop, &w->timer);
    defer_cancel(&w->turn);
    workload_view_fini(&w->view);
    work_queues_free(w->queues);
    free(w->runners);
    free(w);
}

bool workload_is_synced(const struct workload *w)
{
    return workload_view_is_synced(&w->view);
}
