/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triggers; see trigger.h. This file keeps the list of triggers, as functions are added, changed
 * and removed. A trigger that is also in the new spec is left alone; schedule.c, events.c and
 * watch.c fire them.
 */
#include "fn/trigger/trigger_int.h"

#include "base/log.h"

/* ------------------------------------------------------------------ life of a trigger */

void triggers_release(struct triggers *t)
{
    assert(t->busy > 0);
    if (--t->busy > 0)
        return;
    void (*done)(void *) = t->done;
    void *arg = t->done_arg;
    map_each (e, &t->by_namespace)
        free(e->value);
    map_fini(&t->by_function);
    map_fini(&t->by_namespace);
    free(t->zoneinfo);
    free(t);
    done(arg);
}

void trigger_hold(struct trigger *tr)
{
    assert(tr->busy > 0); /* the list of triggers holds it */
    tr->busy++;
}

void trigger_release(struct trigger *tr)
{
    assert(tr->busy > 0);
    if (--tr->busy > 0)
        return;
    assert(tr->gone && !tr->watch && !list_is_linked(&tr->node));
    struct triggers *t = tr->t;
    zone_free(tr->zone);
    arena_fini(&tr->arena);
    free(tr);
    triggers_release(t);
}

static void trigger_end(struct trigger *tr)
{
    struct triggers *t = tr->t;
    assert(!tr->gone && t->n_triggers > 0);
    tr->gone = true;
    list_remove(&tr->node);
    list_remove(&tr->by_kind);
    t->n_triggers--;
    if (tr->spec.kind == FN_TRIGGER_CRON)
        t->n_schedules--;
    if (tr->spec.kind == FN_TRIGGER_WATCH) {
        t->n_watches--;
        watch_stop(tr);
    }
    trigger_release(tr);
}

static struct fn_trigger copy_spec(struct arena *a, const struct fn_trigger *s)
{
    struct fn_trigger c = *s;
    struct str *texts[] = { &c.name,        &c.path,      &c.cron,          &c.time_zone,
                            &c.body,        &c.type,      &c.source,        &c.namespace,
                            &c.api_version, &c.kind_name, &c.label_selector };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = str_copy_arena(a, *texts[i]);
    return c;
}

static bool same_spec(const struct fn_trigger *a, const struct fn_trigger *b)
{
    return a->kind == b->kind && str_eq(a->name, b->name) && str_eq(a->path, b->path) &&
           str_eq(a->cron, b->cron) && str_eq(a->time_zone, b->time_zone) &&
           str_eq(a->body, b->body) && str_eq(a->type, b->type) && str_eq(a->source, b->source) &&
           str_eq(a->namespace, b->namespace) && str_eq(a->api_version, b->api_version) &&
           str_eq(a->kind_name, b->kind_name) && str_eq(a->label_selector, b->label_selector) &&
           a->on_added == b->on_added && a->on_modified == b->on_modified &&
           a->on_deleted == b->on_deleted;
}

static struct list *events_of(struct triggers *t, struct str namespace)
{
    struct list *l = map_get(&t->by_namespace, namespace);
    if (!l) {
        l = xnew(struct list);
        list_init(l);
        (void)map_put(&t->by_namespace, namespace, l);
    }
    return l;
}

static const char *const kinds[] = {
    [FN_TRIGGER_CRON] = "cron", [FN_TRIGGER_EVENT] = "event", [FN_TRIGGER_WATCH] = "watch"
};

static int check_room(const struct triggers *t, const struct fn_trigger *s, struct err *err)
{
    if (t->n_triggers >= TRIGGERS_MAX)
        return err_set(err, E_LIMIT, "there are %zu triggers", t->n_triggers);
    if (s->kind == FN_TRIGGER_WATCH && !t->transport)
        return err_set(err, E_UNSUPPORTED, "this process cannot watch objects");
    if (s->kind == FN_TRIGGER_WATCH && t->n_watches >= TRIGGER_WATCHES_MAX)
        return err_set(err, E_LIMIT, "there are %zu watches", t->n_watches);
    return 0;
}

static void add(struct triggers *t, struct trigger_followed *f, const struct fn_trigger *s)
{
    struct err err = { 0 };
    struct trigger *tr = xnew(struct trigger);
    tr->t = t;
    tr->busy = 1;
    tr->arena.block_bytes = 512;
    tr->namespace = str_copy_arena(&tr->arena, str_of(f->namespace));
    tr->name = str_copy_arena(&tr->arena, str_of(f->name));
    tr->spec = copy_spec(&tr->arena, s);
    tr->note = str_of(arena_printf(&tr->arena, "%s/%s/%s/" STR_FMT, kinds[s->kind], f->namespace,
                                   f->name, STR_ARG(s->name)));
    int r = check_room(t, s, &err);
    if (r >= 0 && s->kind == FN_TRIGGER_CRON)
        r = schedule_init(tr, &err);
    if (r < 0) {
        log_warn("trigger ignored", "function=%s/%s trigger=" STR_FMT " err=\"%s\"", f->namespace,
                 f->name, STR_ARG(s->name), err.text);
        t->stats.failures++;
        arena_fini(&tr->arena);
        free(tr);
        return;
    }
    t->busy++;
    t->n_triggers++;
    list_push_back(&f->triggers, &tr->node);
    switch (s->kind) {
    case FN_TRIGGER_CRON:
        t->n_schedules++;
        list_push_back(&t->schedules, &tr->by_kind);
        schedule_start(tr);
        break;
    case FN_TRIGGER_EVENT:
        list_push_back(events_of(t, tr->namespace), &tr->by_kind);
        break;
    case FN_TRIGGER_WATCH:
        t->n_watches++;
        list_push_back(&t->watches, &tr->by_kind);
        watch_check(tr);
        break;
    }
}

/* ------------------------------------------------------------------ functions */

static struct trigger_followed *followed_of(struct triggers *t, struct str key,
                                            struct str namespace, struct str name)
{
    struct trigger_followed *f = map_get(&t->by_function, key);
    if (!f) {
        f = xnew(struct trigger_followed);
        f->namespace = str_dup(namespace);
        f->name = str_dup(name);
        list_init(&f->triggers);
        (void)map_put(&t->by_function, key, f);
    }
    return f;
}

static bool is_wanted(const struct trigger *tr, const struct fn_spec *spec)
{
    for (size_t i = 0; spec && i < spec->n_triggers; i++)
        if (same_spec(&tr->spec, &spec->triggers[i]))
            return true;
    return false;
}

static bool has(const struct trigger_followed *f, const struct fn_trigger *s)
{
    list_each (node, &f->triggers)
        if (same_spec(&list_entry(node, struct trigger, node)->spec, s))
            return true;
    return false;
}

/* A function that was deleted and created again begins again. */
static void forget(struct trigger *tr, const struct fn_spec *spec)
{
    bool name_stays = false;
    for (size_t i = 0; spec && i < spec->n_triggers; i++)
        name_stays = name_stays || (spec->triggers[i].kind == tr->spec.kind &&
                                    str_eq(spec->triggers[i].name, tr->spec.name));
    if (!name_stays && tr->spec.kind != FN_TRIGGER_EVENT)
        (void)async_note_put(tr->t->async, tr->note, STR_NULL, NULL, NULL, NULL);
}

static void on_function(void *arg, struct str namespace, struct str name,
                        const struct fn_spec *spec)
{
    struct triggers *t = arg;
    struct buf key;
    if (t->closing)
        return;
    buf_init(&key, 2 * FN_NAME_MAX + 2);
    (void)buf_printf(&key, STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name));
    struct trigger_followed *f = map_get(&t->by_function, buf_str(&key));
    if (!buf_ok(&key) || (!f && (!spec || spec->n_triggers == 0))) {
        buf_fini(&key);
        return;
    }
    f = followed_of(t, buf_str(&key), namespace, name);
    list_each_safe (node, &f->triggers) {
        struct trigger *tr = list_entry(node, struct trigger, node);
        if (!is_wanted(tr, spec)) {
            forget(tr, spec);
            trigger_end(tr);
        }
    }
    for (size_t i = 0; spec && i < spec->n_triggers; i++)
        if (!has(f, &spec->triggers[i]))
            add(t, f, &spec->triggers[i]);
    if (list_is_empty(&f->triggers)) {
        (void)map_del(&t->by_function, buf_str(&key));
        free(f->namespace);
        free(f->name);
        free(f);
    }
    buf_fini(&key);
    schedules_arm(t);
}

static void on_members(void *arg)
{
    struct triggers *t = arg;
    if (t->closing)
        return;
    list_each (node, &t->watches)
        watch_check(list_entry(node, struct trigger, by_kind));
    schedules_arm(t);
}

/* ------------------------------------------------------------------ interface */

int triggers_start(const struct trigger_opts *opts, struct triggers **ret, struct err *err)
{
    struct triggers *t = xnew(struct triggers);
    *t = (struct triggers){ .loop = opts->loop,
                            .async = opts->async,
                            .functions = opts->functions,
                            .transport = opts->transport,
                            .hub = opts->hub,
                            .zoneinfo =
                                xstrdup(opts->zoneinfo ? opts->zoneinfo : "/usr/share/zoneinfo"),
                            .busy = 1,
                            .clock_fd = -1 };
    list_init(&t->schedules);
    list_init(&t->watches);
    async_set_events(t->async, &(struct async_events){ events_serve, events_publish, t });
    t->functions.ops->follow(t->functions.arg, on_function, t);
    t->functions.ops->on_members(t->functions.arg, on_members, t);
    *ret = t;
    return 0;
}

void triggers_close(struct triggers *t, void (*done)(void *arg), void *arg)
{
    assert(!t->closing);
    t->closing = true;
    t->done = done;
    t->done_arg = arg;
    async_set_events(t->async, NULL);
    schedules_stop(t);
    VEC(struct trigger_followed *) all = { 0 };
    map_each (e, &t->by_function)
        vec_push(&all, (struct trigger_followed *)e->value);
    vec_each (f, &all) {
        list_each_safe (node, &(*f)->triggers)
            trigger_end(list_entry(node, struct trigger, node));
        free((*f)->namespace);
        free((*f)->name);
        free(*f);
    }
    vec_fini(&all);
    /* `done` runs on a later turn. */
}

void triggers_get_stats(const struct triggers *t, struct trigger_stats *ret)
{
    *ret = t->stats;
    ret->schedules = t->n_schedules;
    ret->watches = t->n_watches;
}

void triggers_metrics(const struct triggers *t, struct buf *to)
{
    struct trigger_stats s;
    triggers_get_stats(t, &s);
    const struct {
        const char *name, *type, *help;
        uint64_t v;
    } rows[] = {
        { "schedules", "gauge", "Schedules of functions.", s.schedules },
        { "watches", "gauge", "Object watches of functions.", s.watches },
        { "fired_total", "counter", "Calls made by schedules.", s.fired },
        { "missed_total", "counter", "Times of schedules that were left out.", s.missed },
        { "events_total", "counter", "CloudEvents that were taken.", s.events },
        { "events_refused_total", "counter", "Posts of CloudEvents that were refused.",
          s.events_refused },
        { "changes_total", "counter", "Calls made by changes of objects.", s.changes },
        { "failures_total", "counter", "Triggers that could not be had, or calls not be made.",
          s.failures },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        (void)buf_printf(to,
                         "# HELP dormouse_function_trigger_%s %s\n"
                         "# TYPE dormouse_function_trigger_%s %s\n"
                         "dormouse_function_trigger_%s %llu\n",
                         rows[i].name, rows[i].help, rows[i].name, rows[i].type, rows[i].name,
                         (unsigned long long)rows[i].v);
}
